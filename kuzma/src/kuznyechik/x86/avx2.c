/* Kuznyechik for AVX2: 32 blocks in slices, two in the lanes of a vector. */
#include "backend.h"

#ifdef KUZMA_X86
#include "kuznyechik/x86/avx2_vectors.h"

#define LANES_AT_ONCE 2
#define SLICES_FROM 13

#include "kuznyechik/nibbles.h"
#include "kuznyechik/sliced.h"

const struct kuzma_backend kuzma_kuznyechik_avx2 = {
	.name = "avx2",
	.cipher = KUZMA_KUZNYECHIK,
	.constant_time = true,
	.state_bytes = sizeof(struct sliced_state),
	.supported = kuzma_cpu_avx2,
	.prepare = kuzma_kuznyechik_tower_prepare,
	.set_key = set_key,
	.encrypt_blocks = encrypt_blocks,
	.decrypt_blocks = decrypt_blocks,
	.ctr_xor = ctr_xor,
	.cbc_encrypt = cbc_encrypt,
};
#endif
