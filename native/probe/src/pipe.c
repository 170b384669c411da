/* `stend-probe pipe`: bytes from process to process. */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buffer.h"
#include "clock.h"
#include "fail.h"
#include "options.h"
#include "pipe_ends.h"
#include "wire.h"

/* Read and checked in full before the measurement, where that itself does not check all. */
#define REHEARSAL_BYTES ((uint64_t)16 << 20)
#define CORES_MAX 4096

static struct {
	const char *writer, *reader, *pipe_size, *cores, *huge_pages, *fill, *verify;
	uint64_t chunk, seconds, repeats;
} chosen;

static const struct option_definition options[] = {
	{ "writer", OPTION_CHOICE, "write|vmsplice-fresh|vmsplice-constant", "write", "how bytes get in", &chosen.writer, 0, 0 },
	{ "reader", OPTION_CHOICE, "read|splice-null", "read", "how bytes get out", &chosen.reader, 0, 0 },
	{ "chunk", OPTION_SIZE, "SIZE", "64KiB", "bytes of a call at both ends, a multiple of 8", &chosen.chunk, 8, (uint64_t)1 << 30 },
	{ "pipe-size", OPTION_TEXT, "SIZE|max", "64KiB", "capacity of the pipe; max: the limit of an ordinary user", &chosen.pipe_size, 0, 0 },
	{ "seconds", OPTION_DURATION, "TIME", "0.2", "send for so long", &chosen.seconds, 1, UINT64_C(3600000000000) },
	{ "cores", OPTION_CHOICE, "same|different|any", "any", "pin both ends to one core, to two, or not at all", &chosen.cores, 0, 0 },
	{ "huge-pages", OPTION_CHOICE, "yes|no", "no", "ask for huge pages for what is sent", &chosen.huge_pages, 0, 0 },
	{ "fill", OPTION_CHOICE, "auto|none|touch|full", "auto", "what the writer writes into each chunk before it is sent", &chosen.fill, 0, 0 },
	{ "verify", OPTION_CHOICE, "full|sampled", "sampled", "what the reader checks: every byte, or a word of each 4096 bytes", &chosen.verify, 0, 0 },
	{ "repeats", OPTION_INTEGER, "N", "1", "measure so many times", &chosen.repeats, 1, 1000000 },
};

static bool is(const char *value, const char *word)
{
	return strcmp(value, word) == 0;
}

static void check(void)
{
	uint64_t bytes;

	if (chosen.chunk % 8 != 0)
		fail(EXIT_USAGE, "--chunk %" PRIu64 ": must be a multiple of 8", chosen.chunk);
	if (!is(chosen.pipe_size, "max") &&
	    (!parse_size(chosen.pipe_size, &bytes) || bytes == 0 || bytes > (uint64_t)1 << 30))
		fail(EXIT_USAGE, "--pipe-size %s: must be a size from 1 to 1GiB, for example 64KiB, or max", chosen.pipe_size);
	if (is(chosen.writer, "vmsplice-constant") && !is(chosen.fill, "auto") && !is(chosen.fill, "none"))
		fail(EXIT_USAGE, "--fill %s: the buffer of vmsplice-constant must never change; use none", chosen.fill);
	if (is(chosen.writer, "vmsplice-fresh") && is(chosen.fill, "none"))
		fail(EXIT_USAGE, "--fill none: fresh memory must be filled; use touch or full");
	if (is(chosen.verify, "full") && is(chosen.reader, "splice-null"))
		fail(EXIT_USAGE, "--verify full: what goes to /dev/null cannot be checked; use --reader read, or --verify sampled");
}

static const struct command command = {
	"pipe", "Move bytes through a pipe between two processes.",
	"Writers: write copies; vmsplice-fresh moves memory that is used once (safe with any reader); vmsplice-constant sends\n"
	"one buffer that never changes. Fill: none, every chunk is the same; touch, a counter in each 4096 bytes; full, every\n"
	"word depends on its place in the stream. auto is touch for vmsplice-fresh and none for the others.\n"
	"The reader's check is part of its work and of cpu_ns. Unless the check is full, 16 MiB are sent, read and checked in\n"
	"full before the measurement. Work: bytes; operations: chunks. cpu_ns is the sum of both ends.",
	options, sizeof options / sizeof *options, NULL, check,
};

struct plan {
	enum pipe_writer_kind writer;
	enum pipe_reader_kind reader;
	struct pipe_pattern pattern;
	uint64_t pipe_bytes; /* 0: as it comes */
	uint64_t pipe_got;
	int writer_core, reader_core; /* -1: any */
	bool huge_pages, check_all;
	struct pipe_end_result *shared; /* filled by the writer's process */
};

