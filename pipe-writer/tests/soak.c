/* Sends many gigabytes to readers of all kinds, and looks at every byte that arrives.
 *
 *     pipe-soak [--bytes SIZE] [--list] [CASE…]
 *
 * SIZE is that of all cases together, for example 100G; 1G = 10^9. A line for each case, then the sum. Exit status: 0
 * if all bytes were right, 1 if not, 2 for a wrong command line. The case ring-splice must be named; it is what the
 * policy "ring" cannot do, and shows that wrong bytes are found. */
#include "pipe_writer.h"
#include "harness.h"
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 20 };

/* What goes between the writer and the process that looks at the bytes. */
enum between { NOTHING, BY_SPLICE, BY_TEE, BY_PV };

struct test {
	const char *name;
	enum pipe_writer_policy policy;
	enum between between;
	bool enlarged; /* the reader changes the size of the pipe all the while */
	bool killed;   /* whoever reads the writer's pipe is killed before the end */
	bool first;    /* the writer ends before anything is read, again and again */
	bool small_pages;
	bool unsafe; /* runs only when it is named: shows that wrong bytes are found */
};

static const struct test tests[] = {
	{ .name = "fresh-read" },
	{ .name = "fresh-splice", .between = BY_SPLICE },
	{ .name = "fresh-tee", .between = BY_TEE },
	{ .name = "fresh-pv", .between = BY_PV },
	{ .name = "fresh-enlarged", .enlarged = true },
	{ .name = "fresh-splice-enlarged", .between = BY_SPLICE, .enlarged = true },
	{ .name = "fresh-reader-killed", .between = BY_SPLICE, .killed = true },
	{ .name = "fresh-writer-exits-first", .first = true },
	{ .name = "fresh-small-pages-splice", .between = BY_SPLICE, .small_pages = true },
	{ .name = "ring-read", .policy = PIPE_WRITER_RING },
	{ .name = "ring-enlarged", .policy = PIPE_WRITER_RING, .enlarged = true },
	{ .name = "ring-reader-killed", .policy = PIPE_WRITER_RING, .killed = true },
	{ .name = "ring-writer-exits-first", .policy = PIPE_WRITER_RING, .first = true },
	{ .name = "ring-splice", .policy = PIPE_WRITER_RING, .between = BY_SPLICE, .unsafe = true },
};

/* What the processes tell each other. */
static struct shared {
	uint64_t sent;      /* by the writer, handed over in full */
	int writer_reason;  /* that ended it */
	uint64_t got, wrong;
} *shared;

static void die(const char *what)
{
	fprintf(stderr, "pipe-soak: %s: %s\n", what, strerror(errno));
	_exit(3);
}

static pid_t start(void)
{
	pid_t child = fork();

	if (child < 0)
		die("fork");
	return child;
}

/* Whole chunks as a rule, and now and then a few bytes, a plain write, or many chunks at once. */
static void write_stream(const struct test *test, int descriptor, uint64_t offset, uint64_t bytes)
{
	struct pipe_writer_options options = { .policy = test->policy, .strict = true, .small_pages = test->small_pages };
	/* One whose reader is killed writes until it notices, however long the kill takes. */
	uint64_t seed = offset + 1, end = test->killed ? UINT64_MAX : offset + bytes;
	/* A large reservation makes the ring large; then its pages would rarely be used again. */
	size_t large = test->policy == PIPE_WRITER_RING ? 200000 : 3000000;
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	int reason = pipe_writer_open(&writer, descriptor, &options);

	while (reason == 0 && offset < end) {
		uint64_t choice = random_next(&seed);
		size_t piece;

		if (choice % 64 == 0) {
			uint8_t own[5000];
			piece = (size_t)(choice >> 32) % sizeof own;
			piece = piece < end - offset ? piece : (size_t)(end - offset);
			stream_fill(own, piece, offset);
			reason = pipe_writer_write(writer, own, piece, NULL);
		} else {
			reason = pipe_writer_reserve(writer, choice % 64 == 1 ? large : 0, &slab);
			if (reason != 0)
				break;
			piece = choice % 8 == 7 ? (size_t)(choice >> 32) % slab.bytes : slab.bytes;
			piece = piece < end - offset ? piece : (size_t)(end - offset);
			stream_fill(slab.data, piece, offset);
			reason = pipe_writer_commit(writer, &slab, piece);
		}
		if (reason == 0)
			offset += piece;
		shared->sent = offset;
	}
	shared->writer_reason = reason;
	/* No close: the end of the process must do as well. */
}

