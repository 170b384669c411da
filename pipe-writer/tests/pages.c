/* Which page may be used again, and when: readers that keep pages, rings, and what memory the system gives. */
#include "pipe_writer.h"
#include "harness.h"
#include "reader.h"

#ifdef __linux__
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const struct pipe_writer_options fresh = { .strict = true },
	fresh_small = { .strict = true, .small_pages = true },
	ring = { .policy = PIPE_WRITER_RING, .strict = true }, automatic;

/* The writer ends, its memory with it, before a byte is read. */
static void writer_ends_first(const struct pipe_writer_options *options, const char *name)
{
	enum { BYTES = 50000 }; /* what a pipe takes that nobody reads */
	struct reader reader = { 0 };
	int ends[2], status = 0;
	pid_t child;

	if (pipe(ends) != 0)
		return;
	child = fork();
	if (child == 0) {
		struct pipe_writer *writer;
		struct pipe_writer_slab slab;
		int reason = pipe_writer_open(&writer, ends[1], options);

		if (reason == 0)
			reason = pipe_writer_reserve(writer, BYTES, &slab);
		if (reason == 0) {
			stream_fill(slab.data, BYTES, 0);
			reason = pipe_writer_commit(writer, &slab, BYTES);
		}
		_exit(reason); /* without close, as a program does that is killed */
	}
	close(ends[1]);
	waitpid(child, &status, 0);
	reader.descriptor = ends[0];
	read_all(&reader);
	CHECK(status == 0 && reader.got == BYTES && reader.wrong == 0, "%s: the writer ends first", name);
	close(ends[0]);
}

/* The case in which every ring of pages goes wrong: the pages move on to a second pipe, by splice() or tee(), and are
 * read after the writer has filled many more. Says how many bytes of it were wrong. */
static uint64_t kept_pages(const struct pipe_writer_options *options, bool by_tee)
{
	enum { CHUNK = 65536, CHUNKS = 12 };
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	int first[2], second[2], right = 1;
	static uint8_t data[CHUNK * CHUNKS];
	uint64_t wrong;

	if (pipe(first) != 0 || pipe(second) != 0 || fcntl(second[1], F_SETPIPE_SZ, 1 << 20) < CHUNK * CHUNKS)
		return 0;
	pipe_writer_open(&writer, first[1], options);
	for (unsigned n = 0; n < CHUNKS; n++) {
		right &= pipe_writer_reserve(writer, CHUNK, &slab) == 0;
		stream_fill(slab.data, CHUNK, (uint64_t)n * CHUNK);
		right &= pipe_writer_commit(writer, &slab, CHUNK) == 0;
		for (size_t moved = 0; moved < CHUNK;) {
			ssize_t count = by_tee ? tee(first[0], second[1], CHUNK, 0)
			                       : splice(first[0], NULL, second[1], NULL, CHUNK - moved, 0);
			if (count <= 0 || (by_tee && count != CHUNK))
				break;
			moved += (size_t)count;
		}
		if (by_tee)
			right &= read(first[0], data, CHUNK) == CHUNK;
	}
	pipe_writer_close(&writer);
	close(first[1]);
	close(second[1]);
	for (size_t got = 0; got < sizeof data;) {
		ssize_t count = read(second[0], data + got, sizeof data - got);
		right &= count > 0;
		if (count <= 0)
			break;
		got += (size_t)count;
	}
	wrong = stream_wrong(data, sizeof data, 0);
	CHECK(right, "all bytes went the way through both pipes");
	close(first[0]);
	close(second[0]);
	return wrong;
}

/* Sends so many bytes of the stream; what the slab holds beyond them is wrong wherever it is seen. */
static bool send_next(struct pipe_writer *writer, size_t bytes, uint64_t *sent)
{
	struct pipe_writer_slab slab;

	if (pipe_writer_reserve(writer, 0, &slab) != 0)
		return false;
	memset(slab.data, 0xEE, slab.bytes);
	stream_fill(slab.data, bytes, *sent);
	*sent += bytes;
	return pipe_writer_commit(writer, &slab, bytes) == 0;
}

