/* A small file of /proc or /sys that is read again and again: kept open, read with pread, gone and back at any time. */
#ifndef STEND_SOURCE_FILE_H
#define STEND_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source_file {
	char *path;
	int descriptor; /* -1: not open */
	char *text;     /* the content, with a zero byte behind it */
	size_t length, capacity;
	unsigned wait;  /* so many readings are skipped before the next attempt to open it */
};

/* `root` + `path`; nothing is opened yet. */
void source_file_make(struct source_file *file, const char *root, const char *path);

/* Reads the whole file. False: it is not there now, cannot be read, or is empty. */
bool source_file_read(struct source_file *file);

void source_file_free(struct source_file *file);

/* Parsing by hand: these run thousands of times a second. */
static inline const char *skip_spaces(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* Spaces, then digits. Without digits the result is 0 and *at does not go past the spaces. */
static inline uint64_t take_number(const char **at)
{
	uint64_t value = 0;

	*at = skip_spaces(*at);
	for (; **at >= '0' && **at <= '9'; ++*at)
		value = value * 10 + (uint64_t)(**at - '0');
	return value;
}

/* The start of the next line, or the zero byte at the end. */
const char *next_line(const char *at);

/* Whether `at` starts with `word`; if so, the place behind it. */
const char *after_word(const char *at, const char *word);

#endif