static void pin(int core)
{
#ifdef __linux__
	static cpu_set_t set[CORES_MAX / CPU_SETSIZE];

	if (core < 0)
		return;
	CPU_ZERO_S(sizeof set, set);
	CPU_SET_S((size_t)core, sizeof set, set);
	if (sched_setaffinity(0, sizeof set, set) != 0)
		fail(EXIT_BROKEN, "cannot stay on core %d: %s", core, strerror(errno));
#else
	(void)core;
#endif
}

static void choose_cores(struct plan *plan)
{
	plan->writer_core = plan->reader_core = -1;
	if (is(chosen.cores, "any"))
		return;
#ifdef __linux__
	static cpu_set_t set[CORES_MAX / CPU_SETSIZE];
	int found[2] = { -1, -1 };

	if (sched_getaffinity(0, sizeof set, set) != 0)
		fail(EXIT_BROKEN, "cannot tell the allowed cores: %s", strerror(errno));
	for (int core = 0, n = 0; core < CORES_MAX && n < 2; core++)
		if (CPU_ISSET_S((size_t)core, sizeof set, set))
			found[n++] = core;
	plan->writer_core = found[0];
	plan->reader_core = is(chosen.cores, "same") ? found[0] : found[1];
	if (plan->reader_core < 0)
		fail(EXIT_UNSUPPORTED, "--cores different: only one core is allowed here");
#else
	fail(EXIT_UNSUPPORTED, "--cores %s: this system cannot pin processes to cores", chosen.cores);
#endif
}

static uint64_t pipe_limit(void)
{
	char digits[32] = { 0 };
	int file = open("/proc/sys/fs/pipe-max-size", O_RDONLY | O_CLOEXEC);
	ssize_t count = file < 0 ? -1 : read(file, digits, sizeof digits - 1);

	if (file >= 0)
		close(file);
	return count <= 0 ? 0 : strtoull(digits, NULL, 10);
}

static void choose_pipe_size(struct plan *plan)
{
	if (!is(chosen.pipe_size, "max"))
		parse_size(chosen.pipe_size, &plan->pipe_bytes);
	else if ((plan->pipe_bytes = pipe_limit()) == 0)
		fail(EXIT_UNSUPPORTED, "--pipe-size max: cannot read /proc/sys/fs/pipe-max-size");
}

static void open_pipe(struct plan *plan, int ends[2])
{
	if (pipe(ends) != 0)
		fail(EXIT_BROKEN, "cannot make a pipe: %s", strerror(errno));
#ifdef F_SETPIPE_SZ
	int got = fcntl(ends[1], F_SETPIPE_SZ, (int)plan->pipe_bytes);
	if (got < 0 && errno == EPERM)
		fail(EXIT_UNSUPPORTED, "--pipe-size %s: above the limit of an ordinary user, %" PRIu64 " bytes (fs.pipe-max-size)",
		     chosen.pipe_size, pipe_limit());
	if (got < 0)
		fail(EXIT_UNSUPPORTED, "--pipe-size %s: the system refuses: %s", chosen.pipe_size, strerror(errno));
	plan->pipe_got = (uint64_t)fcntl(ends[1], F_GETPIPE_SZ);
#else
	plan->pipe_got = 0;
#endif
}

struct starter {
	int descriptor;
	uint64_t t_ns;
};

static void release(void *argument)
{
	struct starter *starter = argument;

	starter->t_ns = monotonic_ns();
	if (write(starter->descriptor, "", 1) != 1)
		fail(EXIT_BROKEN, "the writer is gone");
}

/* One transfer. The writer is a child; the reader is this process. */
static void transfer(struct plan *plan, enum pipe_reader_kind reader, bool check_all, uint64_t bytes_most,
                     struct repeat *repeat)
{
	struct pipe_end_result in = { 0 };
	struct starter starter = { 0 };
	int ends[2], go[2], status;

