/* The transformations of Magma, RFC 8891 section 4. Words are numbers; a block is (a_1, a_0), a_1 first in memory,
 * each with its highest byte first. Not constant-time. */
#ifndef KUZMA_MAGMA_TRANSFORMS_H
#define KUZMA_MAGMA_TRANSFORMS_H

#include <stdint.h>

/* As in backend.h. */
#pragma GCC visibility push(hidden)

#define MAGMA_ROUNDS 32

extern const uint8_t kuzma_magma_pi[8][16]; /* section 4.1: Pi'_0 .. Pi'_7 */

uint32_t kuzma_magma_t(uint32_t word);               /* section 4.2: t */
uint32_t kuzma_magma_g(uint32_t key, uint32_t word); /* section 4.2: g[k] */

/* Section 4.3: K_1 .. K_32. */
void kuzma_magma_expand_key(uint32_t round_keys[MAGMA_ROUNDS], const uint8_t key[32]);

#pragma GCC visibility pop
#endif
