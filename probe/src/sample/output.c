#include "sample/output.h"

#include <string.h>

#include "wire/wire.h"

static void append_number(struct json *json, uint64_t value)
{
	char digits[20];
	size_t at = sizeof digits;

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	json_append(json, digits + at, sizeof digits - at);
}

static void append_name(struct sample_line *line, const char *prefix, const char *suffix)
{
	if (line->values++ > 0)
		json_append(&line->json, ",", 1);
	json_append(&line->json, "\"", 1);
	json_append(&line->json, prefix, strlen(prefix));
	json_append(&line->json, suffix, strlen(suffix));
	json_append(&line->json, "\":", 2);
}

void sample_line_open(struct sample_line *line, uint64_t t_ns)
{
	static const char start[] = "{\"event\":\"sample\",\"t_ns\":", values[] = ",\"values\":{";

	line->values = 0;
	json_append(&line->json, start, sizeof start - 1);
	append_number(&line->json, t_ns);
	json_append(&line->json, values, sizeof values - 1);
}

void sample_line_add(struct sample_line *line, const char *prefix, const char *suffix, uint64_t value)
{
	append_name(line, prefix, suffix);
	append_number(&line->json, value);
}

void sample_line_add_milli(struct sample_line *line, const char *prefix, const char *suffix, int64_t value)
{
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char fraction[4] = { '.', (char)('0' + size / 100 % 10), (char)('0' + size / 10 % 10), (char)('0' + size % 10) };

	append_name(line, prefix, suffix);
	if (value < 0)
		json_append(&line->json, "-", 1);
	append_number(&line->json, size / 1000);
	json_append(&line->json, fraction, sizeof fraction);
}

void sample_line_close(struct sample_line *line)
{
	if (line->values == 0) {
		line->json.text.length = 0;
		return;
	}
	json_append(&line->json, "}}", 2);
	wire_send(&line->json);
}

void metric_name(char *to, size_t bytes, const char *from, size_t length)
{
	size_t i = 0;

	for (; i < length && i + 1 < bytes; i++) {
		char c = from[i];
		int plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
		            c == '-' || c == '_' || c == ':';
		to[i] = plain ? c : '_';
	}
	to[i] = '\0';
}
