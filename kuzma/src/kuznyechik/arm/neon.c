/* Kuznyechik for NEON: 16 blocks in slices. */
#include "backend.h"

#ifdef KUZMA_ARM
#include <arm_neon.h>

#define INLINE inline __attribute__((always_inline))
#define VECTOR_REGISTER "w"
#define LANES 1
#define SPREAD 1
#define LANES_AT_ONCE 2
#define SLICES_FROM 6

typedef uint8x16_t vec;

static INLINE vec v_load(const void *from)
{
	return vld1q_u8(from);
}
static INLINE void v_store(void *to, vec x)
{
	vst1q_u8(to, x);
}
static INLINE vec v_lanes(const void *from)
{
	return vld1q_u8(from);
}
static INLINE void v_low_store(void *to, vec x)
{
	vst1q_u8(to, x);
}
static INLINE vec v_spread(const void *from)
{
	return vld1q_dup_u8(from);
}
static INLINE vec v_all(int byte)
{
	return vdupq_n_u8((uint8_t)byte);
}
static INLINE vec v_zero(void)
{
	return v_all(0);
}
static INLINE vec v_xor(vec a, vec b)
{
	return veorq_u8(a, b);
}
static INLINE vec v_and(vec a, vec b)
{
	return vandq_u8(a, b);
}
static INLINE vec v_add(vec a, vec b)
{
	return vaddq_u8(a, b);
}
static INLINE vec v_sub(vec a, vec b)
{
	return vsubq_u8(a, b);
}
static INLINE vec v_min(vec a, vec b)
{
	return vminq_u8(a, b);
}
/* The shuffle gives 0 for all indices from 16 on. */
static INLINE vec v_low_only(vec x)
{
	return x;
}
static INLINE vec v_high_nibbles(vec x)
{
	return vshrq_n_u8(x, 4);
}
static INLINE vec v_shuffle(vec table, vec index)
{
	return vqtbl1q_u8(table, index);
}
static INLINE vec v_interleave_low(vec a, vec b)
{
	return vzip1q_u8(a, b);
}
static INLINE vec v_interleave_high(vec a, vec b)
{
	return vzip2q_u8(a, b);
}
#define V_UP(x, n) vextq_u8(v_zero(), x, 16 - (n))
#define V_DOWN(x, n) vextq_u8(x, v_zero(), n)

#include "kuznyechik/nibbles.h"
#include "kuznyechik/sliced.h"

const struct kuzma_backend kuzma_kuznyechik_neon = {
	.name = "neon",
	.cipher = KUZMA_KUZNYECHIK,
	.constant_time = true,
	.state_bytes = sizeof(struct sliced_state),
	.prepare = kuzma_kuznyechik_tower_prepare,
	.set_key = set_key,
	.encrypt_blocks = encrypt_blocks,
	.decrypt_blocks = decrypt_blocks,
	.ctr_xor = ctr_xor,
	.cbc_encrypt = cbc_encrypt,
};
#endif
