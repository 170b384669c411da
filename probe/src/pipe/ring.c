#include "pipe/ring.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pipe/calls.h"

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif

/* So many looks before an end sleeps; then it looks every so often whether the other is still there. */
enum { LOOKS_BEFORE_SLEEP = 200, MILLISECONDS_OF_SLEEP = 100 };

/* The counters of bytes wrap around; they are words of the processor, so that they are atomic everywhere. Each lies in a
 * cache line (of up to 128 bytes) of its own, or the ends would take it from each other. */
struct side {
	_Alignas(128) _Atomic(size_t) count; /* bytes written, or read */
	_Alignas(128) _Atomic(uint32_t) sleeps;  /* this side waits for `turn` to change */
	_Atomic(uint32_t) turn;
};

struct shared_ring {
	struct side writer, reader;
	_Atomic(bool) ended;
	size_t capacity; /* a power of two */
	size_t mapping_bytes;
	_Alignas(4096) uint8_t data[];
};

struct shared_ring *shared_ring_make(size_t capacity)
{
	size_t rounded = 4096;

	while (rounded < capacity && rounded <= SIZE_MAX / 4)
		rounded *= 2;
	size_t bytes = sizeof(struct shared_ring) + rounded;
	struct shared_ring *ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ring == MAP_FAILED)
		return NULL;
	memset(ring->data, 0, rounded); /* no fault is left for the measurement */
	ring->capacity = rounded;
	ring->mapping_bytes = bytes;
	return ring;
}

size_t shared_ring_capacity(const struct shared_ring *ring)
{
	return ring->capacity;
}

void shared_ring_free(struct shared_ring *ring)
{
	if (ring != NULL)
		munmap(ring, ring->mapping_bytes);
}

static void wake(struct side *side)
{
	/* Orders the publication before the look; its partner stands in sleep(). */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&side->sleeps, memory_order_relaxed) == 0)
		return;
	atomic_store_explicit(&side->sleeps, 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&side->turn, 1, memory_order_release);
	call_futex_wake((uint32_t *)&side->turn);
}

/* Bytes that `side` can take now: the reader what was written, the writer room. */
static size_t available(const struct shared_ring *ring, const struct side *side)
{
	if (side == &ring->reader)
		return atomic_load_explicit(&ring->writer.count, memory_order_acquire) -
		       atomic_load_explicit(&ring->reader.count, memory_order_relaxed);
	return ring->capacity - (atomic_load_explicit(&ring->writer.count, memory_order_relaxed) -
	                         atomic_load_explicit(&ring->reader.count, memory_order_acquire));
}

static bool ready(const struct shared_ring *ring, const struct side *side)
{
	return available(ring, side) > 0 || (side == &ring->reader && atomic_load(&ring->ended));
}

static bool gone(int alive)
{
	int events = call_poll(alive, 0, 0);

	return events > 0 && (events & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

/* False: the other process is gone. */
static bool wait_until_ready(struct shared_ring *ring, struct side *side, int alive)
{
	for (unsigned look = 0; look < LOOKS_BEFORE_SLEEP; look++)
		if (ready(ring, side))
			return true;
	for (;;) {
		uint32_t turn = atomic_load_explicit(&side->turn, memory_order_acquire);

		atomic_store_explicit(&side->sleeps, 1, memory_order_relaxed);
		atomic_thread_fence(memory_order_seq_cst);
		if (ready(ring, side))
			break;
		call_futex_wait((uint32_t *)&side->turn, turn, MILLISECONDS_OF_SLEEP);
		if (ready(ring, side))
			break;
		if (atomic_load(&side->turn) == turn && gone(alive) && !ready(ring, side))
			return false;
	}
	atomic_store_explicit(&side->sleeps, 0, memory_order_relaxed);
	return true;
}

int shared_ring_write(struct shared_ring *ring, const uint8_t *from, size_t bytes, int alive)
{
	while (bytes > 0) {
		if (!wait_until_ready(ring, &ring->writer, alive))
			return EPIPE;
		size_t place = atomic_load_explicit(&ring->writer.count, memory_order_relaxed);
		size_t at = place & (ring->capacity - 1), piece = available(ring, &ring->writer);

		piece = piece < bytes ? piece : bytes;
		piece = piece < ring->capacity - at ? piece : ring->capacity - at;
		memcpy(ring->data + at, from, piece);
		atomic_store_explicit(&ring->writer.count, place + piece, memory_order_release);
		wake(&ring->reader);
		from += piece;
		bytes -= piece;
	}
	return 0;
}

void shared_ring_end(struct shared_ring *ring)
{
	atomic_store(&ring->ended, true);
	wake(&ring->reader);
}

ssize_t shared_ring_read(struct shared_ring *ring, uint8_t *to, size_t bytes, int alive)
{
	if (!wait_until_ready(ring, &ring->reader, alive)) {
		errno = EPIPE;
		return -1;
	}
	size_t place = atomic_load_explicit(&ring->reader.count, memory_order_relaxed);
	size_t at = place & (ring->capacity - 1), piece = available(ring, &ring->reader);

	piece = piece < bytes ? piece : bytes;
	piece = piece < ring->capacity - at ? piece : ring->capacity - at;
	memcpy(to, ring->data + at, piece);
	atomic_store_explicit(&ring->reader.count, place + piece, memory_order_release);
	wake(&ring->writer);
	return (ssize_t)piece; /* 0: ended, and nothing is left */
}
