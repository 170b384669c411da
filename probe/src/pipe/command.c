/* `stend-probe pipe`: bytes from process to process. */
#include "commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/cores.h"
#include "base/fail.h"
#include "base/options.h"
#include "pipe/readers.h"
#include "pipe/transfer.h"
#include "pipe/writers.h"
#include "wire/wire.h"

/* Sent, read and checked in full before the measurement, where that itself does not check all. */
#define REHEARSAL_BYTES ((uint64_t)16 << 20)
#define USUAL_CAPACITY ((uint64_t)65536)
/* What tee-constant and vmsplice-gift send whole ones of, on most processors. */
#define USUAL_PAGE 4096

static struct {
	const char *transport, *writer, *reader, *pipe_size, *cores, *huge_pages, *fill, *verify;
	uint64_t chunk, seconds, repeats;
} chosen;

static const struct option_definition options[] = {
	{ "transport", OPTION_CHOICE, "pipe|fifo|unix-stream|unix-seqpacket|tcp|shared-memory", "pipe", "transport between the two processes", &chosen.transport, 0, 0 },
	{ "writer", OPTION_CHOICE,
	  "write|writev|vmsplice-fresh|vmsplice-ring|vmsplice-gift|vmsplice-constant|tee-constant|splice-file|io-uring|send-zerocopy",
	  "write", "method of writing", &chosen.writer, 0, 0 },
	{ "reader", OPTION_CHOICE, "read|readv|splice-null|splice-pipe|tee|splice-file|read-enlarged", "read",
	  "method of reading", &chosen.reader, 0, 0 },
	{ "chunk", OPTION_SIZE, "SIZE", "64KiB", "bytes per call at both ends, a multiple of 8", &chosen.chunk, 8, (uint64_t)1 << 30 },
	{ "pipe-size", OPTION_TEXT, "SIZE|max|auto", "auto", "capacity of pipe or shared memory; max: an ordinary user's limit; auto: 64KiB",
	  &chosen.pipe_size, 0, 0 },
	{ "seconds", OPTION_DURATION, "TIME", "0.2", "send for this long", &chosen.seconds, 1, UINT64_C(3600000000000) },
	{ "cores", OPTION_CHOICE, "same|different|any", "any", "pin both ends to one core, to two, or not at all", &chosen.cores, 0, 0 },
	{ "huge-pages", OPTION_CHOICE, "yes|no", "no", "request huge pages for the data", &chosen.huge_pages, 0, 0 },
	{ "fill", OPTION_CHOICE, "auto|none|touch|full|flat|fizz-buzz", "auto", "contents of each chunk", &chosen.fill, 0, 0 },
	{ "verify", OPTION_CHOICE, "all|sample", "sample", "the reader checks every byte, or one word per 4096 bytes (fizz-buzz: 4096 bytes per MiB)", &chosen.verify, 0, 0 },
	{ "repeats", OPTION_INTEGER, "N", "1", "number of repeats", &chosen.repeats, 1, 1000000 },
};

static const char *const fills[] = { "none", "touch", "full", "flat", "fizz-buzz" };

static bool is(const char *value, const char *word)
{
	return strcmp(value, word) == 0;
}

/* The names are those of the options' choices, so there is one. */
static const struct transport *find_transport(void)
{
	unsigned i = 0;

	while (!is(transports[i].name, chosen.transport))
		i++;
	return &transports[i];
}

static const struct writer_kind *find_writer(void)
{
	unsigned i = 0;

	while (!is(writer_kinds[i]->name, chosen.writer))
		i++;
	return writer_kinds[i];
}

static const struct reader_kind *find_reader(void)
{
	unsigned i = 0;

	while (!is(reader_kinds[i]->name, chosen.reader))
		i++;
	return reader_kinds[i];
}

/* Appends "name" or ", name". */
static void list(char *to, size_t bytes, const char *name)
{
	size_t length = strlen(to);

	snprintf(to + length, bytes - length, "%s%s", length > 0 ? ", " : "", name);
}

static void check_pair(const struct transport *transport, const struct writer_kind *writer, const struct reader_kind *reader)
{
	char fitting[256] = "";

	if ((writer->transports & transport->bit) == 0) {
		for (unsigned i = 0; i < writer_kind_count; i++)
			if ((writer_kinds[i]->transports & transport->bit) != 0)
				list(fitting, sizeof fitting, writer_kinds[i]->name);
		fail(EXIT_USAGE, "--writer %s: not with --transport %s, which takes %s", writer->name, transport->name, fitting);
	}
	if ((reader->transports & transport->bit) == 0) {
		for (unsigned i = 0; i < reader_kind_count; i++)
			if ((reader_kinds[i]->transports & transport->bit) != 0)
				list(fitting, sizeof fitting, reader_kinds[i]->name);
		fail(EXIT_USAGE, "--reader %s: not with --transport %s, which takes %s", reader->name, transport->name, fitting);
	}
}

