/* Encoding by pairs of characters, which the AVX2 and NEON backends share: vectors make numbers of pairs, and a
 * table has what each pair becomes. Only ASCII, and codes of up to 6 elements; all else is left to the portable
 * code. */
#ifndef MORSE_PAIRS_H
#define MORSE_PAIRS_H

#include "backend.h"

enum {
	/* Classes of characters: the low five bits, and bit 6 above them, so that small letters are capitals. '\n'
	 * falls together with '*', which no alphabet has. */
	MORSE_CLASSES = 64,
	MORSE_PAIR_BYTES = 16,
	/* A pair's number, times 2: the first class, the second, and whether '\n' follows, so that there is no ' '. */
	MORSE_PAIR_SECOND = 2 * MORSE_CLASSES,
	MORSE_PAIR_LINE_END = MORSE_PAIR_SECOND * MORSE_CLASSES,
	MORSE_PAIRS = MORSE_CLASSES * MORSE_CLASSES * 2
};

struct morse_pairs {
	/* What the pair becomes, and in the last byte how long that is. */
	uint8_t text[MORSE_PAIRS][MORSE_PAIR_BYTES];
	/* By the low four bits of a character: the set of the high ones that make it one that has a class. */
	uint8_t known[16];
};

/* The table of an alphabet, made when it is asked for first; NULL: it is none of morse_alphabet_at(). */
const struct morse_pairs *morse_pairs_of(const struct morse_alphabet *alphabet);

#endif
