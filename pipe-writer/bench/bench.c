/* The writer beside write(): bytes per second of processor time, of both ends together, which stays put on a busy
 * machine.
 *
 *     pipe-bench [--rounds N] [--bytes SIZE] [--cores one|two] [--fill touch|full]
 *
 * Each round measures every row once, so that what disturbs the machine disturbs all rows. A line for each row:
 * the median of the rounds, the smallest and the largest, and the median of the ratios to write() within a round.
 * `touch`: a word of each 4096 bytes is written; `full`: every word. The reader looks at a word of each 4096
 * bytes. */
#include "pipe_writer.h"
#include "harness.h"
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ROUNDS = 101, PAGE = 4096, HUGE_PAGE = 2 << 20 };

enum kind { PLAIN, LIBRARY, CONSTANT, BARE };

struct row {
	const char *name;
	enum kind kind;
	enum pipe_writer_policy policy;
	size_t chunk, pipe; /* of PLAIN and BARE; otherwise the writer chooses, unless they are given */
	bool splice;        /* the reader: to /dev/null; otherwise read() */
	bool small_pages;
};

/* The first of each reader is what the others are compared with. */
static const struct row rows[] = {
	{ "write() 64K, pipe 64K       -> read", PLAIN, 0, 64 << 10, 64 << 10, false, false },
	{ "writer, write 64K, pipe 64K -> read", LIBRARY, PIPE_WRITER_WRITE, 64 << 10, 64 << 10, false, false },
	{ "write() 256K, pipe 1M       -> read", PLAIN, 0, 256 << 10, 1 << 20, false, false },
	{ "writer, fresh               -> read", LIBRARY, PIPE_WRITER_FRESH, 0, 0, false, false },
	{ "writer, fresh, small pages  -> read", LIBRARY, PIPE_WRITER_FRESH, 0, 0, false, true },
	{ "writer, ring                -> read", LIBRARY, PIPE_WRITER_RING, 0, 0, false, false },
	{ "vmsplice() and nothing else -> read", BARE, 0, 256 << 10, 512 << 10, false, false },
	{ "writer, constant            -> read", CONSTANT, 0, 0, 0, false, false },
	{ "write() 64K, pipe 64K       -> splice", PLAIN, 0, 64 << 10, 64 << 10, true, false },
	{ "write() 256K, pipe 1M       -> splice", PLAIN, 0, 256 << 10, 1 << 20, true, false },
	{ "writer, fresh               -> splice", LIBRARY, PIPE_WRITER_FRESH, 0, 0, true, false },
	{ "writer, ring                -> splice", LIBRARY, PIPE_WRITER_RING, 0, 0, true, false },
	{ "vmsplice() and nothing else -> splice", BARE, 0, 256 << 10, 512 << 10, true, false },
	{ "writer, constant            -> splice", CONSTANT, 0, 0, 0, true, false },
};

enum { ROWS = sizeof rows / sizeof *rows };

static struct {
	uint64_t bytes;
	int rounds;
	bool two_cores, full;
} chosen = { .bytes = 500000000, .rounds = 15 };

static double *writer_seconds; /* shared with the writer's process */

static void die(const char *what)
{
	fprintf(stderr, "pipe-bench: %s: %s\n", what, strerror(errno));
	exit(3);
}

static double cpu_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static cpu_set_t allowed;

/* On the first or second core that is allowed. */
static void pin(size_t want)
{
	cpu_set_t one;
	size_t seen = 0;

	CPU_ZERO(&one);
	for (size_t core = 0; core < CPU_SETSIZE; core++)
		if (CPU_ISSET(core, &allowed) && seen++ == want) {
			CPU_SET(core, &one);
			sched_setaffinity(0, sizeof one, &one);
			return;
		}
	errno = EINVAL;
	die("a second core");
}

static void fill(uint8_t *to, size_t bytes, uint64_t offset)
{
	if (chosen.full)
		stream_fill(to, bytes, offset);
	else
		for (size_t at = 0; at < bytes; at += PAGE)
			stream_fill(to + at, 8, offset + at);
}

