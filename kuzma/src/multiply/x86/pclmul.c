/* Sums of products with PCLMULQDQ, 128 bits wide. */
#include "bytes.h"
#include "multiply/multiply.h"

#ifdef KUZMA_X86
#include "multiply/x86/reduce.h"

/* Karatsuba: three products a block. Two blocks go together, because the sums of their halves then cost one shuffle
 * for both: (left.low, right.high) + (left.high, right.low). */
static inline __m128i sum_of_halves(__m128i left, __m128i right)
{
	__m128d l = _mm_castsi128_pd(left), r = _mm_castsi128_pd(right);

	return _mm_castpd_si128(_mm_xor_pd(_mm_move_sd(r, l), _mm_shuffle_pd(l, r, 1)));
}

static void accumulate128(uint8_t *sum, const uint8_t *hashes, const uint8_t *data, size_t blocks)
{
	__m128i high = _mm_setzero_si128(), middle = high, low = high;
	size_t n = 0;

	for (; n + 2 <= blocks; n += 2) {
		__m128i a = load_block128(hashes + 16 * n), b = load_block128(data + 16 * n);
		__m128i c = load_block128(hashes + 16 * n + 16), d = load_block128(data + 16 * n + 16);
		__m128i left = sum_of_halves(a, c), right = sum_of_halves(b, d);

		low = _mm_xor_si128(low, _mm_clmulepi64_si128(a, b, 0x00));
		high = _mm_xor_si128(high, _mm_clmulepi64_si128(a, b, 0x11));
		low = _mm_xor_si128(low, _mm_clmulepi64_si128(c, d, 0x00));
		high = _mm_xor_si128(high, _mm_clmulepi64_si128(c, d, 0x11));
		middle = _mm_xor_si128(middle, _mm_clmulepi64_si128(left, right, 0x00));
		middle = _mm_xor_si128(middle, _mm_clmulepi64_si128(left, right, 0x11));
	}
	if (n < blocks) {
		__m128i a = load_block128(hashes + 16 * n), b = load_block128(data + 16 * n);
		__m128i left = sum_of_halves(a, a), right = sum_of_halves(b, b);

		low = _mm_xor_si128(low, _mm_clmulepi64_si128(a, b, 0x00));
		high = _mm_xor_si128(high, _mm_clmulepi64_si128(a, b, 0x11));
		middle = _mm_xor_si128(middle, _mm_clmulepi64_si128(left, right, 0x00));
	}
	add_reduced128(sum, high, _mm_xor_si128(middle, _mm_xor_si128(high, low)), low);
}

static void accumulate64(uint8_t *sum, const uint8_t *hashes, const uint8_t *data, size_t blocks)
{
	/* Two accumulators, so that the additions are no chain. Two blocks in one register are swapped as well, in both
	 * operands alike. */
	__m128i even = _mm_setzero_si128(), odd = even;
	size_t n = 0;

	for (; n + 2 <= blocks; n += 2) {
		__m128i a = load_block128(hashes + 8 * n), b = load_block128(data + 8 * n);

		even = _mm_xor_si128(even, _mm_clmulepi64_si128(a, b, 0x00));
		odd = _mm_xor_si128(odd, _mm_clmulepi64_si128(a, b, 0x11));
	}
	if (n < blocks) {
		__m128i a = reverse_bytes(_mm_loadl_epi64((const __m128i *)(const void *)(hashes + 8 * n)));
		__m128i b = reverse_bytes(_mm_loadl_epi64((const __m128i *)(const void *)(data + 8 * n)));

		odd = _mm_xor_si128(odd, _mm_clmulepi64_si128(a, b, 0x11));
	}
	add_reduced64(sum, _mm_xor_si128(even, odd));
}

const struct kuzma_multiplier kuzma_multiplier128_pclmul = {
	.name = "pclmul",
	.supported = kuzma_cpu_pclmul,
	.accumulate = accumulate128,
};

const struct kuzma_multiplier kuzma_multiplier64_pclmul = {
	.name = "pclmul",
	.supported = kuzma_cpu_pclmul,
	.accumulate = accumulate64,
};
#endif
