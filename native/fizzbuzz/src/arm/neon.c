/* One table look-up in four registers makes 16 bytes. */
#include "../backend.h"

#ifdef FIZZBUZZ_ARM

#include <arm_neon.h>

static void fill(const struct shape *shape, const struct alphabet *alphabet, uint8_t *to)
{
	const uint8_t *bytes = (const uint8_t *)alphabet;
	uint8x16x4_t letters = { { vld1q_u8(bytes), vld1q_u8(bytes + 16), vld1q_u8(bytes + 32), vld1q_u8(bytes + 48) } };

	for (size_t at = 0; at < shape->bytes; at += 32) {
		vst1q_u8(to + at, vqtbl4q_u8(letters, vld1q_u8(shape->index + at)));
		vst1q_u8(to + at + 16, vqtbl4q_u8(letters, vld1q_u8(shape->index + at + 16)));
	}
}

const struct backend fizzbuzz_neon = { "neon", NULL, fill, NULL };

#endif
