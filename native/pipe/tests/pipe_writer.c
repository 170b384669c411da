/* The writer against readers that keep pages: what was committed must never change. */
#include "pipe_writer.h"
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct reader {
	int descriptor;
	size_t expected;
	uint8_t *data;
	size_t got;
};

static void *read_all(void *argument)
{
	struct reader *reader = argument;
	ssize_t count;

	while ((count = read(reader->descriptor, reader->data + reader->got, reader->expected - reader->got)) > 0)
		reader->got += (size_t)count;
	return NULL;
}

static uint8_t expected_byte(uint64_t n, size_t i)
{
	return (uint8_t)(n * 131 + i * 7 + (i >> 8));
}

/* Many commits of odd lengths through a pipe, each byte known. */
static void stream(enum pipe_writer_policy policy, bool huge, bool poison, bool nonblocking, const char *name)
{
	enum { COMMITS = 300, LONGEST = 200000 };
	static size_t lengths[COMMITS];
	struct pipe_writer writer;
	struct reader reader = { 0 };
	pthread_t thread;
	uint64_t seed = 11;
	int ends[2], right = 1;
	size_t at = 0;

	for (size_t n = 0; n < COMMITS; n++) {
		lengths[n] = 1 + (size_t)(random_next(&seed) % LONGEST);
		reader.expected += lengths[n];
	}
	reader.data = malloc(reader.expected + 1);
	if (pipe(ends) != 0 || reader.data == NULL)
		return;
	if (nonblocking)
		fcntl(ends[1], F_SETFL, O_NONBLOCK);
	reader.descriptor = ends[0];
	pthread_create(&thread, NULL, read_all, &reader);
	CHECK(pipe_writer_open(&writer, ends[1], policy, huge) == 0, "%s: open", name);
	writer.poison = poison;
	for (uint64_t n = 0; n < COMMITS; n++) {
		uint8_t *memory = pipe_writer_reserve(&writer, lengths[n] + 100);
		if (memory == NULL)
			break;
		right &= (uintptr_t)memory % writer.page_bytes == 0;
		for (size_t i = 0; i < lengths[n]; i++)
			memory[i] = expected_byte(n, i);
		right &= pipe_writer_commit(&writer, lengths[n]) == 0;
	}
	CHECK(right, "%s: aligned, and committed", name);
	pipe_writer_close(&writer);
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
	CHECK(reader.got == reader.expected, "%s: %zu bytes instead of %zu", name, reader.got, reader.expected);
	for (size_t n = 0; n < COMMITS && right; n++)
		for (size_t i = 0; i < lengths[n]; i++)
			right &= reader.data[at++] == expected_byte(n, i);
	CHECK(right, "%s: content", name);
	free(reader.data);
}

#ifdef __linux__
/* The case in which every ring of pages goes wrong: the pages move on to a second pipe and are read much later. */
static void kept_pages(void)
{
	enum { CHUNK = 65536, CHUNKS = 8 };
	struct pipe_writer writer;
	int first[2], second[2], right = 1;
	static uint8_t data[CHUNK];

	if (pipe(first) != 0 || pipe(second) != 0)
		return;
	if (fcntl(second[1], F_SETPIPE_SZ, CHUNK * CHUNKS) < CHUNK * CHUNKS)
		return;
	pipe_writer_open(&writer, first[1], PIPE_WRITER_FRESH, false);
	for (unsigned n = 0; n < CHUNKS; n++) {
		uint8_t *memory = pipe_writer_reserve(&writer, CHUNK);
		memset(memory, (int)(n + 1), CHUNK);
		right &= pipe_writer_commit(&writer, CHUNK) == 0;
		for (size_t moved = 0; moved < CHUNK;) {
			ssize_t count = splice(first[0], NULL, second[1], NULL, CHUNK - moved, 0);
			if (count <= 0)
				break;
			moved += (size_t)count;
		}
	}
	pipe_writer_close(&writer);
	for (unsigned n = 0; n < CHUNKS; n++) {
		for (size_t got = 0; got < CHUNK;) {
			ssize_t count = read(second[0], data + got, CHUNK - got);
			if (count <= 0)
				break;
			got += (size_t)count;
		}
		for (size_t i = 0; i < CHUNK; i++)
			right &= data[i] == n + 1;
	}
	CHECK(right, "pages that went to a second pipe stay as they were");
	close(first[0]), close(first[1]), close(second[0]), close(second[1]);
}
#endif

static void errors(void)
{
	struct pipe_writer writer;
	int ends[2], file = open("/dev/null", O_WRONLY);

	signal(SIGPIPE, SIG_IGN);
	CHECK(pipe_writer_open(&writer, -1, PIPE_WRITER_WRITE, false) == EBADF, "no descriptor");
	CHECK(pipe_writer_open(&writer, file, PIPE_WRITER_FRESH, false) != 0, "fresh pages need a pipe");
	CHECK(pipe_writer_open(&writer, file, PIPE_WRITER_WRITE, false) == 0, "write does not");
	CHECK(pipe_writer_reserve(&writer, 0) == NULL && errno == EINVAL, "nothing to reserve");
	CHECK(pipe_writer_commit(&writer, 1) == EINVAL, "nothing was reserved");
	CHECK(pipe_writer_reserve(&writer, 10) != NULL, "reserve");
	CHECK(pipe_writer_commit(&writer, 11) == EINVAL, "more than was reserved");
	CHECK(pipe_writer_commit(&writer, 0) == 0, "nothing to send");
	pipe_writer_close(&writer);
	close(file);
	for (int policy = 0; policy < 2; policy++) {
		if (pipe(ends) != 0)
			return;
		if (pipe_writer_open(&writer, ends[1], (enum pipe_writer_policy)policy, false) == 0) {
			uint8_t *memory = pipe_writer_reserve(&writer, 100);
			memory[0] = 1;
			close(ends[0]);
			CHECK(pipe_writer_commit(&writer, 100) == EPIPE, "policy %d: the reader is gone", policy);
			pipe_writer_close(&writer);
		}
		close(ends[1]);
	}
}

int main(void)
{
	stream(PIPE_WRITER_WRITE, false, false, false, "write");
	stream(PIPE_WRITER_WRITE, true, false, true, "write, huge pages, non-blocking");
#ifdef __linux__
	stream(PIPE_WRITER_FRESH, false, true, false, "fresh, poisoned");
	stream(PIPE_WRITER_FRESH, true, false, false, "fresh, huge pages");
	stream(PIPE_WRITER_FRESH, true, true, true, "fresh, huge pages, poisoned, non-blocking");
	kept_pages();
#endif
	errors();
	return harness_finish();
}
