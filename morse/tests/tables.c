/* The alphabets against tables.txt: all that it has and nothing else, and no code twice but where it says so. */
#include "morse.h"
#include "harness.h"

#include <stdlib.h>

struct line {
	char alphabet[16], code[MORSE_ELEMENTS_MAX + 1];
	uint32_t characters[2], decoded;
	size_t character_count;
	bool shares;
};

static struct line lines[256];
static size_t line_count;

/* Of well-formed UTF-8. */
static uint32_t next_character(const char **text)
{
	const unsigned char *at = (const unsigned char *)*text;
	unsigned length = *at < 0x80 ? 1 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : 4;
	uint32_t character = length == 1 ? *at : *at & (0xFFu >> (length + 1));

	for (unsigned i = 1; i < length; i++)
		character = character << 6 | (at[i] & 0x3Fu);
	*text += length;
	return character;
}

static void read_lines(void)
{
	FILE *file = fopen("tests/tables.txt", "r");
	char text[128], characters[16], decoded[8];

	if (file == NULL)
		return;
	while (fgets(text, sizeof text, file) != NULL && line_count < sizeof lines / sizeof *lines) {
		struct line *line = &lines[line_count];

		if (*text == '#' || *text == '\n')
			continue;
		int fields = sscanf(text, "%15s %15s %8s %7s", line->alphabet, characters, line->code, decoded);
		CHECK(fields >= 3, "tables.txt: %s", text);
		for (const char *at = characters; *at != '\0' && line->character_count < 2;)
			line->characters[line->character_count++] = next_character(&at);
		const char *to = decoded;
		line->shares = fields == 4;
		line->decoded = line->shares ? next_character(&to) : line->characters[0];
		line_count++;
	}
	fclose(file);
}

static bool is_of(const struct line *line, const char *alphabet)
{
	size_t length = strlen(line->alphabet);

	return strcmp(line->alphabet, alphabet) == 0 ||
	       (strncmp(alphabet, line->alphabet, length) == 0 && strcmp(alphabet + length, "-extended") == 0);
}

static const char *code_in_lines(const char *alphabet, uint32_t character)
{
	for (size_t i = 0; i < line_count; i++)
		for (size_t j = 0; j < lines[i].character_count; j++)
			if (lines[i].characters[j] == character && is_of(&lines[i], alphabet))
				return lines[i].code;
	return "";
}

static uint32_t character_in_lines(const char *alphabet, const char *code)
{
	for (size_t i = 0; i < line_count; i++)
		if (strcmp(lines[i].code, code) == 0 && is_of(&lines[i], alphabet))
			return lines[i].decoded;
	return 0;
}

static void check_characters(const struct morse_alphabet *alphabet)
{
	const char *name = morse_alphabet_name(alphabet);
	char code[MORSE_ELEMENTS_MAX + 1];
	unsigned wrong = 0;

	for (uint32_t character = 0; character < 0x110100; character++) {
		const char *expected = character < 0x500 ? code_in_lines(name, character) : "";
		size_t length = morse_alphabet_code(alphabet, character, code);

		wrong += length != strlen(expected) || strcmp(code, expected) != 0;
	}
	CHECK(wrong == 0, "%s: %u characters have other codes than in tables.txt", name, wrong);
}

/* All codes of up to 9 elements. */
static void check_codes(const struct morse_alphabet *alphabet)
{
	const char *name = morse_alphabet_name(alphabet);
	unsigned wrong = 0;

	for (unsigned length = 0; length <= MORSE_ELEMENTS_MAX + 1; length++) {
		for (unsigned bits = 0; bits < 1u << length; bits++) {
			char code[MORSE_ELEMENTS_MAX + 2] = "";

			for (unsigned i = 0; i < length; i++)
				code[i] = bits >> i & 1 ? '-' : '.';
			wrong += morse_alphabet_character(alphabet, code) != character_in_lines(name, code);
		}
	}
	CHECK(wrong == 0, "%s: %u codes stand for other characters than in tables.txt", name, wrong);
	CHECK(morse_alphabet_character(alphabet, ".x") == 0, "%s: .x", name);
}

/* What decoding gives back has one code, and that code gives it back. */
static void check_one_to_one(const struct morse_alphabet *alphabet)
{
	const char *name = morse_alphabet_name(alphabet);
	char code[MORSE_ELEMENTS_MAX + 1];
	size_t characters = 0;

	for (size_t i = 0; i < line_count; i++) {
		const struct line *line = &lines[i];

		if (!is_of(line, name))
			continue;
		morse_alphabet_code(alphabet, line->characters[0], code);
		CHECK((morse_alphabet_character(alphabet, code) == line->characters[0]) == !line->shares, "%s: %s", name, line->code);
		for (size_t j = 0; j < i; j++)
			CHECK(!is_of(&lines[j], name) || strcmp(lines[j].code, line->code) != 0 || line->shares,
			      "%s: %s stands for two characters", name, line->code);
		characters++;
	}
	CHECK(characters > 50, "%s: %zu characters", name, characters);
}

int main(void)
{
	static const char *const names[] = { "itu", "itu-extended", "ru", "ru-extended" };
	const struct morse_alphabet *alphabet;
	size_t count = 0;

	read_lines();
	CHECK(line_count > 110, "tables.txt: %zu lines", line_count);
	for (size_t i = 0; (alphabet = morse_alphabet_at(i)) != NULL; i++) {
		check_characters(alphabet);
		check_codes(alphabet);
		check_one_to_one(alphabet);
		count++;
	}
	CHECK(count == sizeof names / sizeof *names, "%zu alphabets", count);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		CHECK(morse_alphabet_by_name(names[i]) == morse_alphabet_at(i), "%s", names[i]);
	CHECK(morse_alphabet_by_name("ITU") == NULL && morse_alphabet_by_name("") == NULL && morse_alphabet_by_name(NULL) == NULL,
	      "names that do not exist");
	return harness_finish();
}
