/* Where a filter for system calls, or the kernel, refuses vmsplice() or tee(): all is copied, and nothing is lost. */
#include "pipe_writer.h"
#include "harness.h"
#include "reader.h"

#ifdef __linux__
#include <fcntl.h>
#include <signal.h>

#include "filter.h"

enum { NO_FILTERS = 77 };

static const int reasons[] = { ENOSYS, EPERM, EACCES, EINVAL };

/* Runs `what` in a process of its own, as a filter stays as long as the process. */
static void alone(int (*what)(int reason), int reason, const char *name)
{
	static bool said;
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		_exit(what(reason));
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_FILTERS) {
		if (!said && !skip_emulated("pipe: calls that the system refuses", "qemu-user has no filters for system calls"))
			fprintf(stderr, "left out: there are no filters for system calls here\n");
		said = true;
	} else {
		CHECK(status == 0, "%s, %s: status %d", name, strerror(reason), status);
	}
}

/* Refused from the start: that is seen when the writer is opened. */
static int from_the_start(int reason)
{
	const struct pipe_writer_options kinds[] = { { 0 }, { .policy = PIPE_WRITER_RING }, { .small_pages = true } };
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;

	if (!refuse_call(SYS_vmsplice, reason))
		return NO_FILTERS;
	for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
		struct pipe_writer_options options = kinds[n];
		struct reader *start, reader;
		uint64_t sent = 0;
		int ends[2];

		if (pipe(ends) != 0)
			return 1;
		options.strict = true;
		if (pipe_writer_open(&writer, ends[1], &options) != ENOTSUP)
			return 2;
		if (pipe_writer_open(&writer, ends[1], &kinds[n]) != 0 || pipe_writer_policy(writer) != PIPE_WRITER_WRITE)
			return 3;
		start = reader_start(ends);
		for (; sent < 20000000; sent += 200000) {
			if (pipe_writer_reserve(writer, 200000, &slab) != 0)
				return 4;
			stream_fill(slab.data, 200000, sent);
			if (pipe_writer_commit(writer, &slab, 200000) != 0)
				return 5;
		}
		if (pipe_writer_statistics(writer).bytes_written != sent || pipe_writer_close(&writer) != 0)
			return 6;
		close(ends[1]);
		reader = reader_finish(start);
		if (reader.got != sent || reader.wrong != 0)
			return 7;
	}
	return 0;
}

/* Too little memory for the call itself, as if it were always so: what cannot be moved is copied, and the policy stays, as
 * the next call may have enough. */
static int short_of_memory(enum pipe_writer_policy policy, int reason)
{
	enum { PIECE = 200000 };
	struct pipe_writer_options options = { .policy = policy, .strict = true }, lenient = { .policy = policy };
	struct pipe_writer *strict, *writer;
	struct pipe_writer_slab slab;
	struct reader *start, reader;
	uint64_t sent = 0;
	int ends[2];

	if (pipe(ends) != 0 || pipe_writer_open(&strict, ends[1], &options) != 0 ||
	    pipe_writer_open(&writer, ends[1], &lenient) != 0)
		return 1;
	/* Both have their memory already. */
	if (pipe_writer_reserve(strict, PIECE, &slab) != 0 || pipe_writer_reserve(writer, PIECE, &slab) != 0)
		return 2;
	if (pipe_writer_policy(writer) != policy)
		return 0; /* no huge pages: there is nothing to refuse */
	if (!refuse_call(SYS_vmsplice, reason))
		return NO_FILTERS;
	start = reader_start(ends);
	for (; sent < 100 * PIECE; sent += PIECE) {
		if (pipe_writer_reserve(writer, PIECE, &slab) != 0)
			return 3;
		memset(slab.data, 0xEE, slab.bytes);
		stream_fill(slab.data, PIECE, sent);
		if (pipe_writer_commit(writer, &slab, PIECE) != 0 || pipe_writer_policy(writer) != policy)
			return 4;
	}
	if (pipe_writer_statistics(writer).bytes_written != sent || pipe_writer_close(&writer) != 0)
		return 5;
	if (pipe_writer_reserve(strict, PIECE, &slab) != 0 || pipe_writer_commit(strict, &slab, PIECE) != reason ||
	    pipe_writer_close(&strict) != reason)
		return 6;
	close(ends[1]);
	reader = reader_finish(start);
	return reader.got == sent && reader.wrong == 0 ? 0 : 7;
}

