/* Fizz Buzz to standard output, as fast as the pipe takes it, or from standard input, every byte of it checked. Together
 * they tell whether what lies between them, and how the pages got there, loses or changes bytes. */
#include "fizzbuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buffer.h"
#include "clock.h"
#include "commands.h"
#include "fail.h"
#include "options.h"
#include "pipe_writer.h"
#include "wire.h"

enum { READ_BYTES = 128 * 1024, PIECE = 4096 };

static struct {
	bool verify;
	uint64_t offset, bytes;
	const char *backend, *writer;
} chosen;

static const struct option_definition options[] = {
	{ "verify", OPTION_FLAG, NULL, NULL, "read standard input and check it, instead of writing", &chosen.verify, 0, 0 },
	{ "offset", OPTION_INTEGER, "BYTE", "0", "where in the stream to begin, or where the input begins", &chosen.offset, 0,
	  0 },
	{ "bytes", OPTION_SIZE, "SIZE", "0", "how much to write, or how much there must be to read; 0: all there is",
	  &chosen.bytes, 0, 0 },
	{ "writer", OPTION_CHOICE, "auto|write|fresh", "auto",
	  "write() copies; fresh moves pages that are used once; auto: fresh into a pipe", &chosen.writer, 0, 0 },
	{ "backend", OPTION_TEXT, "NAME", NULL, "avx512, neon or portable instead of the fastest", &chosen.backend, 0, 0 },
};

static const struct command command = {
	.name = "fizzbuzz",
	.summary = "write Fizz Buzz to standard output, or check every byte of it on standard input",
	.notes = "The stream is 1, 2, Fizz, 4, Buzz, …, a line each. A reader that goes away ends the writer quietly.\n"
		 "With --verify, the result is printed as events, and a wrong or missing byte is exit status 1:\n"
		 "  stend-probe fizzbuzz --bytes 10GB | pv -q | stend-probe fizzbuzz --verify --bytes 10GB\n",
	.options = options,
	.option_count = sizeof options / sizeof *options,
};

static void generate(struct fizzbuzz *stream)
{
	bool fresh = strcmp(chosen.writer, "fresh") == 0;
	struct pipe_writer_options how = { .policy = PIPE_WRITER_FRESH, .strict = fresh };
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;

	if (strcmp(chosen.writer, "write") == 0)
		how.policy = PIPE_WRITER_WRITE;
	int reason = pipe_writer_open(&writer, STDOUT_FILENO, &how);
	if (reason != 0 && fresh)
		fail(EXIT_UNSUPPORTED, "--writer fresh: standard output: %s", strerror(reason));
	for (uint64_t left = chosen.bytes == 0 ? UINT64_MAX : chosen.bytes; reason == 0 && left > 0;) {
		reason = pipe_writer_reserve(writer, 0, &slab);
		if (reason != 0)
			break;
		size_t bytes = fizzbuzz_fill(stream, slab.data, left < slab.bytes ? (size_t)left : slab.bytes);
		if (bytes == 0)
			break;
		reason = pipe_writer_commit(writer, &slab, bytes);
		left -= bytes;
	}
	if (reason != 0 && reason != EPIPE)
		fail(EXIT_BROKEN, "cannot write to standard output: %s", strerror(reason));
	pipe_writer_close(&writer);
}

/* What was found out about the input. */
struct findings {
	uint64_t bytes;
	bool wrong;
	uint64_t wrong_at;       /* offset in the stream of the first byte that is */
	uint64_t wrong_pieces;   /* of PIECE bytes, as they were read */
	unsigned char had, wanted;
};

static void note_wrong(struct findings *found, uint64_t at, unsigned char had)
{
	struct fizzbuzz *other = fizzbuzz_create(NULL);

	found->wrong = true;
	found->wrong_at = at;
	found->had = had;
	if (other != NULL && fizzbuzz_seek(other, at))
		fizzbuzz_fill(other, &found->wanted, 1);
	fizzbuzz_destroy(other);
}

