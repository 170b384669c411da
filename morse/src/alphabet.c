/* The tables of codes, and what is made of them once.
 *
 * "itu": Recommendation ITU-R M.1677-1 (10/2009), Annex 1, section 1.1; its procedure signals (understood, error,
 * invitation to transmit, wait, end of work, starting signal) stand for no character. Section 3 sends the
 * multiplication sign as X.
 *
 * "ru": the Russian code, which is in no document of the ITU: letters and marks as in the handbooks of Russian
 * radiotelegraphers. Ё is sent as Е. The handbooks send both brackets as -.--.-; here the left one is -.--. as in
 * M.1677-1, so that decoding can tell them apart. Ъ is --.--; some tables have .--.-. for it, which is '@' since 2004.
 *
 * Extended: marks that are in use, and in neither. '!' is the one of the Russian table there. */
#include "alphabet.h"
#include "utf8.h"

#include <pthread.h>
#include <string.h>

struct mark {
	uint16_t code_point;
	const char *code;
};

#define DIGITS                                                                                                   \
	{ '0', "-----" }, { '1', ".----" }, { '2', "..---" }, { '3', "...--" }, { '4', "....-" }, { '5', "....." }, \
		{ '6', "-...." }, { '7', "--..." }, { '8', "---.." }, { '9', "----." }

static const struct mark itu[] = {
	{ 'A', ".-" },      { 'B', "-..." },    { 'C', "-.-." },    { 'D', "-.." },     { 'E', "." },
	{ 'F', "..-." },    { 'G', "--." },     { 'H', "...." },    { 'I', ".." },      { 'J', ".---" },
	{ 'K', "-.-" },     { 'L', ".-.." },    { 'M', "--" },      { 'N', "-." },      { 'O', "---" },
	{ 'P', ".--." },    { 'Q', "--.-" },    { 'R', ".-." },     { 'S', "..." },     { 'T', "-" },
	{ 'U', "..-" },     { 'V', "...-" },    { 'W', ".--" },     { 'X', "-..-" },    { 'Y', "-.--" },
	{ 'Z', "--.." },    { 0xC9, "..-.." },  DIGITS,
	{ '.', ".-.-.-" },  { ',', "--..--" },  { ':', "---..." },  { '?', "..--.." },  { '\'', ".----." },
	{ '-', "-....-" },  { '/', "-..-." },   { '(', "-.--." },   { ')', "-.--.-" },  { '"', ".-..-." },
	{ '=', "-...-" },   { '+', ".-.-." },   { '@', ".--.-." },
	/* The multiplication sign: after X, so that its code is decoded as X. */
	{ 0xD7, "-..-" },
	{ 0, NULL }
};

static const struct mark itu_extension[] = {
	{ '!', "-.-.--" }, { '&', ".-..." }, { ';', "-.-.-." }, { '_', "..--.-" }, { '$', "...-..-" }, { 0, NULL }
};

/* From А, U+0410, in the order of the alphabet; Ё, U+0401, after Е. */
static const struct mark russian[] = {
	{ 0x410, ".-" },    { 0x411, "-..." },  { 0x412, ".--" },   { 0x413, "--." },   { 0x414, "-.." },
	{ 0x415, "." },     { 0x401, "." },     { 0x416, "...-" },  { 0x417, "--.." },  { 0x418, ".." },
	{ 0x419, ".---" },  { 0x41A, "-.-" },   { 0x41B, ".-.." },  { 0x41C, "--" },    { 0x41D, "-." },
	{ 0x41E, "---" },   { 0x41F, ".--." },  { 0x420, ".-." },   { 0x421, "..." },   { 0x422, "-" },
	{ 0x423, "..-" },   { 0x424, "..-." },  { 0x425, "...." },  { 0x426, "-.-." },  { 0x427, "---." },
	{ 0x428, "----" },  { 0x429, "--.-" },  { 0x42A, "--.--" }, { 0x42B, "-.--" },  { 0x42C, "-..-" },
	{ 0x42D, "..-.." }, { 0x42E, "..--" },  { 0x42F, ".-.-" },  DIGITS,
	{ '.', "......" },  { ',', ".-.-.-" },  { ':', "---..." },  { ';', "-.-.-." },  { '?', "..--.." },
	{ '!', "--..--" },  { '\'', ".----." }, { '"', ".-..-." },  { '-', "-....-" },  { '/', "-..-." },
	{ '(', "-.--." },   { ')', "-.--.-" },  { '=', "-...-" },   { '@', ".--.-." },
	{ 0, NULL }
};

