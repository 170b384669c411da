/* The transformations of Kuznyechik, RFC 7801 section 4. A block is 16 bytes as they stand in memory: byte 0 is
 * a_15 of the document. Not constant-time. Call kuzma_kuznyechik_transforms_prepare() first. */
#ifndef KUZMA_KUZNYECHIK_TRANSFORMS_H
#define KUZMA_KUZNYECHIK_TRANSFORMS_H

#include <stdint.h>

/* As in backend.h. */
#pragma GCC visibility push(hidden)

#define KUZNYECHIK_ROUND_KEYS 10

extern const uint8_t kuzma_kuznyechik_pi[256];  /* S-box, section 4.1.1 */
extern uint8_t kuzma_kuznyechik_pi_inverse[256];

/* Makes the inverse S-box and the products by the constants of l(); thread-safe. */
void kuzma_kuznyechik_transforms_prepare(void);

void kuzma_kuznyechik_s(uint8_t block[16]);         /* section 4.2: S */
void kuzma_kuznyechik_s_inverse(uint8_t block[16]);
void kuzma_kuznyechik_r(uint8_t block[16]);         /* section 4.2: R */
void kuzma_kuznyechik_l(uint8_t block[16]);         /* section 4.2: L = R^16 */
void kuzma_kuznyechik_l_inverse(uint8_t block[16]);

/* Section 4.3: K_1 .. K_10. */
void kuzma_kuznyechik_expand_key(uint8_t round_keys[KUZNYECHIK_ROUND_KEYS][16], const uint8_t key[32]);

#pragma GCC visibility pop
#endif
