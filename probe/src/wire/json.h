/* A JSON writer. Values are appended to a buffer that grows; json_send() writes it as one line. */
#ifndef STEND_JSON_H
#define STEND_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct json {
	struct bytes text;
	unsigned depth;
	bool comma;  /* the next value needs one in front */
	bool pretty; /* one member a line, indented by two spaces */
};

/* In an object `key` is the member's name; in an array, and at the top, it is NULL. */
void json_open_object(struct json *json, const char *key);
void json_close_object(struct json *json);
void json_open_array(struct json *json, const char *key);
void json_close_array(struct json *json);
/* Bytes that are not UTF-8 become U+FFFD, for /proc and environment may hold anything. NULL gives null. */
void json_text(struct json *json, const char *key, const char *value);
void json_unsigned(struct json *json, const char *key, uint64_t value);
void json_signed(struct json *json, const char *key, int64_t value);
/* 15 significant digits; what is not finite gives null. */
void json_real(struct json *json, const char *key, double value);
void json_boolean(struct json *json, const char *key, bool value);
/* What is JSON already. */
void json_raw(struct json *json, const char *key, const char *text, size_t length);

/* Writes the text and a newline to standard output in one write where the system allows, then empties the buffer.
 * False: standard output is gone. */
bool json_send(struct json *json);
void json_free(struct json *json);

/* Unformatted, for the writers that have their own digits. */
void json_append(struct json *json, const char *text, size_t length);

#endif
