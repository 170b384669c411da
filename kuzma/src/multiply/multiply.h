/* Sums of products in GF(2^128) and GF(2^64), as the authentication of MGM needs them (RFC 9058).
 *
 * An element is one block, a polynomial over GF(2) whose highest coefficient is the highest bit of the block's first
 * byte (RFC 9058 section 4.1). The fields are modulo x^128 + x^7 + x^2 + x + 1 for blocks of 16 bytes and modulo
 * x^64 + x^4 + x^3 + x + 1 for blocks of 8. */
#ifndef KUZMA_MULTIPLY_H
#define KUZMA_MULTIPLY_H

#include "cpu.h"
#include "kuzma.h"

/* As in backend.h. */
#pragma GCC visibility push(hidden)

struct kuzma_multiplier {
	const char *name;
	/* NULL: runs everywhere. */
	bool (*supported)(void);
	/* sum += hashes[0] * data[0] + hashes[1] * data[1] + ...: any number of blocks, 0 too; no alignment needed. The
	 * products are added up unreduced and reduced once a call, so few long calls are cheaper than many short ones.
	 * No branch and no address depends on the elements. */
	void (*accumulate)(uint8_t *sum, const uint8_t *hashes, const uint8_t *data, size_t blocks);
};

/* The multipliers for the cipher's block, fastest first, as kuzma_backend_at. */
const struct kuzma_multiplier *kuzma_multiplier_at(enum kuzma_cipher cipher, size_t index);

/* The fastest that this processor can run; never NULL for a valid cipher. */
const struct kuzma_multiplier *kuzma_multiplier(enum kuzma_cipher cipher);

extern const struct kuzma_multiplier kuzma_multiplier128_portable;
extern const struct kuzma_multiplier kuzma_multiplier64_portable;
#ifdef KUZMA_X86
extern const struct kuzma_multiplier kuzma_multiplier128_pclmul;
extern const struct kuzma_multiplier kuzma_multiplier64_pclmul;
extern const struct kuzma_multiplier kuzma_multiplier128_avx512;
extern const struct kuzma_multiplier kuzma_multiplier64_avx512;
#endif
#ifdef KUZMA_ARM
extern const struct kuzma_multiplier kuzma_multiplier128_pmull;
extern const struct kuzma_multiplier kuzma_multiplier64_pmull;
#endif

#pragma GCC visibility pop
#endif
