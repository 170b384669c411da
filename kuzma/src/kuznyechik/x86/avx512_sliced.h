/* 64 blocks at a time. Two forms of the same, as processors differ; the tests run both. */
#ifndef KUZMA_KUZNYECHIK_AVX512_SLICED_H
#define KUZMA_KUZNYECHIK_AVX512_SLICED_H

#include <stdint.h>

#include "backend.h"

/* As in backend.h. */
#pragma GCC visibility push(hidden)

struct avx512_state;

/* 256 counters in a row whose value is secret, as in MGM: but for the byte that counts, each byte of them has one value
 * until that one wraps and one after it. So the first round of all of them is made of two blocks. */
struct avx512_hidden_counters {
	/* What kuzma_kuznyechik_avx512_first_round() makes of the first, and what to add after the wrap. */
	uint64_t constant[16], change[16];
	enum counting_half half;
	/* The byte that counts, in the first. */
	uint8_t start;
};

struct avx512_sliced {
	/* Exactly 64 blocks. */
	void (*encrypt)(const struct avx512_state *state, uint8_t *output, const uint8_t *input);
	void (*decrypt)(const struct avx512_state *state, uint8_t *output, const uint8_t *input);
	/* output = input ^ the 64 counter blocks from `right` on, enciphered. `right` is the right half of the first one,
	 * a multiple of 64; `constant` is what kuzma_kuznyechik_avx512_first_round() made of the left half and the upper 56
	 * bits of `right`. `input` NULL: zeros. */
	void (*counter)(const struct avx512_state *state, const uint64_t constant[16], uint64_t right, uint8_t *output,
	                const uint8_t *input);
	/* The same with 64 of `counters`, from number `first` on, which is at most 192. Always in the same time. */
	void (*hidden_counter)(const struct avx512_state *state, const struct avx512_hidden_counters *counters,
	                       uint8_t first, uint8_t *output, const uint8_t *input);
};

/* How many 512-bit operations a processor starts per cycle decides which form is best. Intel starts two: the fewest
 * operations win. AMD since Zen 5 starts four: the chain through the 16 steps of L is longer than that takes, and two
 * more operations a step make it shorter. */
enum avx512_form { FEWEST_OPERATIONS, SHORTEST_CHAIN };

/* By enum avx512_form. */
extern const struct avx512_sliced kuzma_kuznyechik_avx512_sliced[2];

/* The counter block's first round but for the byte that counts, in the order of the sliced bytes, and K_2. */
void kuzma_kuznyechik_avx512_first_round(const struct avx512_state *state, uint64_t constant[16],
                                         const uint8_t counter[16], enum counting_half half);

#pragma GCC visibility pop
#endif
