#include "transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

/* More at once is refused by some systems (Linux: MAX_RW_COUNT, a little below 2 GiB). */
#define MOST_AT_ONCE ((size_t)1 << 30)

static ssize_t attempt(int descriptor, enum transfer_way way, const uint8_t *memory, int source, size_t bytes,
                       bool wait)
{
#ifdef __linux__
	/* vmsplice() does not look at O_NONBLOCK. */
	unsigned flags = wait ? 0 : SPLICE_F_NONBLOCK;

	if (way == TRANSFER_VMSPLICE) {
		/* iovec has no const; vmsplice into a pipe only takes references. */
		union {
			const uint8_t *constant;
			void *plain;
		} start = { memory };
		struct iovec piece = { .iov_base = start.plain, .iov_len = bytes };

		return vmsplice(descriptor, &piece, 1, flags);
	}
	if (way == TRANSFER_TEE)
		return tee(source, descriptor, bytes, flags);
#else
	(void)wait;
	(void)source;
	if (way != TRANSFER_WRITE) {
		errno = ENOTSUP;
		return -1;
	}
#endif
	return write(descriptor, memory, bytes);
}

/* A kernel without the call says ENOSYS, and a filter (seccomp) what it was told to say, as a rule EPERM. None of these
 * says anything of the reader, and write() will tell what is really wrong with the descriptor. */
static bool is_refusal(int reason)
{
	return reason == ENOSYS || reason == EPERM || reason == EACCES || reason == EINVAL || reason == ENOTSUP;
}

bool pipe_writer_transfer_knows_vmsplice(int descriptor)
{
#ifdef __linux__
	/* Nothing to send: no kernel looks at the pipe then. */
	return vmsplice(descriptor, NULL, 0, SPLICE_F_NONBLOCK) >= 0 || !is_refusal(errno);
#else
	(void)descriptor;
	return false;
#endif
}

int pipe_writer_transfer_some(int descriptor, enum transfer_way way, const uint8_t *memory, int source,
                              size_t bytes, bool wait, size_t *moved)
{
	*moved = 0;
	for (;;) {
		ssize_t count = attempt(descriptor, way, memory, source, bytes < MOST_AT_ONCE ? bytes : MOST_AT_ONCE, wait);

		if (count > 0 || (count == 0 && bytes == 0)) {
			*moved = (size_t)count;
			return 0;
		}
		if (count == 0 && way != TRANSFER_TEE)
			return EIO; /* a device that takes nothing and gives no reason */
		/* tee() waits for room and then locks both pipes: if another writer was faster, it moves nothing. */
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
			return way != TRANSFER_WRITE && is_refusal(errno) ? ENOTSUP : errno;
		if (!wait)
			return EAGAIN;
		/* A reader that vanishes ends the wait too; then the next attempt says so. */
		struct pollfd room = { .fd = descriptor, .events = POLLOUT };
		if (poll(&room, 1, -1) < 0 && errno != EINTR)
			return errno;
	}
}

int pipe_writer_transfer_all(int descriptor, enum transfer_way way, const uint8_t *memory, size_t bytes,
                             bool wait, size_t *moved)
{
	size_t count;
	int reason = 0;

	for (*moved = 0; *moved < bytes && reason == 0; *moved += count)
		reason = pipe_writer_transfer_some(descriptor, way, memory + *moved, -1, bytes - *moved, wait, &count);
	return reason;
}
