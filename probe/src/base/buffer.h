/* Memory to measure on: mapped apart from the heap, with a chosen alignment, and present before the clock starts. */
#ifndef STEND_BUFFER_H
#define STEND_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
	uint8_t *data; /* `bytes` bytes, at `offset` past the start of a page (of 2 MiB with huge pages) */
	size_t bytes;
	void *mapping;
	size_t mapping_bytes;
};

/* Ends the program with one line and EXIT_UNSUPPORTED if this machine has no room for `count` buffers of so many bytes. */
void buffer_check(uint64_t count, uint64_t bytes);
/* Checks, and maps. Huge pages are asked for, not ensured. */
struct buffer buffer_make(size_t bytes, size_t offset, bool huge_pages);
/* Writes to each page, so that no fault is left for the measurement. */
void buffer_touch(const struct buffer *buffer);
void buffer_free(struct buffer *buffer);

#endif
