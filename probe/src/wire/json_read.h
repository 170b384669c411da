/* A strict reader of JSON (RFC 8259): valid UTF-8, no duplicate members, no NUL in texts, at most 64 levels, nothing behind the value. */
#ifndef STEND_JSON_READ_H
#define STEND_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind { JSON_NULL, JSON_BOOLEAN, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT };

struct json_value {
	enum json_kind kind;
	bool truth;             /* of a boolean */
	const char *key;        /* in an object: the member's name */
	const char *text;       /* of a text, without escapes; of a number, as it stands */
	struct json_value *first, *next; /* of an array or object: what is in it, in order; beside it: what comes next */
	size_t count;           /* of an array or object */
	const char *begin, *end; /* where it stands in what was read */
};

/* What was read, and what is wrong with it if something is. Everything points into it. */
struct json_document {
	const char *text;
	size_t length;
	struct json_value *value;
	const char *wrong; /* NULL: nothing */
	const char *at;    /* where */
	struct json_block *blocks;
};

/* False: it is no JSON; `wrong` says why, `at` where. The text must stay as long as the document. */
bool json_read(struct json_document *document, const char *text, size_t length);
void json_document_free(struct json_document *document);

/* Line and column of a place, from 1; columns in characters. */
void json_position(const struct json_document *document, const char *at, size_t *line, size_t *column);

/* An object's member; NULL: it has none of this name, or is no object. */
const struct json_value *json_member(const struct json_value *object, const char *name);
/* False: no number, none that is whole, negative, or above `most`. */
bool json_whole(const struct json_value *value, uint64_t most, uint64_t *number);

#endif
