/* Every multiplier against the definition bit by bit (RFC 9058 section 4.1). */
#include "../src/multiply/multiply.h"
#include "harness.h"

enum { BLOCKS = 70, ROOM = 16 * BLOCKS + 64 };

static uint64_t seed = 11;

/* to += left * right: for each coefficient of `right`, from the highest, multiply by x and add `left`. */
static void add_product(uint8_t *to, const uint8_t *left, const uint8_t *right, size_t block)
{
	uint8_t product[16] = { 0 };

	for (size_t bit = 0; bit < 8 * block; bit++) {
		/* What comes in from below: the next byte's highest bit, or at the end the rest of the polynomial. */
		int below = product[0] >> 7 == 0 ? 0 : block == 16 ? 0x87 : 0x1B;

		for (size_t i = block; i-- > 0;) {
			int above = product[i] >> 7;
			product[i] = (uint8_t)(product[i] << 1 ^ below);
			below = above;
		}
		if (right[bit / 8] >> (7 - bit % 8) & 1)
			for (size_t i = 0; i < block; i++)
				product[i] ^= left[i];
	}
	for (size_t i = 0; i < block; i++)
		to[i] ^= product[i];
}

static int agrees(const struct kuzma_multiplier *multiplier, size_t block, size_t blocks, size_t offset, int fill)
{
	static uint8_t hashes[ROOM], data[ROOM];
	uint8_t sum[48], expected[48];

	random_bytes(&seed, hashes, sizeof hashes);
	random_bytes(&seed, data, sizeof data);
	if (fill >= 0) {
		memset(hashes, fill, sizeof hashes);
		memset(data, fill, sizeof data);
	}
	random_bytes(&seed, sum, sizeof sum);
	memcpy(expected, sum, sizeof sum);
	for (size_t n = 0; n < blocks; n++)
		add_product(expected + offset % 32, hashes + offset + n * block, data + (offset * 7 + 3) % 64 + n * block,
		            block);
	multiplier->accumulate(sum + offset % 32, hashes + offset, data + (offset * 7 + 3) % 64, blocks);
	return memcmp(sum, expected, sizeof sum) == 0;
}

/* Pins the order of the bits and the polynomial: 1 * a = a, and x^(n - 1) * x = x^n = the polynomial's rest. */
static void order(const struct kuzma_multiplier *multiplier, size_t block)
{
	uint8_t one[16] = { 0 }, x[16] = { 0 }, highest[16] = { 0x80 }, value[16], sum[16] = { 0 };

	one[block - 1] = 1;
	x[block - 1] = 2;
	random_bytes(&seed, value, sizeof value);
	multiplier->accumulate(sum, one, value, 1);
	CHECK(memcmp(sum, value, block) == 0, "%s: 1 * a", multiplier->name);
	memset(sum, 0, sizeof sum);
	multiplier->accumulate(sum, highest, x, 1);
	CHECK(equals_hex(sum, block == 16 ? "00000000000000000000000000000087" : "000000000000001b"), "%s: x^%zu",
	      multiplier->name, 8 * block);
}

int main(void)
{
	for (int cipher = 0; cipher < 2; cipher++) {
		enum kuzma_cipher which = (enum kuzma_cipher)cipher;
		size_t block = which == KUZMA_KUZNYECHIK ? 16 : 8;
		const struct kuzma_multiplier *multiplier;

		CHECK(kuzma_multiplier(which) != NULL, "a multiplier for blocks of %zu", block);
		for (size_t i = 0; (multiplier = kuzma_multiplier_at(which, i)) != NULL; i++) {
			if (multiplier->supported != NULL && !multiplier->supported())
				continue;
			for (size_t blocks = 0; blocks <= BLOCKS; blocks++)
				CHECK(agrees(multiplier, block, blocks, 1, -1), "%s: %zu blocks of %zu", multiplier->name, blocks, block);
			for (size_t offset = 0; offset < 64; offset++)
				CHECK(agrees(multiplier, block, 29, offset, -1), "%s: offset %zu", multiplier->name, offset);
			/* All coefficients 1: the most carries there can be. */
			CHECK(agrees(multiplier, block, 1, 0, 0xFF), "%s: ones", multiplier->name);
			CHECK(agrees(multiplier, block, 1, 0, 0x11), "%s: a full class", multiplier->name);
			order(multiplier, block);
		}
	}
	return harness_finish();
}
