#include "base/buffer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif

enum { HUGE_BYTES = 2 << 20 };

void buffer_check(uint64_t count, uint64_t bytes)
{
	if (bytes > SIZE_MAX / 2 / count)
		fail(EXIT_UNSUPPORTED, "%" PRIu64 " x %" PRIu64 " bytes of buffers do not fit in the address space", count, bytes);
	/* Systems promise more than they have, and kill later. */
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	if (pages > 0 && page > 0 && count * bytes / (uint64_t)page >= (uint64_t)pages)
		fail(EXIT_UNSUPPORTED, "%" PRIu64 " x %" PRIu64 " bytes of buffers are more than the memory of this machine", count,
		     bytes);
}

struct buffer buffer_make(size_t bytes, size_t offset, bool huge_pages)
{
	struct buffer buffer = { .bytes = bytes };
	size_t boundary = huge_pages ? HUGE_BYTES : 1; /* a mapping starts with a page */

	buffer_check(1, bytes);
	/* Whole huge pages also behind a small buffer: the kernel gives none that is cut off by the mapping's end. */
	buffer.mapping_bytes = (bytes + offset + boundary - 1) / boundary * boundary + boundary;
	buffer.mapping = mmap(NULL, buffer.mapping_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffer.mapping == MAP_FAILED)
		fail(EXIT_UNSUPPORTED, "no memory for a buffer of %zu bytes: %s", bytes, strerror(errno));
	uintptr_t start = ((uintptr_t)buffer.mapping + boundary - 1) / boundary * boundary;
	buffer.data = (uint8_t *)buffer.mapping + (start - (uintptr_t)buffer.mapping) + offset;
#ifdef MADV_HUGEPAGE
	if (huge_pages)
		madvise(buffer.mapping, buffer.mapping_bytes, MADV_HUGEPAGE);
#endif
	return buffer;
}

void buffer_touch(const struct buffer *buffer)
{
	long page = sysconf(_SC_PAGESIZE);
	volatile uint8_t *at = buffer->data;

	for (size_t i = 0; i < buffer->bytes; i += (size_t)page)
		at[i] = 1;
	if (buffer->bytes > 0)
		at[buffer->bytes - 1] = 1;
}

void buffer_free(struct buffer *buffer)
{
	if (buffer->mapping != NULL)
		munmap(buffer->mapping, buffer->mapping_bytes);
	*buffer = (struct buffer){ 0 };
}
