/* stend-probe stand-in: does, as far as a lab needs it, what small programs do that a machine with a shell, tar and a compiler may lack.
 * It goes by the name that it is called by, so a directory of links to it at the end of the PATH stands in for whatever is missing there. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "machine/stand_in.h"
#include "base/fail.h"
#include "base/options.h"
#include "commands.h"

static int complain(const char *path)
{
	warn_line("%s: %s", path, strerror(errno));
	return EXIT_BROKEN;
}

/* Passes a file on to standard output. */
static int pass_on(int file, const char *path)
{
	char buffer[65536];
	ssize_t length;

	while ((length = read(file, buffer, sizeof buffer)) > 0)
		for (ssize_t done = 0, written; done < length; done += written)
			if ((written = write(STDOUT_FILENO, buffer + done, (size_t)(length - done))) < 0)
				return complain("standard output");
	return length == 0 ? EXIT_FINE : complain(path);
}

static int do_cat(char **words)
{
	int status = EXIT_FINE;

	if (words[0] == NULL)
		return pass_on(STDIN_FILENO, "standard input");
	for (; *words != NULL; words++) {
		int file = open(*words, O_RDONLY | O_CLOEXEC);

		if (file < 0 || pass_on(file, *words) != EXIT_FINE)
			status = file < 0 ? complain(*words) : EXIT_BROKEN;
		if (file >= 0)
			close(file);
	}
	return status;
}

/* Where the file system of a directory begins: the highest directory above it that has the same device. */
static void find_mount(const char *path, dev_t device, char *mount)
{
	struct stat state;

	if (realpath(path, mount) == NULL) {
		snprintf(mount, PATH_MAX, "%s", path);
		return;
	}
	for (char *slash; mount[1] != '\0' && (slash = strrchr(mount, '/')) != NULL;) {
		char kept = slash == mount ? slash[1] : '/', *end = slash == mount ? slash + 1 : slash;

		*end = '\0';
		if (stat(mount, &state) != 0 || state.st_dev != device) {
			*end = kept;
			return;
		}
	}
}

/* As POSIX writes it. The device's name is not known. */
static int do_df(char **words)
{
	static char mount[PATH_MAX];
	int status = EXIT_FINE;

	puts("Filesystem 1024-blocks Used Available Capacity Mounted on");
	for (; *words != NULL; words++) {
		struct statvfs state;
		struct stat file;

		if (statvfs(*words, &state) != 0 || stat(*words, &file) != 0) {
			status = complain(*words);
			continue;
		}
		unsigned long long unit = state.f_frsize, all = state.f_blocks * unit / 1024, left = state.f_bavail * unit / 1024;
		unsigned long long used = all - state.f_bfree * unit / 1024;

		find_mount(*words, file.st_dev, mount);
		printf("- %llu %llu %llu %llu%% %s\n", all, used, left, used + left > 0 ? used * 100 / (used + left) : 0, mount);
	}
	return status;
}

static int do_getconf(char **words)
{
	if (words[0] != NULL && (strcmp(words[0], "PAGESIZE") == 0 || strcmp(words[0], "PAGE_SIZE") == 0))
		return printf("%ld\n", sysconf(_SC_PAGESIZE)) > 0 ? EXIT_FINE : EXIT_BROKEN;
#if defined(_CS_GNU_LIBC_VERSION)
	char text[256];

	if (words[0] != NULL && strcmp(words[0], "GNU_LIBC_VERSION") == 0 && confstr(_CS_GNU_LIBC_VERSION, text, sizeof text) > 0)
		return puts(text) >= 0 ? EXIT_FINE : EXIT_BROKEN;
#endif
	fail(EXIT_UNSUPPORTED, "of all that getconf knows, this knows PAGESIZE and glibc's GNU_LIBC_VERSION");
}

/* ln -s: the target, and the link, which is replaced. */
static int do_ln(char **words)
{
	if (words[0] == NULL || words[1] == NULL)
		fail(EXIT_USAGE, "it takes a target and a link");
	if (unlink(words[1]) != 0 && errno != ENOENT)
		return complain(words[1]);
	return symlink(words[0], words[1]) == 0 ? EXIT_FINE : complain(words[1]);
}

/* mkdir -p */
static int do_mkdir(char **words)
{
	for (; *words != NULL; words++) {
		struct stat state;

		for (char *end = *words;; end++) {
			if (end == *words || (*end != '/' && *end != '\0'))
				continue;
			char kept = *end;

			*end = '\0';
			if (mkdir(*words, 0700) != 0 && (stat(*words, &state) != 0 || !S_ISDIR(state.st_mode)))
				return complain(*words);
			*end = kept;
			if (kept == '\0')
				break;
		}
	}
	return EXIT_FINE;
}

