/* Magma with AVX2: byte planes of 32 blocks. */
#include "cpu.h"

#ifdef KUZMA_X86

#include <immintrin.h>

#define PLANE __m256i
#define PLANE_BYTES 32
#define PLANE_LOAD(from) _mm256_loadu_si256((const __m256i *)(const void *)(from))
#define PLANE_STORE(to, plane) _mm256_storeu_si256((__m256i *)(void *)(to), plane)
#define PLANE_SET(byte) _mm256_set1_epi8((char)(byte))
#define PLANE_TABLE(from) _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(const void *)(from)))
#define PLANE_KEY(at) _mm256_set1_epi32((int)*(at))
#define PLANE_ADD _mm256_add_epi8
#define PLANE_SUB _mm256_sub_epi8
#define PLANE_AND _mm256_and_si256
#define PLANE_OR _mm256_or_si256
#define PLANE_XOR _mm256_xor_si256
#define PLANE_EQUAL _mm256_cmpeq_epi8
#define PLANE_GREATER _mm256_cmpgt_epi8
#define PLANE_HIGH(x) _mm256_and_si256(_mm256_srli_epi16(x, 4), low_nibbles)
#define PLANE_LOOKUP _mm256_shuffle_epi8
#define PLANE_MIX_LOW _mm256_unpacklo_epi8
#define PLANE_MIX_HIGH _mm256_unpackhi_epi8
#include "magma/x86/planes_x86.h"

const struct kuzma_backend kuzma_magma_avx2 = {
	.name = "avx2",
	.cipher = KUZMA_MAGMA,
	.constant_time = true,
	.state_bytes = sizeof(struct planes_state),
	.supported = kuzma_cpu_avx2,
	.prepare = prepare,
	.set_key = planes_set_key,
	.encrypt_blocks = planes_encrypt_blocks,
	.decrypt_blocks = planes_decrypt_blocks,
	.ctr_xor = planes_ctr_xor,
	.cbc_encrypt = planes_cbc_encrypt,
};

#endif
