/* A ring of bytes in memory that two processes share: one writes, one reads, and a system call is made only where one of
 * them must sleep. */
#ifndef STEND_SHARED_RING_H
#define STEND_SHARED_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct shared_ring;

/* Before the fork. `capacity` is rounded up to a power of two of at least a page. NULL and errno: no such memory. */
struct shared_ring *shared_ring_make(size_t capacity);
size_t shared_ring_capacity(const struct shared_ring *ring);
void shared_ring_free(struct shared_ring *ring);

/* `alive` is one end of a pipe to the other process, which shows when that one is gone.
 *
 * All of it, waiting for room: 0, or EPIPE if the reader is gone. */
int shared_ring_write(struct shared_ring *ring, const uint8_t *from, size_t bytes, int alive);
/* No more comes. */
void shared_ring_end(struct shared_ring *ring);
/* What there is, at most `bytes`; waits for the first byte. 0 at the end; -1 and errno EPIPE: the writer is gone without
 * one. */
ssize_t shared_ring_read(struct shared_ring *ring, uint8_t *to, size_t bytes, int alive);

#endif
