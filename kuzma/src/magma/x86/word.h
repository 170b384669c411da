/* One block of Magma at a time, with SSSE3: for chains, where each block waits for the one before. */
#ifndef KUZMA_MAGMA_X86_WORD_H
#define KUZMA_MAGMA_X86_WORD_H

#include <tmmintrin.h>

#include "bytes.h"
#include "magma/transforms.h"

/* The S-boxes, less what they give for 0: then bytes with an index of 0 come to nothing, and one `and` both takes a
 * nibble and silences the other bytes. `rest` is what all boxes give for 0, rotated. */
static struct {
	_Alignas(16) uint8_t box[8][16];
	uint32_t rest;
} word_tables;

static void word_make_tables(void)
{
	uint32_t zero = kuzma_magma_t(0);

	for (unsigned i = 0; i < 8; i++)
		for (unsigned nibble = 0; nibble < 16; nibble++)
			word_tables.box[i][nibble] = (uint8_t)((kuzma_magma_pi[i][nibble] ^ kuzma_magma_pi[i][0]) << (i % 2 * 4));
	word_tables.rest = zero << 11 | zero >> 21;
}

#define WORD_LOOKUP(i, nibbles, place)                                        \
	_mm_shuffle_epi8(_mm_load_si128((const __m128i *)word_tables.box[i]), \
	                 _mm_and_si128(nibbles, _mm_cvtsi32_si128((int)(UINT32_C(0x0f) << (8 * (place))))))

/* target ^ g[key](source); only the first word of a register counts. */
static inline __m128i word_round(__m128i target, __m128i source, uint32_t key)
{
	__m128i sum = _mm_add_epi32(source, _mm_cvtsi32_si128((int)key));
	__m128i high = _mm_srli_epi32(sum, 4);
	__m128i low01 = _mm_xor_si128(WORD_LOOKUP(0, sum, 0), WORD_LOOKUP(2, sum, 1));
	__m128i low23 = _mm_xor_si128(WORD_LOOKUP(4, sum, 2), WORD_LOOKUP(6, sum, 3));
	__m128i high01 = _mm_xor_si128(WORD_LOOKUP(1, high, 0), WORD_LOOKUP(3, high, 1));
	__m128i high23 = _mm_xor_si128(WORD_LOOKUP(5, high, 2), WORD_LOOKUP(7, high, 3));
	__m128i all = _mm_xor_si128(_mm_xor_si128(low01, low23), _mm_xor_si128(high01, high23));

	target = _mm_xor_si128(target, _mm_cvtsi32_si128((int)word_tables.rest));
	return _mm_xor_si128(_mm_xor_si128(target, _mm_slli_epi32(all, 11)), _mm_srli_epi32(all, 21));
}

#endif
