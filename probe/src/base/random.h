/* SplitMix64 (Steele, Lea, Flood 2014): reproducible test data, not secrets. */
#ifndef STEND_RANDOM_H
#define STEND_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t random_word(uint64_t *state)
{
	uint64_t z = (*state += 0x9E3779B97F4A7C15u);
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

static inline void random_fill(uint64_t *state, uint8_t *to, size_t bytes)
{
	uint64_t word;

	for (; bytes >= sizeof word; bytes -= sizeof word, to += sizeof word) {
		word = random_word(state);
		memcpy(to, &word, sizeof word);
	}
	word = random_word(state);
	memcpy(to, &word, bytes);
}

#endif
