/* What is JSON, what is not, and where it stops. */
#include "harness.h"

#include <stdint.h>
#include <string.h>

#include "wire/json_read.h"

#define HOLDS(condition) CHECK(condition, "%s", #condition)

static void refused(const char *text, size_t line, size_t column)
{
	struct json_document document;
	size_t found_line = 0, found_column = 0;
	bool read = json_read(&document, text, strlen(text));

	HOLDS(!read);
	if (!read) {
		json_position(&document, document.at, &found_line, &found_column);
		HOLDS(document.wrong != NULL);
	}
	HOLDS(found_line == line && found_column == column);
	if (found_line != line || found_column != column)
		fprintf(stderr, "%s: %zu:%zu\n", text, found_line, found_column);
	json_document_free(&document);
}

static void read_as(const char *text, const char *meant)
{
	struct json_document document;
	bool read = json_read(&document, text, strlen(text));

	HOLDS(read);
	HOLDS(read && document.value->kind == JSON_TEXT && strcmp(document.value->text, meant) == 0);
	json_document_free(&document);
}

static void whole(const char *text, uint64_t most, bool fine, uint64_t wanted)
{
	struct json_document document;
	uint64_t number = 0;

	HOLDS(json_read(&document, text, strlen(text)));
	HOLDS(json_whole(document.value, most, &number) == fine);
	HOLDS(!fine || number == wanted);
	json_document_free(&document);
}

static void test_members(void)
{
	static const char text[] = " {\"a\": [1, -2.5e+3, true, null, {}],\n \"b\":{\"c\":\"d\"}, \"\":false}\n";
	struct json_document document;
	const struct json_value *list;

	HOLDS(json_read(&document, text, strlen(text)));
	HOLDS(document.value->count == 3);
	list = json_member(document.value, "a");
	HOLDS(list != NULL && list->kind == JSON_ARRAY && list->count == 5);
	HOLDS(list != NULL && list->first->next->kind == JSON_NUMBER && strcmp(list->first->next->text, "-2.5e+3") == 0);
	HOLDS(strcmp(json_member(json_member(document.value, "b"), "c")->text, "d") == 0);
	HOLDS(json_member(document.value, "")->kind == JSON_BOOLEAN && !json_member(document.value, "")->truth);
	HOLDS(json_member(document.value, "c") == NULL && json_member(list, "a") == NULL);
	HOLDS((size_t)(json_member(document.value, "b")->end - json_member(document.value, "b")->begin) == strlen("{\"c\":\"d\"}"));
	json_document_free(&document);
}

static void test_depth(void)
{
	char deep[140];

	for (size_t levels = 64; levels <= 65; levels++) {
		struct json_document document;

		memset(deep, '[', levels);
		memset(deep + levels, ']', levels);
		HOLDS(json_read(&document, deep, 2 * levels) == (levels == 64));
		json_document_free(&document);
	}
}

int main(void)
{
	read_as("\"\"", "");
	read_as("\"a\\\"\\\\\\/\\b\\f\\n\\r\\tz\"", "a\"\\/\b\f\n\r\tz");
	read_as("\"\\u0041\\u00e9\\u20AC\\uD83D\\uDE00\"", "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
	read_as("\"\xD0\x96\"", "\xD0\x96");
	whole("0", 9, true, 0);
	whole("18446744073709551615", UINT64_MAX, true, UINT64_MAX);
	whole("18446744073709551616", UINT64_MAX, false, 0);
	whole("10", 9, false, 0);
	whole("-1", 9, false, 0);
	whole("1.0", 9, false, 0);
	whole("1e1", 99, false, 0);
	whole("\"1\"", 9, false, 0);
	test_members();
	test_depth();

	refused("", 1, 1);
	refused("  ", 1, 3);
	refused("{", 1, 2);
	refused("{\"a\" 1}", 1, 6);
	refused("{\"a\":1,}", 1, 8);
	refused("{a:1}", 1, 2);
	refused("{\"a\":1,\n \"a\":2}", 2, 2);
	refused("[1 2]", 1, 4);
	refused("[1,]", 1, 4);
	refused("[1}", 1, 3);
	refused("1 2", 1, 3);
	refused("01", 1, 1);
	refused("1.", 1, 3);
	refused("1e", 1, 3);
	refused("-", 1, 1);
	refused("+1", 1, 1);
	refused(".5", 1, 1);
	refused("tru", 1, 1);
	refused("NaN", 1, 1);
	refused("\"a", 1, 1);
	refused("\"a\\", 1, 1);
	refused("\"\\x\"", 1, 3);
	refused("\"\\u12g4\"", 1, 6);
	refused("\"\\u0000\"", 1, 4);
	refused("\"\\uDE00\"", 1, 4);
	refused("\"\\uD83Dx\"", 1, 4);
	refused("\"a\nb\"", 1, 3);
	refused("\"\xD0\x96\xFF\"", 1, 3);
	refused("\"\xC0\x80\"", 1, 2);
	refused("\"\xED\xA0\x80\"", 1, 2);
	refused("\xEF\xBB\xBF{}", 1, 1);
	return harness_finish();
}
