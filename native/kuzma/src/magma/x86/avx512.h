/* What the two files of Magma's backend avx512 share. */
#ifndef KUZMA_MAGMA_X86_AVX512_H
#define KUZMA_MAGMA_X86_AVX512_H

#include "magma/transforms.h"

struct magma_avx512 {
	uint32_t encrypt_keys[MAGMA_ROUNDS];
	uint32_t decrypt_keys[MAGMA_ROUNDS];
};

#endif
