/* The writer's contract: what arrives, what is refused, and what each policy does with its memory. */
#include "pipe_writer.h"
#include "harness.h"
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct pipe_writer_options fresh = { .strict = true }, fresh_small = { .strict = true, .small_pages = true },
	ring = { .policy = PIPE_WRITER_RING, .strict = true }, copy = { .policy = PIPE_WRITER_WRITE }, automatic;

struct reader {
	int descriptor;
	uint64_t got, wrong;
	unsigned delay_us; /* before the first byte */
};

static void *read_all(void *argument)
{
	struct reader *reader = argument;
	static uint8_t data[100003];
	ssize_t count;

	usleep(reader->delay_us);
	while ((count = read(reader->descriptor, data, sizeof data)) > 0 || (count < 0 && errno == EINTR)) {
		if (count < 0)
			continue;
		reader->wrong += stream_wrong(data, (size_t)count, reader->got);
		reader->got += (uint64_t)count;
	}
	return NULL;
}

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
	(void)signal_number;
	interrupted++;
}

/* Commits of odd lengths, and plain writes between, through a pipe that is read in a thread. */
static void stream(struct pipe_writer_options options, bool nonblocking, bool interruptions, const char *name)
{
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { { 0, 0 }, { 0, 0 } };
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	struct reader reader = { .delay_us = 2000 };
	struct pipe_writer_statistics statistics;
	pthread_t thread;
	uint64_t seed = 11, sent = 0;
	int ends[2], right = 1;

	if (pipe(ends) != 0)
		return;
	if (nonblocking)
		fcntl(ends[1], F_SETFL, O_NONBLOCK);
	reader.descriptor = ends[0];
	CHECK(pipe_writer_open(&writer, ends[1], &options) == 0, "%s: open", name);
	pthread_create(&thread, NULL, read_all, &reader);
	if (interruptions)
		setitimer(ITIMER_REAL, &often, NULL);
	for (int n = 0; n < 400; n++) {
		size_t longest = n % 50 == 7 ? 3000000 : n % 3 == 0 ? 5000 : 200000, wanted = (size_t)(random_next(&seed) % longest);
		size_t bytes = wanted > 0 ? (size_t)(random_next(&seed) % (wanted + 1)) : 0;

		if (n % 10 == 9) {
			static uint8_t own[200000];
			stream_fill(own, bytes < sizeof own ? bytes : sizeof own, sent);
			size_t went;
			right &= pipe_writer_write(writer, own, bytes < sizeof own ? bytes : sizeof own, &went) == 0;
			sent += went;
			continue;
		}
		if (pipe_writer_reserve(writer, wanted, &slab) != 0 || slab.bytes < wanted) {
			right = 0;
			break;
		}
		right &= (uintptr_t)slab.data % 4096 == 0;
		memset(slab.data, 0xEE, slab.bytes);
		stream_fill(slab.data, bytes, sent);
		right &= pipe_writer_commit(writer, &slab, bytes) == 0 && slab.data == NULL && slab.bytes == 0;
		sent += bytes;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	statistics = pipe_writer_statistics(writer);
	CHECK(right, "%s: each call went well", name);
	CHECK(statistics.bytes_spliced + statistics.bytes_written == sent, "%s: all is counted", name);
	if (options.strict)
		CHECK(statistics.bytes_spliced > sent / 2, "%s: spliced", name);
	else if (options.policy == PIPE_WRITER_WRITE)
		CHECK(statistics.bytes_spliced == 0, "%s: copied", name);
	CHECK(pipe_writer_close(&writer) == 0 && writer == NULL, "%s: close", name);
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
	CHECK(reader.got == sent, "%s: %llu bytes instead of %llu", name, (unsigned long long)reader.got, (unsigned long long)sent);
	CHECK(reader.wrong == 0, "%s: %llu wrong bytes", name, (unsigned long long)reader.wrong);
}

/* Nobody waits: each EAGAIN is answered by poll() and a flush. */
static void without_waiting(enum pipe_writer_policy policy, const char *name)
{
	struct pipe_writer_options options = { .policy = policy, .strict = policy != PIPE_WRITER_WRITE, .no_wait = true,
	                                       .pipe_bytes = 1 };
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	struct reader reader = { .delay_us = 2000 };
	pthread_t thread;
	uint64_t sent = 0;
	int ends[2], reason, right = 1, waited = 0;

	if (pipe(ends) != 0)
		return;
	CHECK(pipe_writer_open(&writer, ends[1], &options) == EINVAL, "%s: the descriptor blocks", name);
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	CHECK(pipe_writer_open(&writer, ends[1], &options) == 0, "%s: open", name);
	reader.descriptor = ends[0];
	/* The pipe is full, and nobody reads: that is said at once. */
	right &= pipe_writer_reserve(writer, 500000, &slab) == 0;
	stream_fill(slab.data, 500000, 0);
	CHECK(pipe_writer_commit(writer, &slab, 500000) == EAGAIN && slab.data == NULL, "%s: no room for all", name);
	CHECK(pipe_writer_reserve(writer, 1, &slab) == EAGAIN && slab.data == NULL, "%s: no slab before the flush", name);
	CHECK(pipe_writer_write(writer, "x", 1, NULL) == EAGAIN, "%s: nothing overtakes", name);
	CHECK(pipe_writer_flush(writer) == EAGAIN, "%s: still full", name);
	sent = 500000;
	pthread_create(&thread, NULL, read_all, &reader);
	for (int n = 0; n < 60; n++) {
		struct pollfd room = { .fd = ends[1], .events = POLLOUT };

		while ((reason = pipe_writer_flush(writer)) == EAGAIN)
			waited += poll(&room, 1, -1) == 1;
		right &= reason == 0 && pipe_writer_reserve(writer, 150001, &slab) == 0;
		stream_fill(slab.data, 150001, sent);
		reason = pipe_writer_commit(writer, &slab, 150001);
		right &= reason == 0 || reason == EAGAIN;
		sent += 150001;
	}
	while (pipe_writer_flush(writer) == EAGAIN)
		sched_yield();
	CHECK(right && waited > 0, "%s: commits and flushes", name);
	CHECK(pipe_writer_close(&writer) == 0, "%s: close", name);
	close(ends[1]);
	pthread_join(thread, NULL);
	CHECK(reader.got == sent && reader.wrong == 0, "%s: %llu of %llu bytes, %llu wrong", name,
	      (unsigned long long)reader.got, (unsigned long long)sent, (unsigned long long)reader.wrong);
	close(ends[0]);
}

/* What is lost is said. */
static void closed_too_early(void)
{
	struct pipe_writer_options options = { .no_wait = true };
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	int ends[2];

	if (pipe(ends) != 0)
		return;
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	CHECK(pipe_writer_open(&writer, ends[1], &options) == 0, "open");
	CHECK(pipe_writer_reserve(writer, 3 << 20, &slab) == 0, "reserve");
	memset(slab.data, 1, slab.bytes);
	CHECK(pipe_writer_commit(writer, &slab, 3 << 20) == EAGAIN, "no room");
	CHECK(pipe_writer_close(&writer) == EAGAIN, "the rest is lost, and close says it");
	close(ends[0]);
	close(ends[1]);
}

static void errors(void)
{
	struct pipe_writer *writer;
	struct pipe_writer_slab slab, other;
	struct pipe_writer_options wrong = { .policy = (enum pipe_writer_policy)7 };
	int ends[2], null = open("/dev/null", O_WRONLY), read_only = open("/dev/null", O_RDONLY);

	CHECK(pipe_writer_open(&writer, -1, NULL) == EBADF && writer == NULL, "no descriptor");
	CHECK(pipe_writer_open(&writer, read_only, NULL) == EBADF, "a descriptor for reading");
	CHECK(pipe_writer_open(&writer, null, &wrong) == EINVAL, "no such policy");
	wrong = (struct pipe_writer_options){ .chunk_bytes = SIZE_MAX };
	CHECK(pipe_writer_open(&writer, null, &wrong) == EINVAL, "no such chunk");
#ifdef __linux__
	CHECK(pipe_writer_open(&writer, null, &fresh) == EINVAL, "fresh pages need a pipe");
	CHECK(pipe_writer_open(&writer, null, &ring) == EINVAL, "a ring needs a pipe");
#endif
	CHECK(pipe_writer_open(&writer, null, NULL) == 0 && pipe_writer_policy(writer) == PIPE_WRITER_WRITE, "no pipe: write()");
	CHECK(pipe_writer_pipe_bytes(writer) == 0, "no pipe, no capacity");
	CHECK(pipe_writer_reserve(writer, SIZE_MAX - 5, &slab) == EINVAL && slab.data == NULL, "more than there can be");
	CHECK(pipe_writer_reserve(writer, SIZE_MAX / 2, &slab) == ENOMEM && slab.data == NULL, "more than there is");
	CHECK(pipe_writer_reserve(writer, 10, &slab) == 0 && slab.bytes >= 10, "reserve");
	other = slab;
	CHECK(pipe_writer_commit(writer, &other, slab.bytes + 1) == EINVAL && other.data == NULL, "more than was reserved");
	other = (struct pipe_writer_slab){ slab.data + 4096, 10 };
	CHECK(pipe_writer_commit(writer, &other, 10) == EINVAL, "another slab");
	other = (struct pipe_writer_slab){ 0 };
	CHECK(pipe_writer_commit(writer, &other, 0) == EINVAL, "no slab");
	other = slab;
	CHECK(pipe_writer_commit(writer, &other, 0) == 0 && other.data == NULL, "nothing to send");
	CHECK(pipe_writer_reserve(writer, 10, &other) == 0 && other.data == slab.data, "what was not sent is given again");
	other = slab;
	memset(slab.data, 1, 10);
	CHECK(pipe_writer_commit(writer, &slab, 10) == 0, "commit");
	CHECK(pipe_writer_commit(writer, &other, 10) == EINVAL, "the same slab twice");
	CHECK(pipe_writer_close(&writer) == 0 && pipe_writer_close(&writer) == 0, "close, and close nothing");
	close(null);
	close(read_only);
	for (int n = 0; n < 4; n++) {
		const struct pipe_writer_options *kinds[] = { &fresh, &ring, &copy, &automatic };

		if (pipe(ends) != 0)
			return;
#ifndef __linux__
		if (n < 2)
			continue;
#endif
		CHECK(pipe_writer_open(&writer, ends[1], kinds[n]) == 0, "kind %d: open", n);
		CHECK(pipe_writer_reserve(writer, 100, &slab) == 0, "kind %d: reserve", n);
		slab.data[0] = 1;
		close(ends[0]);
		CHECK(pipe_writer_commit(writer, &slab, 100) == EPIPE && slab.data == NULL, "kind %d: the reader is gone", n);
		CHECK(pipe_writer_reserve(writer, 1, &slab) == EPIPE, "kind %d: and stays gone", n);
		CHECK(pipe_writer_write(writer, "x", 1, NULL) == EPIPE, "kind %d: for plain bytes too", n);
		CHECK(pipe_writer_close(&writer) == EPIPE, "kind %d: and close says it", n);
		close(ends[1]);
	}
}

#ifdef __linux__
/* A reader that vanishes while the writer waits for room. */
static void reader_vanishes(const struct pipe_writer_options *options, const char *name)
{
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	int ends[2], reason = 0;
	pid_t child;

	if (pipe(ends) != 0)
		return;
	child = fork();
	if (child == 0) {
		uint8_t byte[1000];
		close(ends[1]);
		usleep(20000);
		_exit(read(ends[0], byte, sizeof byte) == sizeof byte ? 0 : 1);
	}
	close(ends[0]);
	pipe_writer_open(&writer, ends[1], options);
	for (int n = 0; n < 100 && reason == 0; n++) {
		reason = pipe_writer_reserve(writer, 100000, &slab);
		if (reason == 0) {
			memset(slab.data, n, 100000);
			reason = pipe_writer_commit(writer, &slab, 100000);
		}
	}
	CHECK(reason == EPIPE, "%s: the reader is gone while the writer waits: %s", name, strerror(reason));
	pipe_writer_close(&writer);
	close(ends[1]);
	waitpid(child, NULL, 0);
}

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

/* The case in which every ring of pages goes wrong: the pages move on to a second pipe, by splice() or tee(), and are read
 * after the writer has filled many more. Says how many bytes of it were wrong. */
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
			ssize_t count = by_tee ? tee(first[0], second[1], CHUNK, 0) : splice(first[0], NULL, second[1], NULL, CHUNK - moved, 0);
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

/* The ring takes pages again only when they are out: whatever the pipe's size does meanwhile. */
static void ring_rule(void)
{
	struct pipe_writer_options options = { .policy = PIPE_WRITER_RING, .strict = true, .pipe_bytes = 1, .chunk_bytes = 16384 };
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
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
		right &= pipe_writer_reserve(writer, 0, &slab) == 0;
		memset(slab.data, 0xEE, slab.bytes);
		stream_fill(slab.data, 12288, sent);
		right &= pipe_writer_commit(writer, &slab, 12288) == 0;
		sent += 12288;
	}
	before = pipe_writer_statistics(writer);
	CHECK(right && wrong == 0, "ring: right while the pipe stays as it is");
	CHECK(before.regions == 1 && before.not_again == 0, "ring: one region, %llu, is enough", (unsigned long long)before.regions);
	CHECK(before.pages_again >= 1000, "ring: pages are used again");
	/* Now the reader makes it larger, and reads nothing for a long time. */
	CHECK(fcntl(ends[0], F_SETPIPE_SZ, 1 << 20) == 1 << 20, "ring: the pipe grows");
	for (int n = 0; n < 60; n++) {
		right &= pipe_writer_reserve(writer, 0, &slab) == 0;
		memset(slab.data, 0xEE, slab.bytes);
		stream_fill(slab.data, 12288, sent);
		right &= pipe_writer_commit(writer, &slab, 12288) == 0;
		sent += 12288;
	}
	after = pipe_writer_statistics(writer);
	CHECK(after.not_again >= 1 && after.regions >= 2, "ring: fresh memory instead of pages that may be in the pipe");
	/* An empty pipe holds nothing, so FIONREAD lets everything be used again, also what few slots came after. */
	while (got < sent) {
		ssize_t count = read(ends[0], data, sizeof data);
		if (count <= 0)
			break;
		wrong += stream_wrong(data, (size_t)count, got);
		got += (uint64_t)count;
	}
	CHECK(right && got == sent && wrong == 0, "ring: %llu wrong bytes when the pipe grows", (unsigned long long)wrong);
	before = after;
	for (int n = 0; n < 200; n++) {
		right &= pipe_writer_reserve(writer, 0, &slab) == 0;
		memset(slab.data, 0xEE, slab.bytes);
		stream_fill(slab.data, 16384, sent);
		right &= pipe_writer_commit(writer, &slab, 16384) == 0;
		sent += 16384;
		for (ssize_t count; got < sent; got += (uint64_t)count) {
			count = read(ends[0], data, sizeof data);
			wrong += stream_wrong(data, (size_t)count, got);
		}
	}
	after = pipe_writer_statistics(writer);
	CHECK(right && wrong == 0, "ring: right in a large pipe that is mostly empty");
	CHECK(after.not_again == before.not_again, "ring: what is read is out");
	pipe_writer_close(&writer);
	close(ends[0]);
	close(ends[1]);
}

