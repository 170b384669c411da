/* Magma with SSSE3: byte planes of 16 blocks. */
#include "cpu.h"

#ifdef KUZMA_X86

#include <tmmintrin.h>

#define PLANE __m128i
#define PLANE_BYTES 16
#define PLANE_LOAD(from) _mm_loadu_si128((const __m128i *)(const void *)(from))
#define PLANE_STORE(to, plane) _mm_storeu_si128((__m128i *)(void *)(to), plane)
#define PLANE_SET(byte) _mm_set1_epi8((char)(byte))
#define PLANE_TABLE(from) _mm_load_si128((const __m128i *)(const void *)(from))
#define PLANE_KEY(at) _mm_set1_epi32((int)*(at))
#define PLANE_ADD _mm_add_epi8
#define PLANE_SUB _mm_sub_epi8
#define PLANE_AND _mm_and_si128
#define PLANE_OR _mm_or_si128
#define PLANE_XOR _mm_xor_si128
#define PLANE_EQUAL _mm_cmpeq_epi8
#define PLANE_GREATER _mm_cmpgt_epi8
#define PLANE_HIGH(x) _mm_and_si128(_mm_srli_epi16(x, 4), low_nibbles)
#define PLANE_LOOKUP _mm_shuffle_epi8
#define PLANE_MIX_LOW _mm_unpacklo_epi8
#define PLANE_MIX_HIGH _mm_unpackhi_epi8
#include "magma/x86/planes_x86.h"

const struct kuzma_backend kuzma_magma_ssse3 = {
	.name = "ssse3",
	.cipher = KUZMA_MAGMA,
	.constant_time = true,
	.state_bytes = sizeof(struct planes_state),
	.supported = kuzma_cpu_ssse3,
	.prepare = prepare,
	.set_key = planes_set_key,
	.encrypt_blocks = planes_encrypt_blocks,
	.decrypt_blocks = planes_decrypt_blocks,
	.ctr_xor = planes_ctr_xor,
	.cbc_encrypt = planes_cbc_encrypt,
};

#endif
