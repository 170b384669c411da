/* The end of a sum of products, with PCLMULQDQ: for the files of this folder only. */
#ifndef KUZMA_MULTIPLY_X86_REDUCE_H
#define KUZMA_MULTIPLY_X86_REDUCE_H

#include <immintrin.h>

static inline __m128i reverse_bytes(__m128i block)
{
	return _mm_shuffle_epi8(block, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

static inline __m128i load_block128(const uint8_t *from)
{
	return reverse_bytes(_mm_loadu_si128((const __m128i *)(const void *)from));
}

/* sum += high * x^128 + middle * x^64 + low. */
static inline void add_reduced128(uint8_t *sum, __m128i high, __m128i middle, __m128i low)
{
	const __m128i polynomial = _mm_set_epi64x(0, 0x87);

	high = _mm_xor_si128(high, _mm_srli_si128(middle, 8));
	low = _mm_xor_si128(low, _mm_slli_si128(middle, 8));
	/* The upper half of `high` first: what overflows joins the lower half. */
	__m128i folded = _mm_clmulepi64_si128(high, polynomial, 0x01);
	high = _mm_xor_si128(high, _mm_srli_si128(folded, 8));
	low = _mm_xor_si128(low, _mm_slli_si128(folded, 8));
	low = _mm_xor_si128(low, _mm_clmulepi64_si128(high, polynomial, 0x00));
	_mm_storeu_si128((__m128i *)(void *)sum, reverse_bytes(_mm_xor_si128(load_block128(sum), low)));
}

/* sum += product, in GF(2^64). */
static inline void add_reduced64(uint8_t *sum, __m128i product)
{
	const __m128i polynomial = _mm_set_epi64x(0, 0x1B);
	__m128i folded = _mm_clmulepi64_si128(product, polynomial, 0x01);
	__m128i rest = _mm_clmulepi64_si128(folded, polynomial, 0x01);
	__m128i low = _mm_xor_si128(_mm_xor_si128(product, folded), rest);

	/* The reversed bytes of the lower half are the upper half. */
	low = _mm_srli_si128(reverse_bytes(low), 8);
	low = _mm_xor_si128(low, _mm_loadl_epi64((const __m128i *)(const void *)sum));
	_mm_storel_epi64((__m128i *)(void *)sum, low);
}

#endif