/* Reads what was sent and is not read yet; how many bytes of it are wrong. */
static uint64_t read_rest(int descriptor, uint64_t *got, uint64_t sent)
{
	uint8_t data[65536];
	uint64_t wrong = 0;

	while (*got < sent) {
		ssize_t count = read(descriptor, data, sizeof data);

		if (count <= 0)
			break;
		wrong += stream_wrong(data, (size_t)count, *got);
		*got += (uint64_t)count;
	}
	return wrong;
}

/* The ring takes pages again only when they are out: whatever the pipe's size does meanwhile. */
static void ring_rule(void)
{
	struct pipe_writer_options options = { .policy = PIPE_WRITER_RING, .strict = true, .pipe_bytes = 1,
	                                       .chunk_bytes = 16384 };
	struct pipe_writer *writer;
	struct pipe_writer_statistics before, after;
	uint8_t data[65536];
	uint64_t sent = 0, got = 0, wrong = 0;
	int ends[2], right = 1;

	if (pipe(ends) != 0)
		return;
	CHECK(pipe_writer_open(&writer, ends[1], &options) == 0 && pipe_writer_pipe_bytes(writer) == 65536, "ring: open");
	/* A pipe that stays as it is, read when it is full. */
	for (int n = 0; n < 400; n++) {
		int held;

		ioctl(ends[0], FIONREAD, &held);
		for (ssize_t count; held > 65536 - 16384; held -= (int)count, got += (uint64_t)count) {
			count = read(ends[0], data, 5000);
			wrong += stream_wrong(data, (size_t)count, got);
		}
		right &= send_next(writer, 12288, &sent);
	}
	before = pipe_writer_statistics(writer);
	CHECK(right && wrong == 0, "ring: right while the pipe stays as it is");
	CHECK(before.regions == 1 && before.not_again == 0, "ring: one region is enough");
	CHECK(before.pages_again >= 1000, "ring: pages are used again");
	/* Now the reader makes it larger, and reads nothing for a long time. */
	CHECK(fcntl(ends[0], F_SETPIPE_SZ, 1 << 20) == 1 << 20, "ring: the pipe grows");
	for (int n = 0; n < 60; n++)
		right &= send_next(writer, 12288, &sent);
	after = pipe_writer_statistics(writer);
	CHECK(after.not_again >= 1 && after.regions >= 2, "ring: fresh memory instead of pages that may be in the pipe");
	/* An empty pipe holds nothing, so FIONREAD lets everything be used again, also what few slots came after. */
	wrong += read_rest(ends[0], &got, sent);
	CHECK(right && got == sent && wrong == 0, "ring: %llu wrong bytes when the pipe grows", (unsigned long long)wrong);
	before = after;
	for (int n = 0; n < 200; n++) {
		right &= send_next(writer, 16384, &sent);
		wrong += read_rest(ends[0], &got, sent);
	}
	after = pipe_writer_statistics(writer);
	CHECK(right && got == sent && wrong == 0, "ring: right in a large pipe that is mostly empty");
	CHECK(after.not_again == before.not_again, "ring: what is read is out");
	pipe_writer_close(&writer);
	close(ends[0]);
	close(ends[1]);
}

/* The pipe becomes twice as large when the ring was made for half of it, and nobody reads: when the ring is full, more than half
 * of the pipe's slots were sent, and each page of the ring is in the pipe. */
static void ring_in_a_pipe_that_doubles(void)
{
	struct pipe_writer_options options = { .policy = PIPE_WRITER_RING, .strict = true, .small_pages = true,
	                                       .pipe_bytes = 1, .chunk_bytes = 16384 };
	struct pipe_writer *writer;
	uint64_t sent = 0, got = 0, wrong;
	int ends[2], right = 1;

	if (pipe(ends) != 0)
		return;
	CHECK(pipe_writer_open(&writer, ends[1], &options) == 0 && pipe_writer_pipe_bytes(writer) == 65536, "doubled: open");
	for (int n = 0; n < 10; n++) {
		right &= send_next(writer, 12288, &sent);
		if (n == 0)
			CHECK(fcntl(ends[0], F_SETPIPE_SZ, 131072) == 131072, "doubled: the pipe grows");
	}
	wrong = read_rest(ends[0], &got, sent);
	CHECK(right && got == sent && wrong == 0, "doubled: %llu wrong bytes", (unsigned long long)wrong);
	pipe_writer_close(&writer);
	close(ends[0]);
	close(ends[1]);
}