/* Reads all that comes and looks at it; stops after `most` bytes. */
static void verify(int descriptor, bool resize, uint64_t most)
{
	static uint8_t data[BUFFER_BYTES];
	uint64_t seed = 5;

	while (shared->got < most) {
		size_t room = random_next(&seed) % 4 == 0 ? (size_t)(random_next(&seed) % BUFFER_BYTES) + 1 : BUFFER_BYTES;
		ssize_t count;

		/* Now and then the reader is late, so that all pipes are full. */
		if (random_next(&seed) % 64 == 0)
			usleep(2000);
		count = read(descriptor, data, room);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			die("read");
		if (count == 0)
			break;
		shared->wrong += stream_wrong(data, (size_t)count, shared->got);
		shared->got += (uint64_t)count;
#ifdef F_SETPIPE_SZ
		/* Smaller than its content it does not become; that is no matter here. */
		if (resize && random_next(&seed) % 16 == 0)
			fcntl(descriptor, F_SETPIPE_SZ, 65536 << random_next(&seed) % 5);
#else
		(void)resize;
#endif
	}
}

#ifdef __linux__
static void pass_on(const struct test *test, int from, int to)
{
	uint64_t seed = 9;
	int null = open("/dev/null", O_WRONLY);

	fcntl(to, F_SETPIPE_SZ, 1 << 20);
	for (;;) {
		ssize_t count;

		if (test->between == BY_TEE) {
			/* The copy goes on; what was read of it is thrown away. */
			count = tee(from, to, BUFFER_BYTES, 0);
			for (ssize_t gone = 0; gone < count;) {
				ssize_t part = splice(from, NULL, null, NULL, (size_t)(count - gone), 0);
				if (part <= 0)
					die("splice to /dev/null");
				gone += part;
			}
		} else {
			count = splice(from, NULL, to, NULL, (size_t)(random_next(&seed) % BUFFER_BYTES) + 1, SPLICE_F_MOVE);
		}
		if (count < 0)
			die("splice or tee");
		if (count == 0)
			return;
		if (test->enlarged && random_next(&seed) % 16 == 0)
			fcntl(from, F_SETPIPE_SZ, 65536 << random_next(&seed) % 5);
	}
}
#endif

/* What is to go wrong must not depend on who is faster: before the first byte is read the pipes are full, and they hold more
 * than the ring, so the writer has used its memory again. It is known by what was sent: much, and no more for a while. */
static void let_ring_turn(void)
{
	enum { MUCH = 600000, STEP_US = 10000, STILL_STEPS = 10, STEPS = 2000 };
	uint64_t before = 0, now = 0;

	for (int i = 0, still = 0; i < STEPS && (still < STILL_STEPS || now < shared->got + MUCH); i++) {
		usleep(STEP_US);
		now = *(volatile uint64_t *)&shared->sent;
		still = now == before ? still + 1 : 0;
		before = now;
	}
}

static pid_t start_between(const struct test *test, int from, int to, int other)
{
	pid_t child = start();

	if (child != 0)
		return child;
	close(other);
#ifdef __linux__
	if (test->between != BY_PV) {
		pass_on(test, from, to);
		_exit(0);
	}
#endif
	dup2(from, 0);
	dup2(to, 1);
	close(from);
	close(to);
	execlp("pv", "pv", "-q", (char *)NULL);
	die("pv");
	return -1;
}

static void wait_for(pid_t child, bool may_be_killed)
{
	int status;

	if (child <= 0)
		return;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			die("wait");
	if (!(WIFEXITED(status) && WEXITSTATUS(status) == 0) && !(may_be_killed && WIFSIGNALED(status)))
		shared->wrong++; /* it has said why */
}

/* One stream. Returns whether it ended as it should. */
static bool transfer(const struct test *test, uint64_t bytes)
{
	int ends[2], on[2] = { -1, -1 };
	pid_t writer, between = 0, reader;

	shared->sent = shared->got;
	if (pipe(ends) != 0 || (test->between != NOTHING && pipe(on) != 0))
		die("pipe");
	writer = start();
	if (writer == 0) {
		close(ends[0]);
		if (on[0] >= 0)
			close(on[0]), close(on[1]);
		write_stream(test, ends[1], shared->got, bytes);
		_exit(0);
	}
	close(ends[1]);
	if (test->between != NOTHING) {
		between = start_between(test, ends[0], on[1], on[0]);
		close(ends[0]);
		close(on[1]);
		ends[0] = on[0];
	}
	if (test->unsafe)
		let_ring_turn();
	if (!test->killed) {
		verify(ends[0], test->enlarged && test->between == NOTHING, UINT64_MAX);
		close(ends[0]);
		wait_for(writer, false);
		wait_for(between, false);
		return shared->writer_reason == 0 && shared->got == shared->sent;
	}
	if (between > 0) {
		/* Half of it is read, then the process between is killed: what it had passed on must be right as well. */
		verify(ends[0], false, shared->got + bytes / 2);
		kill(between, SIGKILL);
		verify(ends[0], false, UINT64_MAX);
		close(ends[0]);
		wait_for(between, true);
	} else {
		reader = start();
		if (reader == 0) {
			verify(ends[0], false, UINT64_MAX);
			_exit(0);
		}
		close(ends[0]);
		for (uint64_t before = shared->got; *(volatile uint64_t *)&shared->got < before + bytes / 2;)
			usleep(1000);
		kill(reader, SIGKILL);
		wait_for(reader, true);
	}
	wait_for(writer, false);
	return shared->writer_reason == EPIPE;
}

