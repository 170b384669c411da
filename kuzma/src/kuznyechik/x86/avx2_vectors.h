/* The operations on vectors of 32 bytes that sliced.h and nibbles.h are written in. */
#ifndef KUZMA_KUZNYECHIK_AVX2_VECTORS_H
#define KUZMA_KUZNYECHIK_AVX2_VECTORS_H

#include <immintrin.h>

#define INLINE inline __attribute__((always_inline))
#define VECTOR_REGISTER "x"
#define LANES 2
#define SPREAD 4 /* a broadcast of 32 bits is a load and nothing else */

typedef __m256i vec;

static INLINE vec v_load(const void *from)
{
	return _mm256_loadu_si256((const __m256i *)from);
}
static INLINE void v_store(void *to, vec x)
{
	_mm256_storeu_si256((__m256i *)to, x);
}
static INLINE vec v_lanes(const void *from)
{
	return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)from));
}
static INLINE vec v_exchange_lanes(vec x)
{
	return _mm256_permute4x64_epi64(x, 0x4E);
}
static INLINE void v_low_store(void *to, vec x)
{
	_mm_storeu_si128((__m128i *)to, _mm256_castsi256_si128(x));
}
static INLINE vec v_spread(const void *from)
{
	int32_t value;
	__builtin_memcpy(&value, from, sizeof value);
	return _mm256_set1_epi32(value);
}
static INLINE vec v_zero(void)
{
	return _mm256_setzero_si256();
}
static INLINE vec v_all(int byte)
{
	return _mm256_set1_epi8((char)byte);
}
static INLINE vec v_xor(vec a, vec b)
{
	return _mm256_xor_si256(a, b);
}
static INLINE vec v_and(vec a, vec b)
{
	return _mm256_and_si256(a, b);
}
static INLINE vec v_add(vec a, vec b)
{
	return _mm256_add_epi8(a, b);
}
static INLINE vec v_sub(vec a, vec b)
{
	return _mm256_sub_epi8(a, b);
}
static INLINE vec v_min(vec a, vec b)
{
	return _mm256_min_epu8(a, b);
}
/* An index with bit 7 where x > 15. */
static INLINE vec v_low_only(vec x)
{
	return _mm256_adds_epu8(x, v_all(0x70));
}
static INLINE vec v_high_nibbles(vec x)
{
	return v_and(_mm256_srli_epi16(x, 4), v_all(15));
}
static INLINE vec v_shuffle(vec table, vec index)
{
	return _mm256_shuffle_epi8(table, index);
}
static INLINE vec v_interleave_low(vec a, vec b)
{
	return _mm256_unpacklo_epi8(a, b);
}
static INLINE vec v_interleave_high(vec a, vec b)
{
	return _mm256_unpackhi_epi8(a, b);
}
#define V_UP(x, n) _mm256_slli_si256(x, n)
#define V_DOWN(x, n) _mm256_srli_si256(x, n)

#endif
