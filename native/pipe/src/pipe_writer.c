#include "pipe_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif

enum { HUGE_BYTES = 2 << 20 };

static size_t round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

/* Whether the call may be made again; waits for room if the descriptor does not block. */
static bool again(int descriptor, int reason)
{
	struct pollfd room = { .fd = descriptor, .events = POLLOUT };

	if (reason == EINTR)
		return true;
	if (reason != EAGAIN && reason != EWOULDBLOCK)
		return false;
	while (poll(&room, 1, -1) < 0)
		if (errno != EINTR)
			return false;
	return true;
}

int pipe_writer_write(int descriptor, const uint8_t *memory, size_t bytes)
{
	while (bytes > 0) {
		ssize_t count = write(descriptor, memory, bytes);

		if (count >= 0) {
			memory += count;
			bytes -= (size_t)count;
		} else if (!again(descriptor, errno)) {
			return errno;
		}
	}
	return 0;
}

int pipe_writer_splice_constant(int descriptor, const uint8_t *memory, size_t bytes)
{
#ifdef __linux__
	/* iovec has no const; vmsplice only reads. */
	union {
		const uint8_t *constant;
		void *plain;
	} start = { memory };
	struct iovec piece = { .iov_base = start.plain, .iov_len = bytes };

	while (piece.iov_len > 0) {
		ssize_t count = vmsplice(descriptor, &piece, 1, 0);

		if (count >= 0) {
			piece.iov_base = (uint8_t *)piece.iov_base + count;
			piece.iov_len -= (size_t)count;
		} else if (!again(descriptor, errno)) {
			return errno;
		}
	}
	return 0;
#else
	(void)descriptor;
	(void)memory;
	(void)bytes;
	return ENOTSUP;
#endif
}

int pipe_writer_open(struct pipe_writer *writer, int descriptor, enum pipe_writer_policy policy, bool huge_pages)
{
	struct stat status;

	*writer = (struct pipe_writer){ .descriptor = descriptor, .policy = policy, .huge_pages = huge_pages };
	writer->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	if (fstat(descriptor, &status) != 0)
		return errno;
	if (policy == PIPE_WRITER_FRESH) {
#ifndef __linux__
		return ENOTSUP;
#endif
		if (!S_ISFIFO(status.st_mode))
			return EINVAL;
	}
	return 0;
}

static void drop_region(struct pipe_writer *writer)
{
	if (writer->region != NULL)
		munmap(writer->region, writer->region_bytes);
	writer->region = NULL;
	writer->region_bytes = writer->used = writer->reserved = 0;
}

/* A new region, at a boundary of huge pages if those are wanted: what is mapped too much goes back at once. */
static int new_region(struct pipe_writer *writer, size_t bytes)
{
	size_t boundary = writer->huge_pages ? HUGE_BYTES : writer->page_bytes;
	size_t wanted = round_up(bytes < HUGE_BYTES ? HUGE_BYTES : bytes, boundary);
	size_t mapped = wanted + boundary - writer->page_bytes;

	drop_region(writer);
	uint8_t *start = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (start == MAP_FAILED)
		return errno;
	size_t before = round_up((uintptr_t)start, boundary) - (uintptr_t)start;
	size_t after = mapped - before - wanted;
	if (before > 0)
		munmap(start, before);
	if (after > 0)
		munmap(start + before + wanted, after);
	writer->region = start + before;
	writer->region_bytes = wanted;
#ifdef MADV_HUGEPAGE
	if (writer->huge_pages)
		madvise(writer->region, wanted, MADV_HUGEPAGE);
#endif
	return 0;
}

uint8_t *pipe_writer_reserve(struct pipe_writer *writer, size_t bytes)
{
	if (bytes == 0 || bytes > SIZE_MAX / 4) {
		errno = EINVAL;
		return NULL;
	}
	if (writer->region == NULL || writer->region_bytes - writer->used < bytes) {
		int reason = new_region(writer, bytes);
		if (reason != 0) {
			errno = reason;
			return NULL;
		}
	}
	writer->reserved = bytes;
	return writer->region + writer->used;
}

int pipe_writer_commit(struct pipe_writer *writer, size_t bytes)
{
	uint8_t *start = writer->region == NULL ? NULL : writer->region + writer->used;
	int reason;

	if (bytes > writer->reserved)
		return EINVAL;
	writer->reserved = 0;
	if (bytes == 0)
		return 0;
	if (writer->policy == PIPE_WRITER_WRITE)
		return pipe_writer_write(writer->descriptor, start, bytes);
	reason = pipe_writer_splice_constant(writer->descriptor, start, bytes);
	/* The rest of the last page is given up: it shares that page with what was sent. */
	size_t sent = round_up(bytes, writer->page_bytes);
	if (writer->poison)
		mprotect(start, sent, PROT_NONE);
	writer->used += sent;
	if (writer->used >= writer->region_bytes)
		drop_region(writer);
	return reason;
}

void pipe_writer_close(struct pipe_writer *writer)
{
	drop_region(writer);
}
