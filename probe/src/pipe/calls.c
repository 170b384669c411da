#include "pipe/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/futex.h>
#endif

/* The kernel's idea of a time, which is not that of a C library with 64-bit times on 32 bits. Newer 32-bit architectures
 * have the second call alone. */
#if !defined(SYS_futex) && defined(SYS_futex_time64)
#define SYS_futex SYS_futex_time64
typedef int64_t futex_time;
#else
typedef long futex_time;
#endif

#define AGAIN_IF_INTERRUPTED(count, call) \
	do                                \
		count = (call);           \
	while (count < 0 && errno == EINTR)

#ifndef __linux__
static ssize_t missing(void)
{
	errno = ENOSYS;
	return -1;
}
#endif

ssize_t call_read(int from, uint8_t *to, size_t bytes)
{
	ssize_t count;

	AGAIN_IF_INTERRUPTED(count, read(from, to, bytes));
	return count;
}

ssize_t call_readv(int from, const struct iovec *pieces, size_t n)
{
	ssize_t count;

	AGAIN_IF_INTERRUPTED(count, readv(from, pieces, (int)n));
	return count;
}

ssize_t call_write(int to, const uint8_t *memory, size_t bytes)
{
	ssize_t count;

	AGAIN_IF_INTERRUPTED(count, write(to, memory, bytes));
	return count;
}

ssize_t call_writev(int to, const struct iovec *pieces, size_t n)
{
	ssize_t count;

	AGAIN_IF_INTERRUPTED(count, writev(to, pieces, (int)n));
	return count;
}

ssize_t call_vmsplice(int to, const uint8_t *memory, size_t bytes, bool gift)
{
#ifdef __linux__
	/* iovec has no const; vmsplice only reads. */
	union {
		const uint8_t *constant;
		void *plain;
	} start = { memory };
	struct iovec piece = { .iov_base = start.plain, .iov_len = bytes };
	ssize_t count;

	AGAIN_IF_INTERRUPTED(count, vmsplice(to, &piece, 1, gift ? SPLICE_F_GIFT : 0));
	return count;
#else
	(void)to, (void)memory, (void)bytes, (void)gift;
	return missing();
#endif
}

#ifdef __linux__
static ssize_t any_splice(int from, off_t *from_offset, int to, off_t *to_offset, size_t bytes, unsigned flags)
{
	loff_t in = from_offset == NULL ? 0 : *from_offset, out = to_offset == NULL ? 0 : *to_offset;
	ssize_t count;

	AGAIN_IF_INTERRUPTED(count, splice(from, from_offset == NULL ? NULL : &in, to, to_offset == NULL ? NULL : &out,
	                                   bytes, SPLICE_F_MOVE | flags));
	if (count > 0 && from_offset != NULL)
		*from_offset += count;
	if (count > 0 && to_offset != NULL)
		*to_offset += count;
	return count;
}
#else
static ssize_t any_splice(int from, off_t *from_offset, int to, off_t *to_offset, size_t bytes, unsigned flags)
{
	(void)from, (void)from_offset, (void)to, (void)to_offset, (void)bytes, (void)flags;
	return missing();
}
#define SPLICE_F_NONBLOCK 0
#endif

ssize_t call_splice(int from, int to, size_t bytes, bool wait)
{
	return any_splice(from, NULL, to, NULL, bytes, wait ? 0 : SPLICE_F_NONBLOCK);
}

ssize_t call_splice_from_file(int file, off_t *offset, int to, size_t bytes)
{
	return any_splice(file, offset, to, NULL, bytes, 0);
}

ssize_t call_splice_to_file(int from, int file, off_t *offset, size_t bytes)
{
	return any_splice(from, NULL, file, offset, bytes, 0);
}

ssize_t call_tee(int from, int to, size_t bytes, bool wait)
{
#ifdef __linux__
	ssize_t count;

	AGAIN_IF_INTERRUPTED(count, tee(from, to, bytes, wait ? 0 : SPLICE_F_NONBLOCK));
	return count;
#else
	(void)from, (void)to, (void)bytes, (void)wait;
	return missing();
#endif
}

ssize_t call_send(int to, const uint8_t *memory, size_t bytes, int flags)
{
	ssize_t count;

	AGAIN_IF_INTERRUPTED(count, send(to, memory, bytes, flags));
	return count;
}

ssize_t call_recvmsg(int from, struct msghdr *message, int flags)
{
	ssize_t count;

	AGAIN_IF_INTERRUPTED(count, recvmsg(from, message, flags));
	return count;
}

int call_poll(int descriptor, short events, int timeout_ms)
{
	struct pollfd one = { .fd = descriptor, .events = events };
	int count;

	AGAIN_IF_INTERRUPTED(count, poll(&one, 1, timeout_ms));
	return count <= 0 ? count : one.revents;
}

int call_uring_enter(int uring, unsigned submit, unsigned complete)
{
#if defined(__linux__) && defined(SYS_io_uring_enter)
	const unsigned wait_for_completion = 1; /* IORING_ENTER_GETEVENTS */
	long count;

	AGAIN_IF_INTERRUPTED(count, syscall(SYS_io_uring_enter, uring, submit, complete, wait_for_completion, NULL, 0));
	return (int)count;
#else
	(void)uring, (void)submit, (void)complete;
	errno = ENOSYS;
	return -1;
#endif
}

void call_futex_wait(uint32_t *word, uint32_t expected, unsigned timeout_ms)
{
#if defined(__linux__) && defined(SYS_futex)
	struct {
		futex_time seconds, nanoseconds;
	} timeout = { timeout_ms / 1000, timeout_ms % 1000 * 1000000 };

	syscall(SYS_futex, word, FUTEX_WAIT, expected, &timeout, NULL, 0);
#else
	(void)word, (void)expected, (void)timeout_ms;
	sched_yield();
#endif
}

void call_futex_wake(uint32_t *word)
{
#if defined(__linux__) && defined(SYS_futex)
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
#else
	(void)word;
#endif
}