/* A child has none of the writer's memory, and every call says so. What the parent sends is right. */
static void forks(const struct pipe_writer_options *options, const char *name)
{
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	struct reader reader = { 0 };
	uint64_t sent = 0;
	int ends[2], right = 1, refused = 1;

	if (pipe(ends) != 0)
		return;
	pipe_writer_open(&writer, ends[1], options);
	reader.descriptor = ends[0];
	for (int n = 0; n < 4; n++) {
		int status = -1;
		pid_t child;

		right &= pipe_writer_reserve(writer, 10000, &slab) == 0;
		stream_fill(slab.data, 5000, sent);
		child = fork();
		if (child == 0) {
			struct pipe_writer_slab mine;
			int good = pipe_writer_commit(writer, &slab, 10000) == EPERM && pipe_writer_flush(writer) == EPERM &&
			           pipe_writer_reserve(writer, 1, &mine) == EPERM && pipe_writer_write(writer, "x", 1, NULL) == EPERM &&
			           pipe_writer_close(&writer) == 0;
			_exit(good ? 0 : 1);
		}
		waitpid(child, &status, 0);
		refused &= status == 0;
		stream_fill(slab.data + 5000, 5000, sent + 5000);
		right &= pipe_writer_commit(writer, &slab, 10000) == 0;
		sent += 10000;
	}
	CHECK(refused, "%s: a child cannot use it", name);
	CHECK(right && pipe_writer_close(&writer) == 0, "%s: the parent can", name);
	close(ends[1]);
	read_all(&reader);
	CHECK(reader.got == sent && reader.wrong == 0, "%s: and what it sends is right", name);
	close(ends[0]);
}

