/* The writers that put pages into a pipe instead of copying them. */
#include "pipe/writers.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"
#include "pipe/calls.h"

enum { HUGE_BYTES = 2 << 20 };

static void vmsplice_all(const struct writer *writer, int to, const uint8_t *from, size_t bytes, bool gift)
{
	while (bytes > 0) {
		ssize_t count = call_vmsplice(to, from, bytes, gift);

		if (count < 0)
			writer_fail(writer, "vmsplice");
		from += count;
		bytes -= (size_t)count;
	}
}

/* vmsplice-fresh: the library's writer, whose memory is used once. */

static void open_fresh(struct writer *writer)
{
	/* The pipe and the chunks are what the command line says, and nothing is copied instead. */
	struct pipe_writer_options options = { .policy = PIPE_WRITER_FRESH, .chunk_bytes = writer->job->chunk,
	                                       .pipe_bytes = 1, .strict = true, .small_pages = !writer->job->huge_pages };
	int reason = pipe_writer_open(&writer->fresh, writer->channel->writer, &options);

	if (reason != 0)
		fail(EXIT_UNSUPPORTED, "--writer vmsplice-fresh: %s", strerror(reason));
}

static void send_fresh(struct writer *writer, uint64_t n)
{
	size_t chunk = writer->job->chunk;
	struct pipe_writer_slab slab;
	int reason = pipe_writer_reserve(writer->fresh, chunk, &slab);

	if (reason != 0)
		fail(EXIT_BROKEN, "no fresh memory of %zu bytes: %s", chunk, strerror(reason));
	/* Zeros, as the pattern wants it: whatever was reserved before was sent. */
	pipe_pattern_fill(&writer->job->pattern, slab.data, n);
	errno = pipe_writer_commit(writer->fresh, &slab, chunk);
	if (errno != 0)
		writer_fail(writer, "vmsplice");
}

static void finish_fresh(struct writer *writer)
{
	pipe_writer_close(&writer->fresh);
}

const struct writer_kind writer_vmsplice_fresh = {
	.name = "vmsplice-fresh", .transports = TRANSPORT_PIPES, .fill = FILL_TOUCH, .new_memory = true,
	.open = open_fresh, .send = send_fresh, .finish = finish_fresh,
};

/* vmsplice-ring: the least memory that is right with a reader that only reads. A page is written again when as many pages
 * were put into the pipe after it as the pipe holds; so it is not in this pipe any more, but may well be in another. */

static void open_ring(struct writer *writer)
{
	size_t page = page_bytes(), slots = (size_t)(writer->channel->capacity / page);
	size_t slots_of_chunk = (writer->job->chunk + page - 1) / page;

	writer_make_cells(writer, (slots + slots_of_chunk - 1) / slots_of_chunk + 1);
}

static void send_ring(struct writer *writer, uint64_t n)
{
	vmsplice_all(writer, writer->channel->writer, writer_fill_cell(writer, n), writer->job->chunk, false);
}

const struct writer_kind writer_vmsplice_ring = {
	.name = "vmsplice-ring", .transports = TRANSPORT_PIPES, .fill = FILL_TOUCH, .open = open_ring, .send = send_ring,
};

/* vmsplice-gift: new memory that is given away with SPLICE_F_GIFT, as its contract wants: never touched again. */

static void open_gift(struct writer *writer)
{
	buffer_check(1, writer->job->chunk);
}

static void send_gift(struct writer *writer, uint64_t n)
{
	size_t chunk = writer->job->chunk;

	if (writer->buffer.bytes - writer->used < chunk) {
		buffer_free(&writer->buffer);
		writer->buffer = buffer_make(chunk < HUGE_BYTES ? HUGE_BYTES : chunk, 0, writer->job->huge_pages);
		writer->used = 0;
	}
	uint8_t *memory = writer->buffer.data + writer->used;
	pipe_pattern_fill(&writer->job->pattern, memory, n);
	vmsplice_all(writer, writer->channel->writer, memory, chunk, true);
	writer->used += chunk;
}

const struct writer_kind writer_vmsplice_gift = {
	.name = "vmsplice-gift", .transports = TRANSPORT_PIPES, .fill = FILL_TOUCH, .new_memory = true, .whole_pages = true,
	.open = open_gift, .send = send_gift,
};

/* vmsplice-constant: one buffer that never changes, again and again. */

static void open_constant(struct writer *writer)
{
	writer_make_cells(writer, 1);
}

const struct writer_kind writer_vmsplice_constant = {
	.name = "vmsplice-constant", .transports = TRANSPORT_PIPES, .constant = true, .open = open_constant, .send = send_ring,
};

/* tee-constant: a second pipe holds a chunk for good, and tee() puts references to it into the first. Where that is nearly
 * full, tee() leaves off in the middle and next time starts at the front again. So all pages are alike. */

static void open_tee(struct writer *writer)
{
	size_t chunk = writer->job->chunk;

	if (pipe(writer->source) != 0)
		writer_fail(writer, "pipe");
	if (pipe_set_capacity(writer->source[1], chunk) < (int64_t)chunk)
		fail(EXIT_UNSUPPORTED, "--chunk %zu: --writer tee-constant keeps a chunk in a pipe, and none may be so large", chunk);
	size_t page = page_bytes();
	writer->buffer = buffer_make(chunk, 0, writer->job->huge_pages);
	buffer_touch(&writer->buffer);
	for (size_t at = 0; at < chunk; at += page)
		pipe_pattern_prepare(&writer->job->pattern, writer->buffer.data + at);
	vmsplice_all(writer, writer->source[1], writer->buffer.data, chunk, false);
}

static void send_tee(struct writer *writer, uint64_t n)
{
	size_t left = writer->job->chunk;

	(void)n;
	while (left > 0) {
		ssize_t count = call_tee(writer->source[0], writer->channel->writer, left, true);

		if (count <= 0)
			writer_fail(writer, "tee");
		left -= (size_t)count;
	}
}

const struct writer_kind writer_tee_constant = {
	.name = "tee-constant", .transports = TRANSPORT_PIPES, .constant = true, .whole_pages = true, .open = open_tee,
	.send = send_tee,
};

/* splice-file: a file in memory that holds one chunk. */

static void open_file(struct writer *writer)
{
#ifdef MFD_CLOEXEC
	size_t done = 0, chunk = writer->job->chunk;

	writer->source[0] = memfd_create("stend-probe pipe", MFD_CLOEXEC);
	if (writer->source[0] < 0)
		fail(EXIT_UNSUPPORTED, "--writer splice-file: no file in memory: %s", strerror(errno));
	writer_make_cells(writer, 1);
	while (done < chunk) {
		ssize_t count = call_write(writer->source[0], writer->buffer.data + done, chunk - done);
		if (count < 0)
			writer_fail(writer, "write to a file in memory");
		done += (size_t)count;
	}
#else
	(void)writer;
	fail(EXIT_UNSUPPORTED, "--writer splice-file: this system has no memfd_create");
#endif
}

static void send_file(struct writer *writer, uint64_t n)
{
	size_t chunk = writer->job->chunk;
	off_t at = 0;

	(void)n;
	while ((size_t)at < chunk)
		if (call_splice_from_file(writer->source[0], &at, writer->channel->writer, chunk - (size_t)at) <= 0)
			writer_fail(writer, "splice");
}

const struct writer_kind writer_splice_file = {
	.name = "splice-file", .transports = TRANSPORT_PIPES, .constant = true, .open = open_file, .send = send_file,
};
