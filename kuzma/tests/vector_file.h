/* Reads the vector files in tests/vectors/; their format is described at the head of published.txt. */
#ifndef VECTOR_FILE_H
#define VECTOR_FILE_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VECTOR_VALUES_MAX 8
#define VECTOR_BYTES_MAX 8192

struct vector_value {
	char name[16];
	size_t number, count; /* decimal, if it is one; and bytes */
	uint8_t bytes[VECTOR_BYTES_MAX];
};

/* One test case. */
struct vector {
	char cipher[16], mode[16], source[96];
	unsigned line; /* where it begins; 0: none */
	size_t values;
	struct vector_value value[VECTOR_VALUES_MAX];
};

struct vector_file {
	FILE *file;
	unsigned line;
	bool wrong; /* the file is not in the format, `line` says where */
	char text[512];
};

static inline bool vector_file_open(struct vector_file *file, const char *path)
{
	memset(file, 0, sizeof *file);
	file->file = fopen(path, "r");
	return file->file != NULL;
}

/* The value called `name`, or NULL. */
static inline const struct vector_value *vector_value(const struct vector *vector, const char *name)
{
	for (size_t i = 0; i < vector->values; i++)
		if (strcmp(vector->value[i].name, name) == 0)
			return &vector->value[i];
	return NULL;
}

static inline bool vector_add_hex(struct vector_value *value, const char *digits)
{
	for (; isxdigit((unsigned char)digits[0]) && isxdigit((unsigned char)digits[1]); digits += 2) {
		char pair[3] = { digits[0], digits[1], '\0' };
		if (value->count == VECTOR_BYTES_MAX)
			return false;
		value->bytes[value->count++] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return *digits == '\0';
}

/* A line of a stanza, after its heading. */
static inline bool vector_add_line(struct vector *vector, const char *text)
{
	struct vector_value *value = &vector->value[vector->values];
	const char *equals = strchr(text, '='), *content;

	if (text[0] == ' ')
		return vector->values > 0 && vector_add_hex(value - 1, text + strspn(text, " "));
	if (equals == NULL || equals == text || equals[-1] != ' ')
		return false;
	content = equals + 1 + strspn(equals + 1, " ");
	if (strncmp(text, "source ", 7) == 0)
		return snprintf(vector->source, sizeof vector->source, "%s", content) < (int)sizeof vector->source;
	if (vector->values == VECTOR_VALUES_MAX || (size_t)(equals - text - 1) >= sizeof value->name)
		return false;
	memset(value->name, 0, sizeof value->name);
	memcpy(value->name, text, (size_t)(equals - text - 1));
	if (vector_value(vector, value->name) != NULL)
		return false;
	vector->values++;
	value->number = value->count = 0;
	if (strcmp(value->name, "section") == 0 || strcmp(value->name, "key-section") == 0)
		return (value->number = strtoul(content, NULL, 10)) > 0;
	return vector_add_hex(value, content);
}

/* The next case; false at the end, or at a line that is not in the format. */
static inline bool vector_next(struct vector_file *file, struct vector *vector)
{
	vector->line = 0;
	vector->values = 0;
	vector->source[0] = '\0';
	for (;;) {
		/* The heading of this case was read at the end of the last one. */
		bool heading = file->text[0] == '[';
		if (heading && vector->line > 0)
			return true;
		if (heading) {
			vector->line = file->line;
			file->wrong = sscanf(file->text, "[%15[a-z] %15[a-z-]]", vector->cipher, vector->mode) != 2;
		} else if (file->text[0] != '\0' && file->text[0] != '#') {
			file->wrong = vector->line == 0 || !vector_add_line(vector, file->text);
		}
		if (file->wrong)
			return false;
		if (fgets(file->text, sizeof file->text, file->file) == NULL) {
			file->text[0] = '\0';
			return vector->line > 0;
		}
		file->text[strcspn(file->text, "\n")] = '\0';
		file->line++;
	}
}

static inline void vector_file_close(struct vector_file *file)
{
	fclose(file->file);
}

#endif