static void check_piece(struct fizzbuzz *stream, const uint8_t *data, size_t bytes, struct findings *found)
{
	uint64_t start = fizzbuzz_offset(stream);
	size_t right = fizzbuzz_check(stream, data, bytes);

	found->bytes += bytes;
	if (right == bytes)
		return;
	if (!found->wrong)
		note_wrong(found, start + right, data[right]);
	for (size_t at = 0; at < bytes; at += PIECE) {
		size_t count = bytes - at < PIECE ? bytes - at : PIECE;
		if (!fizzbuzz_seek(stream, start + at) || fizzbuzz_check(stream, data + at, count) != count)
			found->wrong_pieces++;
	}
}

static void describe(const struct findings *found, struct repeat *repeat)
{
	char *text = repeat->evidence;
	size_t room = sizeof repeat->evidence;
	bool missing = chosen.bytes != 0 && found->bytes != chosen.bytes;

	repeat->passed = !found->wrong && !missing && found->bytes > 0;
	if (found->wrong)
		snprintf(text, room, "wrong from byte %llu on, in line %llu: 0x%02x instead of 0x%02x; %llu pieces of %d bytes are",
		         (unsigned long long)found->wrong_at, (unsigned long long)fizzbuzz_line_at(found->wrong_at), found->had,
		         found->wanted, (unsigned long long)found->wrong_pieces, PIECE);
	else if (missing)
		snprintf(text, room, "right, but %llu bytes instead of %llu", (unsigned long long)found->bytes,
		         (unsigned long long)chosen.bytes);
	else if (found->bytes == 0)
		snprintf(text, room, "no byte came");
	else
		snprintf(text, room, "every byte of %llu", (unsigned long long)found->bytes);
}

static int verify(struct fizzbuzz *stream)
{
	struct buffer buffer = buffer_make(READ_BYTES, 0, false);
	struct findings found = { 0 };
	struct repeat repeat = { 0 };
	struct json json = { 0 };

	wire_open_begin(&json, "fizzbuzz");
	json_text(&json, "backend", fizzbuzz_backend(stream));
	json_unsigned(&json, "offset", chosen.offset);
	wire_close_begin(&json);
	for (;;) {
		ssize_t count = read(STDIN_FILENO, buffer.data, READ_BYTES);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			fail(EXIT_BROKEN, "cannot read standard input: %s", strerror(errno));
		if (count == 0)
			break;
		/* The time runs from the first bytes on: before, the writer may still have been starting. */
		if (found.bytes == 0) {
			repeat.t_ns = monotonic_ns();
			repeat.cpu_ns = process_cpu_ns();
		}
		check_piece(stream, buffer.data, (size_t)count, &found);
	}
	if (found.bytes == 0) {
		repeat.t_ns = monotonic_ns();
		repeat.cpu_ns = process_cpu_ns();
	}
	repeat.wall_ns = monotonic_ns() - repeat.t_ns;
	repeat.cpu_ns = process_cpu_ns() - repeat.cpu_ns;
	repeat.bytes = found.bytes;
	describe(&found, &repeat);
	if (!repeat.passed)
		warn_line("%s", repeat.evidence);
	wire_repeat(&json, &repeat);
	wire_end(&json, 1);
	buffer_free(&buffer);
	json_free(&json);
	return repeat.passed ? EXIT_FINE : EXIT_BROKEN;
}

int command_fizzbuzz(int argc, char **argv)
{
	int status = EXIT_FINE;

	options_parse(&command, argc, argv);
	struct fizzbuzz *stream = fizzbuzz_create(chosen.backend);
	if (stream == NULL)
		fail(EXIT_UNSUPPORTED, "--backend %s: not in this build, or not on this processor",
		     chosen.backend == NULL ? "" : chosen.backend);
	if (!fizzbuzz_seek(stream, chosen.offset))
		fail(EXIT_USAGE, "--offset %llu: the stream ends before", (unsigned long long)chosen.offset);
	if (chosen.verify)
		status = verify(stream);
	else
		generate(stream);
	fizzbuzz_destroy(stream);
	return status;
}
