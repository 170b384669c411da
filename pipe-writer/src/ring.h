/* Memory that is used again once it has left the pipe. For readers that only read(). */
#ifndef PIPE_WRITER_RING_H
#define PIPE_WRITER_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipe_writer.h"
#include "region.h"

/* How much had gone into the pipe when a page had gone into it. */
struct ring_mark {
	uint64_t slots, bytes;
};

struct ring {
	struct region region;
	size_t page_bytes, huge_page_bytes;
	size_t bytes;              /* of the region, what is used in turn */
	size_t cursor;             /* the next reservation begins here */
	struct ring_mark *marks;   /* a page each; bytes = 0: it was never sent */
	struct ring_mark sent;     /* altogether */
	bool slot_is_page;         /* each page that is spliced takes a slot of the pipe */
	struct retired *retired;   /* with `trap`; otherwise NULL */
};

void pipe_writer_ring_open(struct ring *ring, size_t huge_page_bytes, struct retired *retired);
void pipe_writer_ring_close(struct ring *ring);

/* The memory of a reservation: pages that left the pipe, otherwise fresh ones. `chunk` is what is reserved as a rule;
 * the ring is made large enough for it. 0, or ENOMEM and the like. */
int pipe_writer_ring_reserve(struct ring *ring, int descriptor, size_t bytes, size_t chunk,
                             struct pipe_writer_slab *slab, struct pipe_writer_statistics *statistics);

/* `bytes` bytes at `start` were spliced by one call; or copied, or sent from elsewhere, if `start` is NULL. */
void pipe_writer_ring_sent(struct ring *ring, const uint8_t *start, size_t bytes);

/* The commit is over: its pages have had their turn. */
void pipe_writer_ring_advance(struct ring *ring, size_t bytes);

#endif
