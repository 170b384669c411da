#include "pipe/transports.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

uint64_t pipe_capacity_limit(void)
{
	char digits[32] = { 0 };
	int file = open("/proc/sys/fs/pipe-max-size", O_RDONLY | O_CLOEXEC);
	ssize_t count = file < 0 ? -1 : read(file, digits, sizeof digits - 1);

	if (file >= 0)
		close(file);
	return count <= 0 ? 0 : strtoull(digits, NULL, 10);
}

int64_t pipe_set_capacity(int descriptor, uint64_t bytes)
{
#ifdef F_SETPIPE_SZ
	if (bytes > INT32_MAX) {
		errno = EINVAL;
		return -1;
	}
	if (bytes > 0 && fcntl(descriptor, F_SETPIPE_SZ, (int)bytes) < 0)
		return -1;
	return fcntl(descriptor, F_GETPIPE_SZ);
#else
	(void)descriptor;
	(void)bytes;
	return 0;
#endif
}

static void set_capacity(struct channel *channel, uint64_t capacity)
{
	int64_t got = pipe_set_capacity(channel->writer, capacity);

	if (got < 0 && errno == EPERM)
		fail(EXIT_UNSUPPORTED, "--pipe-size %" PRIu64 ": above the limit of an ordinary user, %" PRIu64
		     " bytes (fs.pipe-max-size)", capacity, pipe_capacity_limit());
	if (got < 0)
		fail(EXIT_UNSUPPORTED, "--pipe-size %" PRIu64 ": the system refuses: %s", capacity, strerror(errno));
	channel->capacity = (uint64_t)got;
}

static void make_pipe(struct channel *channel, uint64_t capacity)
{
	int ends[2];

	if (pipe(ends) != 0)
		fail(EXIT_BROKEN, "cannot make a pipe: %s", strerror(errno));
	channel->reader = ends[0];
	channel->writer = ends[1];
	set_capacity(channel, capacity);
}

/* Its name is gone again before a byte is sent. */
static void make_fifo(struct channel *channel, uint64_t capacity)
{
	const char *folder = getenv("TMPDIR"), *failed = NULL;
	char place[512], path[528];

	if (folder == NULL || *folder == '\0')
		folder = "/tmp";
	if ((size_t)snprintf(place, sizeof place, "%s/stend-fifo-XXXXXX", folder) >= sizeof place)
		fail(EXIT_UNSUPPORTED, "TMPDIR is too long: a folder of at most 490 bytes is wanted for the FIFO");
	if (mkdtemp(place) == NULL)
		fail(EXIT_UNSUPPORTED, "cannot make a folder for the FIFO in %s: %s", folder, strerror(errno));
	snprintf(path, sizeof path, "%s/fifo", place);
	if (mkfifo(path, 0600) != 0)
		failed = "make";
	/* The reader first and without waiting: else each waits for the other. */
	if (failed == NULL && (channel->reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) < 0)
		failed = "open";
	if (failed == NULL && (channel->writer = open(path, O_WRONLY | O_CLOEXEC)) < 0)
		failed = "open";
	if (failed == NULL && fcntl(channel->reader, F_SETFL, 0) != 0)
		failed = "set up";
	int reason = errno;
	unlink(path);
	rmdir(place);
	if (failed != NULL)
		fail(EXIT_UNSUPPORTED, "cannot %s a FIFO in %s: %s", failed, folder, strerror(reason));
	set_capacity(channel, capacity);
}

static void make_unix(struct channel *channel, int type, const char *name)
{
	int ends[2];

	if (socketpair(AF_UNIX, type, 0, ends) != 0)
		fail(EXIT_UNSUPPORTED, "--transport %s: cannot make sockets: %s", name, strerror(errno));
	channel->reader = ends[0];
	channel->writer = ends[1];
}

static void make_unix_stream(struct channel *channel, uint64_t capacity)
{
	(void)capacity;
	make_unix(channel, SOCK_STREAM, "unix-stream");
}

static void make_unix_seqpacket(struct channel *channel, uint64_t capacity)
{
	(void)capacity;
	make_unix(channel, SOCK_SEQPACKET, "unix-seqpacket");
}

/* One accepted connection whose other end is ours, and not some stranger's who was quicker. */
static void make_tcp(struct channel *channel, uint64_t capacity)
{
	struct sockaddr_in place = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) }, own, other;
	socklen_t size = sizeof place;
	const char *failed = NULL;
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	(void)capacity;
	channel->writer = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || channel->writer < 0)
		failed = "make a socket";
	else if (bind(listener, (struct sockaddr *)&place, size) != 0 || listen(listener, 1) != 0)
		failed = "listen on 127.0.0.1";
	else if (getsockname(listener, (struct sockaddr *)&place, &size) != 0 ||
	         connect(channel->writer, (struct sockaddr *)&place, size) != 0)
		failed = "connect to 127.0.0.1";
	while (failed == NULL) {
		socklen_t own_size = sizeof own, other_size = sizeof other;

		channel->reader = accept(listener, (struct sockaddr *)&other, &other_size);
		if ((channel->reader < 0 && errno != EINTR) ||
		    getsockname(channel->writer, (struct sockaddr *)&own, &own_size) != 0)
			failed = "accept a connection on 127.0.0.1";
		else if (channel->reader >= 0 && own.sin_port == other.sin_port)
			break;
		else if (channel->reader >= 0)
			close(channel->reader);
	}
	if (failed != NULL)
		fail(EXIT_UNSUPPORTED, "--transport tcp: cannot %s: %s", failed, strerror(errno));
	close(listener);
}

static void make_shared_memory(struct channel *channel, uint64_t capacity)
{
	channel->ring = shared_ring_make((size_t)capacity);
	if (channel->ring == NULL)
		fail(EXIT_UNSUPPORTED, "--transport shared-memory: no memory of %" PRIu64 " bytes: %s", capacity, strerror(errno));
	channel->capacity = shared_ring_capacity(channel->ring);
}

const struct transport transports[] = {
	{ "pipe", TRANSPORT_PIPE, true, make_pipe },
	{ "fifo", TRANSPORT_FIFO, true, make_fifo },
	{ "unix-stream", TRANSPORT_UNIX_STREAM, false, make_unix_stream },
	{ "unix-seqpacket", TRANSPORT_UNIX_SEQPACKET, false, make_unix_seqpacket },
	{ "tcp", TRANSPORT_TCP, false, make_tcp },
	{ "shared-memory", TRANSPORT_SHARED_MEMORY, true, make_shared_memory },
};

const unsigned transport_count = sizeof transports / sizeof *transports;

static void close_descriptor(int *descriptor)
{
	if (*descriptor >= 0)
		close(*descriptor);
	*descriptor = -1;
}

void channel_close_reader(struct channel *channel)
{
	close_descriptor(&channel->reader);
}

void channel_close_writer(struct channel *channel)
{
	close_descriptor(&channel->writer);
}

void channel_free(struct channel *channel)
{
	channel_close_reader(channel);
	channel_close_writer(channel);
	shared_ring_free(channel->ring);
	channel->ring = NULL;
}