static sigjmp_buf back;

static void caught(int signal_number)
{
	siglongjmp(back, signal_number);
}

static bool faults(uint8_t *place)
{
	volatile bool written = false; /* so that it is not moved before the write */

	if (sigsetjmp(back, 1) == 0) {
		*(volatile uint8_t *)place = 2;
		written = true;
	}
	return !written;
}

/* With `trap`, whoever kept the pointer is stopped. */
static void traps(struct pipe_writer_options options, const char *name)
{
	struct sigaction action = { .sa_handler = caught }, old_segv, old_bus;
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	uint8_t *kept;
	int ends[2];

	if (pipe(ends) != 0)
		return;
	options.trap = true;
	CHECK(pipe_writer_open(&writer, ends[1], &options) == 0, "%s: open", name);
	CHECK(pipe_writer_reserve(writer, 100, &slab) == 0, "%s: reserve", name);
	kept = slab.data;
	kept[0] = 1;
	CHECK(pipe_writer_commit(writer, &slab, 100) == 0, "%s: commit", name);
	sigaction(SIGSEGV, &action, &old_segv);
	sigaction(SIGBUS, &action, &old_bus);
	CHECK(faults(kept), "%s: committed memory cannot be written", name);
	CHECK(pipe_writer_reserve(writer, 100, &slab) == 0 && slab.data != kept, "%s: the next slab lies elsewhere", name);
	slab.data[0] = 3;
	CHECK(faults(kept), "%s: nor when others were reserved since", name);
	sigaction(SIGSEGV, &old_segv, NULL);
	sigaction(SIGBUS, &old_bus, NULL);
	pipe_writer_close(&writer);
	close(ends[0]);
	close(ends[1]);
}