static int fresh_short_of_memory(int reason)
{
	return short_of_memory(PIPE_WRITER_FRESH, reason);
}

static int ring_short_of_memory(int reason)
{
	return short_of_memory(PIPE_WRITER_RING, reason);
}

/* A filter may end the process at once. Who copies anyway never makes the call. */
static int deadly(int reason)
{
	struct pipe_writer_options copy = { .policy = PIPE_WRITER_WRITE };
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	int ends[2], targets[2];

	(void)reason;
	if (pipe(ends) != 0 || !answer_call(SYS_vmsplice, SECCOMP_RET_KILL_PROCESS))
		return NO_FILTERS;
	targets[0] = open("/dev/null", O_WRONLY);
	targets[1] = ends[1];
	for (int n = 0; n < 2; n++) {
		if (pipe_writer_open(&writer, targets[n], n == 0 ? NULL : &copy) != 0 ||
		    pipe_writer_reserve(writer, 50000, &slab) != 0)
			return 1;
		memset(slab.data, 1, 50000);
		if (pipe_writer_commit(writer, &slab, 50000) != 0 || pipe_writer_close(&writer) != 0)
			return 2;
	}
	return 0;
}

/* A filter that comes while a commit waits for room: half of it was spliced, the rest is written. */
static int in_the_middle(enum pipe_writer_policy policy, int reason)
{
	enum { PIECE = 400000 };
	struct pipe_writer_options options = { .policy = policy, .no_wait = true, .pipe_bytes = 1 };
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	struct pipe_writer_statistics statistics;
	struct reader *start, reader;
	uint64_t sent = PIECE, spliced;
	int ends[2], result;

	if (pipe(ends) != 0)
		return 1;
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	if (pipe_writer_open(&writer, ends[1], &options) != 0 || pipe_writer_reserve(writer, PIECE, &slab) != 0)
		return 2;
	if (pipe_writer_policy(writer) != policy)
		return 0; /* no huge pages: there is nothing to refuse */
	stream_fill(slab.data, PIECE, 0);
	if (pipe_writer_commit(writer, &slab, PIECE) != EAGAIN)
		return 3;
	spliced = pipe_writer_statistics(writer).bytes_spliced;
	if (spliced == 0 || spliced >= PIECE || !refuse_call(SYS_vmsplice, reason))
		return spliced == 0 || spliced >= PIECE ? 4 : NO_FILTERS;
	start = reader_start(ends);
	for (int n = 0; n < 100; n++) {
		while ((result = pipe_writer_flush(writer)) == EAGAIN)
			usleep(100);
		if (result != 0 || pipe_writer_policy(writer) != PIPE_WRITER_WRITE ||
		    pipe_writer_reserve(writer, PIECE, &slab) != 0)
			return 5;
		memset(slab.data, 0xEE, slab.bytes); /* the pipe may hold pages of what was sent before */
		stream_fill(slab.data, PIECE, sent);
		result = pipe_writer_commit(writer, &slab, PIECE);
		if (result != 0 && result != EAGAIN)
			return 6;
		sent += PIECE;
	}
	while ((result = pipe_writer_flush(writer)) == EAGAIN)
		usleep(100);
	statistics = pipe_writer_statistics(writer);
	if (result != 0 || statistics.bytes_spliced != spliced || statistics.bytes_written != sent - spliced)
		return 7;
	if (pipe_writer_close(&writer) != 0)
		return 8;
	close(ends[1]);
	reader = reader_finish(start);
	return reader.got == sent && reader.wrong == 0 ? 0 : 9;
}

static int fresh_in_the_middle(int reason)
{
	return in_the_middle(PIPE_WRITER_FRESH, reason);
}

static int ring_in_the_middle(int reason)
{
	return in_the_middle(PIPE_WRITER_RING, reason);
}

