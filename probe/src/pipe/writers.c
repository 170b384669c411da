#include "pipe/writers.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "pipe/calls.h"

size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

void writer_fail(const struct writer *writer, const char *call)
{
	if (errno == EMSGSIZE)
		fail(EXIT_UNSUPPORTED, "--chunk %zu: more than one message may have here; use a smaller one (net.core.wmem_max)",
		     writer->job->chunk);
	if (errno == ENOSYS)
		fail(EXIT_UNSUPPORTED, "--writer %s: this system has no %s", writer->job->writer->name, call);
	fail(EXIT_BROKEN, "the writer cannot send: %s: %s", call, strerror(errno));
}

void writer_make_cells(struct writer *writer, size_t cells)
{
	size_t page = page_bytes();

	writer->cells = cells;
	writer->cell_bytes = (writer->job->chunk + page - 1) / page * page;
	buffer_check(cells, writer->cell_bytes);
	writer->buffer = buffer_make(cells * writer->cell_bytes, 0, writer->job->huge_pages);
	buffer_touch(&writer->buffer);
	/* What is behind a chunk in its last page is never sent. */
	for (size_t i = 0; i < cells; i++)
		pipe_pattern_prepare(&writer->job->pattern, writer->buffer.data + i * writer->cell_bytes);
}

uint8_t *writer_fill_cell(struct writer *writer, uint64_t n)
{
	uint8_t *cell = writer->buffer.data + (size_t)(n % writer->cells) * writer->cell_bytes;

	pipe_pattern_fill(&writer->job->pattern, cell, n);
	return cell;
}

static void open_copying(struct writer *writer)
{
	writer_make_cells(writer, 1);
}

static void send_by_write(struct writer *writer, uint64_t n)
{
	const uint8_t *from = writer_fill_cell(writer, n);
	size_t left = writer->job->chunk;

	if (writer->channel->ring != NULL) {
		errno = shared_ring_write(writer->channel->ring, from, left, writer->alive);
		if (errno != 0)
			writer_fail(writer, "shared memory");
		return;
	}
	while (left > 0) {
		ssize_t count = call_write(writer->channel->writer, from, left);

		if (count < 0)
			writer_fail(writer, "write");
		from += count;
		left -= (size_t)count;
	}
}

static void send_by_writev(struct writer *writer, uint64_t n)
{
	struct iovec pieces[PIECES_MOST];
	uint8_t *from = writer_fill_cell(writer, n);
	size_t left = writer->job->chunk;

	while (left > 0) {
		size_t count = 0;

		for (size_t at = 0; at < left && count < PIECES_MOST; at += PIECE_BYTES, count++)
			pieces[count] = (struct iovec){ from + at, left - at < PIECE_BYTES ? left - at : PIECE_BYTES };
		ssize_t sent = call_writev(writer->channel->writer, pieces, count);
		if (sent < 0)
			writer_fail(writer, "writev");
		from += sent;
		left -= (size_t)sent;
	}
}

static const struct writer_kind writer_write = {
	.name = "write", .transports = TRANSPORT_ALL, .open = open_copying, .send = send_by_write,
};

static const struct writer_kind writer_writev = {
	.name = "writev", .transports = TRANSPORT_DESCRIPTORS, .open = open_copying, .send = send_by_writev,
};

const struct writer_kind *const writer_kinds[] = {
	&writer_write, &writer_writev, &writer_vmsplice_fresh, &writer_vmsplice_ring, &writer_vmsplice_gift,
	&writer_vmsplice_constant, &writer_tee_constant, &writer_splice_file, &writer_io_uring, &writer_send_zerocopy,
};

const unsigned writer_kind_count = sizeof writer_kinds / sizeof *writer_kinds;

void writer_open(struct writer *writer, const struct pipe_job *job, const struct channel *channel, int alive)
{
	*writer = (struct writer){ .job = job, .channel = channel, .alive = alive, .source = { -1, -1 } };
	if (job->writer->whole_pages && job->chunk % page_bytes() != 0)
		fail(EXIT_UNSUPPORTED, "--chunk %zu: --writer %s sends whole pages, and here a page has %zu bytes", job->chunk,
		     job->writer->name, page_bytes());
	job->writer->open(writer);
}

void writer_close(struct writer *writer)
{
	if (writer->job->writer->finish != NULL)
		writer->job->writer->finish(writer);
	for (unsigned i = 0; i < 2; i++)
		if (writer->source[i] >= 0)
			close(writer->source[i]);
	buffer_free(&writer->buffer);
}