static void check(void)
{
	const struct transport *transport = find_transport();
	const struct writer_kind *writer = find_writer();
	const struct reader_kind *reader = find_reader();
	uint64_t bytes;

	check_pair(transport, writer, reader);
	if (chosen.chunk % 8 != 0)
		fail(EXIT_USAGE, "--chunk %" PRIu64 ": must be a multiple of 8", chosen.chunk);
	if (writer->whole_pages && chosen.chunk % USUAL_PAGE != 0)
		fail(EXIT_USAGE, "--chunk %" PRIu64 ": --writer %s sends whole pages; use a multiple of %d", chosen.chunk, writer->name,
		     USUAL_PAGE);
	if (!is(chosen.pipe_size, "max") && !is(chosen.pipe_size, "auto") &&
	    (!parse_size(chosen.pipe_size, &bytes) || bytes == 0 || bytes > (uint64_t)1 << 30))
		fail(EXIT_USAGE, "--pipe-size %s: must be a size from 1 to 1GiB, for example 64KiB, or max, or auto", chosen.pipe_size);
	if (!transport->has_capacity && !is(chosen.pipe_size, "auto"))
		fail(EXIT_USAGE, "--pipe-size %s: --transport %s has no such size; use auto", chosen.pipe_size, transport->name);
	if (writer->constant && !is(chosen.fill, "auto") && !is(chosen.fill, "none"))
		fail(EXIT_USAGE, "--fill %s: what --writer %s sends must never change; use none", chosen.fill, writer->name);
	if (writer->new_memory && is(chosen.fill, "none"))
		fail(EXIT_USAGE, "--fill none: --writer %s sends new memory, which must be filled; use touch, full, flat or fizz-buzz", writer->name);
	if (is(chosen.verify, "all") && reader->blind)
		fail(EXIT_USAGE, "--verify all: what goes to /dev/null cannot be checked; use --reader read, or --verify sample");
}

static const struct command command = {
	"pipe", "Move bytes from one process to another.",
	"Writers: write, writev (one segment per 4096 bytes) and io-uring (one request at a time) copy. vmsplice-fresh moves\n"
	"memory that is used once, and is correct with any reader; vmsplice-gift does so with SPLICE_F_GIFT. vmsplice-ring\n"
	"reuses memory that has left the pipe: correct with a reader that reads, wrong with one that keeps pages (splice-pipe,\n"
	"tee). vmsplice-constant sends one buffer that never changes; tee-constant, references to one that a second pipe holds;\n"
	"splice-file, a file in memory that holds one chunk. send-zerocopy is send() with MSG_ZEROCOPY.\n"
	"Readers: read, readv; splice-null discards; splice-pipe and tee keep pages in a second pipe before reading them, as pv\n"
	"does; splice-file splices into a file in memory, which is checked through a mapping; read-enlarged enlarges the pipe\n"
	"to its maximum when the first bytes arrive, and reads.\n"
	"Pipes and FIFOs support all but send-zerocopy; sockets: write, writev, io-uring (tcp: send-zerocopy) with read, readv;\n"
	"shared-memory: write with read, which copy into a ring and out of it.\n"
	"Fill: none, all chunks are identical; touch, a counter per 4096 bytes; full, every word depends on its position in the\n"
	"stream; flat, all bytes of a chunk are identical, by memset; fizz-buzz, the stream of stend-probe fizzbuzz. auto is none\n"
	"for writers of constant data; else full with --verify all; else touch for vmsplice-…, and none for the others.\n"
	"The reader's check is part of its work and of cpu_ns. Unless it checks all, 16 MiB are sent, read and checked in full\n"
	"before the measurement (by read instead of splice-null). Work: bytes; operations: chunks. cpu_ns: both ends together.",
	options, sizeof options / sizeof *options, NULL, check,
};

