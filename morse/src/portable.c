/* The backend for every machine, in plain C: tables of bytes, and words of 8 bytes at a time. */
#include "backend.h"

#include <string.h>

/* ---- Words, the first byte the lowest; compilers make one instruction of each. Said to be inline, because some weigh
 * them before that. */
static inline uint64_t load(const uint8_t *from)
{
	return (uint64_t)from[0] | (uint64_t)from[1] << 8 | (uint64_t)from[2] << 16 | (uint64_t)from[3] << 24 |
	       (uint64_t)from[4] << 32 | (uint64_t)from[5] << 40 | (uint64_t)from[6] << 48 | (uint64_t)from[7] << 56;
}

static inline void store(uint8_t *to, uint32_t word)
{
	to[0] = (uint8_t)word;
	to[1] = (uint8_t)(word >> 8);
	to[2] = (uint8_t)(word >> 16);
	to[3] = (uint8_t)(word >> 24);
}

#define ALL(byte) ((byte) * UINT64_C(0x0101010101010101))

/* The lowest bit of each byte; the first byte's becomes bit 0. */
static uint64_t gather(uint64_t word)
{
	return (word & ALL(1)) * UINT64_C(0x0102040810204080) >> 56;
}

static unsigned lowest_bit(uint64_t word)
{
#ifdef __GNUC__
	return (unsigned)__builtin_ctzll(word);
#else
	unsigned at = 0;

	for (; (word & 1) == 0; word >>= 1)
		at++;
	return at;
#endif
}

/* ---- Encoding. Every byte is looked up and MORSE_TEXT_BYTES are stored, however many of them count. */
static const uint8_t lead_of[256] = { [0xC2] = 1, [0xC3] = 2, [0xD0] = 3, [0xD1] = 4 };

/* The characters that begin before `limit` and end by `last`, where there is one more byte; it stops before one that is
 * unknown or lacks room. Returns where it stopped. */
static const uint8_t *encode_characters(const struct morse_alphabet *alphabet, uint8_t **output,
                                        const uint8_t *room_end, const uint8_t *input, const uint8_t *limit,
                                        const uint8_t *last)
{
	uint8_t *out = *output;
	unsigned lead = 0;

	while ((input < limit || (lead != 0 && input < last)) && room_end - out >= MORSE_TEXT_BYTES) {
		unsigned byte = *input, count = alphabet->text_bytes[lead][byte];

		if (count == MORSE_UNKNOWN)
			break;
		memcpy(out, alphabet->text[lead][byte], MORSE_TEXT_BYTES);
		/* The space before the end of a line is dropped, where there is one: not after another end, nor a lead. */
		out += count - ((input[1] == '\n') & (count > 1));
		lead = lead_of[byte];
		input++;
	}
	*output = out;
	return lead == 0 ? input : input - 1;
}

/* Whether one of 8 bytes is that of a line's end; sometimes also for the byte after it. */
static bool has_newline(uint64_t word)
{
	word ^= ALL('\n');
	return ((word - ALL(1)) & ~word & ALL(0x80)) != 0;
}

/* 8 bytes with room for them, and no line's end after any of them: the last may be a lead, and is then left. false, and
 * nothing is done, if something is not so or not known. */
static bool encode_8(const struct morse_alphabet *alphabet, uint8_t **output, const uint8_t **input)
{
	const uint8_t *in = *input, *text_bytes = alphabet->text_bytes[0];
	const uint8_t(*text)[MORSE_TEXT_BYTES] = alphabet->text[0];
	uint8_t *out = *output;

	if (has_newline(load(in + 1)))
		return false;
	if ((load(in) & ALL(0x80)) == 0) {
		for (unsigned i = 0; i < 8; i++) {
			unsigned byte = in[i], count = text_bytes[byte];

			if (count == MORSE_UNKNOWN)
				return false;
			memcpy(out, text[byte], MORSE_TEXT_BYTES);
			out += count;
		}
		*input += 8;
	} else {
		unsigned lead = 0;

		for (unsigned i = 0; i < 8; i++) {
			unsigned byte = in[i], at = lead * 256 + byte, count = text_bytes[at];

			if (count == MORSE_UNKNOWN)
				return false;
			memcpy(out, text[at], MORSE_TEXT_BYTES);
			out += count;
			lead = lead_of[byte];
		}
		*input += lead == 0 ? 8 : 7;
	}
	*output = out;
	return true;
}