/* A pipe full that nobody reads until the writer is no more. */
static bool writer_exits_first(const struct test *test)
{
	int ends[2];
	pid_t writer;

	if (pipe(ends) != 0)
		die("pipe");
	writer = start();
	if (writer == 0) {
		struct pipe_writer_options options = { .policy = test->policy, .strict = true };
		struct pipe_writer *opened;
		struct pipe_writer_slab slab;
		size_t room;

		if (pipe_writer_open(&opened, ends[1], &options) != 0)
			_exit(3);
		room = pipe_writer_pipe_bytes(opened);
		for (size_t piece = room / 8, at = 0; at < room; at += piece) {
			if (pipe_writer_reserve(opened, piece, &slab) != 0)
				_exit(3);
			stream_fill(slab.data, piece, shared->got + at);
			if (pipe_writer_commit(opened, &slab, piece) != 0)
				_exit(3);
		}
		shared->sent = shared->got + room;
		_exit(0);
	}
	close(ends[1]);
	wait_for(writer, false);
	verify(ends[0], false, UINT64_MAX);
	close(ends[0]);
	return shared->got == shared->sent;
}

static bool run(const struct test *test, uint64_t bytes)
{
	bool right = true;
	struct timespec start_time, end_time;

	*shared = (struct shared){ 0 };
	clock_gettime(CLOCK_MONOTONIC, &start_time);
	if (test->first) {
		while (right && shared->got < bytes)
			right = writer_exits_first(test);
	} else if (test->killed) {
		/* Each stream starts where the reader of the last one was killed. */
		while (right && shared->got < bytes)
			right = transfer(test, (bytes < 1000000000 ? bytes : 1000000000) + 16000000);
	} else {
		right = transfer(test, bytes);
	}
	clock_gettime(CLOCK_MONOTONIC, &end_time);
	double seconds = (double)(end_time.tv_sec - start_time.tv_sec) +
	                 (double)(end_time.tv_nsec - start_time.tv_nsec) * 1e-9;
	printf("%-26s %14llu bytes %6llu wrong  %6.2f GB/s%s\n", test->name, (unsigned long long)shared->got,
	       (unsigned long long)shared->wrong, (double)shared->got * 1e-9 / seconds, right ? "" : "  ended wrongly");
	fflush(stdout);
	return right && shared->wrong == 0;
}

static bool parse_bytes(const char *text, uint64_t *bytes)
{
	char *end;
	double value = strtod(text, &end);
	static const char units[] = "kMG";

	if (*end != '\0') {
		const char *unit = strchr(units, *end);
		if (unit == NULL || end[1] != '\0')
			return false;
		for (const char *u = units; u <= unit; u++)
			value *= 1000;
	}
	*bytes = (uint64_t)value;
	return end != text && value >= 1e6 && value <= 1e15;
}

static bool wanted(const struct test *test, int count, char **names)
{
	for (int i = 0; i < count; i++)
		if (strcmp(test->name, names[i]) == 0)
			return true;
	return count == 0 && !test->unsafe;
}

int main(int count, char **arguments)
{
	enum { TESTS = sizeof tests / sizeof *tests };
	uint64_t bytes = 1000000000, total = 0, wrong = 0;
	unsigned chosen = 0;
	bool right = true;
	int first = 1;

	if (count > 1 && strcmp(arguments[1], "--list") == 0) {
		for (unsigned i = 0; i < TESTS; i++)
			puts(tests[i].name);
		return 0;
	}
	if (count > 2 && strcmp(arguments[1], "--bytes") == 0) {
		if (!parse_bytes(arguments[2], &bytes)) {
			fprintf(stderr, "pipe-soak: --bytes %s: must be a number of at least 1M, for example 100G\n", arguments[2]);
			return 2;
		}
		first = 3;
	}
	for (unsigned i = 0; i < TESTS; i++)
		chosen += wanted(&tests[i], count - first, arguments + first);
	if (chosen == 0 || (count > first && chosen != (unsigned)(count - first))) {
		fprintf(stderr, "usage: pipe-soak [--bytes SIZE] [--list] [CASE...]; --list names the cases\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("memory");
	for (unsigned i = 0; i < TESTS; i++) {
		if (!wanted(&tests[i], count - first, arguments + first))
			continue;
		right &= run(&tests[i], bytes / chosen);
		total += shared->got;
		wrong += shared->wrong;
	}
	printf("%llu bytes, %llu wrong\n", (unsigned long long)total, (unsigned long long)wrong);
	return right ? 0 : 1;
}
