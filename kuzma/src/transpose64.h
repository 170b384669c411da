/* The transposition of a matrix of 64 by 64 bits: bit j of word i becomes bit i of word j. */
#ifndef KUZMA_TRANSPOSE64_H
#define KUZMA_TRANSPOSE64_H

#include <stdint.h>

/* At each of six levels, blocks of `half` by `half` bits off the diagonal change places. */
static inline void transpose64_level(uint64_t matrix[64], unsigned half, uint64_t low)
{
	for (unsigned i = 0; i < 64; i += 2 * half) {
		for (unsigned j = i; j < i + half; j++) {
			uint64_t swap = (matrix[j] >> half ^ matrix[j + half]) & low;
			matrix[j] ^= swap << half;
			matrix[j + half] ^= swap;
		}
	}
}

static inline void transpose64(uint64_t matrix[64])
{
	transpose64_level(matrix, 32, UINT64_C(0x00000000FFFFFFFF));
	transpose64_level(matrix, 16, UINT64_C(0x0000FFFF0000FFFF));
	transpose64_level(matrix, 8, UINT64_C(0x00FF00FF00FF00FF));
	transpose64_level(matrix, 4, UINT64_C(0x0F0F0F0F0F0F0F0F));
	transpose64_level(matrix, 2, UINT64_C(0x3333333333333333));
	transpose64_level(matrix, 1, UINT64_C(0x5555555555555555));
}

#endif
