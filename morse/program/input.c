#include "input.h"

#include "fail.h"
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char **names;
static size_t name_count;
static struct morse_place *begins;
static size_t current;
static int descriptor;

const char *input_name(size_t index)
{
	return strcmp(names[index], "-") == 0 ? "standard input" : names[index];
}

struct morse_place input_begin(size_t index)
{
	return begins[index];
}

/* ---- Progress, for people who wait: a line on a terminal, while files are read. */
static struct {
	bool shown, wanted;
	uint64_t total, done;
	double started, next;
} progress;

static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void progress_clear(void)
{
	if (progress.shown)
		fputs("\r\033[K", stderr);
	progress.shown = false;
}

static void progress_begin(void)
{
	struct stat status;

	/* Only where all of the work is known, and the terminal is free. */
	progress.wanted = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
	for (size_t i = 0; i < name_count; i++) {
		if (strcmp(names[i], "-") == 0 || stat(names[i], &status) != 0 || !S_ISREG(status.st_mode))
			progress.wanted = false;
		else
			progress.total += (uint64_t)status.st_size;
	}
	fail_clean(progress_clear);
	progress.started = seconds();
	progress.next = progress.started + 0.5;
}

static void progress_add(size_t bytes)
{
	double now;

	progress.done += bytes;
	if (!progress.wanted || (now = seconds()) < progress.next)
		return;
	progress.next = now + 0.2;
	progress.shown = true;
	fprintf(stderr, "\r\033[Kmorse: %3.0f %%, %.0f MB/s",
	        progress.total > progress.done ? 100.0 * (double)progress.done / (double)progress.total : 100.0,
	        (double)progress.done / (now - progress.started) / 1e6);
}

/* ---- Reading. */
static void broken(int reason)
{
	fail(EXIT_DATA, "%s: %s", input_name(current), strerror(reason));
}

static bool same_file(const struct stat *left, const struct stat *right)
{
	return S_ISREG(left->st_mode) && S_ISREG(right->st_mode) && left->st_dev == right->st_dev && left->st_ino == right->st_ino;
}

void input_check(char **all_names, size_t count, const char *output)
{
	struct stat target, status;

	names = all_names;
	name_count = count;
	begins = calloc(count, sizeof *begins);
	if (begins == NULL)
		fail(EXIT_DATA, "the names of %zu inputs: out of memory", count);
	if ((output == NULL ? fstat(STDOUT_FILENO, &target) : stat(output, &target)) != 0)
		target.st_mode = 0;
	for (current = 0; current < count; current++) {
		bool standard = strcmp(names[current], "-") == 0;

		if ((standard ? fstat(STDIN_FILENO, &status) : stat(names[current], &status)) != 0)
			broken(errno);
		if (same_file(&status, &target))
			fail(EXIT_USAGE, "%s: it is the output as well, and would be lost; name another file for the output",
			     input_name(current));
	}
	progress_begin();
}

void input_open(size_t index, struct morse_place place)
{
	current = index;
	begins[index] = place;
	descriptor = STDIN_FILENO;
	if (strcmp(names[index], "-") != 0)
		descriptor = open(names[index], O_RDONLY);
	if (descriptor < 0)
		broken(errno);
}

size_t input_read(uint8_t *to, size_t bytes)
{
	for (;;) {
		ssize_t count = read(descriptor, to, bytes);
		struct pollfd more = { .fd = descriptor, .events = POLLIN };

		if (count >= 0) {
			progress_add((size_t)count);
			return (size_t)count;
		}
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			poll(&more, 1, -1);
		else if (errno != EINTR)
			broken(errno);
	}
}

bool input_waits(void)
{
	int held;

	/* Not poll(): after that, Linux wakes the reader of a pipe at each write(), needed or not. */
	return ioctl(descriptor, FIONREAD, &held) == 0 && held > 0;
}

void input_close(void)
{
	if (descriptor != STDIN_FILENO)
		close(descriptor);
	progress_clear();
}
