#include "wire/json_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"

/* Members are looked through one by one. */
enum { DEEPEST = 64, MOST_MEMBERS = 4096, BLOCK = 64 << 10 };

/* Memory that is given back all at once. */
struct json_block {
	struct json_block *before;
	size_t used, size;
	max_align_t bytes[];
};

struct reader {
	struct json_document *document;
	const char *at, *end;
};

static void *take(struct json_document *document, size_t bytes)
{
	struct json_block *block = document->blocks;

	bytes = (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	if (block == NULL || block->size - block->used < bytes) {
		size_t size = bytes > BLOCK ? bytes : BLOCK;

		block = malloc(sizeof *block + size);
		if (block == NULL)
			fail(EXIT_BROKEN, "out of memory for %zu bytes of JSON", size);
		block->before = document->blocks;
		block->used = 0;
		block->size = size;
		document->blocks = block;
	}
	void *taken = (char *)block->bytes + block->used;
	block->used += bytes;
	return taken;
}

static bool refuse(struct reader *reader, const char *at, const char *why)
{
	if (reader->document->wrong == NULL) {
		reader->document->wrong = why;
		reader->document->at = at;
	}
	return false;
}

static void skip_spaces(struct reader *reader)
{
	while (reader->at < reader->end &&
	       (*reader->at == ' ' || *reader->at == '\t' || *reader->at == '\n' || *reader->at == '\r'))
		reader->at++;
}

static bool next_is(struct reader *reader, char wanted)
{
	if (reader->at == reader->end || *reader->at != wanted)
		return false;
	reader->at++;
	return true;
}

static bool is_digit(const struct reader *reader)
{
	return reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9';
}

/* Four hexadecimal digits. */
static bool read_unit(struct reader *reader, uint32_t *unit)
{
	*unit = 0;
	for (int i = 0; i < 4; i++, reader->at++) {
		char digit = reader->at < reader->end ? *reader->at : '\0';

		if (digit >= '0' && digit <= '9')
			*unit = *unit * 16 + (uint32_t)(digit - '0');
		else if (digit >= 'a' && digit <= 'f')
			*unit = *unit * 16 + (uint32_t)(digit - 'a') + 10;
		else if (digit >= 'A' && digit <= 'F')
			*unit = *unit * 16 + (uint32_t)(digit - 'A') + 10;
		else
			return refuse(reader, reader->at, "\\u takes four hexadecimal digits");
	}
	return true;
}

static char *put_utf8(char *to, uint32_t point)
{
	if (point < 0x80) {
		*to++ = (char)point;
	} else if (point < 0x800) {
		*to++ = (char)(0xC0 | point >> 6);
		*to++ = (char)(0x80 | (point & 0x3F));
	} else if (point < 0x10000) {
		*to++ = (char)(0xE0 | point >> 12);
		*to++ = (char)(0x80 | (point >> 6 & 0x3F));
		*to++ = (char)(0x80 | (point & 0x3F));
	} else {
		*to++ = (char)(0xF0 | point >> 18);
		*to++ = (char)(0x80 | (point >> 12 & 0x3F));
		*to++ = (char)(0x80 | (point >> 6 & 0x3F));
		*to++ = (char)(0x80 | (point & 0x3F));
	}
	return to;
}

static bool read_code_point(struct reader *reader, char **to)
{
	const char *began = reader->at;
	uint32_t unit, low;

	if (!read_unit(reader, &unit))
		return false;
	if (unit == 0)
		return refuse(reader, began, "a text may not hold \\u0000");
	if (unit >= 0xDC00 && unit <= 0xDFFF)
		return refuse(reader, began, "the second half of a pair without the first");
	if (unit >= 0xD800 && unit <= 0xDBFF) {
		if (!next_is(reader, '\\') || !next_is(reader, 'u') || !read_unit(reader, &low) || low < 0xDC00 || low > 0xDFFF)
			return refuse(reader, began, "the first half of a pair without the second");
		unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
	}
	*to = put_utf8(*to, unit);
	return true;
}

static bool read_escape(struct reader *reader, char **to)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (next_is(reader, 'u'))
		return read_code_point(reader, to);
	found = reader->at < reader->end && *reader->at != '\0' ? strchr(letters, *reader->at) : NULL;
	if (found == NULL)
		return refuse(reader, reader->at, "after a backslash comes one of \" \\ / b f n r t u");
	reader->at++;
	*(*to)++ = meant[found - letters];
	return true;
}

