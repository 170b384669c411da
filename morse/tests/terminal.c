/* The program at a terminal: the line that shows progress comes where somebody waits for files, and leaves nothing
 * behind. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 32 << 20, WORDS = 120000, LATE = 700, AT_ONCE = 0 };

static char program[600], folder[] = "/tmp/morse_terminal_XXXXXX", text[64], bad[64];

/* What came out of one end of the program. */
struct heard {
	int descriptor;
	char *bytes;
	size_t count;
};

static struct heard screen, output; /* the terminal; the pipe */
static int status;

static int open_terminal(int *user_side)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY);

	if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
		return -1;
	*user_side = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	return *user_side < 0 ? -1 : terminal;
}

/* False at the end; a terminal that nobody has open any more gives EIO. */
static bool hear(struct heard *heard)
{
	ssize_t count = read(heard->descriptor, heard->bytes + heard->count, MOST - heard->count - 1);

	if (count <= 0)
		return count < 0 && errno == EINTR;
	heard->count += (size_t)count;
	return true;
}

/* Runs the program; `late`: for so many milliseconds after its first bytes nobody takes what it writes.
 * False: there are no terminals here. */
static bool run(const char *options, const char *input, bool output_is_terminal, bool errors_to_terminal, int late)
{
	int user_side, pipe_ends[2], terminal = open_terminal(&user_side);
	const char *emulator = getenv("RUN");
	char command[2048];
	pid_t child;

	if (terminal < 0 || pipe(pipe_ends) != 0)
		return false;
	screen.descriptor = terminal;
	output.descriptor = pipe_ends[0];
	screen.count = output.count = 0;
	snprintf(command, sizeof command, "exec %s '%s' encode %s <'%s'", emulator == NULL ? "" : emulator, program, options, input);
	child = fork();
	if (child == 0) {
		dup2(output_is_terminal ? user_side : pipe_ends[1], STDOUT_FILENO);
		dup2(errors_to_terminal ? user_side : pipe_ends[1], STDERR_FILENO);
		close(user_side);
		close(terminal);
		close(pipe_ends[0]);
		close(pipe_ends[1]);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(user_side);
	close(pipe_ends[1]);
	struct pollfd ends[2] = { { .fd = terminal, .events = POLLIN }, { .fd = pipe_ends[0], .events = POLLIN } };
	if (late > 0) {
		poll(ends, 2, -1);
		poll(NULL, 0, late);
	}
	while (ends[0].fd >= 0 || ends[1].fd >= 0) {
		if (poll(ends, 2, -1) < 0)
			continue;
		if (ends[0].fd >= 0 && ends[0].revents != 0 && !hear(&screen))
			ends[0].fd = -1;
		if (ends[1].fd >= 0 && ends[1].revents != 0 && !hear(&output))
			ends[1].fd = -1;
	}
	close(terminal);
	close(pipe_ends[0]);
	waitpid(child, &status, 0);
	screen.bytes[screen.count] = output.bytes[output.count] = '\0';
	return true;
}

static bool begins_with(const char *bytes, const char *beginning)
{
	return strncmp(bytes, beginning, strlen(beginning)) == 0;
}

/* Any number of lines of progress, each over the last, with rising shares, then a line that is cleared. Returns what
 * stands behind it; NULL if it is otherwise. */
static const char *after_progress(const char *shown)
{
	static const char clear[] = "\r\033[K";
	double before = 0;
	int lines = 0;

	while (begins_with(shown, clear)) {
		double share, speed;
		int length = 0;

		shown += strlen(clear);
		if (sscanf(shown, "morse: %lf %%, %lf MB/s%n", &share, &speed, &length) < 2 || length == 0)
			return lines > 0 ? shown : NULL;
		if (share < before || share > 100 || speed < 0 || (lines == 0 && (share <= 0 || share >= 100)))
			return NULL;
		before = share;
		shown += length;
		lines++;
	}
	return NULL;
}

static void write_files(void)
{
	FILE *file;

	CHECK(mkdtemp(folder) != NULL, "a folder");
	snprintf(text, sizeof text, "%s/text", folder);
	snprintf(bad, sizeof bad, "%s/bad", folder);
	for (int n = 0; n < 2; n++) {
		file = fopen(n == 0 ? text : bad, "w");
		for (int word = 0; file != NULL && word < WORDS; word++)
			fputs("the quick brown fox\n", file);
		CHECK(file != NULL && (n == 0 || fputs("*", file) >= 0) && fclose(file) == 0, "a file");
	}
}

int main(int argc, char **argv)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL, *rest;
	char options[256];
	size_t whole;

	snprintf(program, sizeof program, "%.*s/../bin/morse", slash == NULL ? 1 : (int)(slash - argv[0]),
	         slash == NULL ? "." : argv[0]);
	screen.bytes = malloc(MOST);
	output.bytes = malloc(MOST);
	write_files();
	if (!run("", text, false, true, LATE)) {
		fprintf(stderr, "left out: there are no terminals here\n");
		return harness_finish();
	}
	whole = output.count;
	CHECK(status == 0 && whole > 4u * 20 * WORDS / 2 && screen.count == 0, "standard input: no progress, but '%.60s'", screen.bytes);

	run(text, text, false, true, LATE);
	rest = after_progress(screen.bytes);
	CHECK(rest != NULL && *rest == '\0', "a file: progress, and nothing of it stays: '%.200s'", screen.bytes);
	CHECK(status == 0 && output.count == whole, "a file: %zu bytes of code instead of %zu", output.count, whole);

	run(bad, text, false, true, LATE);
	rest = after_progress(screen.bytes);
	CHECK(rest != NULL && begins_with(rest, "morse: ") && strstr(rest, "'*' (U+002A)") != NULL && strstr(rest, "\033") == NULL,
	      "an error stands on a line of its own: '%.300s'", screen.bytes);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1 && output.count == whole, "what is right came all the same");

	snprintf(options, sizeof options, "%s - %s", text, text);
	run(options, "/dev/null", false, true, LATE);
	CHECK(status == 0 && screen.count == 0, "files and standard input: no progress, but '%.60s'", screen.bytes);
	run(text, text, false, false, LATE);
	CHECK(status == 0 && screen.count == 0 && output.count == whole, "errors go elsewhere: no progress");
	run(text, text, true, true, LATE);
	CHECK(status == 0 && screen.count > whole && strchr(screen.bytes, '\033') == NULL, "code on the terminal: no progress in it");
	snprintf(options, sizeof options, "-o /dev/null '%s'", text);
	if (!skip_emulated("morse: who need not wait sees no progress", "an emulator may be slow enough to have something to show")) {
		/* Nor does a machine that has others to serve always end at once. */
		for (int attempt = 0; attempt == 0 || (attempt < 20 && screen.count > 0); attempt++)
			run(options, text, false, true, AT_ONCE);
		CHECK(status == 0 && screen.count == 0, "who need not wait sees nothing, not '%.60s'", screen.bytes);
	}

	run("--wav", text, true, true, AT_ONCE);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 2, "no sound on a terminal");
	CHECK(strcmp(screen.bytes, "morse: --wav: standard output is a terminal; name a file with -o, or send it to a player with |\r\n") == 0,
	      "and it says so: '%.200s'", screen.bytes);

	remove(text);
	remove(bad);
	rmdir(folder);
	free(screen.bytes);
	free(output.bytes);
	return harness_finish();
}