/* Locked memory cannot be thrown away by madvise(); it must not be sent twice for that. */
static void locked_memory(void)
{
	if (mlockall(MCL_FUTURE) != 0)
		return;
	stream(fresh, false, false, "fresh, all memory locked");
	munlockall();
	CHECK(kept_pages(&fresh, false) == 0, "fresh, after memory was locked");
}
#endif

/* Sizes follow the pipe and the cores. */
static void sizes(void)
{
#ifdef __linux__
	struct pipe_writer *writer;
	struct pipe_writer_options as_it_is = { .pipe_bytes = 1 }, chosen = { .pipe_bytes = 256 << 10, .chunk_bytes = 5000 };
	cpu_set_t all, one;
	size_t chunk_one, chunk_all;
	int ends[2];

	if (pipe(ends) != 0)
		return;
	CHECK(pipe_writer_open(&writer, ends[1], &as_it_is) == 0 && fcntl(ends[1], F_GETPIPE_SZ) == 65536, "the pipe stays as it is");
	CHECK(pipe_writer_chunk_bytes(writer) <= 65536, "a chunk fits");
	pipe_writer_close(&writer);
	CHECK(pipe_writer_open(&writer, ends[1], &chosen) == 0 && fcntl(ends[1], F_GETPIPE_SZ) == 256 << 10, "as large as was asked for");
	CHECK(pipe_writer_chunk_bytes(writer) == 5000 && pipe_writer_pipe_bytes(writer) == 256 << 10, "and it says so");
	pipe_writer_close(&writer);
	sched_getaffinity(0, sizeof all, &all);
	CPU_ZERO(&one);
	for (size_t core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; core++)
		if (CPU_ISSET(core, &all))
			CPU_SET(core, &one);
	pipe_writer_open(&writer, ends[1], NULL);
	chunk_all = pipe_writer_chunk_bytes(writer);
	CHECK(pipe_writer_pipe_bytes(writer) == (size_t)fcntl(ends[1], F_GETPIPE_SZ), "the capacity");
	pipe_writer_close(&writer);
	if (sched_setaffinity(0, sizeof one, &one) == 0) {
		pipe_writer_open(&writer, ends[1], NULL);
		chunk_one = pipe_writer_chunk_bytes(writer);
		pipe_writer_close(&writer);
		if (CPU_COUNT(&all) > 1)
			CHECK(chunk_one > chunk_all, "larger turns on one core: %zu and %zu", chunk_one, chunk_all);
		sched_setaffinity(0, sizeof all, &all);
	}
	close(ends[0]);
	close(ends[1]);
#endif
}

