#include "complaint.h"

#include "fail.h"
#include "input.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Whether the alphabet of that name and "-extended" at it would do. */
static bool would_do(const char *name, bool extended, bool encode, uint32_t character, const char *signs)
{
	char whole[32], code[MORSE_ELEMENTS_MAX + 1];
	snprintf(whole, sizeof whole, "%s%s", name, extended ? "-extended" : "");
	const struct morse_alphabet *alphabet = morse_alphabet_by_name(whole);

	if (alphabet == NULL)
		return false;
	return encode ? morse_alphabet_code(alphabet, character, code) > 0 : morse_alphabet_character(alphabet, signs) != 0;
}

/* Which option would take it: the same alphabet first, and extensions last. */
static const char *option_for(const struct job *job, uint32_t character, const char *signs)
{
	bool russian = strncmp(morse_alphabet_name(job->options.alphabet), "ru", 2) == 0;

	if (would_do(russian ? "ru" : "itu", true, job->encode, character, signs))
		return "--extensions takes it";
	if (would_do(russian ? "itu" : "ru", false, job->encode, character, signs))
		return russian ? "--alphabet itu takes it" : "--alphabet ru takes it";
	if (would_do(russian ? "itu" : "ru", true, job->encode, character, signs))
		return russian ? "--alphabet itu --extensions takes it" : "--alphabet ru --extensions takes it";
	return "--lossy replaces what cannot be coded";
}

/* The character of a valid sequence. */
static uint32_t character_of(const struct morse_error *error)
{
	uint32_t character = error->bytes[0];

	if (error->length > 1)
		character &= 0xFFu >> (error->length + 1);
	for (uint64_t i = 1; i < error->length; i++)
		character = character << 6 | (error->bytes[i] & 0x3Fu);
	return character;
}

static void name_bytes(char *to, size_t room, const struct morse_error *error)
{
	size_t at = (size_t)snprintf(to, room, error->length == 1 ? "the byte" : "the bytes");

	for (uint64_t i = 0; i < error->length && i < sizeof error->bytes && at < room; i++)
		at += (size_t)snprintf(to + at, room - at, " %02x", error->bytes[i]);
}

/* As in: 'ы' (U+044B). What a terminal may take for a command has its number only. */
static void name_character(char *to, size_t room, const struct morse_error *error)
{
	uint32_t character = character_of(error);

	if (character < ' ' || (character >= 0x7F && character < 0xA0))
		snprintf(to, room, "the control character U+%04" PRIX32, character);
	else
		snprintf(to, room, "'%.*s' (U+%04" PRIX32 ")", (int)error->length, (const char *)error->bytes, character);
}

/* Whether the bytes of a MORSE_ERROR_BYTE are a character; the coder has looked at their form, so the lead says it. */
static bool is_character(const struct morse_error *error)
{
	uint8_t lead = error->bytes[0];
	unsigned length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;

	return error->length == length;
}

void complain(const struct job *job, const struct morse_error *error, size_t open)
{
	const char *alphabet = morse_alphabet_name(job->options.alphabet), *advice = "--lossy replaces what cannot be coded";
	char what[160], signs[MORSE_ELEMENTS_MAX + 1] = "";
	size_t index = open - 1;

	/* It may have begun in an input before. */
	while (index > 0 && input_begin(index).offset > error->offset)
		index--;
	struct morse_place begin = input_begin(index);
	uint64_t line = error->line - begin.line + 1;
	uint64_t column = error->line == begin.line ? error->column - begin.column + 1 : error->column;

	switch (error->status) {
	case MORSE_ERROR_CHARACTER:
		name_character(what, sizeof what, error);
		if (error->bytes[0] == '\r') {
			snprintf(what, sizeof what, "a carriage return");
			advice = "remove them first, as in: tr -d '\\r'";
		} else if (error->bytes[0] == '\t') {
			snprintf(what, sizeof what, "a tab");
			advice = "make spaces of them first, as in: expand -t 1";
		} else {
			advice = option_for(job, character_of(error), signs);
		}
		fail(EXIT_DATA, "%s:%" PRIu64 ":%" PRIu64 ": %s is not in the alphabet %s, byte offset %" PRIu64 "; %s", input_name(index),
		     line, column, what, alphabet, error->offset - begin.offset, advice);
	case MORSE_ERROR_CODE:
		if (error->length <= MORSE_ELEMENTS_MAX) {
			memcpy(signs, error->bytes, (size_t)error->length);
			advice = option_for(job, 0, signs);
		}
		snprintf(what, sizeof what, "%.*s%s", (int)(error->length < sizeof error->bytes ? error->length : sizeof error->bytes),
		         (const char *)error->bytes, error->length > sizeof error->bytes ? "..., and more," : "");
		fail(EXIT_DATA, "%s:%" PRIu64 ":%" PRIu64 ": %s is no code of the alphabet %s, byte offset %" PRIu64 "; %s",
		     input_name(index), line, column, what, alphabet, error->offset - begin.offset, advice);
	case MORSE_ERROR_UTF8:
		name_bytes(what, sizeof what, error);
		fail(EXIT_DATA,
		     "%s:%" PRIu64 ":%" PRIu64 ": %s %s no UTF-8, byte offset %" PRIu64 "; iconv -t UTF-8 converts text, --lossy replaces it",
		     input_name(index), line, column, what, error->length == 1 ? "is" : "are", error->offset - begin.offset);
	case MORSE_ERROR_BYTE:
		if (error->bytes[0] == '\r') {
			snprintf(what, sizeof what, "a carriage return");
			advice = "remove them first, as in: tr -d '\\r'";
		} else if (is_character(error)) {
			name_character(what, sizeof what, error);
		} else {
			name_bytes(what, sizeof what, error);
		}
		fail(EXIT_DATA,
		     "%s:%" PRIu64 ":%" PRIu64 ": %s: code has '.', '-', '/', spaces and ends of lines only, byte offset %" PRIu64 "; %s",
		     input_name(index), line, column, what, error->offset - begin.offset, advice);
	default:
		fail(EXIT_DATA, "%s: %s", input_name(index), morse_status_text(error->status));
	}
}
