/* Decoding from masks of 64 bytes, which the AVX2 and NEON backends share: they find what the bytes are, and here
 * scalar instructions take a token at a time. Every block ends behind its last separator, or behind its first '\n'. */
#ifndef MORSE_TOKENS_H
#define MORSE_TOKENS_H

#include "backend.h"

#include <string.h>

enum {
	TOKENS_BLOCK = 64,
	/* 32 letters of 2 bytes, a '\n', and what the last store writes too much. */
	TOKENS_ROOM = 32 * 2 + 1 + 4,
	TOKENS_CODES = 256 /* of up to 7 elements */
};

/* Up to 2 bytes, the first the lowest, and in the top byte how many. */
struct tokens {
	uint32_t letters[TOKENS_CODES];
};

/* In an entry: there is no such letter. It has no bytes, so that it writes nothing. */
#define TOKENS_UNKNOWN UINT32_C(0x10000)

struct tokens_marks {
	uint64_t elements, dashes, spaces, words, lines; /* the last two: '/' and '\n' */
};

static inline void tokens_set_up(struct tokens *tokens, const struct morse_alphabet *alphabet)
{
	enum { SPACE = 1 };

	for (unsigned i = 0; i < TOKENS_CODES; i++) {
		uint32_t entry = alphabet->decoded[SPACE][i];
		tokens->letters[i] = entry >> 24 < MORSE_UNKNOWN ? entry : TOKENS_UNKNOWN;
	}
	/* A '/' gets the code of no elements. */
	tokens->letters[1] = UINT32_C(1) << 24 | ' ';
}

static inline __attribute__((always_inline)) uint64_t tokens_below(unsigned bit)
{
	return bit >= 64 ? UINT64_MAX : (UINT64_C(1) << bit) - 1;
}

static inline __attribute__((always_inline)) uint64_t tokens_too_long(uint64_t elements)
{
	elements &= elements >> 1;
	elements &= elements >> 2;
	return elements & elements >> 4;
}

/* Returns how many bytes of the block it took; 0, and nothing is done, if they are not all easy. */
static inline __attribute__((always_inline)) unsigned tokens_take(const struct tokens *tokens,
                                                                  const struct tokens_marks *marks, uint8_t **output)
{
	uint64_t separators = marks->spaces | marks->words | marks->lines, elements, words, bad;
	uint64_t starts, ends;
	bool line = marks->lines != 0;
	unsigned taken;
	uint32_t seen = 0;
	uint8_t *out = *output;

	if (separators == 0)
		return 0;
	taken = line ? (unsigned)__builtin_ctzll(marks->lines) : 64 - (unsigned)__builtin_clzll(separators);
	elements = marks->elements & tokens_below(taken);
	words = marks->words & tokens_below(taken);
	/* All bytes are code; no letter has 8 elements; a '/' directly behind a letter would end where it begins. */
	bad = ~(marks->elements | separators) & tokens_below(taken);
	bad |= tokens_too_long(elements) | (elements << 1 & words);
	if (bad != 0)
		return 0;
	starts = (elements & ~(elements << 1)) | words;
	/* Behind the last element; a '/' has none. What ends at the very end of the block was not taken. */
	ends = (elements & ~(elements >> 1)) << 1 | words;
	while (starts != 0) {
		unsigned start = (unsigned)__builtin_ctzll(starts), end = (unsigned)__builtin_ctzll(ends);
		uint64_t top = UINT64_C(1) << (end - start);
		uint32_t entry = tokens->letters[(marks->dashes >> start & (top - 1)) | top];

		memcpy(out, &entry, sizeof entry);
		out += entry >> 24;
		seen |= entry;
		starts &= starts - 1;
		ends &= ends - 1;
	}
	if ((seen & TOKENS_UNKNOWN) != 0)
		return 0;
	if (line)
		*out++ = '\n';
	*output = out;
	return taken + line;
}

#endif