static const struct mark russian_extension[] = {
	{ '+', ".-.-." }, { '&', ".-..." }, { '_', "..--.-" }, { '$', "...-..-" }, { 0, NULL }
};

static const struct {
	const char *name;
	const struct mark *marks, *extension;
} sources[] = {
	{ "itu", itu, NULL },
	{ "itu-extended", itu, itu_extension },
	{ "ru", russian, NULL },
	{ "ru-extended", russian, russian_extension },
};

enum { ALPHABETS = sizeof sources / sizeof *sources };

static struct morse_alphabet alphabets[ALPHABETS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint16_t packed(const char *code)
{
	unsigned bits = 0, at = 0;

	for (; code[at] != '\0'; at++) {
		if (at == MORSE_ELEMENTS_MAX || (code[at] != '.' && code[at] != '-'))
			return 0;
		bits |= (unsigned)(code[at] == '-') << at;
	}
	return (uint16_t)(at == 0 ? 0u : bits | 1u << at);
}

/* Into `text`, which has room for MORSE_ELEMENTS_MAX. */
static size_t unpacked(uint16_t code, uint8_t *text)
{
	size_t count = 0;

	for (; code > 1; code >>= 1)
		text[count++] = code & 1 ? '-' : '.';
	return count;
}

/* Where the code of a character is; NULL: no table has it. */
static const uint16_t *place(const struct morse_alphabet *alphabet, uint32_t code_point)
{
	if (code_point < 0x80)
		return &alphabet->ascii[code_point];
	if (code_point < 0x100)
		return &alphabet->latin[code_point - 0x80];
	if (code_point >= 0x400 && code_point < 0x480)
		return &alphabet->cyrillic[code_point - 0x400];
	return NULL;
}

static void set(struct morse_alphabet *alphabet, uint32_t code_point, uint16_t code)
{
	*(uint16_t *)place(alphabet, code_point) = code;
}

/* The small letter of a capital that is in a table; others are their own. */
static uint16_t small(uint16_t code_point)
{
	if (code_point >= 'A' && code_point <= 'Z')
		return (uint16_t)(code_point + ('a' - 'A'));
	if (code_point == 0xC9)
		return 0xE9;
	if (code_point == 0x401)
		return 0x451;
	if (code_point >= 0x410 && code_point <= 0x42F)
		return (uint16_t)(code_point + 0x20);
	return code_point;
}

static void add(struct morse_alphabet *alphabet, const struct mark *mark)
{
	for (; mark != NULL && mark->code != NULL; mark++) {
		uint16_t code = packed(mark->code);

		set(alphabet, mark->code_point, code);
		set(alphabet, small(mark->code_point), code);
		/* The first of those that share it. */
		if (alphabet->letter[code] == 0)
			alphabet->letter[code] = mark->code_point;
	}
}

/* ---- The tables of the portable backend. */
static void set_text(struct morse_alphabet *alphabet, unsigned lead, unsigned byte, uint16_t code)
{
	uint8_t elements[MORSE_ELEMENTS_MAX];
	size_t count = unpacked(code, elements);

	if (count == 0 || count >= MORSE_TEXT_BYTES)
		return;
	memcpy(alphabet->text[lead][byte], elements, count);
	alphabet->text[lead][byte][count] = ' ';
	alphabet->text_bytes[lead][byte] = (uint8_t)(count + 1);
}

static void make_texts(struct morse_alphabet *alphabet)
{
	static const uint8_t leads[MORSE_LEADS] = { 0, 0xC2, 0xC3, 0xD0, 0xD1 };

	memset(alphabet->text_bytes, MORSE_UNKNOWN, sizeof alphabet->text_bytes);
	for (unsigned i = 0; i < 0x80; i++)
		set_text(alphabet, 0, i, alphabet->ascii[i]);
	memcpy(alphabet->text[0][' '], "/ ", 2);
	alphabet->text_bytes[0][' '] = 2;
	alphabet->text[0]['\n'][0] = '\n';
	alphabet->text_bytes[0]['\n'] = 1;
	for (unsigned lead = 1; lead < MORSE_LEADS; lead++) {
		const uint16_t *codes = leads[lead] < 0xD0 ? alphabet->latin : alphabet->cyrillic;

		alphabet->text_bytes[0][leads[lead]] = 0;
		for (unsigned i = 0; i < 64; i++)
			set_text(alphabet, lead, 0x80 + i, codes[(leads[lead] & 1u) << 6 | i]);
	}
}

static void make_decoded(struct morse_alphabet *alphabet)
{
	static const char separators[MORSE_SEPARATORS] = MORSE_SEPARATOR_BYTES;

	for (unsigned kind = 0; kind < MORSE_SEPARATORS; kind++) {
		for (unsigned code = 0; code < MORSE_CODES; code++) {
			uint32_t entry = (uint32_t)MORSE_UNKNOWN << 24, letter = alphabet->letter[code];

			if (kind > 0 && (code == 1 || letter != 0)) {
				uint8_t text[4];
				size_t count = code == 1 ? 0 : morse_utf8_put(letter, text);

				if (separators[kind] != ' ')
					text[count++] = separators[kind] == '/' ? ' ' : '\n';
				entry = (uint32_t)count << 24;
				for (size_t i = 0; i < count; i++)
					entry |= (uint32_t)text[i] << 8 * i;
			}
			alphabet->decoded[kind][code] = entry;
		}
	}
}

static void make_all(void)
{
	for (size_t i = 0; i < ALPHABETS; i++) {
		alphabets[i].name = sources[i].name;
		add(&alphabets[i], sources[i].marks);
		add(&alphabets[i], sources[i].extension);
		make_texts(&alphabets[i]);
		make_decoded(&alphabets[i]);
	}
}

/* ---- What callers ask. */
uint16_t morse_code_of(const struct morse_alphabet *alphabet, uint32_t code_point)
{
	const uint16_t *code = place(alphabet, code_point);

	return code == NULL ? 0 : *code;
}

const struct morse_alphabet *morse_alphabet_at(size_t index)
{
	pthread_once(&once, make_all);
	return index < ALPHABETS ? &alphabets[index] : NULL;
}

const struct morse_alphabet *morse_alphabet_by_name(const char *name)
{
	const struct morse_alphabet *alphabet;

	if (name == NULL)
		return NULL;
	for (size_t i = 0; (alphabet = morse_alphabet_at(i)) != NULL; i++)
		if (strcmp(alphabet->name, name) == 0)
			return alphabet;
	return NULL;
}

const char *morse_alphabet_name(const struct morse_alphabet *alphabet)
{
	return alphabet == NULL ? NULL : alphabet->name;
}

size_t morse_alphabet_code(const struct morse_alphabet *alphabet, uint32_t code_point,
                           char code[MORSE_ELEMENTS_MAX + 1])
{
	uint8_t elements[MORSE_ELEMENTS_MAX];
	size_t count = unpacked(morse_code_of(alphabet, code_point), elements);

	for (size_t i = 0; i < count; i++)
		code[i] = (char)elements[i];
	code[count] = '\0';
	return count;
}

uint32_t morse_alphabet_character(const struct morse_alphabet *alphabet, const char *code)
{
	return alphabet->letter[packed(code)];
}
