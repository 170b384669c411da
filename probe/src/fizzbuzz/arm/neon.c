/* One table look-up in four registers makes 16 bytes. */
#include "../backend.h"

#ifdef FIZZBUZZ_ARM

#include <arm_neon.h>

/* One of the three values that the digits above the last two take, or the letters: 16 bytes. */
static inline uint8x16_t part(const struct shape *shape, const struct alphabet *alphabet, size_t tenth, size_t number)
{
	const uint64_t *from = (const uint64_t *)(const void *)alphabet;
	const uint64_t *places = shape->thousands[tenth] + 2 * number;
	uint8x16_t thousands = vreinterpretq_u8_u64(vcombine_u64(vld1_u64(from + places[0]), vld1_u64(from + places[1])));
	uint8x16_t hundreds = vld1q_u8(shape->hundreds[tenth] + HIGH_ROOM * number);

	return vbslq_u8(vtstq_u8(hundreds, hundreds), hundreds, thousands);
}

static void fill(const struct shape *shape, const struct alphabet *alphabet, uint8_t *to)
{
	size_t bytes = shape->tenth_bytes;

	for (size_t tenth = 0; tenth < TENTHS; tenth++, to += bytes) {
		uint8x16x4_t letters = { { part(shape, alphabet, tenth, 0), part(shape, alphabet, tenth, 1),
			                   part(shape, alphabet, tenth, 2), part(shape, alphabet, tenth, 3) } };

		for (size_t at = 0; at < bytes; at += 32) {
			vst1q_u8(to + at, vqtbl4q_u8(letters, vld1q_u8(shape->index + at)));
			vst1q_u8(to + at + 16, vqtbl4q_u8(letters, vld1q_u8(shape->index + at + 16)));
		}
	}
}

const struct backend fizzbuzz_neon = { "neon", NULL, fill, NULL };

#endif
