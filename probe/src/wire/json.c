#include "wire/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

void json_append(struct json *json, const char *text, size_t length)
{
	bytes_add(&json->text, text, length);
}

static void append_text(struct json *json, const char *text)
{
	json_append(json, text, strlen(text));
}

static void new_line(struct json *json)
{
	if (!json->pretty)
		return;
	append_text(json, "\n");
	for (unsigned i = 0; i < json->depth; i++)
		append_text(json, "  ");
}

static void append_quoted(struct json *json, const char *value)
{
	const unsigned char *at = (const unsigned char *)value, *end = at + strlen(value);

	append_text(json, "\"");
	while (*at != '\0') {
		size_t length = utf8_length(at, (size_t)(end - at));

		if (length == 0) {
			append_text(json, "\xEF\xBF\xBD");
			length = 1;
		} else if (*at == '"' || *at == '\\') {
			char escaped[2] = { '\\', (char)*at };
			json_append(json, escaped, 2);
		} else if (*at < 0x20) {
			char escaped[8];
			snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)*at);
			append_text(json, escaped);
		} else {
			/* What goes in as it is goes in at once, as far as it is plain: there may be 64 MiB of it. */
			while (at[length] >= 0x20 && at[length] < 0x80 && at[length] != '"' && at[length] != '\\')
				length++;
			json_append(json, (const char *)at, length);
		}
		at += length;
	}
	append_text(json, "\"");
}

static void begin_value(struct json *json, const char *key)
{
	if (json->comma)
		append_text(json, ",");
	if (json->depth > 0)
		new_line(json);
	if (key != NULL) {
		append_quoted(json, key);
		append_text(json, json->pretty ? ": " : ":");
	}
	json->comma = true;
}

static void open_with(struct json *json, const char *key, const char *bracket)
{
	begin_value(json, key);
	append_text(json, bracket);
	json->depth++;
	json->comma = false;
}

static void close_with(struct json *json, const char *bracket)
{
	bool any = json->comma;

	json->depth--;
	if (any)
		new_line(json);
	append_text(json, bracket);
	json->comma = true;
}

void json_open_object(struct json *json, const char *key)
{
	open_with(json, key, "{");
}

void json_close_object(struct json *json)
{
	close_with(json, "}");
}

void json_open_array(struct json *json, const char *key)
{
	open_with(json, key, "[");
}

void json_close_array(struct json *json)
{
	close_with(json, "]");
}

void json_text(struct json *json, const char *key, const char *value)
{
	begin_value(json, key);
	if (value == NULL)
		append_text(json, "null");
	else
		append_quoted(json, value);
}

void json_unsigned(struct json *json, const char *key, uint64_t value)
{
	char digits[24];

	begin_value(json, key);
	snprintf(digits, sizeof digits, "%" PRIu64, value);
	append_text(json, digits);
}

void json_signed(struct json *json, const char *key, int64_t value)
{
	char digits[24];

	begin_value(json, key);
	snprintf(digits, sizeof digits, "%" PRId64, value);
	append_text(json, digits);
}

void json_real(struct json *json, const char *key, double value)
{
	char digits[40];

	begin_value(json, key);
	if (isfinite(value))
		snprintf(digits, sizeof digits, "%.15g", value);
	else
		strcpy(digits, "null");
	append_text(json, digits);
}

void json_raw(struct json *json, const char *key, const char *text, size_t length)
{
	begin_value(json, key);
	json_append(json, text, length);
}

void json_boolean(struct json *json, const char *key, bool value)
{
	begin_value(json, key);
	append_text(json, value ? "true" : "false");
}

bool json_send(struct json *json)
{
	json_append(json, "\n", 1);
	for (size_t sent = 0; sent < json->text.length;) {
		ssize_t count = write(STDOUT_FILENO, json->text.data + sent, json->text.length - sent);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return false;
		sent += (size_t)count;
	}
	json->text.length = 0;
	json->depth = 0;
	json->comma = false;
	return true;
}

void json_free(struct json *json)
{
	bytes_free(&json->text);
	*json = (struct json){ 0 };
}
