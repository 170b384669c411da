/* 64 blocks at a time. Two forms of the same, as processors differ; the tests run both. */
#ifndef KUZMA_KUZNYECHIK_AVX512_SLICED_H
#define KUZMA_KUZNYECHIK_AVX512_SLICED_H

#include <stdint.h>

struct avx512_state;

struct avx512_sliced {
	/* Exactly 64 blocks. */
	void (*encrypt)(const struct avx512_state *state, uint8_t *output, const uint8_t *input);
	void (*decrypt)(const struct avx512_state *state, uint8_t *output, const uint8_t *input);
	/* output = input ^ the 64 counter blocks from `right` on, enciphered. `right` is the right half of the first one,
	 * a multiple of 64; `constant` is what kuzma_kuznyechik_avx512_first_round() made of the left half and the upper 56
	 * bits of `right`. `input` NULL: zeros. */
	void (*counter)(const struct avx512_state *state, const uint64_t constant[16], uint64_t right, uint8_t *output,
	                const uint8_t *input);
};

/* How many 512-bit operations a processor starts per cycle decides which form is best. Intel starts two: the fewest
 * operations win. AMD since Zen 5 starts four: the chain through the 16 steps of L is longer than that takes, and two
 * more operations a step make it shorter. */
enum avx512_form { FEWEST_OPERATIONS, SHORTEST_CHAIN };

/* By enum avx512_form. */
extern const struct avx512_sliced kuzma_kuznyechik_avx512_sliced[2];

/* The counter block's first round but for its last byte, in the order of the sliced bytes, and K_2. */
void kuzma_kuznyechik_avx512_first_round(const struct avx512_state *state, uint64_t constant[16], const uint8_t counter[16]);

#endif
