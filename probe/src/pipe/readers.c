#include "pipe/readers.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"
#include "pipe/calls.h"

static size_t taken(const struct reader *reader, ssize_t count, const char *call)
{
	if (count >= 0)
		return (size_t)count;
	if (errno == ENOSYS)
		fail(EXIT_UNSUPPORTED, "--reader %s: this system has no %s", reader->job->reader->name, call);
	fail(EXIT_BROKEN, "the reader cannot read: %s: %s", call, strerror(errno));
}

static void open_copying(struct reader *reader)
{
	reader->buffer = buffer_make(reader->job->chunk, 0, false);
	buffer_touch(&reader->buffer);
}

static size_t take_by_read(struct reader *reader, const uint8_t **data)
{
	*data = reader->buffer.data;
	if (reader->channel->ring != NULL) {
		ssize_t count = shared_ring_read(reader->channel->ring, reader->buffer.data, reader->job->chunk, reader->alive);
		/* A writer that is gone is an end here, as it is in a pipe; why it went is found by who waits for it. */
		return count < 0 ? 0 : (size_t)count;
	}
	return taken(reader, call_read(reader->channel->reader, reader->buffer.data, reader->job->chunk), "read");
}

static size_t take_by_readv(struct reader *reader, const uint8_t **data)
{
	struct iovec pieces[PIECES_MOST];
	size_t count = 0, chunk = reader->job->chunk;

	for (size_t at = 0; at < chunk && count < PIECES_MOST; at += PIECE_BYTES, count++)
		pieces[count] = (struct iovec){ reader->buffer.data + at, chunk - at < PIECE_BYTES ? chunk - at : PIECE_BYTES };
	*data = reader->buffer.data;
	return taken(reader, call_readv(reader->channel->reader, pieces, count), "readv");
}

/* When the first bytes are there, the writer has long asked how much the pipe holds. */
static size_t take_enlarged(struct reader *reader, const uint8_t **data)
{
	size_t count = take_by_read(reader, data);

	if (count > 0 && !reader->enlarged && pipe_set_capacity(reader->channel->reader, pipe_capacity_limit()) < 0)
		fail(EXIT_UNSUPPORTED, "--reader %s: cannot enlarge the pipe: %s", reader->job->reader->name, strerror(errno));
	reader->enlarged = true;
	return count;
}

static void open_null(struct reader *reader)
{
	reader->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (reader->null < 0)
		fail(EXIT_UNSUPPORTED, "--reader %s: cannot open /dev/null: %s", reader->job->reader->name, strerror(errno));
}

static size_t take_to_null(struct reader *reader, const uint8_t **data)
{
	(void)data;
	return taken(reader, call_splice(reader->channel->reader, reader->null, reader->job->chunk, true), "splice");
}

/* The next two let the pages wait in a second pipe before they are read, as pv does when what comes after it is slower.
 * It holds twice as much as the first where the system allows that. */

static void open_second(struct reader *reader)
{
	int64_t got;

	open_copying(reader);
	if (pipe(reader->second) != 0)
		fail(EXIT_BROKEN, "cannot make a pipe: %s", strerror(errno));
	got = pipe_set_capacity(reader->second[1], 2 * reader->channel->capacity);
	if (got < 0)
		got = pipe_set_capacity(reader->second[1], reader->channel->capacity);
	if (got < 0)
		fail(EXIT_BROKEN, "cannot make a second pipe of %llu bytes: %s", (unsigned long long)reader->channel->capacity,
		     strerror(errno));
	reader->second_capacity = (uint64_t)got;
}

/* Fills the second pipe, with `move`, and reads a chunk from it. A pipe is full when its slots are, which may be before
 * its bytes are. */
static size_t take_from_second(struct reader *reader, const uint8_t **data, const char *name,
                               ssize_t (*move)(struct reader *reader, size_t bytes))
{
	while (!reader->ended && reader->held < reader->second_capacity) {
		ssize_t count = move(reader, (size_t)(reader->second_capacity - reader->held));

		if (count < 0 && errno == EAGAIN) {
			if (call_poll(reader->second[1], POLLOUT, 0) == 0)
				break;
			call_poll(reader->channel->reader, POLLIN, -1);
			continue;
		}
		reader->ended = taken(reader, count, name) == 0;
		reader->held += (uint64_t)count;
	}
	if (reader->held == 0)
		return 0;
	size_t count = taken(reader, call_read(reader->second[0], reader->buffer.data, reader->job->chunk), "read");
	reader->held -= count;
	*data = reader->buffer.data;
	return count;
}