/* With `strict` it is an error, and stays one: what was committed is lost. */
static int strict_in_the_middle(int reason)
{
	struct pipe_writer_options options = { .strict = true };
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	int ends[2];

	if (pipe(ends) != 0 || pipe_writer_open(&writer, ends[1], &options) != 0)
		return 1;
	if (!refuse_call(SYS_vmsplice, reason))
		return NO_FILTERS;
	if (pipe_writer_reserve(writer, 5000, &slab) != 0)
		return 2;
	memset(slab.data, 1, 5000);
	if (pipe_writer_commit(writer, &slab, 5000) != ENOTSUP || slab.data != NULL)
		return 3;
	if (pipe_writer_reserve(writer, 1, &slab) != ENOTSUP || pipe_writer_write(writer, "x", 1, NULL) != ENOTSUP)
		return 4;
	return pipe_writer_close(&writer) == ENOTSUP ? 0 : 5;
}

/* Constants: teed at first, then written. With `strict` it is an error: `reason` itself where memory is short. */
static int constant_in_the_middle(int reason)
{
	enum { WORDS = 512, PIECE = 3000000 };
	struct pipe_writer_options strict = { .strict = true };
	struct pipe_writer *writer, *other;
	struct pipe_writer_constant *constant;
	struct pipe_writer_statistics statistics;
	uint64_t words[WORDS];
	int ends[2], status = -1;
	pid_t child;

	for (uint64_t i = 0; i < WORDS; i++)
		words[i] = i * STREAM_STEP;
	if (pipe(ends) != 0 || pipe_writer_constant_open(&constant, words, sizeof words) != 0)
		return 1;
	child = fork();
	if (child == 0) {
		static uint8_t got[100003];
		uint64_t offset = 0, wrong = 0;

		close(ends[1]);
		for (ssize_t count; (count = read(ends[0], got, sizeof got)) > 0; offset += (uint64_t)count)
			for (uint64_t i = 0; i < (uint64_t)count; i++)
				wrong += got[i] != ((const uint8_t *)words)[(offset + i) % sizeof words];
		_exit(offset == 2 * PIECE && wrong == 0 ? 0 : 1);
	}
	close(ends[0]);
	if (pipe_writer_open(&writer, ends[1], NULL) != 0 || pipe_writer_open(&other, ends[1], &strict) != 0)
		return 2;
	if (pipe_writer_repeat(writer, constant, 0, PIECE, NULL) != 0)
		return 3;
	if (!refuse_call(SYS_tee, reason)) {
		kill(child, SIGKILL);
		return NO_FILTERS;
	}
	statistics = pipe_writer_statistics(writer);
	if (statistics.bytes_teed < PIECE / 2 || pipe_writer_repeat(writer, constant, PIECE, PIECE, NULL) != 0)
		return 4;
	if (pipe_writer_statistics(writer).bytes_teed != statistics.bytes_teed || pipe_writer_close(&writer) != 0)
		return 5;
	int told = reason == ENOMEM ? ENOMEM : ENOTSUP;
	if (pipe_writer_repeat(other, constant, 0, PIECE, NULL) != told || pipe_writer_close(&other) != told)
		return 6;
	close(ends[1]);
	waitpid(child, &status, 0);
	pipe_writer_constant_close(&constant);
	return status == 0 ? 0 : 7;
}
#endif

int main(void)
{
#ifdef __linux__
	signal(SIGPIPE, SIG_IGN);
	alone(deadly, 0, "no pipe, or policy write");
	for (size_t n = 0; n < sizeof reasons / sizeof *reasons; n++) {
		alone(from_the_start, reasons[n], "from the start");
		alone(fresh_in_the_middle, reasons[n], "fresh, in the middle");
		alone(ring_in_the_middle, reasons[n], "ring, in the middle");
		alone(strict_in_the_middle, reasons[n], "strict, in the middle");
		alone(constant_in_the_middle, reasons[n], "constant, in the middle");
	}
	alone(fresh_short_of_memory, ENOMEM, "fresh");
	alone(ring_short_of_memory, ENOMEM, "ring");
	alone(constant_in_the_middle, ENOMEM, "constant");
#endif
	return harness_finish();
}