static void check(const uint8_t *from, size_t bytes, uint64_t offset)
{
	for (size_t at = (size_t)(-offset % PAGE); at + 8 <= bytes; at += PAGE)
		if (stream_wrong(from + at, 8, offset + at) != 0) {
			fprintf(stderr, "pipe-bench: wrong bytes at %llu\n", (unsigned long long)(offset + at));
			exit(1);
		}
}

static void write_plain(const struct row *row, int descriptor)
{
	uint8_t *data = aligned_alloc(PAGE, row->chunk);

	if (data == NULL)
		die("memory");
	memset(data, 1, row->chunk);
	pin(0);
	*writer_seconds -= cpu_seconds();
	for (uint64_t offset = 0; offset < chosen.bytes; offset += row->chunk) {
		fill(data, row->chunk, offset);
		for (size_t at = 0; at < row->chunk;) {
			ssize_t count = write(descriptor, data + at, row->chunk - at);
			if (count < 0)
				die("write");
			at += (size_t)count;
		}
	}
}

static void write_by_library(const struct row *row, int descriptor)
{
	struct pipe_writer_options options = { .policy = row->policy, .chunk_bytes = row->chunk, .pipe_bytes = row->pipe,
	                                       .strict = true, .small_pages = row->small_pages };
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	int reason = pipe_writer_open(&writer, descriptor, &options);

	pin(0);
	*writer_seconds -= cpu_seconds();
	for (uint64_t offset = 0; offset < chosen.bytes && reason == 0;) {
		size_t bytes;

		reason = pipe_writer_reserve(writer, 0, &slab);
		if (reason != 0)
			break;
		bytes = slab.bytes;
		fill(slab.data, bytes, offset);
		reason = pipe_writer_commit(writer, &slab, bytes);
		offset += bytes;
	}
	pipe_writer_close(&writer);
	errno = reason;
	if (reason != 0)
		die("writer");
}

/* The constant is a piece of the stream, so only its first repetition can be checked: the reader does not. */
static void write_constant(int descriptor)
{
	struct pipe_writer *writer;
	struct pipe_writer_constant *constant;
	uint8_t data[PAGE];
	int reason;

	stream_fill(data, sizeof data, 0);
	reason = pipe_writer_open(&writer, descriptor, NULL);
	if (reason == 0)
		reason = pipe_writer_constant_open(&constant, data, sizeof data);
	pin(0);
	*writer_seconds -= cpu_seconds();
	if (reason == 0)
		reason = pipe_writer_repeat(writer, constant, 0, chosen.bytes, NULL);
	errno = reason;
	if (reason != 0)
		die("constant");
}

/* One chunk in a huge page, filled once and sent again and again: no ring, which has to fill its pages, can be cheaper. Right
 * bytes, but the same each time. */
static void write_bare(const struct row *row, int descriptor)
{
	uint8_t *data = aligned_alloc(HUGE_PAGE, HUGE_PAGE);

	if (data == NULL)
		die("memory");
	madvise(data, HUGE_PAGE, MADV_HUGEPAGE);
	stream_fill(data, row->chunk, 0);
	pin(0);
	*writer_seconds -= cpu_seconds();
	for (uint64_t offset = 0; offset < chosen.bytes; offset += row->chunk)
		for (size_t at = 0; at < row->chunk;) {
			struct iovec piece = { .iov_base = data + at, .iov_len = row->chunk - at };
			ssize_t count = vmsplice(descriptor, &piece, 1, 0);
			if (count < 0)
				die("vmsplice");
			at += (size_t)count;
		}
}