static uint64_t choose_capacity(const struct transport *transport)
{
	uint64_t bytes = 0;

	if (is(chosen.pipe_size, "auto"))
		return transport->has_capacity ? USUAL_CAPACITY : 0;
	if (!is(chosen.pipe_size, "max"))
		parse_size(chosen.pipe_size, &bytes);
	else if ((bytes = pipe_capacity_limit()) == 0)
		fail(EXIT_UNSUPPORTED, "--pipe-size max: cannot read /proc/sys/fs/pipe-max-size");
	return bytes;
}

static enum pipe_fill choose_fill(const struct pipe_job *job)
{
	for (unsigned i = 0; i < sizeof fills / sizeof *fills; i++)
		if (is(chosen.fill, fills[i]))
			return (enum pipe_fill)i;
	return job->check_all && !job->writer->constant ? FILL_FULL : job->writer->fill;
}

static void make_job(struct pipe_job *job)
{
	*job = (struct pipe_job){
		.writer = find_writer(), .reader = find_reader(), .chunk = (size_t)chosen.chunk,
		.huge_pages = is(chosen.huge_pages, "yes"),
		.check_all = is(chosen.verify, "all"),
		.duration_ns = chosen.seconds, .bytes_most = UINT64_MAX,
	};
	buffer_check(1, chosen.chunk);
	/* tee-constant sends the same page again and again. */
	bool pages = job->writer->constant && job->writer->whole_pages && job->chunk > page_bytes();
	pipe_pattern_make(&job->pattern, choose_fill(job), pages ? page_bytes() : job->chunk);
}

/* The same bytes by the same way, each of them checked; what cannot be seen is read instead. */
static struct pipe_job rehearsal_of(const struct pipe_job *job, uint64_t bytes_most)
{
	struct pipe_job rehearsal = *job;

	rehearsal.check_all = true;
	rehearsal.bytes_most = bytes_most;
	if (job->reader->blind)
		rehearsal.reader = &reader_read;
	return rehearsal;
}

static void missing(struct json *json, const char *what, const char *why)
{
	static const char *const ends[] = { "", "writer_", "reader_" };
	char name[64];

	for (unsigned i = 0; why != NULL && i < 3; i++) {
		snprintf(name, sizeof name, "%s%s", ends[i], what);
		json_text(json, name, why);
	}
}

static void print_begin(struct json *json, const struct pipe_job *job, const struct pipe_transfer *transfer,
                        uint64_t capacity)
{
	const char *no_timeslices = usage_timeslices_missing(), *no_wakeups = usage_wakeups_missing();

	wire_open_begin(json, "pipe");
	json_text(json, "transport", chosen.transport);
	json_text(json, "writer", chosen.writer);
	json_text(json, "reader", chosen.reader);
	json_unsigned(json, "chunk", chosen.chunk);
	if (capacity > 0)
		json_unsigned(json, "pipe_size", capacity);
	json_real(json, "seconds", (double)chosen.seconds / 1e9);
	json_text(json, "cores", chosen.cores);
	if (transfer->writer_core >= 0) {
		json_signed(json, "writer_core", transfer->writer_core);
		json_signed(json, "reader_core", transfer->reader_core);
	}
	json_boolean(json, "huge_pages", job->huge_pages);
	json_text(json, "fill", fills[job->pattern.fill]);
	json_text(json, "verify", chosen.verify);
	if (no_timeslices != NULL || no_wakeups != NULL) {
		json_close_object(json);
		json_open_object(json, "missing");
		missing(json, "timeslices", no_timeslices);
		missing(json, "wakeups", no_wakeups);
	}
	wire_close_begin(json);
}

static void observe_ends(struct repeat *repeat, const struct pipe_transfer_result *result)
{
	const struct pipe_usage *writer = &result->writer.usage, *reader = &result->reader.usage;

	repeat_observe(repeat, "writer_cpu_ns", (double)writer->cpu_ns);
	repeat_observe(repeat, "reader_cpu_ns", (double)reader->cpu_ns);
	repeat_observe(repeat, "switches_voluntary", (double)(writer->switches_voluntary + reader->switches_voluntary));
	repeat_observe(repeat, "writer_switches_voluntary", (double)writer->switches_voluntary);
	repeat_observe(repeat, "reader_switches_voluntary", (double)reader->switches_voluntary);
	repeat_observe(repeat, "switches_involuntary", (double)(writer->switches_involuntary + reader->switches_involuntary));
	repeat_observe(repeat, "writer_switches_involuntary", (double)writer->switches_involuntary);
	repeat_observe(repeat, "reader_switches_involuntary", (double)reader->switches_involuntary);
	if (usage_timeslices_missing() == NULL) {
		repeat_observe(repeat, "timeslices", (double)(writer->timeslices + reader->timeslices));
		repeat_observe(repeat, "writer_timeslices", (double)writer->timeslices);
		repeat_observe(repeat, "reader_timeslices", (double)reader->timeslices);
	}
	if (usage_wakeups_missing() == NULL) {
		repeat_observe(repeat, "wakeups", (double)(writer->wakeups + reader->wakeups));
		repeat_observe(repeat, "writer_wakeups", (double)writer->wakeups);
		repeat_observe(repeat, "reader_wakeups", (double)reader->wakeups);
	}
	if (result->writer.completed > 0) {
		repeat_observe(repeat, "zerocopy_sends", (double)result->writer.completed);
		repeat_observe(repeat, "zerocopy_sends_copied", (double)result->writer.copied);
	}
}

