/* With the vector registers of 64-bit ARM, which every such processor has. */
#include "copy/methods.h"

#if defined(__aarch64__) && defined(__GNUC__) && !defined(STEND_NO_INTRINSICS)

#include <arm_neon.h>

#define NEON_ADD(sum, words) vaddq_u64(sum, vreinterpretq_u64_u8(words))

static void copy_neon(uint8_t *restrict to, const uint8_t *restrict from, size_t bytes)
{
	COPY_LOOP(uint8x16_t, 16, vld1q_u8, vst1q_u8);
}

static uint64_t load_neon(const uint8_t *from, size_t bytes, uint64_t passes)
{
	LOAD_LOOP(uint64x2_t, 16, vdupq_n_u64(0), vld1q_u8, NEON_ADD);
}

static void store_neon(uint8_t *to, uint8_t value, size_t bytes)
{
	uint8x16_t vector = vdupq_n_u8(value);

	/* Compilers that see what the vector is made of would call memset. */
	__asm__("" : "+w"(vector));
	STORE_LOOP(16, vst1q_u8, vector);
}

/* Two registers at once; there is no intrinsic for it. The instruction is a hint: the processor may use its caches. */
static inline void store_pair(uint8_t *to, uint8x16_t low, uint8x16_t high)
{
	__asm__ volatile("stnp %q1, %q2, [%0]" : : "r"(to), "w"(low), "w"(high) : "memory");
}

static void copy_nontemporal(uint8_t *restrict to, const uint8_t *restrict from, size_t bytes)
{
	size_t i = 0;

	for (; i + 64 <= bytes; i += 64) {
		uint8x16_t a = vld1q_u8(from + i), b = vld1q_u8(from + i + 16);
		uint8x16_t c = vld1q_u8(from + i + 32), d = vld1q_u8(from + i + 48);
		store_pair(to + i, a, b);
		store_pair(to + i + 32, c, d);
	}
	memcpy(to + i, from + i, bytes - i);
}

static void store_nontemporal(uint8_t *to, uint8_t value, size_t bytes)
{
	uint8x16_t vector = vdupq_n_u8(value);
	size_t i = 0;

	for (; i + 64 <= bytes; i += 64) {
		store_pair(to + i, vector, vector);
		store_pair(to + i + 32, vector, vector);
	}
	memset(to + i, value, bytes - i);
}

const struct copy_method copy_methods_arm[] = {
	{ "neon", NULL, copy_neon, load_neon, store_neon },
	{ "nontemporal-neon", NULL, copy_nontemporal, NULL, store_nontemporal },
	{ NULL, NULL, NULL, NULL, NULL },
};

#else

const struct copy_method copy_methods_arm[] = {
	{ NULL, NULL, NULL, NULL, NULL },
};

#endif
