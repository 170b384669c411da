/* The tables of the AVX-512 backend, made from the definitions of S and L in transforms.c. Nothing here is secret. */
#include "avx512.h"

#ifdef KUZMA_X86
struct avx512_tables kuzma_kuznyechik_avx512_tables;

enum { KUZNYECHIK_FIELD = 0x1C3, AES_FIELD = 0x11B };

static uint8_t multiply(unsigned field, unsigned left, unsigned right)
{
	unsigned product = 0;

	for (; right != 0; right >>= 1) {
		if (right & 1u)
			product ^= left;
		left = left << 1 ^ (left & 0x80u ? field : 0u);
	}
	return (uint8_t)product;
}

/* A map of bytes that keeps sums, given by the images of 1, 2, 4, .. 128, as gf2p8affineqb wants it: byte 7 - i of the
 * word holds row i. */
static uint64_t matrix(const uint8_t images[8])
{
	uint64_t word = 0;

	for (unsigned i = 0; i < 8; i++)
		for (unsigned j = 0; j < 8; j++)
			word |= (uint64_t)(images[j] >> i & 1u) << (8 * (7 - i) + j);
	return word;
}

static uint64_t product_matrix(unsigned factor)
{
	uint8_t images[8];

	for (unsigned j = 0; j < 8; j++)
		images[j] = multiply(KUZNYECHIK_FIELD, factor, 1u << j);
	return matrix(images);
}

/* The isomorphism: 2, a root of the polynomial of Kuznyechik's field, goes to a root of that polynomial in AES's. */
static void make_isomorphism(uint8_t to_aes[256], uint8_t from_aes[256])
{
	uint8_t images[8], back[8];
	unsigned root = 2, value = 1;

	for (;; root++) {
		unsigned power = 1, sum = 0;
		for (unsigned j = 0; j <= 8; j++) {
			if (KUZNYECHIK_FIELD >> j & 1)
				sum ^= power;
			power = multiply(AES_FIELD, power, root);
		}
		if (sum == 0)
			break;
	}
	for (unsigned j = 0; j < 8; j++) {
		images[j] = (uint8_t)value;
		value = multiply(AES_FIELD, value, root);
	}
	for (unsigned x = 0; x < 256; x++) {
		unsigned image = 0;
		for (unsigned j = 0; j < 8; j++)
			if (x >> j & 1)
				image ^= images[j];
		to_aes[x] = (uint8_t)image;
		from_aes[image] = (uint8_t)x;
	}
	for (unsigned j = 0; j < 8; j++)
		back[j] = from_aes[1u << j];
	kuzma_kuznyechik_avx512_tables.to_aes = matrix(images);
	kuzma_kuznyechik_avx512_tables.from_aes = matrix(back);
}

static void make_diagonals(uint8_t diagonals[16][64], uint8_t factors[16][16], const uint8_t to_aes[256])
{
	for (unsigned d = 0; d < 16; d++)
		for (unsigned i = 0; i < 64; i++)
			diagonals[d][i] = to_aes[factors[i % 16][(i + d) % 16]];
}

static void make_direction(struct avx512_direction *direction, const uint8_t box[256], void (*linear)(uint8_t *),
                           const uint8_t to_aes[256])
{
	uint8_t factors[16][16]; /* [output byte][input byte] */

	for (unsigned j = 0; j < 16; j++) {
		uint8_t block[16] = { 0 };
		block[j] = 1;
		linear(block);
		for (unsigned i = 0; i < 16; i++)
			factors[i][j] = block[i];
	}
	for (unsigned x = 0; x < 256; x++) {
		direction->box[x] = box[x];
		direction->aes_box[to_aes[x]] = to_aes[box[x]];
	}
	for (unsigned out = 0; out < 2; out++)
		for (unsigned in = 0; in < 2; in++)
			for (unsigned r = 0; r < 8; r++)
				for (unsigned i = 0; i < 8; i++)
					direction->dense[out][in][r][i] =
					        product_matrix(factors[8 * out + i][8 * in + (i + r) % 8]);
	make_diagonals(direction->diagonals, factors, to_aes);
	for (unsigned m = 0; m < 4; m++)
		for (unsigned i = 0; i < 64; i++)
			direction->columns[m][i] = to_aes[factors[i % 16][4 * m + i / 16]];
}

void kuzma_kuznyechik_avx512_make_tables(void)
{
	static const uint8_t factors[6] = { 148, 32, 16, 194, 192, 251 };
	/* p_0 .. p_15 of avx512_sliced.c. */
	static const uint8_t recursion[16] = { 1, 148, 32, 133, 16, 194, 192, 1, 251, 1, 192, 194, 16, 133, 32, 148 };
	struct avx512_tables *tables = &kuzma_kuznyechik_avx512_tables;
	uint8_t to_aes[256], from_aes[256], fold[16][16] = { { 0 } };

	kuzma_kuznyechik_transforms_prepare();
	make_isomorphism(to_aes, from_aes);
	make_direction(&tables->encryption, kuzma_kuznyechik_pi, kuzma_kuznyechik_l, to_aes);
	make_direction(&tables->decryption, kuzma_kuznyechik_pi_inverse, kuzma_kuznyechik_l_inverse, to_aes);
	for (unsigned i = 0; i < 6; i++)
		tables->factors[i] = product_matrix(factors[i]);
	for (unsigned n = 0; n < 16; n++)
		for (unsigned m = 0; m <= n; m++)
			fold[15 - n][15 - m] = recursion[n - m];
	make_diagonals(tables->fold, fold, to_aes);
	for (unsigned i = 0; i < 32; i++) {
		uint8_t block[16] = { 0 };
		block[15] = (uint8_t)(i + 1);
		kuzma_kuznyechik_l(block);
		for (unsigned j = 0; j < 16; j++)
			tables->constants[i][j] = to_aes[block[j]];
	}
	for (unsigned half = LEFT_HALF; half <= RIGHT_HALF; half++) {
		uint8_t column[16] = { 0 };
		column[half == LEFT_HALF ? 7 : 15] = 1;
		kuzma_kuznyechik_l(column);
		for (unsigned n = 0; n < 16; n++)
			tables->counting_columns[half][n] = product_matrix(column[15 - n]);
	}
}
#endif