/* Small commits are copied, and take no memory; large ones are not. */
static void small_commits(void)
{
	struct pipe_writer_options ring_too = { .policy = PIPE_WRITER_RING }, *kinds[] = { NULL, &ring_too };

	for (int n = 0; n < 2; n++) {
		struct pipe_writer *writer;
		struct pipe_writer_slab slab;
		struct pipe_writer_statistics statistics;
		uint8_t *first = NULL;
		int ends[2], right = 1;

		if (pipe(ends) != 0)
			return;
		right &= pipe_writer_open(&writer, ends[1], kinds[n]) == 0;
		for (int i = 0; i < 10; i++) {
			right &= pipe_writer_reserve(writer, 0, &slab) == 0;
			if (first == NULL)
				first = slab.data;
#ifndef PIPE_WRITER_TRAP
			right &= slab.data == first;
#endif
			memset(slab.data, i, 100);
			right &= pipe_writer_commit(writer, &slab, 100) == 0;
		}
		statistics = pipe_writer_statistics(writer);
		CHECK(right && statistics.bytes_written == 1000 && statistics.bytes_spliced == 0, "kind %d: small commits", n);
		right &= pipe_writer_reserve(writer, 0, &slab) == 0;
		size_t bytes = slab.bytes;
		memset(slab.data, 1, bytes);
		right &= pipe_writer_commit(writer, &slab, bytes) == 0;
		statistics = pipe_writer_statistics(writer);
		/* Where there are no huge pages, or none left, fresh memory is not used. */
		if (pipe_writer_policy(writer) != PIPE_WRITER_WRITE)
			CHECK(right && statistics.bytes_spliced == bytes, "kind %d: a large one", n);
		pipe_writer_close(&writer);
		close(ends[0]);
		close(ends[1]);
	}
}

/* Where huge pages are refused it copies, and where they are given again it takes them. */
static void no_huge_pages(void)
{
	struct pipe_writer *writer = NULL, *other = NULL;
	struct pipe_writer_slab slab;
	struct pipe_writer_statistics without, with;
	struct reader *start, reader;
	uint64_t sent = 0;
	int ends[2], right = 1;

	if (pipe(ends) != 0)
		return;
	right &= pipe_writer_open(&writer, ends[1], NULL) == 0 && pipe_writer_open(&other, ends[1], NULL) == 0;
	/* Some machines have none, or none left, and some emulators cannot forbid them. */
	right &= pipe_writer_reserve(other, 1, &slab) == 0;
	bool possible = pipe_writer_policy(other) == PIPE_WRITER_FRESH && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0;
	pipe_writer_close(&other);
	start = reader_start(ends);
	if (possible) {
		CHECK(pipe_writer_open(&other, ends[1], NULL) == 0, "no huge pages: open");
		CHECK(pipe_writer_policy(other) == PIPE_WRITER_WRITE, "no huge pages: write() from the start");
		pipe_writer_close(&other);
		while (sent < 10000000) {
			right &= pipe_writer_reserve(writer, 500000, &slab) == 0;
			stream_fill(slab.data, 500000, sent);
			right &= pipe_writer_commit(writer, &slab, 500000) == 0;
			sent += 500000;
		}
		without = pipe_writer_statistics(writer);
		CHECK(without.bytes_spliced == 0 && without.bytes_written == sent, "no huge pages: all is copied");
		CHECK(pipe_writer_policy(writer) == PIPE_WRITER_WRITE, "no huge pages: and the policy says so");
		prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
		while (sent < 100000000) {
			right &= pipe_writer_reserve(writer, 500000, &slab) == 0;
			stream_fill(slab.data, 500000, sent);
			right &= pipe_writer_commit(writer, &slab, 500000) == 0;
			sent += 500000;
		}
		with = pipe_writer_statistics(writer);
		CHECK(with.bytes_spliced > 20000000, "huge pages again: fresh again");
		CHECK(pipe_writer_policy(writer) == PIPE_WRITER_FRESH, "huge pages again: and the policy says so");
	}
	CHECK(pipe_writer_close(&writer) == 0 && right, "no huge pages: each call went well");
	close(ends[1]);
	reader = reader_finish(start);
	CHECK(reader.got == sent && reader.wrong == 0, "no huge pages: content");
}