/* Files and sockets get their bytes by write(). */
static void no_pipe(void)
{
	char path[] = "/tmp/pipe_writer_XXXXXX";
	struct reader reader = { 0 };
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	pthread_t thread;
	int file = mkstemp(path), pair[2], right = 1;

	unlink(path);
	CHECK(pipe_writer_open(&writer, file, NULL) == 0, "file: open");
	for (uint64_t sent = 0; sent < 3000000; sent += 30000) {
		right &= pipe_writer_reserve(writer, 30000, &slab) == 0;
		stream_fill(slab.data, 30000, sent);
		right &= pipe_writer_commit(writer, &slab, 30000) == 0;
	}
	pipe_writer_close(&writer);
	reader.descriptor = file;
	lseek(file, 0, SEEK_SET);
	read_all(&reader);
	CHECK(right && reader.got == 3000000 && reader.wrong == 0, "file");
	close(file);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return;
	reader = (struct reader){ .descriptor = pair[0] };
	pthread_create(&thread, NULL, read_all, &reader);
	pipe_writer_open(&writer, pair[1], NULL);
	for (uint64_t sent = 0; sent < 3000000; sent += 300000) {
		right &= pipe_writer_reserve(writer, 300000, &slab) == 0;
		stream_fill(slab.data, 300000, sent);
		right &= pipe_writer_commit(writer, &slab, 300000) == 0;
	}
	pipe_writer_close(&writer);
	close(pair[1]);
	pthread_join(thread, NULL);
	CHECK(right && reader.got == 3000000 && reader.wrong == 0, "socket");
	close(pair[0]);
}

