/* Fizz Buzz to standard output, as fast as the pipe takes it, or from standard input, every byte of it checked. Together
 * they tell whether what lies between them, and how the pages got there, loses or changes bytes. */
#include "commands.h"

#include <string.h>

#include "base/fail.h"
#include "base/options.h"
#include "fizzbuzz/ends.h"
#include "pipe/transports.h"

static struct {
	bool verify;
	uint64_t offset, bytes, most;
	const char *backend, *writer, *reader, *pipe_size, *huge_pages;
} chosen;

static const struct option_definition options[] = {
	{ "verify", OPTION_FLAG, NULL, NULL, "read standard input and check it, instead of writing", &chosen.verify, 0, 0 },
	{ "offset", OPTION_INTEGER, "BYTE", "0", "where in the stream to begin, or where the input begins", &chosen.offset, 0,
	  0 },
	{ "bytes", OPTION_SIZE, "SIZE", "0", "how much to write, or how much there must be to read; 0: all there is",
	  &chosen.bytes, 0, 0 },
	{ "most", OPTION_SIZE, "SIZE", "0", "read no more than so much, whatever comes after it; 0: all there is", &chosen.most, 0,
	  0 },
	{ "writer", OPTION_CHOICE, FIZZBUZZ_WRITERS, "auto", "how it gets out", &chosen.writer, 0, 0 },
	{ "pipe-size", OPTION_TEXT, "SIZE|max|auto", "auto", "what the pipe is enlarged to; auto: as the writer has it",
	  &chosen.pipe_size, 0, 0 },
	{ "huge-pages", OPTION_CHOICE, "yes|no", "yes", "ask for huge pages for what is sent", &chosen.huge_pages, 0, 0 },
	{ "reader", OPTION_CHOICE, FIZZBUZZ_READERS, "read", "how it gets in", &chosen.reader, 0, 0 },
	{ "backend", OPTION_TEXT, "NAME", NULL, "avx512, neon or portable instead of the fastest", &chosen.backend, 0, 0 },
};

static void check(void)
{
	uint64_t bytes;

	if (strcmp(chosen.pipe_size, "max") != 0 && strcmp(chosen.pipe_size, "auto") != 0 &&
	    (!parse_size(chosen.pipe_size, &bytes) || bytes == 0 || bytes > (uint64_t)1 << 30))
		fail(EXIT_USAGE, "--pipe-size %s: must be a size from 1 to 1GiB, for example 64KiB, or max, or auto",
		     chosen.pipe_size);
}

static const struct command command = {
	.name = "fizzbuzz",
	.summary = "write Fizz Buzz to standard output, or check every byte of it on standard input",
	.notes = "The stream is 1, 2, Fizz, 4, Buzz, …, a line each. A reader that goes away ends the writer quietly.\n"
		 "With --verify, the result is printed as events, and a wrong or missing byte is exit status 1:\n"
		 "  stend-probe fizzbuzz --bytes 10GB | pv -q | stend-probe fizzbuzz --verify --bytes 10GB\n"
		 "Writers: write copies; fresh moves pages that are used once; auto is fresh into a pipe where there are huge pages,\n"
		 "else write. ring moves pages that are used again when they have left the pipe, which it asks before.\n"
		 "The others are how programs do it that want nothing but speed, and not right with every reader: one-buffer as\n"
		 "large as the pipe, written again at once; two-buffers in turn, nothing asked; two-buffers-gift, with SPLICE_F_GIFT.\n"
		 "Readers: read, readv; splice-pipe and tee let pages wait in a second pipe before they are read, as pv does;\n"
		 "splice-file splices into a file in memory; read-enlarged makes the pipe as large as it may be, and reads.\n",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.check = check,
};

static uint64_t choose_pipe_bytes(void)
{
	uint64_t bytes = 0;

	if (strcmp(chosen.pipe_size, "max") == 0)
		bytes = pipe_capacity_limit();
	else if (strcmp(chosen.pipe_size, "auto") != 0)
		parse_size(chosen.pipe_size, &bytes);
	return bytes;
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
	if (chosen.verify) {
		struct fizzbuzz_input how = { chosen.reader, chosen.bytes, chosen.most };
		if (!fizzbuzz_verify(stream, &how))
			status = EXIT_BROKEN;
	} else {
		struct fizzbuzz_output how = {
			chosen.writer, chosen.bytes, choose_pipe_bytes(), strcmp(chosen.huge_pages, "yes") == 0
		};
		fizzbuzz_write(stream, &how);
	}
	fizzbuzz_destroy(stream);
	return status;
}
