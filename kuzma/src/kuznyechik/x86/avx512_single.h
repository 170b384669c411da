/* L in 128-bit lanes, in AES's field: a block in each lane, or one block in all four, which has the shortest chain. */
#ifndef KUZMA_KUZNYECHIK_AVX512_SINGLE_H
#define KUZMA_KUZNYECHIK_AVX512_SINGLE_H

#include "avx512.h"

#ifdef KUZMA_X86
static const uint8_t avx512_twice[32] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	                                  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

ALWAYS_INLINE __m512i to_aes(__m512i x)
{
	return affine(x, broadcast_word(kuzma_kuznyechik_avx512_tables.to_aes));
}

ALWAYS_INLINE __m512i from_aes(__m512i x)
{
	return affine(x, broadcast_word(kuzma_kuznyechik_avx512_tables.from_aes));
}

/* A matrix times the block in each lane, and a term to be added: the sum over 16 rotations of the block, each multiplied
 * byte by byte. */
ALWAYS_INLINE __m512i multiply_lanes(__m512i x, const uint8_t diagonals[16][64], __m512i term)
{
#define DIAGONAL(d)                                                                                     \
	_mm512_gf2p8mul_epi8(d == 0 ? x : _mm512_shuffle_epi8(x, broadcast_block(avx512_twice + (d))),  \
	                     _mm512_load_si512(diagonals[d]))
	__m512i a = xor3(term, DIAGONAL(0), DIAGONAL(1)), b = xor3(DIAGONAL(2), DIAGONAL(3), DIAGONAL(4));

	a = xor3(a, DIAGONAL(5), DIAGONAL(6));
	b = xor3(b, DIAGONAL(7), DIAGONAL(8));
	a = xor3(a, DIAGONAL(9), DIAGONAL(10));
	b = xor3(b, DIAGONAL(11), DIAGONAL(12));
	a = xor3(a, b, DIAGONAL(13));
	return xor3(a, DIAGONAL(14), DIAGONAL(15));
#undef DIAGONAL
}

/* Lane q: byte 4m + q, sixteen times. */
ALWAYS_INLINE __m512i spread_index(unsigned m)
{
	const __m512i lanes = _mm512_set_epi32(0x03030303, 0x03030303, 0x03030303, 0x03030303, 0x02020202, 0x02020202,
	                                       0x02020202, 0x02020202, 0x01010101, 0x01010101, 0x01010101, 0x01010101,
	                                       0, 0, 0, 0);

	return _mm512_add_epi8(lanes, _mm512_set1_epi8((char)(4 * m)));
}

/* L of one block, and a term to be added. Each lane sums the products of four bytes; then all four sums go to each
 * lane. */
ALWAYS_INLINE __m512i linear_single(__m512i x, const struct avx512_direction *direction, __m512i term)
{
#define COLUMNS(m) \
	_mm512_gf2p8mul_epi8(_mm512_shuffle_epi8(x, spread_index(m)), _mm512_load_si512(direction->columns[m]))
	__m512i first = _mm512_xor_si512(COLUMNS(0), COLUMNS(1));
	__m512i sum = xor3(first, COLUMNS(2), COLUMNS(3));
#undef COLUMNS
	__m512i one = _mm512_shuffle_i64x2(sum, sum, 0x39), two = _mm512_shuffle_i64x2(sum, sum, 0x4E);
	__m512i three = _mm512_shuffle_i64x2(sum, sum, 0x93);

	return xor3(xor3(sum, term, one), two, three);
}
#endif

#endif
