/* The system calls of the two ends of a stream: each is made here and nowhere else, so that they can be looked at in one
 * place. (`vmsplice-fresh` is the exception: the library pipe-writer makes its own.) What a signal interrupts is made
 * again. Where the system or this build lacks a call: -1 and ENOSYS. */
#ifndef STEND_PIPE_CALLS_H
#define STEND_PIPE_CALLS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

ssize_t call_read(int from, uint8_t *to, size_t bytes);
ssize_t call_readv(int from, const struct iovec *pieces, size_t count);
ssize_t call_write(int to, const uint8_t *memory, size_t bytes);
ssize_t call_writev(int to, const struct iovec *pieces, size_t count);

/* The memory must stay as it is while any pipe holds it. `gift`: it will never be touched again. */
ssize_t call_vmsplice(int to, const uint8_t *memory, size_t bytes, bool gift);
/* One of both is a pipe. `wait`: else EAGAIN where nothing can be moved now. */
ssize_t call_splice(int from, int to, size_t bytes, bool wait);
/* From or into a file, at `*offset`, which moves on. */
ssize_t call_splice_from_file(int file, off_t *offset, int to, size_t bytes);
ssize_t call_splice_to_file(int from, int file, off_t *offset, size_t bytes);
ssize_t call_tee(int from, int to, size_t bytes, bool wait);

ssize_t call_send(int to, const uint8_t *memory, size_t bytes, int flags);
ssize_t call_recvmsg(int from, struct msghdr *message, int flags);
int call_poll(int descriptor, short events, int timeout_ms);

/* Submits, and waits until one has completed. */
int call_uring_enter(int uring, unsigned submit, unsigned complete);

/* Between processes. A wait ends when woken, when `*word` is not `expected`, or after `timeout_ms`. */
void call_futex_wait(uint32_t *word, uint32_t expected, unsigned timeout_ms);
void call_futex_wake(uint32_t *word);

#endif
