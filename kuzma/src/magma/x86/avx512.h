/* What the files of Magma's backend avx512 share. */
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

/* What takes messages of MAGMA_SLICED_BLOCKS and more: eight groups of 16 blocks at a time, or the bit-sliced kernel. */
enum magma_long_kernel { MAGMA_UNDECIDED, MAGMA_GROUPS, MAGMA_SLICED };

/* The faster one on this processor, which is decided at the first call. */
enum magma_long_kernel kuzma_magma_avx512_long_kernel(void);
struct kuzma_cpu_model;
/* How: by the processor if both were measured on it, else by `measure` if that is allowed, else the groups. */
enum magma_long_kernel kuzma_magma_avx512_decide(const struct kuzma_cpu_model *cpu,
                                                 enum magma_long_kernel (*measure)(void));
/* Times both, which takes some 0.1 ms of processor time. */
enum magma_long_kernel kuzma_magma_avx512_measure(void);
/* From now on this one; or the decision is made anew. */
void kuzma_magma_avx512_choose(enum magma_long_kernel kernel);

/* Any number of blocks, with either kernel for long messages. */
void kuzma_magma_avx512_crypt(const struct magma_avx512 *state, enum magma_long_kernel kernel, enum magma_order order,
                              uint8_t *output, const uint8_t *input, size_t blocks);

void kuzma_magma_avx512_sliced_set_key(struct magma_avx512 *keys);

/* Whole batches. */
void kuzma_magma_avx512_sliced_crypt(const struct magma_avx512 *keys, enum magma_order order, uint8_t *output,
                               const uint8_t *input, size_t batches);
/* The counters from (left, right) on are encrypted and added to the input; NULL: to nothing. */
void kuzma_magma_avx512_sliced_count(const struct magma_avx512 *keys, enum counting_half half, uint8_t *output,
                                     const uint8_t *input, size_t batches, uint32_t left, uint32_t right);

#pragma GCC visibility pop
#endif
