#ifndef MORSE_ALPHABET_H
#define MORSE_ALPHABET_H

#include "backend.h"

/* The code of a character, 0 if it has none. */
uint16_t morse_code_of(const struct morse_alphabet *alphabet, uint32_t code_point);

#endif
