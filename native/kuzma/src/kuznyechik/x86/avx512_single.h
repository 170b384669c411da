/* One block in all four 128-bit lanes, in AES's field: the way through the cipher with the shortest chain. */
#ifndef KUZMA_KUZNYECHIK_AVX512_SINGLE_H
#define KUZMA_KUZNYECHIK_AVX512_SINGLE_H

#include "avx512.h"

#ifdef KUZMA_X86
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
