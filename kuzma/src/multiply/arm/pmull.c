/* Sums of products with PMULL of 64 by 64 bits. */
#include "bytes.h"
#include "multiply/multiply.h"

#ifdef KUZMA_ARM
#include <arm_neon.h>

/* The halves as numbers, the first of memory in lane 0: so lane 0 is the upper one. */
static inline uint64x2_t load_halves(const uint8_t *from)
{
	return vreinterpretq_u64_u8(vrev64q_u8(vld1q_u8(from)));
}

static inline uint64x2_t multiply_first(uint64x2_t left, uint64x2_t right)
{
	return vreinterpretq_u64_p128(vmull_p64((poly64_t)vgetq_lane_u64(left, 0), (poly64_t)vgetq_lane_u64(right, 0)));
}

static inline uint64x2_t multiply_second(uint64x2_t left, uint64x2_t right)
{
	return vreinterpretq_u64_p128(vmull_high_p64(vreinterpretq_p64_u64(left), vreinterpretq_p64_u64(right)));
}

static inline uint64x2_t add(uint64x2_t left, uint64x2_t right)
{
	return veorq_u64(left, right);
}

/* The sum of the halves of each, the first's in lane 0. */
static inline uint64x2_t sums_of_halves(uint64x2_t first, uint64x2_t second)
{
	return add(vtrn1q_u64(first, second), vtrn2q_u64(first, second));
}

/* Karatsuba: three products a block. */
static void accumulate128(uint8_t *sum, const uint8_t *hashes, const uint8_t *data, size_t blocks)
{
	const uint64x2_t zero = vdupq_n_u64(0), polynomial = vdupq_n_u64(0x87);
	uint64x2_t high = zero, middle = zero, low = zero;
	size_t n = 0;

	for (; n + 2 <= blocks; n += 2) {
		uint64x2_t a = load_halves(hashes + 16 * n), b = load_halves(data + 16 * n);
		uint64x2_t c = load_halves(hashes + 16 * n + 16), d = load_halves(data + 16 * n + 16);
		uint64x2_t left = sums_of_halves(a, c), right = sums_of_halves(b, d);

		high = add(high, add(multiply_first(a, b), multiply_first(c, d)));
		low = add(low, add(multiply_second(a, b), multiply_second(c, d)));
		middle = add(middle, add(multiply_first(left, right), multiply_second(left, right)));
	}
	if (n < blocks) {
		uint64x2_t a = load_halves(hashes + 16 * n), b = load_halves(data + 16 * n);

		high = add(high, multiply_first(a, b));
		low = add(low, multiply_second(a, b));
		middle = add(middle, multiply_first(sums_of_halves(a, a), sums_of_halves(b, b)));
	}
	middle = add(middle, add(high, low));
	/* Products have their lower half in lane 0. */
	high = add(high, vextq_u64(middle, zero, 1));
	low = add(low, vextq_u64(zero, middle, 1));
	/* x^128 = x^7 + x^2 + x + 1, first for the upper half of `high`, whose overflow joins the lower half. */
	uint64x2_t folded = multiply_second(high, polynomial);
	high = add(high, vextq_u64(folded, zero, 1));
	low = add(low, vextq_u64(zero, folded, 1));
	low = add(low, multiply_first(high, polynomial));
	low = add(vextq_u64(low, low, 1), load_halves(sum));
	vst1q_u8(sum, vrev64q_u8(vreinterpretq_u8_u64(low)));
}

static void accumulate64(uint8_t *sum, const uint8_t *hashes, const uint8_t *data, size_t blocks)
{
	const uint64x2_t polynomial = vdupq_n_u64(0x1B);
	uint64x2_t even = vdupq_n_u64(0), odd = even;
	size_t n = 0;

	for (; n + 2 <= blocks; n += 2) {
		uint64x2_t a = load_halves(hashes + 8 * n), b = load_halves(data + 8 * n);

		even = add(even, multiply_first(a, b));
		odd = add(odd, multiply_second(a, b));
	}
	if (n < blocks) {
		uint64x1_t a = vreinterpret_u64_u8(vrev64_u8(vld1_u8(hashes + 8 * n)));
		uint64x1_t b = vreinterpret_u64_u8(vrev64_u8(vld1_u8(data + 8 * n)));

		even = add(even, multiply_first(vcombine_u64(a, a), vcombine_u64(b, b)));
	}
	even = add(even, odd);
	/* x^64 = x^4 + x^3 + x + 1; what overflows once more is at most 4 bits. */
	uint64x2_t folded = multiply_second(even, polynomial);
	even = add(add(even, folded), multiply_second(folded, polynomial));
	vst1_u8(sum, veor_u8(vld1_u8(sum), vrev64_u8(vreinterpret_u8_u64(vget_low_u64(even)))));
}

const struct kuzma_multiplier kuzma_multiplier128_pmull = {
	.name = "pmull",
	.supported = kuzma_cpu_pmull,
	.accumulate = accumulate128,
};

const struct kuzma_multiplier kuzma_multiplier64_pmull = {
	.name = "pmull",
	.supported = kuzma_cpu_pmull,
	.accumulate = accumulate64,
};
#endif
