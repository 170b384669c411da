#include "transforms.h"

#include "bytes.h"

const uint8_t kuzma_magma_pi[8][16] = {
	{ 12, 4, 6, 2, 10, 5, 11, 9, 14, 8, 13, 7, 0, 3, 15, 1 },
	{ 6, 8, 2, 3, 9, 10, 5, 12, 1, 14, 4, 7, 11, 13, 0, 15 },
	{ 11, 3, 5, 8, 2, 15, 10, 13, 14, 1, 7, 4, 12, 9, 6, 0 },
	{ 12, 8, 2, 1, 13, 4, 15, 6, 7, 0, 10, 5, 3, 14, 9, 11 },
	{ 7, 15, 5, 10, 8, 1, 6, 13, 0, 9, 3, 14, 11, 4, 2, 12 },
	{ 5, 13, 15, 6, 9, 2, 12, 10, 11, 7, 8, 1, 4, 3, 14, 0 },
	{ 8, 14, 2, 5, 6, 9, 1, 12, 15, 4, 11, 0, 13, 10, 3, 7 },
	{ 1, 7, 14, 13, 0, 5, 8, 3, 4, 15, 10, 6, 9, 12, 11, 2 },
};

uint32_t kuzma_magma_t(uint32_t word)
{
	uint32_t result = 0;

	for (unsigned i = 0; i < 8; i++)
		result |= (uint32_t)kuzma_magma_pi[i][word >> (4 * i) & 15u] << (4 * i);
	return result;
}

uint32_t kuzma_magma_g(uint32_t key, uint32_t word)
{
	uint32_t sum = kuzma_magma_t(word + key);

	return sum << 11 | sum >> 21;
}

void kuzma_magma_expand_key(uint32_t round_keys[MAGMA_ROUNDS], const uint8_t key[32])
{
	for (unsigned i = 0; i < 8; i++) {
		uint32_t word = load_be32(key + 4 * i);

		round_keys[i] = round_keys[i + 8] = round_keys[i + 16] = word;
		round_keys[31 - i] = word;
	}
}
