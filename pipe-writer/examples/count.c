/* Writes the numbers from 1 to N, a line each, as fast as the reader takes them:
 *
 *     cc count.c $(pkg-config --cflags --libs pipe_writer) -o count
 *     ./count 100000000 | tail -n 1
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pipe_writer.h>

static int failed(const char *what, int reason)
{
	/* A reader that has enough, as head has, is no reason for words. */
	if (reason != 0 && reason != EPIPE)
		fprintf(stderr, "count: %s: %s\n", what, strerror(reason));
	return reason != 0;
}

static size_t put_number(uint8_t *to, unsigned long long number)
{
	char digits[24];
	int length = snprintf(digits, sizeof digits, "%llu\n", number);

	memcpy(to, digits, (size_t)length);
	return (size_t)length;
}

int main(int count, char **arguments)
{
	unsigned long long last = count == 2 ? strtoull(arguments[1], NULL, 10) : 0, number = 1;
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;

	if (last == 0) {
		fprintf(stderr, "usage: count N, a number above 0\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	if (failed("standard output", pipe_writer_open(&writer, STDOUT_FILENO, NULL)))
		return 1;
	while (number <= last) {
		size_t used = 0;

		if (failed("memory", pipe_writer_reserve(writer, 0, &slab)))
			break;
		for (; number <= last && slab.bytes - used >= 24; number++)
			used += put_number(slab.data + used, number);
		if (failed("standard output", pipe_writer_commit(writer, &slab, used)))
			break;
	}
	return pipe_writer_close(&writer) == 0 ? 0 : 1;
}