/* Writers that tee into one pipe of one page: each finds it full when another was faster, which is no error. */
static void tee_together(void)
{
	enum { WRITERS = 6, READS = 200000 };
	struct pipe_writer_options options = { .pipe_bytes = 1 };
	pid_t children[WRITERS];
	uint8_t data[4096];
	int ends[2], right = 1;

	if (pipe(ends) != 0 || fcntl(ends[1], F_SETPIPE_SZ, 4096) < 0)
		return;
	for (int n = 0; n < WRITERS; n++) {
		children[n] = fork();
		if (children[n] == 0) {
			struct pipe_writer *writer;
			struct pipe_writer_constant *constant;

			close(ends[0]);
			memset(data, 'a' + n, sizeof data);
			if (pipe_writer_open(&writer, ends[1], &options) != 0 ||
			    pipe_writer_constant_open(&constant, data, sizeof data) != 0)
				_exit(1);
			_exit(pipe_writer_repeat(writer, constant, 0, UINT64_MAX / 2, NULL) == EPIPE ? 0 : 1);
		}
	}
	close(ends[1]);
	for (int n = 0; n < READS && right; n++)
		right = read(ends[0], data, sizeof data) > 0;
	close(ends[0]);
	for (int n = 0; n < WRITERS; n++) {
		int status = -1;

		waitpid(children[n], &status, 0);
		right &= status == 0;
	}
	CHECK(right, "constants of several writers to one pipe");
}

/* Too little memory may be locked: that is no lack of room in the pipe. */
static void locked_memory_is_short(void)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		struct rlimit limit = { 1 << 20, 1 << 20 };
		struct pipe_writer *writer;
		struct pipe_writer_slab slab;
		int ends[2];

		if (pipe(ends) != 0 || pipe_writer_open(&writer, ends[1], NULL) != 0)
			_exit(1);
		if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0 || (geteuid() == 0 && setuid(65534) != 0) || mlockall(MCL_FUTURE) != 0)
			_exit(0);
		_exit(pipe_writer_reserve(writer, 64 << 20, &slab) == EAGAIN ? 1 : 0);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0, "memory that may not be locked is ENOMEM");
}

/* More than any pipe may have is as much as the system allows, too. */
static void enlarged_as_far_as_allowed(void)
{
	struct pipe_writer_options options = { .pipe_bytes = SIZE_MAX };
	struct pipe_writer *writer;
	int ends[2];

	if (pipe(ends) != 0)
		return;
	int before = fcntl(ends[1], F_GETPIPE_SZ), possible = fcntl(ends[1], F_SETPIPE_SZ, 2 * before) > before;
	fcntl(ends[1], F_SETPIPE_SZ, before);
	CHECK(pipe_writer_open(&writer, ends[1], &options) == 0 &&
	      (!possible || pipe_writer_pipe_bytes(writer) > (size_t)before), "a pipe larger than any");
	pipe_writer_close(&writer);
	close(ends[0]);
	close(ends[1]);
}

/* Locked memory cannot be thrown away by madvise(); it must not be sent twice for that. */
static void locked_memory(void)
{
	if (mlockall(MCL_FUTURE) != 0)
		return;
	CHECK(kept_pages(&fresh, false) == 0, "fresh, all memory locked");
	munlockall();
}
#endif

int main(void)
{
#ifdef __linux__
	signal(SIGPIPE, SIG_IGN);
	writer_ends_first(&fresh, "fresh");
	writer_ends_first(&ring, "ring");
	CHECK(kept_pages(&fresh, false) == 0, "pages that went to a second pipe stay as they were");
	CHECK(kept_pages(&fresh, true) == 0, "pages that were teed stay as they were");
	CHECK(kept_pages(&fresh_small, false) == 0, "small pages too");
	CHECK(kept_pages(&automatic, false) == 0, "whatever is chosen");
	struct pipe_writer_options small_ring = ring;
	small_ring.pipe_bytes = 1;
	CHECK(kept_pages(&small_ring, false) > 0, "this test finds what a ring does to a reader that splices");
	ring_rule();
	small_commits();
	no_huge_pages();
	locked_memory();
	tee_together();
	ring_in_a_pipe_that_doubles();
	enlarged_as_far_as_allowed();
	locked_memory_is_short();
#endif
	return harness_finish();
}
