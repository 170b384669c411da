#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

static size_t pages(const struct ring *ring, size_t bytes)
{
	return (bytes + ring->page_bytes - 1) / ring->page_bytes;
}

#ifdef __linux__
/* Whether a pipe of n slots takes n pages and no more, also of one huge page. All kernels until now do it so; one that
 * put several pages into a slot would make a count of slots say too much. */
static bool try_slots(size_t page_bytes, size_t huge_page_bytes)
{
	struct region region = { 0 };
	int ends[2];
	bool right = false;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	int capacity = fcntl(ends[1], F_SETPIPE_SZ, (int)page_bytes);
	if (capacity > 0 && pipe_writer_region_renew(&region, 2 * (size_t)capacity, huge_page_bytes, NULL) == 0) {
		struct iovec piece = { .iov_base = region.start, .iov_len = 2 * (size_t)capacity };

		region.start[0] = 1;
		right = vmsplice(ends[1], &piece, 1, SPLICE_F_NONBLOCK) == capacity;
	}
	pipe_writer_region_drop(&region);
	close(ends[0]);
	close(ends[1]);
	return right;
}
#endif

void pipe_writer_ring_open(struct ring *ring, size_t huge_page_bytes, struct retired *retired)
{
	*ring = (struct ring){ .page_bytes = (size_t)sysconf(_SC_PAGESIZE), .huge_page_bytes = huge_page_bytes,
	                       .retired = retired };
#ifdef __linux__
	ring->slot_is_page = try_slots(ring->page_bytes, huge_page_bytes);
#endif
}

void pipe_writer_ring_close(struct ring *ring)
{
	pipe_writer_region_drop(&ring->region);
	free(ring->marks);
	ring->marks = NULL;
	ring->bytes = ring->cursor = 0;
}

#ifdef __linux__
/* Whether the page is in the pipe no more. Both questions are asked now, after the last vmsplice(): the pipe cannot
 * hold more slots than its capacity at this moment, it cannot be made smaller than what it holds, and if it grows
 * later, a page that is out does not come back. Bytes of other writers only make the answer more careful. */
static bool has_left(const struct ring *ring, int descriptor, const struct ring_mark *mark)
{
	int capacity, held;

	if (mark->bytes == 0)
		return true;
	if (ring->slot_is_page) {
		capacity = fcntl(descriptor, F_GETPIPE_SZ);
		if (capacity > 0 && ring->sent.slots - mark->slots >= pages(ring, (size_t)capacity))
			return true;
	}
	return ioctl(descriptor, FIONREAD, &held) == 0 && held >= 0 && (uint64_t)held <= ring->sent.bytes - mark->bytes;
}

static size_t pipe_capacity(int descriptor)
{
	int capacity = fcntl(descriptor, F_GETPIPE_SZ);

	return capacity > 0 ? (size_t)capacity : 0;
}
#else
static bool has_left(const struct ring *ring, int descriptor, const struct ring_mark *mark)
{
	(void)ring;
	(void)descriptor;
	return mark->bytes == 0;
}

static size_t pipe_capacity(int descriptor)
{
	(void)descriptor;
	return 0;
}
#endif

/* A new ring: when the pipe is full, there is still room for one reservation, and for another that is lost where the
 * cursor turns round. */
static int renew(struct ring *ring, int descriptor, size_t most, struct pipe_writer_statistics *statistics)
{
	size_t capacity = pipe_capacity(descriptor), bytes, count;
	struct ring_mark *marks;
	int reason;

	if (most > SIZE_MAX / 4)
		return ENOMEM;
	count = pages(ring, capacity) + 2 * pages(ring, most);
	bytes = count * ring->page_bytes;
	marks = calloc(count, sizeof *marks);
	if (marks == NULL)
		return ENOMEM;
	reason = pipe_writer_region_renew(&ring->region, bytes, ring->huge_page_bytes, ring->retired);
	free(ring->marks);
	ring->marks = marks;
	ring->bytes = reason == 0 ? bytes : 0;
	ring->cursor = 0;
	statistics->regions++;
	return reason;
}

int pipe_writer_ring_reserve(struct ring *ring, int descriptor, size_t bytes, size_t chunk,
                             struct pipe_writer_slab *slab, struct pipe_writer_statistics *statistics)
{
	size_t wanted = pages(ring, bytes), first, again = 0;
	struct ring_mark last = { 0 };
	bool turned = ring->bytes - ring->cursor < bytes, left;

	if (turned)
		ring->cursor = 0;
	first = ring->cursor / ring->page_bytes;
	if (bytes <= ring->bytes) {
		/* Of all pages, the one that was sent last. */
		for (size_t i = first; i < first + wanted; i++) {
			again += ring->marks[i].bytes > 0;
			if (ring->marks[i].bytes > last.bytes)
				last = ring->marks[i];
		}
	}
	left = bytes <= ring->bytes && has_left(ring, descriptor, &last);
	if (bytes <= ring->bytes && !left)
		statistics->not_again++;
	/* With `trap` each turn has its own addresses, so that a pointer of the last one is found. */
	if (left && turned && ring->retired != NULL)
		left = pipe_writer_region_move(&ring->region, ring->retired);
	if (!left) {
		int reason = renew(ring, descriptor, bytes > chunk ? bytes : chunk, statistics);

		if (reason != 0)
			return reason;
		again = 0;
	}
	statistics->pages_again += again;
	*slab = (struct pipe_writer_slab){ ring->region.start + ring->cursor, wanted * ring->page_bytes };
	return 0;
}

void pipe_writer_ring_sent(struct ring *ring, const uint8_t *start, size_t bytes)
{
	if (start != NULL) {
		size_t at = (size_t)(start - ring->region.start), end = at + bytes;

		for (size_t page = at / ring->page_bytes; page * ring->page_bytes < end; page++) {
			size_t page_end = (page + 1) * ring->page_bytes;

			ring->sent.slots++;
			ring->marks[page].slots = ring->sent.slots;
			ring->marks[page].bytes = ring->sent.bytes + (page_end < end ? page_end : end) - at;
		}
	}
	ring->sent.bytes += bytes;
}

void pipe_writer_ring_advance(struct ring *ring, size_t bytes)
{
	ring->cursor += pages(ring, bytes) * ring->page_bytes;
}
