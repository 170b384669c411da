/* The key schedule of the AVX-512 backend, RFC 7801 section 4.3, in constant time. */
#include "avx512_single.h"

#ifdef KUZMA_X86

/* Element p of `low`: byte p eight times; `high`: byte 8 + p. */
ALWAYS_INLINE void spread_key(uint64_t to[16], const uint8_t key[16], bool reversed)
{
	__m512i bytes = _mm512_set_epi64(0x0707070707070707, 0x0606060606060606, 0x0505050505050505, 0x0404040404040404,
	                                 0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
	__m512i block = broadcast_block(key);

	if (reversed)
		bytes = _mm512_sub_epi8(_mm512_set1_epi8(15), bytes);
	_mm512_storeu_si512(to, _mm512_shuffle_epi8(block, bytes));
	_mm512_storeu_si512(to + 8, _mm512_shuffle_epi8(block, _mm512_xor_si512(bytes, _mm512_set1_epi8(8))));
}

/* The folded keys: a product by a triangular matrix, as in linear_lanes(). Four keys. */
ALWAYS_INLINE __m512i fold(__m512i keys)
{
	const struct avx512_tables *tables = &kuznyechik_avx512_tables;
	const __m512i bytes = _mm512_broadcast_i32x4(_mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
	__m512i sum = keys; /* p_0 = 1 */

	for (unsigned d = 1; d < 16; d++) {
		/* Where the rotation goes round, the factor is zero. */
		__m512i rotated = _mm512_shuffle_epi8(keys, _mm512_and_si512(_mm512_add_epi8(bytes, _mm512_set1_epi8((char)d)),
		                                                             _mm512_set1_epi8(15)));
		sum = _mm512_xor_si512(sum, _mm512_gf2p8mul_epi8(rotated, _mm512_load_si512(tables->fold[d])));
	}
	return affine(sum, broadcast_word(tables->from_aes));
}

void kuznyechik_avx512_set_key(void *to, const uint8_t key[KUZMA_KEY_BYTES])
{
	const struct avx512_tables *tables = &kuznyechik_avx512_tables;
	const struct avx512_direction *direction = &tables->encryption;
	const __m512i zero = _mm512_setzero_si512();
	struct avx512_state *state = to;
	uint8_t keys[12][16]; /* K_2 .. K_10, and room for whole registers */
	__m512i left = affine(broadcast_block(key), broadcast_word(tables->to_aes));
	__m512i right = affine(broadcast_block(key + 16), broadcast_word(tables->to_aes));

	_mm_storeu_si128((__m128i *)(void *)state->lanes[0], _mm512_castsi512_si128(left));
	_mm_storeu_si128((__m128i *)(void *)state->lanes[1], _mm512_castsi512_si128(right));
	for (unsigned i = 1; i < 5; i++) {
		for (unsigned j = 0; j < 8; j++) {
			__m512i constant = broadcast_block(tables->constants[8 * (i - 1) + j]);
			__m512i mixed = substitute(_mm512_xor_si512(left, constant), direction->aes_box);

			mixed = linear_single(mixed, direction, right);
			right = left;
			left = mixed;
		}
		_mm_storeu_si128((__m128i *)(void *)state->lanes[2 * i], _mm512_castsi512_si128(left));
		_mm_storeu_si128((__m128i *)(void *)state->lanes[2 * i + 1], _mm512_castsi512_si128(right));
	}

	spread_key(state->plain[0], key, false);
	for (unsigned i = 0; i < 3; i++) {
		__mmask8 mask = i < 2 ? 255 : 3;
		__m512i four = _mm512_maskz_loadu_epi64(mask, state->lanes[1 + 4 * i]);
		_mm512_storeu_si512(keys[4 * i], affine(four, broadcast_word(tables->from_aes)));
	}
	for (unsigned i = 1; i < KUZNYECHIK_ROUND_KEYS; i++)
		spread_key(state->plain[i], keys[i - 1], false);
	for (unsigned i = 0; i < 3; i++) {
		__mmask8 mask = i < 2 ? 255 : 3;
		_mm512_storeu_si512(keys[4 * i], fold(_mm512_maskz_loadu_epi64(mask, state->lanes[1 + 4 * i])));
	}
	for (unsigned i = 0; i < KUZNYECHIK_ROUND_KEYS - 1; i++)
		spread_key(state->folded[i], keys[i], true);
	for (unsigned i = 0; i < 3; i++)
		_mm512_storeu_si512(keys[4 * i], zero);
	__asm__ volatile("" : : "r"(keys) : "memory"); /* the zeros are not dead */
}
#endif
