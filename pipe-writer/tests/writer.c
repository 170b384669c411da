/* The writer's contract: what arrives, what is refused, and what each policy does with its memory. */
#include "pipe_writer.h"
#include "harness.h"
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct pipe_writer_options fresh = { .strict = true },
	ring = { .policy = PIPE_WRITER_RING, .strict = true }, copy = { .policy = PIPE_WRITER_WRITE }, automatic;

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
	(void)signal_number;
	interrupted++;
}

/* Commits of odd lengths, and plain writes between, through a pipe that is read meanwhile. */
static void stream(struct pipe_writer_options options, bool nonblocking, bool interruptions, const char *name)
{
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { { 0, 0 }, { 0, 0 } };
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	struct reader *start, reader;
	struct pipe_writer_statistics statistics;
	uint64_t seed = 11, sent = 0;
	int ends[2], right = 1;

	if (pipe(ends) != 0)
		return;
	if (nonblocking)
		fcntl(ends[1], F_SETFL, O_NONBLOCK);
	CHECK(pipe_writer_open(&writer, ends[1], &options) == 0, "%s: open", name);
	start = reader_start(ends);
	if (interruptions)
		setitimer(ITIMER_REAL, &often, NULL);
	for (int n = 0; n < 400; n++) {
		size_t longest = n % 50 == 7 ? 3000000 : n % 3 == 0 ? 5000 : 200000;
		size_t wanted = (size_t)(random_next(&seed) % longest);
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
	reader = reader_finish(start);
	CHECK(reader.got == sent, "%s: %llu bytes instead of %llu", name, (unsigned long long)reader.got,
	      (unsigned long long)sent);
	CHECK(reader.wrong == 0, "%s: %llu wrong bytes", name, (unsigned long long)reader.wrong);
}

/* Nobody waits: each EAGAIN is answered by poll() and a flush. */
static void without_waiting(enum pipe_writer_policy policy, const char *name)
{
	struct pipe_writer_options options = { .policy = policy, .strict = policy != PIPE_WRITER_WRITE, .no_wait = true,
	                                       .pipe_bytes = 1 };
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	struct reader *start, reader;
	uint64_t sent = 0;
	int ends[2], reason, right = 1, waited = 0;

	if (pipe(ends) != 0)
		return;
	CHECK(pipe_writer_open(&writer, ends[1], &options) == EINVAL, "%s: the descriptor blocks", name);
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	CHECK(pipe_writer_open(&writer, ends[1], &options) == 0, "%s: open", name);
	/* The pipe is full, and nobody reads: that is said at once. */
	right &= pipe_writer_reserve(writer, 500000, &slab) == 0;
	stream_fill(slab.data, 500000, 0);
	CHECK(pipe_writer_commit(writer, &slab, 500000) == EAGAIN && slab.data == NULL, "%s: no room for all", name);
	CHECK(pipe_writer_reserve(writer, 1, &slab) == EAGAIN && slab.data == NULL, "%s: no slab before the flush", name);
	CHECK(pipe_writer_write(writer, "x", 1, NULL) == EAGAIN, "%s: nothing overtakes", name);
	CHECK(pipe_writer_flush(writer) == EAGAIN, "%s: still full", name);
	sent = 500000;
	start = reader_start(ends);
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
	reader = reader_finish(start);
	CHECK(reader.got == sent && reader.wrong == 0, "%s: %llu of %llu bytes, %llu wrong", name,
	      (unsigned long long)reader.got, (unsigned long long)sent, (unsigned long long)reader.wrong);
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
	CHECK(pipe_writer_open(&writer, null, NULL) == 0, "no pipe");
	CHECK(pipe_writer_policy(writer) == PIPE_WRITER_WRITE, "no pipe: write()");
	CHECK(pipe_writer_pipe_bytes(writer) == 0, "no pipe, no capacity");
	CHECK(pipe_writer_reserve(writer, SIZE_MAX - 5, &slab) == EINVAL && slab.data == NULL, "more than there can be");
	/* 32 bits may have that much. */
	if (sizeof(size_t) > 4)
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

#endif

/* Sizes follow the pipe and the cores. */
static void sizes(void)
{
#ifdef __linux__
	struct pipe_writer *writer;
	struct pipe_writer_options as_it_is = { .pipe_bytes = 1 };
	struct pipe_writer_options chosen = { .pipe_bytes = 256 << 10, .chunk_bytes = 5000 };
	cpu_set_t all, one;
	size_t chunk_one, chunk_all;
	int ends[2];

	if (pipe(ends) != 0)
		return;
	CHECK(pipe_writer_open(&writer, ends[1], &as_it_is) == 0, "sizes: open");
	CHECK(fcntl(ends[1], F_GETPIPE_SZ) == 65536, "the pipe stays as it is");
	CHECK(pipe_writer_chunk_bytes(writer) <= 65536, "a chunk fits");
	pipe_writer_close(&writer);
	CHECK(pipe_writer_open(&writer, ends[1], &chosen) == 0, "sizes: open");
	CHECK(fcntl(ends[1], F_GETPIPE_SZ) == 256 << 10, "as large as was asked for");
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
		/* suites/quick.toml measures these. */
		if (pipe_writer_pipe_bytes(writer) == 1 << 20)
			CHECK(chunk_one == 512 << 10, "a chunk on one core is half of the pipe: %zu", chunk_one);
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
	struct reader *start, reader = { 0 };
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
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
	start = reader_start(pair);
	pipe_writer_open(&writer, pair[1], NULL);
	for (uint64_t sent = 0; sent < 3000000; sent += 300000) {
		right &= pipe_writer_reserve(writer, 300000, &slab) == 0;
		stream_fill(slab.data, 300000, sent);
		right &= pipe_writer_commit(writer, &slab, 300000) == 0;
	}
	pipe_writer_close(&writer);
	close(pair[1]);
	reader = reader_finish(start);
	CHECK(right && reader.got == 3000000 && reader.wrong == 0, "socket");
}

/* The last offset that there is: 2^64 - 1 is a multiple of three. */
static void constant_at_the_end_of_numbers(void)
{
	struct pipe_writer_constant *constant = NULL;
	struct pipe_writer *writer = NULL;
	char got[11] = "";
	int ends[2];

	if (pipe(ends) != 0)
		return;
	CHECK(pipe_writer_constant_open(&constant, "abc", 3) == 0 && pipe_writer_open(&writer, ends[1], NULL) == 0 &&
	              pipe_writer_repeat(writer, constant, UINT64_MAX, 10, NULL) == 0,
	      "the last offset: sent");
	CHECK(read(ends[0], got, 10) == 10 && strcmp(got, "abcabcabca") == 0, "the last offset: %s", got);
	pipe_writer_close(&writer);
	pipe_writer_constant_close(&constant);
	close(ends[0]);
	close(ends[1]);
}

/* Constant data, from any offset, between other things. */
static void constants(size_t bytes, bool nonblocking, const char *name)
{
	enum { PARTS = 30 };
	struct pipe_writer_options options = { .no_wait = nonblocking };
	struct pipe_writer_constant *constant;
	struct pipe_writer *writer;
	struct pipe_writer_statistics statistics;
	uint8_t *data = malloc(bytes), *all = malloc(40000000);
	uint64_t seed = bytes, offset = 0, total = 0, wrong = 0, got = 0, begin[PARTS], length[PARTS];
	int ends[2], right = 1, status = -1;
	pid_t child;

	random_bytes(&seed, data, bytes);
	for (int n = 0; n < PARTS; n++) {
		begin[n] = n % 3 == 0 ? 0 : n % 3 == 1 ? offset : random_next(&seed) % (3 * bytes + 1);
		length[n] = random_next(&seed) % 1200000;
		offset = begin[n] + length[n];
		total += length[n] + 1;
	}
	if (pipe(ends) != 0)
		return;
	CHECK(pipe_writer_constant_open(&constant, data, bytes) == 0, "%s: constant", name);
	child = fork();
	if (child == 0) {
		close(ends[0]);
		if (nonblocking)
			fcntl(ends[1], F_SETFL, O_NONBLOCK);
		right &= pipe_writer_open(&writer, ends[1], &options) == 0;
		memset(data, 0, bytes); /* it has its own copy */
		for (int n = 0; n < PARTS; n++) {
			int reason;

			for (uint64_t done = 0, sent; done < length[n]; done += sent) {
				reason = pipe_writer_repeat(writer, constant, begin[n] + done, length[n] - done, &sent);
				right &= reason == 0 || (reason == EAGAIN && nonblocking);
			}
			while ((reason = pipe_writer_write(writer, "|", 1, NULL)) == EAGAIN)
				sched_yield();
			right &= reason == 0;
		}
		statistics = pipe_writer_statistics(writer);
		right &= statistics.bytes_teed + statistics.bytes_written == total;
#ifdef __linux__
		/* Pages at a time if whole pages hold whole repetitions, and it fits the pipe. */
		if (bytes <= 4096 || bytes == 65536)
			right &= statistics.bytes_teed > total / 2;
#endif
		right &= pipe_writer_close(&writer) == 0;
		_exit(right ? 0 : 1);
	}
	close(ends[1]);
	for (ssize_t count; (count = read(ends[0], all + got, 40000000 - got)) > 0;)
		got += (uint64_t)count;
	close(ends[0]);
	waitpid(child, &status, 0);
	CHECK(status == 0, "%s: each call went well", name);
	CHECK(got == total, "%s: %llu bytes instead of %llu", name, (unsigned long long)got, (unsigned long long)total);
	got = 0;
	for (int n = 0; n < PARTS; n++) {
		for (uint64_t i = 0; i < length[n]; i++)
			wrong += all[got++] != data[(begin[n] + i) % bytes];
		wrong += all[got++] != '|';
	}
	CHECK(wrong == 0, "%s: %llu wrong bytes", name, (unsigned long long)wrong);
	pipe_writer_constant_close(&constant);
	CHECK(constant == NULL, "%s: closed", name);
	pipe_writer_constant_close(&constant);
	free(data);
	free(all);
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
	struct pipe_writer_constant *nothing;
	CHECK(pipe_writer_constant_open(&nothing, "", 0) == EINVAL && nothing == NULL, "a constant of nothing");
	constant_at_the_end_of_numbers();
	constants(2, false, "constant of 2 bytes");
	constants(3, false, "constant of 3 bytes");
	constants(4096, false, "constant of 4096 bytes");
	constants(5000, true, "constant of 5000 bytes, without waiting");
	constants(65536, true, "constant of 65536 bytes, without waiting");
	constants(100001, false, "constant of 100001 bytes");
	constants(3000000, false, "constant of 3000000 bytes");
#ifdef __linux__
	struct pipe_writer_options fresh_small = { .strict = true, .small_pages = true };
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
#endif
	return harness_finish();
}