/* A text without its escapes, ended by a zero byte; NULL: it is none. */
static const char *read_text(struct reader *reader)
{
	const char *closing;
	char *text, *to;

	if (!next_is(reader, '"')) {
		refuse(reader, reader->at, "a text in quotation marks is wanted");
		return NULL;
	}
	/* Without escapes a text only gets shorter. */
	for (closing = reader->at; closing < reader->end && *closing != '"'; closing++)
		if (*closing == '\\' && closing + 1 < reader->end)
			closing++;
	if (closing >= reader->end) {
		refuse(reader, reader->at - 1, "the text has no end");
		return NULL;
	}
	to = text = take(reader->document, (size_t)(closing - reader->at) + 1);
	while (reader->at < reader->end && *reader->at != '"') {
		size_t length = utf8_length((const unsigned char *)reader->at, (size_t)(reader->end - reader->at));

		if ((unsigned char)*reader->at < 0x20) {
			refuse(reader, reader->at, "a control character in a text must be written as \\u00XX");
			return NULL;
		}
		if (length == 0) {
			refuse(reader, reader->at, "not UTF-8");
			return NULL;
		}
		if (next_is(reader, '\\')) {
			if (!read_escape(reader, &to))
				return NULL;
			continue;
		}
		memcpy(to, reader->at, length);
		to += length;
		reader->at += length;
	}
	*to = '\0';
	if (!next_is(reader, '"')) {
		refuse(reader, reader->at, "the text has no end");
		return NULL;
	}
	return text;
}

static bool read_number(struct reader *reader, struct json_value *value)
{
	const char *begin = reader->at;
	char *text;

	next_is(reader, '-');
	if (!next_is(reader, '0')) {
		if (!is_digit(reader))
			return refuse(reader, begin, "no value begins like this");
		while (is_digit(reader))
			reader->at++;
	} else if (is_digit(reader)) {
		return refuse(reader, begin, "a number may not begin with 0");
	}
	if (next_is(reader, '.')) {
		if (!is_digit(reader))
			return refuse(reader, reader->at, "a digit is wanted after the point");
		while (is_digit(reader))
			reader->at++;
	}
	if (next_is(reader, 'e') || next_is(reader, 'E')) {
		if (!next_is(reader, '+'))
			next_is(reader, '-');
		if (!is_digit(reader))
			return refuse(reader, reader->at, "a digit is wanted in the exponent");
		while (is_digit(reader))
			reader->at++;
	}
	text = take(reader->document, (size_t)(reader->at - begin) + 1);
	memcpy(text, begin, (size_t)(reader->at - begin));
	text[reader->at - begin] = '\0';
	value->kind = JSON_NUMBER;
	value->text = text;
	return true;
}

static bool read_word(struct reader *reader, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0)
		return refuse(reader, reader->at, "no value begins like this");
	reader->at += length;
	return true;
}

static struct json_value *read_value(struct reader *reader, unsigned depth);

static bool is_new(const struct json_value *object, const char *key)
{
	return json_member(object, key) == NULL;
}

