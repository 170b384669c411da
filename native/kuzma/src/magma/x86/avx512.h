/* What the two files of Magma's backend avx512 share. */
#ifndef KUZMA_MAGMA_X86_AVX512_H
#define KUZMA_MAGMA_X86_AVX512_H

#include <stddef.h>
#include <stdint.h>

#include "backend.h"
#include "magma/transforms.h"

/* As in backend.h. */
#pragma GCC visibility push(hidden)

/* Blocks in one batch of the bit-sliced kernel. */
#define MAGMA_SLICED_BLOCKS 512u

struct magma_avx512 {
	uint32_t encrypt_keys[MAGMA_ROUNDS];
	uint32_t decrypt_keys[MAGMA_ROUNDS];
	/* Bit n of key word w: all ones or all zeros. */
	uint32_t key_bits[8][32];
};

/* Key words are taken in this order: 0 .. 7 three times, then 7 .. 0; or from the end to the start. */
enum magma_order { MAGMA_ENCRYPT, MAGMA_DECRYPT };

void kuzma_magma_avx512_sliced_set_key(struct magma_avx512 *keys);

/* Whole batches. */
void kuzma_magma_avx512_sliced_crypt(const struct magma_avx512 *keys, enum magma_order order, uint8_t *output,
                               const uint8_t *input, size_t batches);
/* The counters from (left, right) on are encrypted and added to the input; NULL: to nothing. */
void kuzma_magma_avx512_sliced_count(const struct magma_avx512 *keys, enum counting_half half, uint8_t *output,
                                     const uint8_t *input, size_t batches, uint32_t left, uint32_t right);

#pragma GCC visibility pop
#endif
