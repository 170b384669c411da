#include "transforms.h"

#include <pthread.h>
#include <string.h>

#include "bytes.h"

const uint8_t kuzma_kuznyechik_pi[256] = {
	252, 238, 221, 17, 207, 110, 49, 22, 251, 196, 250, 218, 35, 197, 4, 77,
	233, 119, 240, 219, 147, 46, 153, 186, 23, 54, 241, 187, 20, 205, 95, 193,
	249, 24, 101, 90, 226, 92, 239, 33, 129, 28, 60, 66, 139, 1, 142, 79,
	5, 132, 2, 174, 227, 106, 143, 160, 6, 11, 237, 152, 127, 212, 211, 31,
	235, 52, 44, 81, 234, 200, 72, 171, 242, 42, 104, 162, 253, 58, 206, 204,
	181, 112, 14, 86, 8, 12, 118, 18, 191, 114, 19, 71, 156, 183, 93, 135,
	21, 161, 150, 41, 16, 123, 154, 199, 243, 145, 120, 111, 157, 158, 178, 177,
	50, 117, 25, 61, 255, 53, 138, 126, 109, 84, 198, 128, 195, 189, 13, 87,
	223, 245, 36, 169, 62, 168, 67, 201, 215, 121, 214, 246, 124, 34, 185, 3,
	224, 15, 236, 222, 122, 148, 176, 188, 220, 232, 40, 80, 78, 51, 10, 74,
	167, 151, 96, 115, 30, 0, 98, 68, 26, 184, 56, 130, 100, 159, 38, 65,
	173, 69, 70, 146, 39, 94, 85, 47, 140, 163, 165, 125, 105, 213, 149, 59,
	7, 88, 179, 64, 134, 172, 29, 247, 48, 55, 107, 228, 136, 217, 231, 137,
	225, 27, 131, 73, 76, 63, 248, 254, 141, 83, 170, 144, 202, 216, 133, 97,
	32, 113, 103, 164, 45, 43, 9, 91, 203, 155, 37, 208, 190, 229, 108, 82,
	89, 166, 116, 210, 230, 244, 180, 192, 209, 102, 175, 194, 57, 75, 99, 182,
};

uint8_t kuzma_kuznyechik_pi_inverse[256];

/* l() of RFC 7801 section 4.1.2: the coefficients of a_15 .. a_0. */
static const uint8_t coefficients[16] = {
	148, 32, 133, 16, 194, 192, 1, 251, 1, 192, 194, 16, 133, 32, 148, 1,
};

/* Coefficients 0..7 times every byte: those that follow mirror them. */
static uint8_t products[8][256];

/* The product in GF(2)[x] / x^8 + x^7 + x^6 + x + 1. */
static uint8_t multiply(unsigned left, unsigned right)
{
	unsigned product = 0;

	for (; right != 0; right >>= 1) {
		if (right & 1u)
			product ^= left;
		left = left << 1 ^ (left & 0x80u ? 0x1C3u : 0u);
	}
	return (uint8_t)product;
}

static void make_tables(void)
{
	for (unsigned value = 0; value < 256; value++) {
		kuzma_kuznyechik_pi_inverse[kuzma_kuznyechik_pi[value]] = (uint8_t)value;
		for (unsigned i = 0; i < 8; i++)
			products[i][value] = multiply(value, coefficients[i]);
	}
}

void kuzma_kuznyechik_transforms_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_tables);
}

void kuzma_kuznyechik_s(uint8_t block[16])
{
	for (unsigned i = 0; i < 16; i++)
		block[i] = kuzma_kuznyechik_pi[block[i]];
}

void kuzma_kuznyechik_s_inverse(uint8_t block[16])
{
	for (unsigned i = 0; i < 16; i++)
		block[i] = kuzma_kuznyechik_pi_inverse[block[i]];
}

/* The sum of coefficient i times at[i] for i < 15: the palindrome without the last, which is 1. */
static uint8_t sum_of_products(const uint8_t at[15])
{
	unsigned sum = at[6] ^ products[7][at[7]] ^ at[8];

	for (unsigned i = 0; i < 6; i++)
		sum ^= products[i][at[i]] ^ products[i][at[14 - i]];
	return (uint8_t)sum;
}

void kuzma_kuznyechik_r(uint8_t block[16])
{
	uint8_t first = (uint8_t)(sum_of_products(block) ^ block[15]);

	memmove(block + 1, block, 15);
	block[0] = first;
}

/* 16 steps of R write a_31 .. a_16 in front of a_15 .. a_0, without moving anything. */
void kuzma_kuznyechik_l(uint8_t block[16])
{
	uint8_t line[32];

	memcpy(line + 16, block, 16);
	for (unsigned i = 16; i-- > 0;)
		line[i] = (uint8_t)(sum_of_products(line + i + 1) ^ line[i + 16]);
	memcpy(block, line, 16);
	wipe_bytes(line, sizeof line);
}

void kuzma_kuznyechik_l_inverse(uint8_t block[16])
{
	uint8_t line[32];

	memcpy(line, block, 16);
	for (unsigned i = 0; i < 16; i++)
		line[i + 16] = (uint8_t)(sum_of_products(line + i + 1) ^ line[i]);
	memcpy(block, line + 16, 16);
	wipe_bytes(line, sizeof line);
}

void kuzma_kuznyechik_expand_key(uint8_t round_keys[KUZNYECHIK_ROUND_KEYS][16], const uint8_t key[32])
{
	uint8_t left[16], right[16], mixed[16], constant[16];

	memcpy(left, key, 16);
	memcpy(right, key + 16, 16);
	memcpy(round_keys[0], left, 16);
	memcpy(round_keys[1], right, 16);
	for (unsigned i = 1; i <= 32; i++) {
		memset(constant, 0, sizeof constant);
		constant[15] = (uint8_t)i;
		kuzma_kuznyechik_l(constant); /* C_i = L(Vec_128(i)) */
		xor_bytes(mixed, left, constant, 16);
		kuzma_kuznyechik_s(mixed);
		kuzma_kuznyechik_l(mixed);
		xor_bytes(mixed, mixed, right, 16);
		memcpy(right, left, 16);
		memcpy(left, mixed, 16);
		if (i % 8 == 0) {
			memcpy(round_keys[i / 4], left, 16);
			memcpy(round_keys[i / 4 + 1], right, 16);
		}
	}
	wipe_bytes(left, sizeof left);
	wipe_bytes(right, sizeof right);
	wipe_bytes(mixed, sizeof mixed);
}