static ssize_t move_by_splice(struct reader *reader, size_t bytes)
{
	return call_splice(reader->channel->reader, reader->second[1], bytes, false);
}

static size_t take_by_splice(struct reader *reader, const uint8_t **data)
{
	return take_from_second(reader, data, "splice", move_by_splice);
}

static void open_tee(struct reader *reader)
{
	open_null(reader);
	open_second(reader);
}

/* What is in both pipes then leaves the first. */
static ssize_t move_by_tee(struct reader *reader, size_t bytes)
{
	ssize_t count = call_tee(reader->channel->reader, reader->second[1], bytes, false);

	for (ssize_t left = count; left > 0;)
		left -= (ssize_t)taken(reader, call_splice(reader->channel->reader, reader->null, (size_t)left, true), "splice");
	return count;
}

static size_t take_by_tee(struct reader *reader, const uint8_t **data)
{
	return take_from_second(reader, data, "tee", move_by_tee);
}

/* splice() into a file in memory; what arrived is looked at through a mapping of the file. The kernel copies. */

static void open_file(struct reader *reader)
{
#ifdef MFD_CLOEXEC
	size_t bytes = reader->job->chunk;

	reader->file = memfd_create("stend-probe pipe", MFD_CLOEXEC);
	if (reader->file < 0 || ftruncate(reader->file, (off_t)bytes) != 0)
		fail(EXIT_UNSUPPORTED, "--reader splice-file: no file in memory: %s", strerror(errno));
	reader->mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, reader->file, 0);
	if (reader->mapping == MAP_FAILED)
		fail(EXIT_UNSUPPORTED, "--reader splice-file: cannot map the file: %s", strerror(errno));
	memset(reader->mapping, 1, bytes); /* no page is left to be made in the measurement */
#else
	(void)reader;
	fail(EXIT_UNSUPPORTED, "--reader splice-file: this system has no memfd_create");
#endif
}

static size_t take_to_file(struct reader *reader, const uint8_t **data)
{
	size_t bytes = reader->job->chunk;

	if (reader->file_at == (off_t)bytes)
		reader->file_at = 0;
	*data = reader->mapping + reader->file_at;
	return taken(reader, call_splice_to_file(reader->channel->reader, reader->file, &reader->file_at,
	                                         bytes - (size_t)reader->file_at), "splice");
}

const struct reader_kind reader_read = { "read", TRANSPORT_ALL, false, open_copying, take_by_read };
static const struct reader_kind reader_readv = { "readv", TRANSPORT_DESCRIPTORS, false, open_copying, take_by_readv };
static const struct reader_kind reader_null = { "splice-null", TRANSPORT_PIPES, true, open_null, take_to_null };
static const struct reader_kind reader_splice = { "splice-pipe", TRANSPORT_PIPES, false, open_second, take_by_splice };
static const struct reader_kind reader_tee = { "tee", TRANSPORT_PIPES, false, open_tee, take_by_tee };
static const struct reader_kind reader_file = { "splice-file", TRANSPORT_PIPES, false, open_file, take_to_file };

static const struct reader_kind reader_enlarged = {
	"read-enlarged", TRANSPORT_PIPES, false, open_copying, take_enlarged
};

const struct reader_kind *const reader_kinds[] = {
	&reader_read, &reader_readv, &reader_null, &reader_splice, &reader_tee, &reader_file, &reader_enlarged,
};

const unsigned reader_kind_count = sizeof reader_kinds / sizeof *reader_kinds;

void reader_open(struct reader *reader, const struct pipe_job *job, const struct channel *channel, int alive)
{
	*reader = (struct reader){
		.job = job, .channel = channel, .alive = alive, .null = -1, .file = -1, .second = { -1, -1 },
	};
	job->reader->open(reader);
}

void reader_close(struct reader *reader)
{
	const int descriptors[] = { reader->null, reader->file, reader->second[0], reader->second[1] };

	for (unsigned i = 0; i < sizeof descriptors / sizeof *descriptors; i++)
		if (descriptors[i] >= 0)
			close(descriptors[i]);
	if (reader->mapping != NULL)
		munmap(reader->mapping, reader->job->chunk);
	buffer_free(&reader->buffer);
}