int main(void)
{
	struct sigaction action = { .sa_handler = interrupt };

	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGALRM, &action, NULL);
	stream(automatic, false, false, "all chosen");
	stream(copy, false, false, "write");
	stream(copy, true, true, "write, non-blocking, interrupted");
	without_waiting(PIPE_WRITER_WRITE, "write, without waiting");
	closed_too_early();
	no_pipe();
	sizes();
	errors();
#ifdef __linux__
	stream(fresh, false, false, "fresh");
	stream(fresh, true, true, "fresh, non-blocking, interrupted");
	stream(fresh_small, false, true, "fresh, small pages, interrupted");
	stream(ring, false, false, "ring");
	stream(ring, true, true, "ring, non-blocking, interrupted");
	CHECK(interrupted > 0, "there were interruptions");
	struct pipe_writer_options trapping = fresh;
	trapping.trap = true;
	stream(trapping, false, false, "fresh, traps");
	trapping = ring;
	trapping.trap = true;
	stream(trapping, false, false, "ring, traps");
	trapping = copy;
	trapping.trap = true;
	stream(trapping, false, false, "write, traps");
	without_waiting(PIPE_WRITER_FRESH, "fresh, without waiting");
	without_waiting(PIPE_WRITER_RING, "ring, without waiting");
	reader_vanishes(&fresh, "fresh");
	reader_vanishes(&ring, "ring");
	reader_vanishes(&copy, "write");
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
	forks(&fresh, "fresh");
	forks(&ring, "ring");
	forks(&copy, "write");
	traps(fresh, "fresh");
	traps(ring, "ring");
	traps(copy, "write");
	locked_memory();
#endif
	return harness_finish();
}
