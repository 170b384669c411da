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
	{ "offset", OPTION_INTEGER, "BYTE", "0", "start of the output, or of the input, in the stream", &chosen.offset, 0,
	  0 },
	{ "bytes", OPTION_SIZE, "SIZE", "0", "bytes to write, or required input; 0: no limit",
	  &chosen.bytes, 0, 0 },
	{ "most", OPTION_SIZE, "SIZE", "0", "stop reading after this many bytes; 0: no limit", &chosen.most, 0,
	  0 },
	{ "writer", OPTION_CHOICE, FIZZBUZZ_WRITERS, "auto", "method of writing", &chosen.writer, 0, 0 },
	{ "pipe-size", OPTION_TEXT, "SIZE|max|auto", "auto", "size of the pipe; auto: chosen by the writer",
	  &chosen.pipe_size, 0, 0 },
	{ "huge-pages", OPTION_CHOICE, "yes|no", "yes", "request huge pages for the data", &chosen.huge_pages, 0, 0 },
	{ "reader", OPTION_CHOICE, FIZZBUZZ_READERS, "read", "method of reading", &chosen.reader, 0, 0 },
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
	.notes = "The stream is 1, 2, Fizz, 4, Buzz, …, one per line. When the reader closes the pipe, the writer exits silently.\n"
		 "With --verify, the result is printed as events; the exit status is 1 if a byte is wrong or missing:\n"
		 "  stend-probe fizzbuzz --bytes 10GB | pv -q | stend-probe fizzbuzz --verify --bytes 10GB\n"
		 "Writers: write copies; fresh moves pages that are used once; auto is fresh into a pipe if there are huge pages,\n"
		 "else write. ring moves pages that are reused after a query of the pipe shows that they have left it.\n"
		 "The others are optimised for speed only, and wrong with some readers: one-buffer, as large as the pipe, is\n"
		 "overwritten at once; two-buffers alternate without a query; two-buffers-gift is the same with SPLICE_F_GIFT.\n"
		 "Readers: read, readv; splice-pipe and tee keep pages in a second pipe before reading them, as pv does;\n"
		 "splice-file splices into a file in memory; read-enlarged enlarges the pipe to its maximum, and reads.\n",
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
