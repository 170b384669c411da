/* Any bytes as JSON: a tree that lies within them, or a place in them where they stop being JSON. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/json_read.h"

/* What must hold whatever a fuzzer gives: else the program stops where the fuzzer sees it. */
#define REQUIRE(condition)                                                                   \
	do {                                                                                 \
		if (!(condition)) {                                                          \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                             \
		}                                                                            \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static size_t check(const struct json_document *document, const struct json_value *value)
{
	size_t values = 1, count = 0;
	uint64_t number;

	REQUIRE(value->begin >= document->text && value->begin < value->end && value->end <= document->text + document->length);
	REQUIRE((value->text != NULL) == (value->kind == JSON_TEXT || value->kind == JSON_NUMBER));
	/* A text never grows by being read. */
	REQUIRE(value->text == NULL || strlen(value->text) <= (size_t)(value->end - value->begin));
	if (json_whole(value, 1000, &number))
		REQUIRE(number <= 1000 && strtoull(value->text, NULL, 10) == number);
	for (const struct json_value *inner = value->first; inner != NULL; inner = inner->next, count++) {
		REQUIRE((inner->key != NULL) == (value->kind == JSON_OBJECT));
		REQUIRE(inner->begin > value->begin && inner->end < value->end);
		if (inner->key != NULL)
			REQUIRE(json_member(value, inner->key) == inner);
		values += check(document, inner);
	}
	REQUIRE(count == value->count);
	return values;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct json_document document, again;
	/* As large as it is: what is read behind it is seen. */
	char *text = malloc(bytes + (bytes == 0));
	size_t line, column;

	REQUIRE(text != NULL);
	if (bytes > 0)
		memcpy(text, data, bytes);
	if (json_read(&document, text, bytes)) {
		const struct json_value *root = document.value;
		size_t values = check(&document, root);

		REQUIRE(document.wrong == NULL);
		/* The value alone is the same value. */
		REQUIRE(json_read(&again, root->begin, (size_t)(root->end - root->begin)));
		REQUIRE(check(&again, again.value) == values);
		json_document_free(&again);
	} else {
		REQUIRE(document.wrong != NULL && document.at >= text && document.at <= text + bytes);
		json_position(&document, document.at, &line, &column);
		REQUIRE(line >= 1 && column >= 1 && line + column <= bytes + 2);
	}
	json_document_free(&document);
	free(text);
	return 0;
}
