#include "utf8.h"

static uint8_t length_by_lead(uint8_t lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xC2 && lead <= 0xDF)
		return 2;
	if (lead >= 0xE0 && lead <= 0xEF)
		return 3;
	if (lead >= 0xF0 && lead <= 0xF4)
		return 4;
	return 0;
}

/* The second byte's range is narrower after some leads: overlong forms, surrogates, beyond U+10FFFF. */
static bool may_follow(const struct morse_partial *partial, uint8_t byte)
{
	uint8_t low = 0x80, high = 0xBF;

	if (partial->count == 1) {
		switch (partial->bytes[0]) {
		case 0xE0: low = 0xA0; break;
		case 0xED: high = 0x9F; break;
		case 0xF0: low = 0x90; break;
		case 0xF4: high = 0x8F; break;
		default: break;
		}
	}
	return byte >= low && byte <= high;
}

enum morse_utf8 morse_utf8_take(struct morse_partial *partial, uint8_t byte)
{
	if (partial->count == 0) {
		partial->bytes[0] = byte;
		partial->count = 1;
		partial->wanted = length_by_lead(byte);
		if (partial->wanted == 0)
			return MORSE_UTF8_BAD;
	} else {
		if (!may_follow(partial, byte))
			return MORSE_UTF8_CUT;
		partial->bytes[partial->count++] = byte;
	}
	return partial->count == partial->wanted ? MORSE_UTF8_WHOLE : MORSE_UTF8_MORE;
}

uint32_t morse_utf8_character(const struct morse_partial *partial)
{
	static const uint8_t lead_bits[5] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
	uint32_t character = partial->bytes[0] & lead_bits[partial->wanted];

	for (unsigned i = 1; i < partial->wanted; i++)
		character = character << 6 | (partial->bytes[i] & 0x3Fu);
	return character;
}

size_t morse_utf8_put(uint32_t code_point, uint8_t *text)
{
	if (code_point < 0x80) {
		text[0] = (uint8_t)code_point;
		return 1;
	}
	text[0] = (uint8_t)(0xC0 | code_point >> 6);
	text[1] = (uint8_t)(0x80 | (code_point & 0x3F));
	return 2;
}
