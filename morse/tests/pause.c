/* The program in a pipe whose other end makes a pause: all that can be coded so far comes at once, however much came
 * together. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the program reads at once, and twice that: if a piece fills its memory, that does not mean that more comes. */
enum { MOST = 512 << 10, SURELY = 4096, PATIENCE = 20000 };

static char program[600];
static int to_program, from_program;

static pid_t start(int input, int output)
{
	const char *emulator = getenv("RUN");
	char command[1024];
	pid_t child;

	snprintf(command, sizeof command, "exec %s '%s' encode", emulator == NULL ? "" : emulator, program);
	child = fork();
	if (child == 0) {
		dup2(input, STDIN_FILENO);
		dup2(output, STDOUT_FILENO);
		close(to_program);
		close(from_program);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(input);
	close(output);
	return child;
}

static bool send_all(const char *text, size_t bytes)
{
	while (bytes > 0) {
		ssize_t count = write(to_program, text, bytes);

		if (count < 0 && errno != EINTR)
			return false;
		text += count < 0 ? 0 : count;
		bytes -= count < 0 ? 0 : (size_t)count;
	}
	return true;
}

/* How many of so many bytes come before the program has been silent for long. */
static size_t hear(char *code, size_t bytes)
{
	struct pollfd end = { .fd = from_program, .events = POLLIN };
	size_t heard = 0;

	while (heard < bytes && poll(&end, 1, PATIENCE) > 0) {
		ssize_t count = read(from_program, code + heard, bytes - heard);

		if (count <= 0 && errno != EINTR)
			break;
		heard += count < 0 ? 0 : (size_t)count;
	}
	return heard;
}

/* `bytes` bytes that stand in the pipe before anybody reads, then a line, and only then the end. */
static void test_pause(size_t bytes)
{
	static char text[MOST], code[MOST];
	int input[2], output[2], status = -1;
	size_t heard;

	CHECK(pipe(input) == 0 && pipe(output) == 0, "pipes");
	to_program = input[1];
	from_program = output[0];
#ifdef F_SETPIPE_SZ
	/* Where so much is not allowed, what every pipe holds. */
	if (fcntl(to_program, F_SETPIPE_SZ, (int)bytes) < (int)bytes)
#endif
		bytes = bytes < SURELY ? bytes : SURELY;
	for (size_t at = 0; at < bytes; at += 2)
		memcpy(text + at, "e\n", 2);
	CHECK(send_all(text, bytes), "sending: %s", strerror(errno));
	pid_t child = start(input[0], output[1]);
	heard = hear(code, bytes);
	CHECK(heard == bytes, "a pause after %zu bytes of text: %zu bytes of code came before the end", bytes, heard);
	for (size_t at = 0; at + 2 <= heard; at += 2)
		if (memcmp(code + at, ".\n", 2) != 0) {
			CHECK(false, "other code at %zu", at);
			break;
		}
	CHECK(send_all("sos\n", 4), "sending a line: %s", strerror(errno));
	heard = hear(code, 12);
	CHECK(heard == 12 && memcmp(code, "... --- ...\n", 12) == 0, "a line and a pause: '%.*s'", (int)heard, code);
	close(to_program);
	CHECK(hear(code, 1) == 0, "nothing more");
	CHECK(waitpid(child, &status, 0) == child && status == 0, "status %d", status);
	close(from_program);
}

int main(int argc, char **argv)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;

	snprintf(program, sizeof program, "%.*s/../bin/morse", slash == NULL ? 1 : (int)(slash - argv[0]),
	         slash == NULL ? "." : argv[0]);
	test_pause(2);
	test_pause(64 << 10);
	test_pause(256 << 10);
	test_pause(512 << 10);
	return harness_finish();
}