/* Bytes per second of processor time. */
static double measure(const struct row *row)
{
	static uint8_t data[128 << 10];
	uint64_t got = 0;
	int ends[2], status, null = open("/dev/null", O_WRONLY);
	double seconds;
	pid_t child;

	*writer_seconds = 0;
	if (pipe(ends) != 0)
		die("pipe");
	if (row->pipe > 0 && fcntl(ends[1], F_SETPIPE_SZ, (int)row->pipe) < 0)
		die("size of the pipe");
	child = fork();
	if (child < 0)
		die("fork");
	if (child == 0) {
		close(ends[0]);
		/* The writer is opened while it may run on as many cores as there are ends. */
		if (chosen.two_cores)
			sched_setaffinity(0, sizeof allowed, &allowed);
		if (row->kind == PLAIN)
			write_plain(row, ends[1]);
		else if (row->kind == BARE)
			write_bare(row, ends[1]);
		else if (row->kind == LIBRARY)
			write_by_library(row, ends[1]);
		else
			write_constant(ends[1]);
		close(ends[1]);
		*writer_seconds += cpu_seconds();
		_exit(0);
	}
	close(ends[1]);
	seconds = -cpu_seconds();
	for (;;) {
		ssize_t count = row->splice ? splice(ends[0], NULL, null, NULL, 1 << 20, 0) : read(ends[0], data, sizeof data);

		if (count < 0)
			die("read");
		if (count == 0)
			break;
		if (!row->splice && (row->kind == PLAIN || row->kind == LIBRARY))
			check(data, (size_t)count, got);
		got += (uint64_t)count;
	}
	seconds += cpu_seconds();
	close(ends[0]);
	close(null);
	if (waitpid(child, &status, 0) != child || status != 0 || got < chosen.bytes) {
		fprintf(stderr, "pipe-bench: %s: the writer failed\n", row->name);
		exit(1);
	}
	return (double)got / (seconds + *writer_seconds);
}

static int ascending(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof *values, ascending);
	return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static int usage(void)
{
	fprintf(stderr, "usage: pipe-bench [--rounds 1..%d] [--bytes N] [--cores one|two] [--fill touch|full]\n",
	        MOST_ROUNDS);
	return 2;
}

int main(int count, char **arguments)
{
	static double rates[ROWS][MOST_ROUNDS], ratios[MOST_ROUNDS];
	int base = 0;

	for (int i = 1; i < count; i += 2) {
		const char *value = i + 1 < count ? arguments[i + 1] : "";

		if (strcmp(arguments[i], "--rounds") == 0 && atoi(value) >= 1 && atoi(value) <= MOST_ROUNDS)
			chosen.rounds = atoi(value);
		else if (strcmp(arguments[i], "--bytes") == 0 && atof(value) >= 1e6)
			chosen.bytes = (uint64_t)atof(value);
		else if (strcmp(arguments[i], "--cores") == 0 && (strcmp(value, "one") == 0 || strcmp(value, "two") == 0))
			chosen.two_cores = strcmp(value, "two") == 0;
		else if (strcmp(arguments[i], "--fill") == 0 && (strcmp(value, "touch") == 0 || strcmp(value, "full") == 0))
			chosen.full = strcmp(value, "full") == 0;
		else
			return usage();
	}
	writer_seconds = mmap(NULL, sizeof *writer_seconds, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (writer_seconds == MAP_FAILED)
		die("memory");
	if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		die("cores");
	pin(chosen.two_cores ? 1 : 0);
	for (int round = 0; round < chosen.rounds; round++)
		for (int row = 0; row < ROWS; row++)
			rates[row][round] = measure(&rows[row]);
	printf("GB per second of processor time of both ends, %s, fill %s: median of %d rounds (smallest to largest),\n"
	       "ratio to write()\n",
	       chosen.two_cores ? "two cores" : "one core", chosen.full ? "full" : "touch", chosen.rounds);
	for (int row = 0; row < ROWS; row++) {
		double sorted[MOST_ROUNDS];

		if (rows[row].splice != rows[base].splice)
			base = row;
		for (int round = 0; round < chosen.rounds; round++) {
			ratios[round] = rates[row][round] / rates[base][round];
			sorted[round] = rates[row][round];
		}
		double middle = median(sorted, chosen.rounds);
		printf("%-38s %6.2f (%.2f to %.2f)  %.3f\n", rows[row].name, middle * 1e-9, sorted[0] * 1e-9,
		       sorted[chosen.rounds - 1] * 1e-9, median(ratios, chosen.rounds));
	}
	return 0;
}