/* What stands between two brackets. Objects are small, so a look at each member before is no matter. */
static bool read_members(struct reader *reader, struct json_value *value, char closing, unsigned depth)
{
	struct json_value **last = &value->first;

	if (depth == DEEPEST)
		return refuse(reader, value->begin, "more than 64 levels");
	skip_spaces(reader);
	if (next_is(reader, closing))
		return true;
	for (;;) {
		const char *key = NULL, *begin;

		skip_spaces(reader);
		begin = reader->at;
		if (closing == '}') {
			key = read_text(reader);
			if (key == NULL)
				return false;
			if (value->count == MOST_MEMBERS)
				return refuse(reader, begin, "more than 4096 members");
			if (!is_new(value, key))
				return refuse(reader, begin, "the object has a member of this name already");
			skip_spaces(reader);
			if (!next_is(reader, ':'))
				return refuse(reader, reader->at, "a colon is wanted");
		}
		*last = read_value(reader, depth + 1);
		if (*last == NULL)
			return false;
		(*last)->key = key;
		last = &(*last)->next;
		value->count++;
		skip_spaces(reader);
		if (next_is(reader, closing))
			return true;
		if (!next_is(reader, ','))
			return refuse(reader, reader->at, closing == '}' ? "a comma or } is wanted" : "a comma or ] is wanted");
	}
}

static bool read_kind(struct reader *reader, struct json_value *value, unsigned depth)
{
	if (reader->at == reader->end)
		return refuse(reader, reader->at, "a value is wanted");
	switch (*reader->at) {
	case '{':
	case '[': {
		bool object = *reader->at++ == '{';

		value->kind = object ? JSON_OBJECT : JSON_ARRAY;
		return read_members(reader, value, object ? '}' : ']', depth);
	}
	case '"':
		value->kind = JSON_TEXT;
		value->text = read_text(reader);
		return value->text != NULL;
	case 't':
	case 'f':
		value->kind = JSON_BOOLEAN;
		value->truth = *reader->at == 't';
		return read_word(reader, value->truth ? "true" : "false");
	case 'n':
		value->kind = JSON_NULL;
		return read_word(reader, "null");
	default:
		return read_number(reader, value);
	}
}

static struct json_value *read_value(struct reader *reader, unsigned depth)
{
	struct json_value *value = take(reader->document, sizeof *value);

	memset(value, 0, sizeof *value);
	skip_spaces(reader);
	value->begin = reader->at;
	if (!read_kind(reader, value, depth))
		return NULL;
	value->end = reader->at;
	return value;
}

bool json_read(struct json_document *document, const char *text, size_t length)
{
	struct reader reader = { document, text, text + length };

	*document = (struct json_document){ .text = text, .length = length };
	document->value = read_value(&reader, 0);
	if (document->value == NULL)
		return false;
	skip_spaces(&reader);
	return reader.at == reader.end || refuse(&reader, reader.at, "nothing may come after the value");
}

void json_document_free(struct json_document *document)
{
	while (document->blocks != NULL) {
		struct json_block *before = document->blocks->before;

		free(document->blocks);
		document->blocks = before;
	}
	*document = (struct json_document){ 0 };
}

void json_position(const struct json_document *document, const char *at, size_t *line, size_t *column)
{
	*line = *column = 1;
	for (const char *place = document->text; place < at; place++) {
		if (*place == '\n') {
			++*line;
			*column = 1;
		} else if (((unsigned char)*place & 0xC0) != 0x80) {
			++*column;
		}
	}
}

const struct json_value *json_member(const struct json_value *object, const char *name)
{
	if (object == NULL || object->kind != JSON_OBJECT)
		return NULL;
	for (const struct json_value *member = object->first; member != NULL; member = member->next)
		if (strcmp(member->key, name) == 0)
			return member;
	return NULL;
}

bool json_whole(const struct json_value *value, uint64_t most, uint64_t *number)
{
	uint64_t whole = 0;

	if (value == NULL || value->kind != JSON_NUMBER)
		return false;
	for (const char *at = value->text; *at != '\0'; at++) {
		uint64_t digit = (uint64_t)(*at - '0');

		if (*at < '0' || *at > '9' || whole > (UINT64_MAX - digit) / 10)
			return false;
		whole = whole * 10 + digit;
	}
	*number = whole;
	return whole <= most;
}