static int do_mv(char **words)
{
	if (words[0] == NULL || words[1] == NULL)
		fail(EXIT_USAGE, "it takes two names");
	return rename(words[0], words[1]) == 0 ? EXIT_FINE : complain(words[1]);
}

static int remove_one(const char *path, const struct stat *state, int kind, struct FTW *place)
{
	(void)state;
	(void)kind;
	(void)place;
	return remove(path) == 0 || errno == ENOENT ? 0 : complain(path);
}

/* rm -rf */
static int do_rm(char **words)
{
	struct stat state;

	for (; *words != NULL; words++)
		if (lstat(*words, &state) == 0 && nftw(*words, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
			return lstat(*words, &state) == 0 ? complain(*words) : EXIT_FINE;
	return EXIT_FINE;
}

static int do_sleep(char **words)
{
	uint64_t time = 0;

	if (words[0] == NULL || !parse_duration(words[0], &time))
		fail(EXIT_USAGE, "it takes a time");
	nanosleep(&(struct timespec){ .tv_sec = (time_t)(time / 1000000000u), .tv_nsec = (long)(time % 1000000000u) }, NULL);
	return EXIT_FINE;
}

static int do_sync(char **words)
{
	if (words[0] == NULL)
		sync();
	for (; *words != NULL; words++) {
		int file = open(*words, O_RDONLY | O_CLOEXEC), result = file < 0 ? -1 : fsync(file);

		if (file >= 0)
			close(file);
		if (result != 0)
			return complain(*words);
	}
	return EXIT_FINE;
}

static int do_uname(char **words)
{
	struct utsname name;

	if (uname(&name) != 0)
		return complain("uname");
	const char *said = words[0] == NULL ? "-s" : words[0];

	puts(strcmp(said, "-m") == 0 ? name.machine : strcmp(said, "-n") == 0 ? name.nodename :
	     strcmp(said, "-r") == 0 ? name.release : name.sysname);
	return EXIT_FINE;
}

static const struct {
	const char *name;
	int (*run)(char **words);
} programs[] = {
	{ "cat", do_cat },	{ "df", do_df },	{ "getconf", do_getconf }, { "ln", do_ln },
	{ "mkdir", do_mkdir },	{ "mv", do_mv },	{ "rm", do_rm },	   { "sleep", do_sleep },
	{ "sync", do_sync },	{ "uname", do_uname },
};

static const struct command command = {
	.name = "stand-in",
	.summary = "make links to itself that replace small programs, for machines that lack them",
	.notes = "Creates links named cat, df, getconf, ln, mkdir, mv, rm, sleep, sync and uname in DIRECTORY, which must be beside stend-probe.\n"
		 "At the end of the PATH they replace missing programs; each supports only the uses that stend makes of it.\n",
	.rest = "DIRECTORY",
};

bool stand_in_knows(const char *name)
{
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
		if (strcmp(programs[i].name, name) == 0)
			return true;
	return false;
}

int stand_in(const char *name, char **words)
{
	size_t place = 0;

	while (strcmp(programs[place].name, name) != 0)
		place++;
	fail_set_name(name);
	/* Flags are passed over, since each does as if it had those that stend gives it; uname alone has several. */
	while (programs[place].run != do_uname && *words != NULL && (*words)[0] == '-')
		words++;
	int status = programs[place].run(words);

	return fflush(stdout) == 0 ? status : EXIT_BROKEN;
}

void stand_in_link(const char *directory, const char *probe)
{
	char path[4096];

	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		if (snprintf(path, sizeof path, "%s/%s", directory, programs[i].name) >= (int)sizeof path)
			fail(EXIT_USAGE, "the directory's name is too long");
		unlink(path);
		if (probe != NULL && symlink(probe, path) != 0)
			fail(EXIT_BROKEN, "%s: %s", path, strerror(errno));
	}
}

int command_stand_in(int argc, char **argv)
{
	int first = options_parse(&command, argc, argv);

	if (argc != first + 1)
		fail(EXIT_USAGE, "it takes one directory");
	if (mkdir(argv[first], 0700) != 0 && errno != EEXIST)
		fail(EXIT_BROKEN, "%s: %s", argv[first], strerror(errno));
	/* By a way that a move of both leaves true. */
	stand_in_link(argv[first], "../stend-probe");
	return EXIT_FINE;
}
