#include "output.h"

#include "fail.h"
#include "pipe_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct pipe_writer *writer;
static struct pipe_writer_slab slab;
static int descriptor = STDOUT_FILENO;
static struct stat status;
static const char *name;
static bool named;
static off_t begin; /* -1: not a place that can be found again */
static size_t used;

/* A half-written file is worse than none. The name goes only if it is the file's own: a link, as /dev/stdout is one, stays,
 * and the file behind it is emptied. */
static void remove_half(void)
{
	struct stat there;

	if (!named || !S_ISREG(status.st_mode))
		return;
	if (lstat(name, &there) == 0 && there.st_dev == status.st_dev && there.st_ino == status.st_ino)
		unlink(name);
	else if (ftruncate(descriptor, 0) != 0)
		return;
}

static void check(int reason)
{
	if (reason != 0)
		fail(EXIT_DATA, "%s: %s", name, strerror(reason));
}

void output_open(const char *path)
{
	named = path != NULL;
	name = named ? path : "standard output";
	if (named) {
		descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
		if (descriptor < 0)
			fail(EXIT_DATA, "%s: %s", name, strerror(errno));
	}
	check(fstat(descriptor, &status) == 0 ? 0 : errno);
	fail_clean(remove_half);
	begin = -1;
	if (S_ISREG(status.st_mode) && (fcntl(descriptor, F_GETFL) & O_APPEND) == 0)
		begin = lseek(descriptor, 0, SEEK_CUR);
	check(pipe_writer_open(&writer, descriptor, NULL));
}

uint8_t *output_room(size_t least, size_t *room)
{
	if (slab.data != NULL && slab.bytes - used < least)
		output_flush();
	if (slab.data == NULL)
		check(pipe_writer_reserve(writer, 0, &slab));
	/* A chunk may be as small as the pipe wants it. */
	if (slab.bytes < least)
		check(pipe_writer_reserve(writer, least, &slab));
	*room = slab.bytes - used;
	return slab.data + used;
}

void output_add(size_t bytes)
{
	used += bytes;
}

void output_write(const uint8_t *bytes, size_t count)
{
	while (count > 0) {
		size_t room;
		uint8_t *to = output_room(1, &room);
		size_t part = count < room ? count : room;

		memcpy(to, bytes, part);
		output_add(part);
		bytes += part;
		count -= part;
	}
}

void output_flush(void)
{
	size_t bytes = used;

	if (bytes == 0)
		return;
	used = 0;
	check(pipe_writer_commit(writer, &slab, bytes));
}

void output_patch(size_t offset, const uint8_t *bytes, size_t count)
{
	output_flush();
	if (begin < 0)
		return;
	ssize_t written = pwrite(descriptor, bytes, count, begin + (off_t)offset);
	if (written != (ssize_t)count)
		check(written < 0 ? errno : EIO);
}

void output_close(void)
{
	output_flush();
	check(pipe_writer_close(&writer));
	/* Some file systems say only here that the disk is full. */
	check(close(descriptor) == 0 ? 0 : errno);
}
