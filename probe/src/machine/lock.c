/* stend-probe lock: holds a lock on a file for a lab that is elsewhere. The kernel gives it back when this process ends, however it ends,
 * and it ends when standard input does: when the lab has finished, was killed, or its link dropped. A stend on the same machine takes the
 * same lock. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "machine/lock.h"
#include "base/fail.h"
#include "base/options.h"
#include "commands.h"

/* Beside the others: somebody else holds it. EX_TEMPFAIL of sysexits.h. */
#define EXIT_HELD 75

/* A stend that was killed a moment ago may have been starting an instrument, which holds a copy until it has become another program. */
#define ATTEMPTS 20
#define PAUSE_NS 50000000L

/* What a lock's file begins with, before its holder. A file that begins otherwise is somebody's data. The lab writes the same. */
#define MARK "stend: "

static struct {
	const char *file;
	const char *holder;
	bool shared;
} chosen;

static void check(void)
{
	if (chosen.file == NULL)
		fail(EXIT_USAGE, "--file is missing: the file to lock");
}

static const struct option_definition options[] = {
	{ "file", OPTION_TEXT, "FILE", NULL, "the file, created if it does not exist", &chosen.file, 0, 0 },
	{ "holder", OPTION_TEXT, "TEXT", "", "description of the holder, shown to others that request the lock", &chosen.holder, 0, 0 },
	{ "shared", OPTION_FLAG, NULL, NULL, "all users of this machine share the file: they may write it, and it must not be a link",
	  &chosen.shared, 0, 0 },
};

static const struct command command = {
	.name = "lock",
	.summary = "hold a lock on a file until standard input ends",
	.notes = "Prints \"locked\" when the lock is taken. Exit status 75: another process holds it; the message names the holder.\n"
	         "On the line \"remove\" it removes the file (without --shared also its directory, if that is empty then), prints\n"
	         "\"removed\", and keeps the lock.\n",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.check = check,
};

static _Noreturn void refuse(const char *path, const char *why)
{
	fail(EXIT_BROKEN, "cannot open %s: %s", path, why);
}

static void read_holder(int file, char *holder, size_t bytes)
{
	char text[256];
	ssize_t length = pread(file, text, sizeof text - 1, 0);
	const char *name = text;

	text[length > 0 ? length : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, MARK, strlen(MARK)) == 0)
		name += strlen(MARK);
	snprintf(holder, bytes, "%s", name[0] != '\0' ? name : "somebody");
}

static void refuse_data(int file, const char *path)
{
	char text[sizeof MARK - 1];
	ssize_t length = pread(file, text, sizeof text, 0);

	if (length < 0)
		refuse(path, strerror(errno));
	if (length != 0 && ((size_t)length != sizeof text || memcmp(text, MARK, sizeof text) != 0))
		refuse(path, "it holds data, which is left as it is");
}

/* In a directory where anybody may write, the file might be somebody's trap. So nothing is followed, and nothing but a plain file of one
 * name is taken. Without O_CREAT where it is there: kernels refuse that for somebody else's file in such a directory. */
static int open_shared(const char *path)
{
	const int plain = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	struct stat status;
	int file = -1;

	for (int attempt = 0; file < 0 && attempt < ATTEMPTS; attempt++) {
		file = open(path, O_RDWR | plain);
		if (file < 0 && errno == EACCES)
			file = open(path, O_RDONLY | plain);
		if (file < 0 && errno == ENOENT) {
			file = open(path, O_RDWR | O_CREAT | O_EXCL | plain, 0666);
			if (file >= 0 && fchmod(file, 0666) != 0)
				refuse(path, strerror(errno));
			if (file < 0 && errno == EEXIST)
				continue; /* somebody was quicker */
		}
		if (file < 0)
			refuse(path, errno == ELOOP ? "it is a symbolic link" : strerror(errno));
	}
	if (file < 0)
		refuse(path, "it comes and goes");
	if (fstat(file, &status) != 0)
		refuse(path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		refuse(path, "it is no plain file");
	if (status.st_nlink > 1)
		refuse(path, "it has another name too");
	return file;
}

static bool take(int file, const char *path, char *held_by, size_t bytes)
{
	const struct timespec pause = { 0, PAUSE_NS };
	int attempts = 0;

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
	return true;
}

/* Whether the path still leads to the file that was opened. */
static bool is_still(int file, const char *path)
{
	struct stat opened, named;

	return fstat(file, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

static int open_own(const char *path)
{
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	if (file < 0)
		refuse(path, strerror(errno));
	return file;
}

/* Only who holds the lock removes its file. So a file that still has its name when it is locked keeps it until it is given back; one that has
 * lost it in between is nobody's lock, and the next one is tried. */
static bool take_named(int (*open_it)(const char *), const char *path, const char *holder, char *held_by, size_t bytes)
{
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		int file = open_it(path);

		if (!take(file, path, held_by, bytes))
			return false;
		if (!is_still(file, path)) {
			close(file);
			continue;
		}
		refuse_data(file, path);
		/* Who holds it is for messages alone, so a full disk is no reason to stop here, nor a file that another user made. */
		if ((fcntl(file, F_GETFL) & O_ACCMODE) != O_RDONLY && (ftruncate(file, 0) != 0 || dprintf(file, MARK "%s", holder) < 0))
			warn_line("%s does not take a name: %s", path, strerror(errno));
		return true;
	}
	refuse(path, "it comes and goes");
}

bool lock_take(const char *path, const char *holder, char *held_by, size_t bytes)
{
	return take_named(open_own, path, holder, held_by, bytes);
}

bool lock_take_shared(const char *path, const char *holder, char *held_by, size_t bytes)
{
	return take_named(open_shared, path, holder, held_by, bytes);
}

/* Removes the file, and the directory that it lies in if that is the lock of a directory and nothing else is in there. */
static void remove_file(void)
{
	const char *slash = strrchr(chosen.file, '/');

	if (unlink(chosen.file) != 0 && errno != ENOENT) {
		warn_line("cannot remove %s: %s", chosen.file, strerror(errno));
		return;
	}
	if (!chosen.shared && slash != NULL && slash != chosen.file) {
		char *directory = strndup(chosen.file, (size_t)(slash - chosen.file));

		if (directory != NULL)
			(void)rmdir(directory);
		free(directory);
	}
	if (printf("removed\n") < 0 || fflush(stdout) != 0)
		fail(EXIT_BROKEN, "cannot write to standard output: %s", strerror(errno));
}

int command_lock(int argc, char **argv)
{
	char held_by[256], line[64];

	options_parse(&command, argc, argv);
	if (!(chosen.shared ? lock_take_shared : lock_take)(chosen.file, chosen.holder, held_by, sizeof held_by))
		fail(EXIT_HELD, "%s is held by %s", chosen.file, held_by);
	if (printf("locked\n") < 0 || fflush(stdout) != 0)
		fail(EXIT_BROKEN, "cannot write to standard output: %s", strerror(errno));
	do {
		clearerr(stdin);
		errno = 0;
		while (fgets(line, sizeof line, stdin) != NULL)
			if (strcmp(line, "remove\n") == 0)
				remove_file();
	} while (ferror(stdin) && errno == EINTR);
	return EXIT_FINE;
}
