/* The networks of logic of the constant-time backends against the S-boxes of the RFCs, for every input, and the
 * transposition. */
#include "../src/kuznyechik/portable/sliced_box.h"
#include "../src/kuznyechik/transforms.h"
#include "../src/magma/portable/sliced_boxes.h"
#include "../src/magma/transforms.h"
#include "../src/transpose64.h"
#include "harness.h"

static void kuznyechik(void)
{
	for (unsigned first = 0; first < 256; first += 64) {
		uint64_t planes[8] = { 0 }, inverse[8];

		for (unsigned n = 0; n < 64; n++)
			for (unsigned bit = 0; bit < 8; bit++)
				planes[bit] |= (uint64_t)((first + n) >> bit & 1u) << n;
		memcpy(inverse, planes, sizeof planes);
		sliced_box(planes, planes);
		sliced_box_inverse(inverse, inverse);
		for (unsigned n = 0; n < 64; n++) {
			unsigned value = 0, original = 0;

			for (unsigned bit = 0; bit < 8; bit++) {
				value |= (unsigned)(planes[bit] >> n & 1u) << bit;
				original |= (unsigned)(inverse[bit] >> n & 1u) << bit;
			}
			CHECK(value == kuzma_kuznyechik_pi[first + n], "S of %u: %u", first + n, value);
			CHECK(first + n == kuzma_kuznyechik_pi[original], "inverse S of %u: %u", first + n, original);
		}
	}
}

static void magma(unsigned box, void (*network)(uint64_t *, uint64_t *, uint64_t *, uint64_t *, uint64_t, uint64_t,
                                                uint64_t, uint64_t))
{
	uint64_t planes[4] = { 0 }, result[4] = { 0 };

	for (unsigned n = 0; n < 16; n++)
		for (unsigned bit = 0; bit < 4; bit++)
			planes[bit] |= (uint64_t)(n >> bit & 1u) << n;
	network(&result[0], &result[1], &result[2], &result[3], planes[0], planes[1], planes[2], planes[3]);
	for (unsigned n = 0; n < 16; n++) {
		unsigned value = 0;

		for (unsigned bit = 0; bit < 4; bit++)
			value |= (unsigned)(result[bit] >> n & 1u) << bit;
		CHECK(value == kuzma_magma_pi[box][n], "S-box %u of %u: %u", box, n, value);
	}
}

static void transposition(void)
{
	uint64_t seed = 5, matrix[64], transposed[64];

	random_bytes(&seed, (uint8_t *)matrix, sizeof matrix);
	memcpy(transposed, matrix, sizeof matrix);
	transpose64(transposed);
	for (unsigned i = 0; i < 64; i++)
		for (unsigned j = 0; j < 64; j++)
			CHECK((matrix[i] >> j & 1u) == (transposed[j] >> i & 1u), "transposed bit %u of word %u", j, i);
}

int main(void)
{
	kuznyechik();
	magma(0, sliced_box0);
	magma(1, sliced_box1);
	magma(2, sliced_box2);
	magma(3, sliced_box3);
	magma(4, sliced_box4);
	magma(5, sliced_box5);
	magma(6, sliced_box6);
	magma(7, sliced_box7);
	transposition();
	return harness_finish();
}
