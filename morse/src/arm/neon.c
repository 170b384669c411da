/* Morse with NEON: vectors look, tables and scalar instructions write. See pairs.h and tokens.h. */
#include "../pairs.h"
#include "../tokens.h"

#ifdef MORSE_ARM
#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))

enum { PAIRS_AT_ONCE = 8, ENCODE_BLOCK = 2 * PAIRS_AT_ONCE, ENCODE_ROOM = PAIRS_AT_ONCE * MORSE_PAIR_BYTES };

/* How many bytes stand before the first 0; all others are FF. */
INLINE unsigned set_below(uint8x16_t bytes)
{
	/* Four bits of each byte. */
	uint64_t clear = ~vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(bytes), 4)), 0);

	return clear == 0 ? 16 : (unsigned)__builtin_ctzll(clear) / 4;
}

static struct morse_progress encode(const struct morse_alphabet *alphabet, uint8_t *output, size_t room,
                                    const uint8_t *input, size_t bytes)
{
	/* The sets know no characters from 80 on. */
	static const uint8_t bits[16] = { 1, 2, 4, 8, 16, 32, 64, 128 };
	const struct morse_pairs *pairs = morse_pairs_of(alphabet);
	const uint8x16_t bit = vld1q_u8(bits), newline = vdupq_n_u8('\n');
	const uint8_t *in = input, *text;
	uint8_t *out = output, *room_end = output + room;
	uint8x16_t known;

	if (pairs == NULL)
		return (struct morse_progress){ 0, 0 };
	text = pairs->text[0];
	known = vld1q_u8(pairs->known);
	while (input + bytes - in > ENCODE_BLOCK && room_end - out >= ENCODE_ROOM) {
		uint16_t numbers[PAIRS_AT_ONCE];
		uint8x16_t characters = vld1q_u8(in), next = vld1q_u8(in + 1);
		uint8x16_t set = vqtbl1q_u8(known, vandq_u8(characters, vdupq_n_u8(15)));
		unsigned count = set_below(vtstq_u8(set, vqtbl1q_u8(bit, vshrq_n_u8(characters, 4)))) / 2;
		uint8x16_t high = vandq_u8(vshrq_n_u8(characters, 1), vdupq_n_u8(0x20));
		uint16x8_t class = vreinterpretq_u16_u8(vorrq_u8(vandq_u8(characters, vdupq_n_u8(0x1F)), high));
		uint8x16_t is_line = vceqq_u8(characters, newline);
		uint16x8_t line_end = vreinterpretq_u16_u8(vbicq_u8(vceqq_u8(next, newline), is_line));
		uint16x8_t number = vmulq_n_u16(vshrq_n_u16(class, 8), MORSE_PAIR_SECOND);

		number = vorrq_u16(number, vshlq_n_u16(vandq_u16(class, vdupq_n_u16(0xFF)), 1));
		number = vorrq_u16(number, vandq_u16(line_end, vdupq_n_u16(MORSE_PAIR_LINE_END)));
		vst1q_u16(numbers, number);
		for (unsigned i = 0; i < count; i++) {
			const uint8_t *pair = text + (size_t)numbers[i] * (MORSE_PAIR_BYTES / 2);

			vst1q_u8(out, vld1q_u8(pair));
			out += pair[MORSE_PAIR_BYTES - 1];
		}
		in += 2 * count;
		if (count < PAIRS_AT_ONCE)
			break;
	}
	return (struct morse_progress){ (size_t)(in - input), (size_t)(out - output) };
}

/* A bit for each of 64 bytes. */
INLINE uint64_t equal(const uint8x16_t bytes[4], uint8_t byte)
{
	static const uint8_t bits[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
	const uint8x16_t bit = vld1q_u8(bits), all = vdupq_n_u8(byte);
	uint8x16_t low = vpaddq_u8(vandq_u8(vceqq_u8(bytes[0], all), bit), vandq_u8(vceqq_u8(bytes[1], all), bit));
	uint8x16_t high = vpaddq_u8(vandq_u8(vceqq_u8(bytes[2], all), bit), vandq_u8(vceqq_u8(bytes[3], all), bit));

	low = vpaddq_u8(low, high);
	return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(low, low)), 0);
}

static struct morse_progress decode(const struct morse_alphabet *alphabet, uint8_t *output, size_t room,
                                    const uint8_t *input, size_t bytes)
{
	const uint8_t *in = input;
	uint8_t *out = output, *room_end = output + room;
	struct tokens tokens;
	unsigned taken;

	if (bytes < TOKENS_BLOCK)
		return (struct morse_progress){ 0, 0 };
	tokens_set_up(&tokens, alphabet);
	for (; input + bytes - in >= TOKENS_BLOCK && room_end - out >= TOKENS_ROOM; in += taken) {
		const uint8x16_t block[4] = { vld1q_u8(in), vld1q_u8(in + 16), vld1q_u8(in + 32), vld1q_u8(in + 48) };
		struct tokens_marks marks;

		marks.dashes = equal(block, '-');
		marks.elements = equal(block, '.') | marks.dashes;
		marks.spaces = equal(block, ' ');
		marks.words = equal(block, '/');
		marks.lines = equal(block, '\n');
		taken = tokens_take(&tokens, &marks, &out);
		if (taken == 0)
			break;
	}
	return (struct morse_progress){ (size_t)(in - input), (size_t)(out - output) };
}

const struct morse_backend morse_neon = {
	.name = "neon",
	.encode = encode,
	.decode = decode,
	.count_byte = morse_count_byte,
	.count_characters = morse_count_characters,
};
#endif
