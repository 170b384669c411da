/* What a backend is, and what it works on. */
#ifndef MORSE_BACKEND_H
#define MORSE_BACKEND_H

#include "cpu.h"
#include "morse.h"

enum {
	MORSE_CODES = 512,      /* codes of up to MORSE_ELEMENTS_MAX elements, with the bit above them */
	MORSE_TEXT_BYTES = 8,   /* a code of up to 7 elements and its ' ': no alphabet has longer ones */
	MORSE_LEADS = 5,        /* what may stand before a byte: nothing of note, C2, C3, D0, D1 */
	MORSE_SEPARATORS = 4    /* what may follow a code: a byte that may not, ' ', '\n', '/' */
};

#define MORSE_SEPARATOR_BYTES { 0, ' ', '\n', '/' }

/* A code: its elements from bit 0 upwards, 0 a dot and 1 a dash, and above the last one a 1 bit. At most 8 elements.
 * 0: no code. */
struct morse_alphabet {
	const char *name;
	uint16_t ascii[128];    /* the code of U+0000 + i, small letters like capitals; none for ' ' and '\n' */
	uint16_t cyrillic[128]; /* the code of U+0400 + i, whose UTF-8 is D0 80 … D1 BF */
	uint16_t letter[512];   /* by code: the Unicode code point (capital) it decodes to; 0: none */
	uint16_t latin[128];    /* the code of U+0080 + i, whose UTF-8 is C2 80 … C3 BF: for the portable code alone */

	/* For the portable backend. What a byte becomes after one of MORSE_LEADS, ' ' included, and how long that is; a
	 * lead itself becomes nothing. MORSE_UNKNOWN: nothing that it can code. */
	uint8_t text[MORSE_LEADS][256][MORSE_TEXT_BYTES];
	uint8_t text_bytes[MORSE_LEADS][256];
	/* What a code and the separator after it become: up to 3 bytes, the first the lowest, and in the top byte how many.
	 * MORSE_UNKNOWN in the top byte: no letter has this code, or it is no separator. Code 1: no elements at all. */
	uint32_t decoded[MORSE_SEPARATORS][MORSE_CODES];
};

enum { MORSE_UNKNOWN = 0x80 };

struct morse_progress {
	size_t read, written;
};

struct morse_backend {
	const char *name;
	bool (*supported)(void); /* NULL: always */
	/* Both take as much from the front of `input` as they do fast, and stop before what they leave to the portable
	 * code: a character or token that is unknown, incomplete, or too near the end of input or room. What they write is
	 * what the portable code would write. They never write beyond `room` bytes, nor read beyond `bytes`.
	 *
	 * Encoding stops before the last character: whether its ' ' is dropped, the byte after it says. Decoding starts at
	 * the start of a token or separator and stops only at a token's end, its ' ' or '\n' read with it. */
	struct morse_progress (*encode)(const struct morse_alphabet *alphabet, uint8_t *output, size_t room,
	                                const uint8_t *input, size_t bytes);
	struct morse_progress (*decode)(const struct morse_alphabet *alphabet, uint8_t *output, size_t room,
	                                const uint8_t *input, size_t bytes);
	/* How often the byte is there; and how many characters begin in this UTF-8. So the coders know their place. */
	size_t (*count_byte)(const uint8_t *bytes, size_t count, uint8_t byte);
	size_t (*count_characters)(const uint8_t *bytes, size_t count);
};

/* For backends that have none of their own. */
size_t morse_count_byte(const uint8_t *bytes, size_t count, uint8_t byte);
size_t morse_count_characters(const uint8_t *bytes, size_t count);

#ifdef MORSE_X86
extern const struct morse_backend morse_avx512;
extern const struct morse_backend morse_avx2;
#endif
#ifdef MORSE_ARM
extern const struct morse_backend morse_neon;
#endif
extern const struct morse_backend morse_portable;

#endif
