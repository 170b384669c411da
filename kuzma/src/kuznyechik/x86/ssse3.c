/* Kuznyechik for SSSE3: 16 blocks in slices. */
#include "backend.h"

#ifdef KUZMA_X86
#include <immintrin.h>

#define INLINE inline __attribute__((always_inline))
#define VECTOR_REGISTER "x"
#define LANES 1
#define SPREAD 8 /* a broadcast of 64 bits is a load and nothing else */
#define LANES_AT_ONCE 2
#define SLICES_FROM 6

typedef __m128i vec;

static INLINE vec v_load(const void *from)
{
	return _mm_loadu_si128((const __m128i *)from);
}
static INLINE void v_store(void *to, vec x)
{
	_mm_storeu_si128((__m128i *)to, x);
}
static INLINE vec v_lanes(const void *from)
{
	return v_load(from);
}
static INLINE void v_low_store(void *to, vec x)
{
	_mm_storeu_si128((__m128i *)to, x);
}
static INLINE vec v_spread(const void *from)
{
	double value;
	__builtin_memcpy(&value, from, sizeof value);
	return _mm_castpd_si128(_mm_set1_pd(value));
}
static INLINE vec v_zero(void)
{
	return _mm_setzero_si128();
}
static INLINE vec v_all(int byte)
{
	return _mm_set1_epi8((char)byte);
}
static INLINE vec v_xor(vec a, vec b)
{
	return _mm_xor_si128(a, b);
}
static INLINE vec v_and(vec a, vec b)
{
	return _mm_and_si128(a, b);
}
static INLINE vec v_add(vec a, vec b)
{
	return _mm_add_epi8(a, b);
}
static INLINE vec v_sub(vec a, vec b)
{
	return _mm_sub_epi8(a, b);
}
static INLINE vec v_min(vec a, vec b)
{
	return _mm_min_epu8(a, b);
}
/* An index with bit 7 where x > 15. */
static INLINE vec v_low_only(vec x)
{
	return _mm_adds_epu8(x, v_all(0x70));
}
static INLINE vec v_high_nibbles(vec x)
{
	return v_and(_mm_srli_epi16(x, 4), v_all(15));
}
static INLINE vec v_shuffle(vec table, vec index)
{
	return _mm_shuffle_epi8(table, index);
}
static INLINE vec v_interleave_low(vec a, vec b)
{
	return _mm_unpacklo_epi8(a, b);
}
static INLINE vec v_interleave_high(vec a, vec b)
{
	return _mm_unpackhi_epi8(a, b);
}
#define V_UP(x, n) _mm_slli_si128(x, n)
#define V_DOWN(x, n) _mm_srli_si128(x, n)

#include "kuznyechik/nibbles.h"
#include "kuznyechik/sliced.h"

const struct kuzma_backend kuzma_kuznyechik_ssse3 = {
	.name = "ssse3",
	.cipher = KUZMA_KUZNYECHIK,
	.constant_time = true,
	.state_bytes = sizeof(struct sliced_state),
	.supported = kuzma_cpu_ssse3,
	.prepare = kuzma_kuznyechik_tower_prepare,
	.set_key = set_key,
	.encrypt_blocks = encrypt_blocks,
	.decrypt_blocks = decrypt_blocks,
	.ctr_xor = ctr_xor,
	.cbc_encrypt = cbc_encrypt,
};
#endif
