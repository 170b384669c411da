#include "complaint.h"

#include "fail.h"
#include "input.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char lossy[] = "--lossy replaces what cannot be coded";
static const char no_carriage_returns[] = "remove them first, as in: tr -d '\\r'";

/* Whether the alphabet of that name and "-extended" at it would do. */
static bool would_do(const char *name, bool extended, bool encode, uint32_t character, const char *signs)
{
	char whole[32], code[MORSE_ELEMENTS_MAX + 1];
	snprintf(whole, sizeof whole, "%s%s", name, extended ? "-extended" : "");
	const struct morse_alphabet *alphabet = morse_alphabet_by_name(whole);

	if (alphabet == NULL)
		return false;
	if (encode)
		return morse_alphabet_code(alphabet, character, code) > 0;
	return morse_alphabet_character(alphabet, signs) != 0;
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
	return lossy;
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
		snprintf(to, room, "'%.*s' (U+%04" PRIX32 ")", (int)error->length, (const char *)error->bytes,
		         character);
}

/* Whether the bytes of a MORSE_ERROR_BYTE are a character; the coder has looked at their form, so the lead says it. */
static bool is_character(const struct morse_error *error)
{
	uint8_t lead = error->bytes[0];
	unsigned length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;

	return error->length == length;
}

/* What stands before the advice. */
struct finding {
	char what[200];
	const char *advice;
};

static struct finding find_character(const struct job *job, const struct morse_error *error)
{
	const char *alphabet = morse_alphabet_name(job->options.alphabet);
	struct finding found = { .advice = option_for(job, character_of(error), "") };
	char character[64];

	name_character(character, sizeof character, error);
	if (error->bytes[0] == '\r') {
		snprintf(character, sizeof character, "a carriage return");
		found.advice = no_carriage_returns;
	} else if (error->bytes[0] == '\t') {
		snprintf(character, sizeof character, "a tab");
		found.advice = "make spaces of them first, as in: expand -t 1";
	}
	snprintf(found.what, sizeof found.what, "%s is not in the alphabet %s", character, alphabet);
	return found;
}

static struct finding find_code(const struct job *job, const struct morse_error *error)
{
	const char *alphabet = morse_alphabet_name(job->options.alphabet);
	struct finding found = { .advice = lossy };
	char signs[sizeof error->bytes + 1] = "";
	bool whole = error->length <= sizeof error->bytes;

	memcpy(signs, error->bytes, whole ? (size_t)error->length : sizeof error->bytes);
	if (error->length <= MORSE_ELEMENTS_MAX)
		found.advice = option_for(job, 0, signs);
	snprintf(found.what, sizeof found.what, "%s%s is no code of the alphabet %s", signs, whole ? "" : "..., and more,",
	         alphabet);
	return found;
}

static struct finding find_bytes(const struct morse_error *error)
{
	struct finding found = { .advice = "iconv -t UTF-8 converts text, --lossy replaces it" };
	char bytes[100];

	name_bytes(bytes, sizeof bytes, error);
	snprintf(found.what, sizeof found.what, "%s %s no UTF-8", bytes, error->length == 1 ? "is" : "are");
	return found;
}

static struct finding find_foreign(const struct morse_error *error)
{
	struct finding found = { .advice = lossy };
	char bytes[100];

	if (error->bytes[0] == '\r') {
		snprintf(bytes, sizeof bytes, "a carriage return");
		found.advice = no_carriage_returns;
	} else if (is_character(error)) {
		name_character(bytes, sizeof bytes, error);
	} else {
		name_bytes(bytes, sizeof bytes, error);
	}
	snprintf(found.what, sizeof found.what, "%s: code has '.', '-', '/', spaces and ends of lines only", bytes);
	return found;
}

void complain(const struct job *job, const struct morse_error *error, size_t open)
{
	size_t index = open - 1;
	struct finding found;

	/* It may have begun in an input before. */
	while (index > 0 && input_begin(index).offset > error->offset)
		index--;
	struct morse_place begin = input_begin(index);
	uint64_t line = error->line - begin.line + 1, offset = error->offset - begin.offset;
	uint64_t column = error->line == begin.line ? error->column - begin.column + 1 : error->column;

	switch (error->status) {
	case MORSE_ERROR_CHARACTER: found = find_character(job, error); break;
	case MORSE_ERROR_CODE: found = find_code(job, error); break;
	case MORSE_ERROR_UTF8: found = find_bytes(error); break;
	case MORSE_ERROR_BYTE: found = find_foreign(error); break;
	default: fail(EXIT_DATA, "%s: %s", input_name(index), morse_status_text(error->status));
	}
	fail(EXIT_DATA, "%s:%" PRIu64 ":%" PRIu64 ": %s, byte offset %" PRIu64 "; %s", input_name(index), line, column,
	     found.what, offset, found.advice);
}
