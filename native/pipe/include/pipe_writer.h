/* A pipe writer that moves pages instead of copying them, and stays correct whatever the reader does.
 *
 * vmsplice() puts references to the writer's pages into the pipe. A page that is written again while any pipe holds it
 * changes what the reader gets, and the writer cannot know how long that is: a reader that splices or tees carries the
 * page on. So the policy "fresh" never writes a page twice: each reservation is new memory, and once it has been
 * committed it belongs to the kernel, which frees it after the last reader.
 *
 * Linux only for "fresh"; "write" works everywhere. Not for use by several threads at once, nor across fork(). */
#ifndef PIPE_WRITER_H
#define PIPE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pipe_writer_policy {
	PIPE_WRITER_WRITE, /* write(): the bytes are copied */
	PIPE_WRITER_FRESH  /* vmsplice() of memory that is used once */
};

struct pipe_writer {
	int descriptor;
	enum pipe_writer_policy policy;
	bool huge_pages;   /* ask for huge pages: without them fresh memory costs more than a copy */
	bool poison;       /* debugging: committed memory faults when it is touched */
	size_t page_bytes;
	uint8_t *region;   /* the rest is private */
	size_t region_bytes, used, reserved;
};

/* Takes no ownership of `descriptor`. Returns 0, ENOTSUP (no vmsplice on this system), or EBADF/ESPIPE-like reasons:
 * EINVAL if "fresh" is asked for and the descriptor is no pipe. */
int pipe_writer_open(struct pipe_writer *writer, int descriptor, enum pipe_writer_policy policy, bool huge_pages);

/* Memory of `bytes` bytes, page-aligned, for the caller alone until it is committed; NULL and errno (ENOMEM, EINVAL for
 * 0). "fresh" gives zeros; "write" gives whatever was there. A reservation that is not committed is given again. */
uint8_t *pipe_writer_reserve(struct pipe_writer *writer, size_t bytes);

/* Sends the first `bytes` bytes of the reservation, all of them, waiting as long as that takes, with a non-blocking
 * descriptor too. After it the memory must not be touched, also if it failed. Returns 0 or an errno value: EPIPE
 * when there is no reader any more (SIGPIPE is the caller's business), EINVAL for more bytes than were reserved. */
int pipe_writer_commit(struct pipe_writer *writer, size_t bytes);

/* Gives back what is left; does not close the descriptor. Content that the pipe still holds stays. */
void pipe_writer_close(struct pipe_writer *writer);

/* Sends constant memory: it must not change as long as any reader, of this or any other pipe, may see it. */
int pipe_writer_splice_constant(int descriptor, const uint8_t *memory, size_t bytes);

/* write() until all is written. */
int pipe_writer_write(int descriptor, const uint8_t *memory, size_t bytes);

#endif
