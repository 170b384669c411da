/* Carry-less products made of integer multiplications, for processors without an instruction for them.
 *
 * The operands are split into four classes, bits 0, 4, 8, ..., bits 1, 5, 9, ..., and so on. In the integer product of
 * two classes, the sums for one bit of the carry-less product have four bits of room: the lowest of them is wanted,
 * and a carry runs over into a neighbour only if all 16 terms are 1, which happens at bit 60 at the earliest and so
 * leaves the lower 64 bits. The upper half of a product is the lower half of the product of the reversed operands.
 *
 * As constant in time as the processor's 64-bit multiplication: on some small cores (Cortex-M3, old PowerPC) that one
 * ends earlier for small operands. */
#include "bytes.h"
#include "multiply/multiply.h"

#define CLASS (UINT64_C(0x1111111111111111))

static inline void xor_be64(uint8_t *to, uint64_t value)
{
	store_be64(to, load_be64(to) ^ value);
}

/* The lower 64 bits of the carry-less product. */
static inline uint64_t multiply_low(uint64_t left, uint64_t right)
{
	uint64_t a0 = left & CLASS, a1 = left & CLASS << 1, a2 = left & CLASS << 2, a3 = left & CLASS << 3;
	uint64_t b0 = right & CLASS, b1 = right & CLASS << 1, b2 = right & CLASS << 2, b3 = right & CLASS << 3;
	uint64_t sum0 = a0 * b0 ^ a1 * b3 ^ a2 * b2 ^ a3 * b1;
	uint64_t sum1 = a0 * b1 ^ a1 * b0 ^ a2 * b3 ^ a3 * b2;
	uint64_t sum2 = a0 * b2 ^ a1 * b1 ^ a2 * b0 ^ a3 * b3;
	uint64_t sum3 = a0 * b3 ^ a1 * b2 ^ a2 * b1 ^ a3 * b0;

	return (sum0 & CLASS) | (sum1 & CLASS << 1) | (sum2 & CLASS << 2) | (sum3 & CLASS << 3);
}

/* The order of all 64 bits reversed. */
static inline uint64_t reverse(uint64_t word)
{
	word = (word >> 1 & UINT64_C(0x5555555555555555)) | (word & UINT64_C(0x5555555555555555)) << 1;
	word = (word >> 2 & UINT64_C(0x3333333333333333)) | (word & UINT64_C(0x3333333333333333)) << 2;
	word = (word >> 4 & UINT64_C(0x0F0F0F0F0F0F0F0F)) | (word & UINT64_C(0x0F0F0F0F0F0F0F0F)) << 4;
	word = (word >> 8 & UINT64_C(0x00FF00FF00FF00FF)) | (word & UINT64_C(0x00FF00FF00FF00FF)) << 8;
	word = (word >> 16 & UINT64_C(0x0000FFFF0000FFFF)) | (word & UINT64_C(0x0000FFFF0000FFFF)) << 16;
	return word >> 32 | word << 32;
}

/* A sum of products of 127 bits: bits 0..63, and bits 63..126 in reverse order. */
struct product {
	uint64_t low, reversed_high;
};

static inline void add_product(struct product *sum, uint64_t left, uint64_t right, uint64_t left_reversed,
                               uint64_t right_reversed)
{
	sum->low ^= multiply_low(left, right);
	sum->reversed_high ^= multiply_low(left_reversed, right_reversed);
}

static inline uint64_t product_high(const struct product *product)
{
	return reverse(product->reversed_high) >> 1;
}

static void accumulate128(uint8_t *sum, const uint8_t *hashes, const uint8_t *data, size_t blocks)
{
	struct product high = { 0, 0 }, middle = { 0, 0 }, low = { 0, 0 };

	/* Karatsuba: three products instead of four. */
	for (size_t n = 0; n < blocks; n++) {
		uint64_t a1 = load_be64(hashes + 16 * n), a0 = load_be64(hashes + 16 * n + 8);
		uint64_t b1 = load_be64(data + 16 * n), b0 = load_be64(data + 16 * n + 8);
		uint64_t ra1 = reverse(a1), ra0 = reverse(a0), rb1 = reverse(b1), rb0 = reverse(b0);

		add_product(&high, a1, b1, ra1, rb1);
		add_product(&low, a0, b0, ra0, rb0);
		add_product(&middle, a1 ^ a0, b1 ^ b0, ra1 ^ ra0, rb1 ^ rb0);
	}
	middle.low ^= high.low ^ low.low;
	middle.reversed_high ^= high.reversed_high ^ low.reversed_high;

	uint64_t word0 = low.low, word1 = product_high(&low) ^ middle.low;
	uint64_t word2 = high.low ^ product_high(&middle), word3 = product_high(&high);

	/* x^128 = x^7 + x^2 + x + 1, first for the highest word, whose overflow joins the next. */
	word2 ^= word3 >> 63 ^ word3 >> 62 ^ word3 >> 57;
	word1 ^= word3 ^ word3 << 1 ^ word3 << 2 ^ word3 << 7;
	word1 ^= word2 >> 63 ^ word2 >> 62 ^ word2 >> 57;
	word0 ^= word2 ^ word2 << 1 ^ word2 << 2 ^ word2 << 7;
	xor_be64(sum, word1);
	xor_be64(sum + 8, word0);
}

static void accumulate64(uint8_t *sum, const uint8_t *hashes, const uint8_t *data, size_t blocks)
{
	struct product product = { 0, 0 };

	for (size_t n = 0; n < blocks; n++) {
		uint64_t a = load_be64(hashes + 8 * n), b = load_be64(data + 8 * n);

		add_product(&product, a, b, reverse(a), reverse(b));
	}

	uint64_t high = product_high(&product);

	/* x^64 = x^4 + x^3 + x + 1; what overflows once more is at most 4 bits. */
	high ^= high >> 63 ^ high >> 61 ^ high >> 60;
	xor_be64(sum, product.low ^ high ^ high << 1 ^ high << 3 ^ high << 4);
}

const struct kuzma_multiplier kuzma_multiplier128_portable = {
	.name = "portable",
	.accumulate = accumulate128,
};

const struct kuzma_multiplier kuzma_multiplier64_portable = {
	.name = "portable",
	.accumulate = accumulate64,
};
