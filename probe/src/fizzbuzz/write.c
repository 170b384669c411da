/* How Fizz Buzz gets into a pipe: by the library's rules, or as programs do it that are written for speed alone. */
#include "fizzbuzz/ends.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "pipe/calls.h"
#include "pipe/transports.h"
#include "pipe_writer.h"

static const struct kind {
	const char *name;
	/* vmsplice() of so many buffers in turn, each as large as the pipe, with nothing asked and nothing waited for: what
	 * fills the pipe has pushed out what was there before. 0: through the library. */
	unsigned buffers;
	bool gift;
	enum pipe_writer_policy policy;
	bool strict;
} kinds[] = {
	{ .name = "auto", .policy = PIPE_WRITER_FRESH },
	{ .name = "write", .policy = PIPE_WRITER_WRITE },
	{ .name = "fresh", .policy = PIPE_WRITER_FRESH, .strict = true },
	{ .name = "ring", .policy = PIPE_WRITER_RING, .strict = true },
	{ .name = "one-buffer", .buffers = 1 },
	{ .name = "two-buffers", .buffers = 2 },
	{ .name = "two-buffers-gift", .buffers = 2, .gift = true },
};

/* The names are those of the option's choices, so there is one. */
static const struct kind *find_kind(const char *name)
{
	const struct kind *kind = kinds;

	while (strcmp(kind->name, name) != 0)
		kind++;
	return kind;
}

/* The result is an errno value. */
static int write_by_library(struct fizzbuzz *stream, const struct fizzbuzz_output *how, const struct kind *kind)
{
	struct pipe_writer_options options = {
		.policy = kind->policy, .strict = kind->strict, .pipe_bytes = (size_t)how->pipe_bytes,
		.small_pages = !how->huge_pages,
	};
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	int reason = pipe_writer_open(&writer, STDOUT_FILENO, &options);

	if (reason != 0 && kind->strict)
		fail(EXIT_UNSUPPORTED, "--writer %s: standard output: %s", kind->name, strerror(reason));
	for (uint64_t left = how->bytes == 0 ? UINT64_MAX : how->bytes; reason == 0 && left > 0;) {
		reason = pipe_writer_reserve(writer, 0, &slab);
		if (reason != 0)
			break;
		size_t bytes = fizzbuzz_fill(stream, slab.data, left < slab.bytes ? (size_t)left : slab.bytes);
		if (bytes == 0)
			break;
		reason = pipe_writer_commit(writer, &slab, bytes);
		left -= bytes;
	}
	pipe_writer_close(&writer);
	return reason;
}

/* The result is an errno value. */
static int write_buffers(struct fizzbuzz *stream, const struct fizzbuzz_output *how, const struct kind *kind)
{
	int64_t capacity = pipe_set_capacity(STDOUT_FILENO, how->pipe_bytes);
	uint64_t left = how->bytes == 0 ? UINT64_MAX : how->bytes;

	if (capacity < 0 && errno == EBADF)
		fail(EXIT_UNSUPPORTED, "--writer %s: standard output is no pipe", kind->name);
	if (capacity <= 0)
		fail(EXIT_UNSUPPORTED, "--writer %s: a pipe of %llu bytes: %s", kind->name, (unsigned long long)how->pipe_bytes,
		     capacity < 0 ? strerror(errno) : "this system does not say how much a pipe holds");
	size_t size = (size_t)capacity;
	struct buffer memory = buffer_make(kind->buffers * size, 0, how->huge_pages);
	buffer_touch(&memory);
	for (unsigned turn = 0; left > 0; turn = (turn + 1) % kind->buffers) {
		uint8_t *from = memory.data + turn * size;
		size_t bytes = fizzbuzz_fill(stream, from, left < size ? (size_t)left : size);

		if (bytes == 0)
			break;
		left -= bytes;
		while (bytes > 0) {
			ssize_t count = call_vmsplice(STDOUT_FILENO, from, bytes, kind->gift);
			if (count < 0)
				return errno;
			from += count;
			bytes -= (size_t)count;
		}
	}
	buffer_free(&memory);
	return 0;
}

void fizzbuzz_write(struct fizzbuzz *stream, const struct fizzbuzz_output *how)
{
	const struct kind *kind = find_kind(how->writer);
	int reason = kind->buffers > 0 ? write_buffers(stream, how, kind) : write_by_library(stream, how, kind);

	if (reason == ENOSYS)
		fail(EXIT_UNSUPPORTED, "--writer %s: this system has no vmsplice", kind->name);
	if (reason != 0 && reason != EPIPE)
		fail(EXIT_BROKEN, "cannot write to standard output: %s", strerror(reason));
}