	memset(plan->shared, 0, sizeof *plan->shared);
	open_pipe(plan, ends);
	if (pipe(go) != 0)
		fail(EXIT_BROKEN, "cannot make a pipe: %s", strerror(errno));
	pid_t child = fork();
	if (child < 0)
		fail(EXIT_BROKEN, "cannot start a process: %s", strerror(errno));
	if (child == 0) {
		close(ends[0]);
		close(go[1]);
		pin(plan->writer_core);
		pipe_write_end(ends[1], go[0], plan->writer, &plan->pattern, plan->huge_pages, chosen.seconds, bytes_most,
		               plan->shared);
		_exit(EXIT_FINE);
	}
	close(ends[1]);
	close(go[0]);
	starter.descriptor = go[1];
	pin(plan->reader_core);
	pipe_read_end(ends[0], reader, &plan->pattern, check_all, release, &starter, &in);
	repeat->t_ns = starter.t_ns;
	repeat->wall_ns = monotonic_ns() - starter.t_ns;
	close(ends[0]);
	close(go[1]);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			fail(EXIT_BROKEN, "cannot wait for the writer: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) != EXIT_FINE)
		exit(WEXITSTATUS(status)); /* it has said why */
	if (WIFSIGNALED(status))
		fail(EXIT_BROKEN, "the writer was ended by signal %d", WTERMSIG(status));
	repeat->bytes = in.bytes;
	repeat->operations = plan->shared->chunks;
	repeat->cpu_ns = in.cpu_ns + plan->shared->cpu_ns;
	repeat->passed = in.right && in.bytes == plan->shared->bytes;
	repeat_observe(repeat, "writer_cpu_ns", (double)plan->shared->cpu_ns);
	repeat_observe(repeat, "reader_cpu_ns", (double)in.cpu_ns);
	repeat_observe(repeat, "writer_switches_voluntary", (double)plan->shared->switches_voluntary);
	repeat_observe(repeat, "writer_switches_involuntary", (double)plan->shared->switches_involuntary);
	repeat_observe(repeat, "reader_switches_voluntary", (double)in.switches_voluntary);
	repeat_observe(repeat, "reader_switches_involuntary", (double)in.switches_involuntary);
}

static void make_plan(struct plan *plan)
{
	static const char *const fills[] = { "none", "touch", "full" };
	enum pipe_fill fill = FILL_NONE;

	if (is(chosen.writer, "vmsplice-fresh"))
		plan->writer = WRITER_VMSPLICE_FRESH, fill = FILL_TOUCH;
	else if (is(chosen.writer, "vmsplice-constant"))
		plan->writer = WRITER_VMSPLICE_CONSTANT;
	if (is(chosen.reader, "splice-null"))
		plan->reader = READER_SPLICE_NULL;
#ifndef __linux__
	if (plan->writer != WRITER_WRITE || plan->reader != READER_READ)
		fail(EXIT_UNSUPPORTED, "--writer %s --reader %s: only Linux has vmsplice and splice", chosen.writer,
		     chosen.reader);
#endif
	for (unsigned i = 0; i < 3; i++)
		if (is(chosen.fill, fills[i]))
			fill = (enum pipe_fill)i;
	plan->huge_pages = is(chosen.huge_pages, "yes");
	plan->check_all = is(chosen.verify, "full");
	buffer_check(1, chosen.chunk);
	choose_cores(plan);
	choose_pipe_size(plan);
	pipe_pattern_make(&plan->pattern, fill, (size_t)chosen.chunk);
	plan->shared = mmap(NULL, sizeof *plan->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (plan->shared == MAP_FAILED)
		fail(EXIT_BROKEN, "no shared memory: %s", strerror(errno));
}

static void print_begin(struct json *json, const struct plan *plan)
{
	static const char *const fills[] = { "none", "touch", "full" };

	wire_open_begin(json, "pipe");
	json_text(json, "writer", chosen.writer);
	json_text(json, "reader", chosen.reader);
	json_unsigned(json, "chunk", chosen.chunk);
	if (plan->pipe_got > 0)
		json_unsigned(json, "pipe_size", plan->pipe_got);
	json_real(json, "seconds", (double)chosen.seconds / 1e9);
	json_text(json, "cores", chosen.cores);
	if (plan->writer_core >= 0) {
		json_signed(json, "writer_core", plan->writer_core);
		json_signed(json, "reader_core", plan->reader_core);
	}
	json_boolean(json, "huge_pages", plan->huge_pages);
	json_text(json, "fill", fills[plan->pattern.fill]);
	json_text(json, "verify", chosen.verify);
	wire_close_begin(json);
}

int command_pipe(int argc, char **argv)
{
	struct plan plan = { 0 };
	struct json json = { 0 };
	int ends[2];

	options_parse(&command, argc, argv);
	make_plan(&plan);
	/* For the size that the system really gives. */
	open_pipe(&plan, ends);
	close(ends[0]);
	close(ends[1]);
	print_begin(&json, &plan);
	for (uint64_t n = 0; n < chosen.repeats; n++) {
		struct repeat rehearsal = { .passed = true }, repeat = { .n = n };

		if (!plan.check_all)
			transfer(&plan, READER_READ, true, REHEARSAL_BYTES, &rehearsal);
		transfer(&plan, plan.reader, plan.check_all, UINT64_MAX, &repeat);
		repeat.passed &= rehearsal.passed;
		if (plan.check_all)
			snprintf(repeat.evidence, sizeof repeat.evidence, "every one of %" PRIu64 " bytes", repeat.bytes);
		else
			snprintf(repeat.evidence, sizeof repeat.evidence, "count of %" PRIu64 " bytes%s; %" PRIu64 " bytes in full before",
			         repeat.bytes, plan.reader == READER_READ ? ", a word of each 4096" : "", rehearsal.bytes);
		wire_repeat(&json, &repeat);
	}
	wire_end(&json, chosen.repeats);
	pipe_pattern_free(&plan.pattern);
	munmap(plan.shared, sizeof *plan.shared);
	json_free(&json);
	return EXIT_FINE;
}
