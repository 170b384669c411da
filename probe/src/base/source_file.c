#include "base/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

/* A file that is gone is looked for every so many readings: hotplug must not cost much. */
enum { READINGS_BETWEEN_ATTEMPTS = 10 };

/* The kernel gives some files of /proc in pieces of about a page, and never a piece so short that more follows. */
enum { SURELY_ALL = 2048 };

void source_file_make(struct source_file *file, const char *root, const char *path)
{
	size_t bytes = strlen(root) + strlen(path) + 1;

	*file = (struct source_file){ .descriptor = -1, .path = malloc(bytes) };
	if (file->path == NULL)
		fail(EXIT_BROKEN, "out of memory");
	snprintf(file->path, bytes, "%s%s", root, path);
}

void source_file_free(struct source_file *file)
{
	if (file->descriptor >= 0)
		close(file->descriptor);
	free(file->path);
	free(file->text);
	*file = (struct source_file){ .descriptor = -1 };
}

static void close_for_now(struct source_file *file)
{
	close(file->descriptor);
	file->descriptor = -1;
	file->wait = READINGS_BETWEEN_ATTEMPTS;
}

static bool open_again(struct source_file *file)
{
	if (file->wait > 0) {
		file->wait--;
		return false;
	}
	file->descriptor = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->descriptor < 0)
		file->wait = READINGS_BETWEEN_ATTEMPTS;
	return file->descriptor >= 0;
}

bool source_file_read(struct source_file *file)
{
	file->length = 0;
	if (file->descriptor < 0 && !open_again(file))
		return false;
	for (;;) {
		if (file->capacity - file->length < 512) {
			size_t capacity = file->capacity * 2 + 4096;
			char *larger = realloc(file->text, capacity);
			if (larger == NULL)
				fail(EXIT_BROKEN, "out of memory for %s", file->path);
			file->text = larger;
			file->capacity = capacity;
		}
		ssize_t count = pread(file->descriptor, file->text + file->length, file->capacity - file->length - 1,
		                      (off_t)file->length);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0) {
			close_for_now(file);
			return false;
		}
		if (count == 0)
			break;
		file->length += (size_t)count;
		if (count < SURELY_ALL)
			break; /* saves the call that would say so: half of all calls */
	}
	file->text[file->length] = '\0';
	return file->length > 0;
}

const char *next_line(const char *at)
{
	const char *end = strchr(at, '\n');

	return end == NULL ? at + strlen(at) : end + 1;
}

const char *after_word(const char *at, const char *word)
{
	size_t length = strlen(word);

	return strncmp(at, word, length) == 0 ? at + length : NULL;
}
