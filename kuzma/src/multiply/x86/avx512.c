/* Sums of products with VPCLMULQDQ, four blocks of 16 bytes or eight of 8 at once.
 *
 * The operands stay in the order of memory, and only the bits within each byte are reversed: a block is then the
 * reversal of its polynomial, whose products are the reversals of the products. Intel cores with 512-bit vectors do
 * byte shuffles and carry-less products on one and the same port, but GFNI's bit reversal on two. For the same reason
 * there are four products a block, and not Karatsuba's three and their shuffles. */
#include "bytes.h"
#include "multiply/multiply.h"

#ifdef KUZMA_X86
#include "multiply/x86/reduce.h"

#define XOR3 0x96 /* ternary logic: the sum of all three */

static inline __m512i reverse_bits_of_bytes(__m512i value)
{
	/* The matrix that swaps bit i and bit 7 - i. */
	return _mm512_gf2p8affine_epi64_epi8(value, _mm512_set1_epi64((long long)UINT64_C(0x8040201008040201)), 0);
}

static inline __m512i load(const uint8_t *from)
{
	return reverse_bits_of_bytes(_mm512_loadu_si512(from));
}

/* `words` of 8 bytes, then zeros. */
static inline __m512i load_some(const uint8_t *from, size_t words)
{
	return reverse_bits_of_bytes(_mm512_maskz_loadu_epi64((__mmask8)((1u << words) - 1), from));
}

static inline __m128i sum_of_lanes(__m512i value)
{
	__m256i half = _mm256_xor_si256(_mm512_castsi512_si256(value), _mm512_extracti64x4_epi64(value, 1));

	return _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

/* All 128 bits in reverse order. */
static inline __m128i reverse_bits(__m128i value)
{
	value = _mm_gf2p8affine_epi64_epi8(value, _mm_set1_epi64x((long long)UINT64_C(0x8040201008040201)), 0);
	return reverse_bytes(value);
}

/* The lower half of (high, low) / x; bit 0 is zero. */
static inline __m128i shift_right(__m128i high, __m128i low)
{
	__m128i above = _mm_alignr_epi8(high, low, 8);

	return _mm_or_si128(_mm_srli_epi64(low, 1), _mm_slli_epi64(above, 63));
}

static void accumulate128(uint8_t *sum, const uint8_t *hashes, const uint8_t *data, size_t blocks)
{
	__m512i zero = _mm512_setzero_si512(), first = zero, second = zero, last = zero, third = zero;

#define ADD(to, a, b, c, d, halves) \
	to = _mm512_ternarylogic_epi64(to, _mm512_clmulepi64_epi128(a, b, halves), _mm512_clmulepi64_epi128(c, d, halves), XOR3)
	for (; blocks >= 8; blocks -= 8, hashes += 128, data += 128) {
		__m512i a = load(hashes), b = load(data), c = load(hashes + 64), d = load(data + 64);

		ADD(first, a, b, c, d, 0x00);
		ADD(second, a, b, c, d, 0x01);
		ADD(third, a, b, c, d, 0x10);
		ADD(last, a, b, c, d, 0x11);
	}
	if (blocks > 0) {
		size_t some = blocks < 4 ? blocks : 4, rest = blocks - some;
		__m512i a = load_some(hashes, 2 * some), b = load_some(data, 2 * some);
		__m512i c = load_some(hashes + 16 * some, 2 * rest), d = load_some(data + 16 * some, 2 * rest);

		ADD(first, a, b, c, d, 0x00);
		ADD(second, a, b, c, d, 0x01);
		ADD(third, a, b, c, d, 0x10);
		ADD(last, a, b, c, d, 0x11);
	}
#undef ADD
	second = _mm512_xor_si512(second, third);

	__m128i high = reverse_bits(sum_of_lanes(first));
	__m128i middle = reverse_bits(sum_of_lanes(second));
	__m128i low = reverse_bits(sum_of_lanes(last));

	/* The reversal of a product of 255 bits among 256 is the product times x. */
	high = _mm_xor_si128(high, _mm_srli_si128(middle, 8));
	low = _mm_xor_si128(low, _mm_slli_si128(middle, 8));
	add_reduced128(sum, shift_right(_mm_setzero_si128(), high), _mm_setzero_si128(), shift_right(high, low));
}

static void accumulate64(uint8_t *sum, const uint8_t *hashes, const uint8_t *data, size_t blocks)
{
	__m512i even = _mm512_setzero_si512(), odd = even;

#define ADD(to, a, b) \
	to = _mm512_ternarylogic_epi64(to, _mm512_clmulepi64_epi128(a, b, 0x00), _mm512_clmulepi64_epi128(a, b, 0x11), XOR3)
	for (; blocks >= 16; blocks -= 16, hashes += 128, data += 128) {
		__m512i a = load(hashes), b = load(data), c = load(hashes + 64), d = load(data + 64);

		ADD(even, a, b);
		ADD(odd, c, d);
	}
	if (blocks > 0) {
		size_t some = blocks < 8 ? blocks : 8, rest = blocks - some;
		__m512i a = load_some(hashes, some), b = load_some(data, some);
		__m512i c = load_some(hashes + 8 * some, rest), d = load_some(data + 8 * some, rest);

		ADD(even, a, b);
		ADD(odd, c, d);
	}
#undef ADD
	__m128i product = reverse_bits(sum_of_lanes(_mm512_xor_si512(even, odd)));

	add_reduced64(sum, shift_right(_mm_setzero_si128(), product));
}

const struct kuzma_multiplier kuzma_multiplier128_avx512 = {
	.name = "avx512",
	.supported = kuzma_cpu_avx512,
	.accumulate = accumulate128,
};

const struct kuzma_multiplier kuzma_multiplier64_avx512 = {
	.name = "avx512",
	.supported = kuzma_cpu_avx512,
	.accumulate = accumulate64,
};
#endif
