/* What encoder and decoder share. */
#ifndef MORSE_CODER_H
#define MORSE_CODER_H

#include "backend.h"

/* The backend that the options ask for, into `backend`. Errors: ARGUMENT, BACKEND. */
enum morse_status morse_options_check(const struct morse_options *options, const struct morse_backend **backend);

/* One call of update or finish. */
struct morse_call {
	uint8_t *output;
	size_t room;
	size_t *written;
	const uint8_t *input;
	size_t bytes;
	size_t *read;
};

/* Whether the arguments are what they may be, and the coder is not at its end. Nothing is written or read so far. */
enum morse_status morse_call_check(const struct morse_call *call, const struct morse_error *error,
                                   const struct morse_alphabet *alphabet, bool finished);

/* The whole text is one character in UTF-8, or empty; `partial` gets it. */
bool morse_one_character(const char *text, struct morse_partial *partial);

/* The number of bytes after the last `byte`; all of them if there is none. */
size_t morse_after_last(const uint8_t *bytes, size_t count, uint8_t byte);

#endif
