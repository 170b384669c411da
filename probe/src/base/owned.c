#include "base/owned.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

static const char danger[] = "who could have any program started from there";

/* Off with the last name; false: there was none. */
static bool go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash == NULL || slash[1] == '\0')
		return false;
	slash[slash == path ? 1 : 0] = '\0';
	return true;
}

static void check_one(const char *path, bool itself, uid_t system)
{
	struct stat found;

	if (stat(path, &found) != 0)
		fail(EXIT_USAGE, "it cannot be said whose %s is: %s", path, strerror(errno));
	if (found.st_uid != geteuid() && (itself || found.st_uid != system))
		fail(EXIT_USAGE, "%s belongs to another user (number %lu), %s", path, (unsigned long)found.st_uid, danger);
	if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (itself || !(found.st_mode & S_ISVTX)))
		fail(EXIT_USAGE, "%s can be written by others, %s; if nobody has, `chmod go-w %s`", path, danger, path);
}

void owned_check(const char *path)
{
	char named[PATH_MAX], real[PATH_MAX];
	struct stat root;
	bool itself = true;

	if (strlen(path) >= sizeof named || stat("/", &root) != 0)
		fail(EXIT_USAGE, "it cannot be said whose %s is", path);
	strcpy(named, path);
	while (realpath(named, real) == NULL) {
		if ((errno != ENOENT && errno != ENOTDIR) || !go_up(named))
			fail(EXIT_USAGE, "it cannot be said whose %s is: %s", path, strerror(errno));
		itself = false;
	}
	do {
		check_one(real, itself, root.st_uid);
		itself = false;
	} while (go_up(real));
}
