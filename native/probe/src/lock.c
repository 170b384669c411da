/* stend-probe lock: holds a lock on a file for a lab that is elsewhere. The kernel gives it back when this process ends, however it ends,
 * and it ends when standard input does: when the lab has finished, was killed, or its link dropped. A stend on the same machine takes the
 * same lock. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "fail.h"
#include "lock.h"
#include "options.h"

/* Beside the others: somebody else holds it. EX_TEMPFAIL of sysexits.h. */
#define EXIT_HELD 75

/* A stend that was killed a moment ago may have been starting an instrument, which holds a copy until it has become another program. */
#define ATTEMPTS 20
#define PAUSE_NS 50000000L

static struct {
	const char *file;
	const char *holder;
} chosen;

static void check(void)
{
	if (chosen.file == NULL)
		fail(EXIT_USAGE, "--file is missing: the file to lock");
}

static const struct option_definition options[] = {
	{ "file", OPTION_TEXT, "FILE", NULL, "the file, which is made if it is not there", &chosen.file, 0, 0 },
	{ "holder", OPTION_TEXT, "TEXT", "", "who holds it, for those who want it too", &chosen.holder, 0, 0 },
};

static const struct command command = {
	.name = "lock",
	.summary = "hold a lock on a file until standard input ends",
	.notes = "Prints \"locked\" when it has it. Exit status 75: another process holds it; who, is said.\n",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.check = check,
};

static void read_holder(int file, char *holder, size_t bytes)
{
	ssize_t length = pread(file, holder, bytes - 1, 0);

	holder[length > 0 ? length : 0] = '\0';
	holder[strcspn(holder, "\n")] = '\0';
	if (holder[0] == '\0')
		snprintf(holder, bytes, "somebody");
}

bool lock_take(const char *path, const char *holder, char *held_by, size_t bytes)
{
	const struct timespec pause = { 0, PAUSE_NS };
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644), attempts = 0;

	if (file < 0)
		fail(EXIT_BROKEN, "cannot open %s: %s", path, strerror(errno));
	while (flock(file, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			fail(EXIT_BROKEN, "%s cannot be locked: %s", path, strerror(errno));
		if (errno == EWOULDBLOCK && ++attempts == ATTEMPTS) {
			read_holder(file, held_by, bytes);
			close(file);
			return false;
		}
		nanosleep(&pause, NULL);
	}
	/* Who holds it is for messages alone, so a full disk is no reason to stop here. */
	if (ftruncate(file, 0) != 0 || dprintf(file, "%s", holder) < 0)
		warn_line("%s does not take a name: %s", path, strerror(errno));
	return true;
}

int command_lock(int argc, char **argv)
{
	char held_by[256], byte;

	options_parse(&command, argc, argv);
	if (!lock_take(chosen.file, chosen.holder, held_by, sizeof held_by))
		fail(EXIT_HELD, "%s is held by %s", chosen.file, held_by);
	if (printf("locked\n") < 0 || fflush(stdout) != 0)
		fail(EXIT_BROKEN, "cannot write to standard output: %s", strerror(errno));
	while (read(STDIN_FILENO, &byte, 1) > 0 || errno == EINTR)
		errno = 0;
	return EXIT_FINE;
}