/* Whether the stream is right; notes what is wrong with it. */
static bool is_right(const struct pipe_transfer_result *result, const char *when, struct repeat *repeat)
{
	const struct pipe_check *seen = &result->reader.check;

	if (seen->wrong > 0)
		repeat_check(repeat, "corrupt", (struct check_field[]){
			{ .name = "wrong", .number = seen->wrong }, { .name = "words", .number = seen->words },
			{ .name = "when", .text = when }, { .name = NULL } });
	else if (result->reader.bytes != result->writer.bytes)
		repeat_check(repeat, "unequal", (struct check_field[]){
			{ .name = "sent", .number = result->writer.bytes }, { .name = "arrived", .number = result->reader.bytes },
			{ .name = "when", .text = when }, { .name = NULL } });
	return seen->wrong == 0 && result->reader.bytes == result->writer.bytes;
}

static void measure(struct pipe_transfer *transfer, const struct pipe_job *job, struct repeat *repeat)
{
	struct pipe_job rehearsal = rehearsal_of(job, REHEARSAL_BYTES);
	struct pipe_transfer_result before = { 0 }, result;

	if (!job->check_all)
		pipe_transfer_run(transfer, &rehearsal, &before);
	pipe_transfer_run(transfer, job, &result);
	repeat->t_ns = result.t_ns;
	repeat->wall_ns = result.wall_ns;
	repeat->cpu_ns = result.writer.usage.cpu_ns + result.reader.usage.cpu_ns;
	repeat->bytes = result.reader.bytes;
	repeat->operations = result.writer.chunks;
	observe_ends(repeat, &result);

	repeat->passed = is_right(&result, "measured", repeat);
	repeat->passed = is_right(&before, "before", repeat) && repeat->passed;
	if (!repeat->passed)
		return;
	if (job->check_all) {
		repeat_check(repeat, "every_byte", (struct check_field[]){ { .name = "bytes", .number = repeat->bytes }, { .name = NULL } });
		return;
	}
	repeat_check(repeat, "count", (struct check_field[]){
		{ .name = "bytes", .number = repeat->bytes },
		{ .name = "and", .text = job->reader->blind ? "nothing" : job->pattern.fill == FILL_FIZZBUZZ ? "blocks" : "words" },
		{ .name = NULL } });
	repeat_check(repeat, "full_before", (struct check_field[]){ { .name = "bytes", .number = before.reader.bytes }, { .name = NULL } });
}

int command_pipe(int argc, char **argv)
{
	struct pipe_transfer transfer = { 0 };
	struct pipe_transfer_result trial;
	struct pipe_job job, one_chunk;
	struct json json = { 0 };
	int cores[2];

	options_parse(&command, argc, argv);
	transfer.transport = find_transport();
	transfer.capacity = choose_capacity(transfer.transport);
	cores_choose(chosen.cores, cores);
	transfer.writer_core = cores[0];
	transfer.reader_core = cores[1];
	make_job(&job);
	pipe_transfer_make(&transfer);
	/* What this system refuses shows before the first event, and the capacity that it gives. */
	one_chunk = job;
	one_chunk.bytes_most = 1;
	pipe_transfer_run(&transfer, &one_chunk, &trial);
	print_begin(&json, &job, &transfer, trial.capacity);
	for (uint64_t n = 0; n < chosen.repeats; n++) {
		struct repeat repeat = { .n = n };

		measure(&transfer, &job, &repeat);
		wire_repeat(&json, &repeat);
	}
	wire_end(&json, chosen.repeats);
	pipe_pattern_free(&job.pattern);
	pipe_transfer_free(&transfer);
	json_free(&json);
	return EXIT_FINE;
}
