/* What the backends ssse3 and avx2 share beyond planes.h: chains of blocks. */
#ifndef KUZMA_MAGMA_X86_PLANES_X86_H
#define KUZMA_MAGMA_X86_PLANES_X86_H

#include "magma/planes.h"
#include "magma/x86/word.h"

static inline void planes_crypt_words(const struct planes_state *state, enum planes_order order, __m128i *left,
                                      __m128i *right)
{
	__m128i l = *left, r = *right;

	for (unsigned i = 0; i < MAGMA_ROUNDS; i += 2) {
		l = word_round(l, r, state->words[order][i]);
		r = word_round(r, l, state->words[order][i + 1]);
	}
	*left = r;
	*right = l;
}

static inline void planes_crypt_word(const struct planes_state *state, enum planes_order order, uint8_t *block)
{
	const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
	__m128i left = _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i *)block), swap);
	__m128i right = _mm_srli_epi64(left, 32);

	planes_crypt_words(state, order, &left, &right);
	_mm_storel_epi64((__m128i *)block, _mm_shuffle_epi8(_mm_unpacklo_epi32(left, right), swap));
}

static void planes_cbc_encrypt(const void *state, uint8_t *iv, uint8_t *output, const uint8_t *input, size_t blocks)
{
	const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
	__m128i left = _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i *)iv), swap);
	__m128i right = _mm_srli_epi64(left, 32);

	for (size_t n = 0; n < blocks; n++) {
		__m128i block = _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i *)(input + 8 * n)), swap);

		left = _mm_xor_si128(left, block);
		right = _mm_xor_si128(right, _mm_srli_epi64(block, 32));
		planes_crypt_words(state, PLANES_ENCRYPT, &left, &right);
		if (output != NULL)
			_mm_storel_epi64((__m128i *)(output + 8 * n),
			                 _mm_shuffle_epi8(_mm_unpacklo_epi32(left, right), swap));
	}
	_mm_storel_epi64((__m128i *)iv, _mm_shuffle_epi8(_mm_unpacklo_epi32(left, right), swap));
}

static void make_tables(void)
{
	planes_make();
	word_make_tables();
}

static void prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_tables);
}

#endif
