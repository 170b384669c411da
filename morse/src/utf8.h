#ifndef MORSE_UTF8_H
#define MORSE_UTF8_H

#include "morse.h"

enum morse_utf8 {
	MORSE_UTF8_MORE,  /* the byte was taken; the character needs more */
	MORSE_UTF8_WHOLE, /* the byte was taken and completes the character */
	MORSE_UTF8_BAD,   /* the byte was taken; it cannot begin a character */
	MORSE_UTF8_CUT    /* the byte was not taken; it cannot go on with those that are there */
};

/* Takes the next byte. Well-formed is what Unicode calls so (table 3-7): no overlong forms, no surrogates. */
enum morse_utf8 morse_utf8_take(struct morse_partial *partial, uint8_t byte);

/* The character of a whole sequence. */
uint32_t morse_utf8_character(const struct morse_partial *partial);

/* The UTF-8 of a character below U+0800; at most 2 bytes. */
size_t morse_utf8_put(uint32_t code_point, uint8_t *text);

#endif