static struct morse_progress encode(const struct morse_alphabet *alphabet, uint8_t *output, size_t room,
                                    const uint8_t *input, size_t bytes)
{
	const uint8_t *in = input, *last = bytes == 0 ? input : input + bytes - 1;
	uint8_t *out = output, *room_end = output + room;

	while (last - in >= 8 && room_end - out >= 8 * MORSE_TEXT_BYTES) {
		const uint8_t *limit = in + 8;

		if (encode_8(alphabet, &out, &in))
			continue;
		in = encode_characters(alphabet, &out, room_end, in, limit, last);
		if (in < limit)
			goto end;
	}
	in = encode_characters(alphabet, &out, room_end, in, last, last);
end:
	return (struct morse_progress){ (size_t)(in - input), (size_t)(out - output) };
}

/* ---- Decoding. */
static const uint8_t separator_kind[256] = { [' '] = 1, ['\n'] = 2, ['/'] = 3 };

/* Whole tokens, byte by byte, that begin before `limit`. Returns where it stopped. */
static const uint8_t *decode_tokens(const struct morse_alphabet *alphabet, uint8_t **output, const uint8_t *room_end,
                                    const uint8_t *input, const uint8_t *limit, const uint8_t *end)
{
	uint8_t *out = *output;

	while (input < limit) {
		const uint8_t *at = input;
		unsigned elements = 0, code;

		for (; at < end && (*at == '.' || *at == '-'); at++)
			if (at - input < (ptrdiff_t)MORSE_ELEMENTS_MAX)
				elements |= (unsigned)(*at == '-') << (at - input);
		if (at == end || at - input > (ptrdiff_t)MORSE_ELEMENTS_MAX)
			break;
		code = elements | 1u << (at - input);
		uint32_t entry = alphabet->decoded[separator_kind[*at]][code];
		unsigned count = entry >> 24;
		if (count == MORSE_UNKNOWN || room_end - out < (ptrdiff_t)count)
			break;
		for (unsigned i = 0; i < count; i++)
			*out++ = (uint8_t)(entry >> 8 * i);
		input = at + 1;
	}
	*output = out;
	return input;
}

enum {
	BLOCK = 64,
	/* The most that a block gives: "." and "\n" in turn, in Cyrillic; and what the last store writes too much. */
	BLOCK_ROOM = BLOCK / 2 * 3 + 4
};

/* All tokens that end within the block; returns false, and has changed nothing, if that is not so easy. */
static bool decode_block(const struct morse_alphabet *alphabet, uint8_t **output, const uint8_t **input)
{
	const uint8_t *in = *input;
	uint8_t *out = *output;
	uint64_t ends = 0, marks = 0;
	uint32_t seen = 0;
	unsigned start = 0;

	/* A bit for each byte: what ends a token, that is all but '.' and '-'; and what is a dash. '-' ^ '-' is 0 and
	 * '.' ^ '-' is 3: a byte is an element where its two low bits are the same and the others are 0. */
	for (unsigned i = 0; i < BLOCK / 8; i++) {
		uint64_t word = load(in + 8 * i), other = word ^ ALL('-');

		other = (other & ALL(0xFC)) | ((other ^ other << 1) & ALL(2));
		other = ((other & ALL(0x7F)) + ALL(0x7F)) | other;
		ends |= gather(other >> 7) << 8 * i;
		marks |= gather(word) << 8 * i;
	}
	if (ends == 0)
		return false;
	/* The end is also the bit above the elements. */
	marks |= ends;
	do {
		unsigned at = lowest_bit(ends);
		uint64_t code = (marks & (ends ^ (ends - 1))) >> start;
		uint32_t entry;

		if (code >= MORSE_CODES)
			return false;
		entry = alphabet->decoded[separator_kind[in[at]]][code];
		seen |= entry;
		store(out, entry);
		out += entry >> 24 & 3;
		start = at + 1;
		ends &= ends - 1;
	} while (ends != 0);
	if ((seen >> 24 & MORSE_UNKNOWN) != 0)
		return false;
	*input = in + start;
	*output = out;
	return true;
}

static struct morse_progress decode(const struct morse_alphabet *alphabet, uint8_t *output, size_t room,
                                    const uint8_t *input, size_t bytes)
{
	const uint8_t *in = input, *end = input + bytes;
	uint8_t *out = output, *room_end = output + room;

	while (end - in >= BLOCK && room_end - out >= BLOCK_ROOM) {
		const uint8_t *limit = in + BLOCK;

		if (decode_block(alphabet, &out, &in))
			continue;
		in = decode_tokens(alphabet, &out, room_end, in, limit, end);
		if (in < limit)
			goto end;
	}
	in = decode_tokens(alphabet, &out, room_end, in, end, end);
end:
	return (struct morse_progress){ (size_t)(in - input), (size_t)(out - output) };
}

const struct morse_backend morse_portable = {
	.name = "portable",
	.encode = encode,
	.decode = decode,
	.count_byte = morse_count_byte,
	.count_characters = morse_count_characters,
};
