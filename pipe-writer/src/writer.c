#include "pipe_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "constant.h"
#include "owner.h"
#include "region.h"
#include "ring.h"
#include "sizes.h"
#include "transfer.h"
#include "trap.h"

/* Memory of policy "fresh" is mapped in pieces of this size at least, or of a huge page. */
#define REGION_BYTES ((size_t)2 << 20)
/* When huge pages cannot be had just now (memory is in small pieces), so much is copied before they are asked for
 * again. */
#define COPIED_BETWEEN_TRIALS ((uint64_t)64 << 20)

struct pipe_writer {
	int descriptor;
	int failed; /* the first error of a transfer: what the reader gets has a hole, so nothing more is sent */
	bool wait, strict, trap;
	bool tees; /* into this descriptor, as far as is known */
	enum pipe_writer_policy policy;
	unsigned owner;
	size_t page_bytes, huge_page_bytes;
	struct sizes sizes;
	struct region region; /* fresh, write */
	size_t used;
	uint64_t copied; /* since huge pages were asked for */
	struct ring ring;
	struct pipe_writer_slab given;
	/* What a commit has to send; in mode `no_wait` some of it may stay. */
	struct {
		const uint8_t *memory;
		size_t bytes;
		enum transfer_way way;
		struct pipe_writer_slab slab; /* in which it is */
	} rest;
	struct retired retired; /* with `trap` */
	struct pipe_writer_statistics statistics;
};

static size_t round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

/* With `trap`: nobody may touch what is not reserved. False: the system would have to divide its memory into more pieces
 * than it allows. */
static bool guard(const struct pipe_writer *writer, const struct pipe_writer_slab *slab, int protection)
{
	return !writer->trap || slab->data == NULL ||
	       mprotect(slab->data, round_up(slab->bytes, writer->page_bytes), protection) == 0;
}

static int check_options(const struct pipe_writer_options *options)
{
	switch (options->policy) {
	case PIPE_WRITER_FRESH:
	case PIPE_WRITER_RING:
	case PIPE_WRITER_WRITE:
		return options->chunk_bytes > SIZE_MAX / 4 ? EINVAL : 0;
	}
	return EINVAL;
}

int pipe_writer_open(struct pipe_writer **result, int descriptor, const struct pipe_writer_options *options)
{
	static const struct pipe_writer_options none;
	struct pipe_writer *writer;
	struct stat status;
	int flags, reason;
	bool is_pipe, vmsplices;

	*result = NULL;
	if (options == NULL)
		options = &none;
	reason = check_options(options);
	if (reason != 0)
		return reason;
	flags = fcntl(descriptor, F_GETFL);
	if (flags < 0 || fstat(descriptor, &status) != 0)
		return errno;
	if ((flags & O_ACCMODE) == O_RDONLY)
		return EBADF;
	if (options->no_wait && !(flags & O_NONBLOCK))
		return EINVAL;
	is_pipe = S_ISFIFO(status.st_mode);
	if (options->strict && options->policy != PIPE_WRITER_WRITE && !is_pipe)
		return EINVAL;
	/* Asked only who needs it: a filter may end the process for it. */
	vmsplices = is_pipe && options->policy != PIPE_WRITER_WRITE && pipe_writer_transfer_knows_vmsplice(descriptor);
	if (options->strict && options->policy != PIPE_WRITER_WRITE && !vmsplices)
		return ENOTSUP;
	writer = calloc(1, sizeof *writer);
	if (writer == NULL)
		return ENOMEM;
	writer->descriptor = descriptor;
	writer->tees = is_pipe;
	writer->wait = !options->no_wait;
	writer->strict = options->strict;
	writer->trap = options->trap;
#ifdef PIPE_WRITER_TRAP
	writer->trap = true;
#endif
	writer->policy = options->policy;
	writer->owner = pipe_writer_owner_here();
	writer->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	writer->huge_page_bytes = options->small_pages ? 0 : pipe_writer_region_huge_page_bytes();
	if (!vmsplices || (writer->policy == PIPE_WRITER_FRESH && writer->huge_page_bytes == 0 && !writer->strict))
		writer->policy = PIPE_WRITER_WRITE;
	writer->sizes = pipe_writer_sizes_choose(descriptor, is_pipe, options);
	if (writer->policy == PIPE_WRITER_WRITE)
		writer->huge_page_bytes = 0;
	if (writer->policy == PIPE_WRITER_RING)
		pipe_writer_ring_open(&writer->ring, writer->huge_page_bytes, writer->trap ? &writer->retired : NULL);
	*result = writer;
	return 0;
}

/* Small pages came where huge ones were asked for. */
static bool lacks_huge_pages(const struct pipe_writer *writer)
{
	return writer->policy == PIPE_WRITER_FRESH && !writer->strict && writer->region.start != NULL &&
	       !writer->region.huge;
}

static enum transfer_way choose_way(const struct pipe_writer *writer, size_t bytes)
{
	if (writer->policy == PIPE_WRITER_WRITE || lacks_huge_pages(writer))
		return TRANSFER_WRITE;
	return writer->strict || bytes >= writer->sizes.smallest_splice ? TRANSFER_VMSPLICE : TRANSFER_WRITE;
}

/* Counts what went. `memory` is NULL if it is not of a slab. */
static void count(struct pipe_writer *writer, enum transfer_way way, const uint8_t *memory, size_t moved)
{
	if (moved == 0)
		return;
	if (way == TRANSFER_VMSPLICE) {
		writer->statistics.bytes_spliced += moved;
		writer->statistics.splices++;
	} else if (way == TRANSFER_TEE) {
		writer->statistics.bytes_teed += moved;
	} else {
		writer->statistics.bytes_written += moved;
		writer->copied += moved;
	}
	if (writer->policy == PIPE_WRITER_RING)
		pipe_writer_ring_sent(&writer->ring, way == TRANSFER_VMSPLICE ? memory : NULL, moved);
}

/* There is no vmsplice() any more, as a filter for system calls may come at any time. Memory of a ring stays until the
 * end: what is just being sent may be in it. */
static void copy_from_now_on(struct pipe_writer *writer)
{
	writer->policy = PIPE_WRITER_WRITE;
	writer->huge_page_bytes = 0;
}

/* There is no vmsplice() or tee(), or no memory just now for what the call itself needs. */
static bool can_be_copied(const struct pipe_writer *writer, enum transfer_way way, int reason)
{
	return !writer->strict && way != TRANSFER_WRITE && (reason == ENOTSUP || reason == ENOMEM);
}

/* Sends as much as goes; what is left is in *bytes. An error that is not a lack of room is for good. */
static int push(struct pipe_writer *writer, enum transfer_way *way, const uint8_t **memory, size_t *bytes)
{
	int reason = 0;

	while (*bytes > 0 && reason == 0) {
		size_t moved;

		reason = pipe_writer_transfer_some(writer->descriptor, *way, *memory, -1, *bytes, writer->wait, &moved);
		count(writer, *way, *memory, moved);
		*memory += moved;
		*bytes -= moved;
		if (can_be_copied(writer, *way, reason)) {
			if (reason == ENOTSUP)
				copy_from_now_on(writer);
			*way = TRANSFER_WRITE;
			reason = 0;
		}
	}
	if (reason != 0 && reason != EAGAIN)
		writer->failed = reason;
	return reason;
}

static int push_rest(struct pipe_writer *writer)
{
	int reason;

	/* The kernel has to read it. */
	if (!guard(writer, &writer->rest.slab, PROT_READ))
		return ENOMEM;
	reason = push(writer, &writer->rest.way, &writer->rest.memory, &writer->rest.bytes);
	guard(writer, &writer->rest.slab, PROT_NONE);
	return reason;
}

static int ready(struct pipe_writer *writer)
{
	if (writer->owner != pipe_writer_owner_here())
		return EPERM;
	if (writer->failed != 0)
		return writer->failed;
	return writer->rest.bytes == 0 ? 0 : push_rest(writer);
}

int pipe_writer_flush(struct pipe_writer *writer)
{
	return ready(writer);
}

/* Fresh memory: the rest of the region, or a new one. */
static int reserve_region(struct pipe_writer *writer, size_t bytes, size_t least)
{
	struct region *region = &writer->region;
	bool try_again = lacks_huge_pages(writer) && writer->copied >= COPIED_BETWEEN_TRIALS;

	if (region->start == NULL || region->bytes - writer->used < least || try_again) {
		int reason = pipe_writer_region_renew(region, bytes > REGION_BYTES ? bytes : REGION_BYTES,
		                                      writer->huge_page_bytes, writer->trap ? &writer->retired : NULL);

		writer->used = 0;
		writer->copied = 0;
		writer->statistics.regions++;
		if (reason != 0)
			return reason;
	}
	size_t left = region->bytes - writer->used;
	writer->given = (struct pipe_writer_slab){ region->start + writer->used, left < bytes ? left : bytes };
	return 0;
}

int pipe_writer_reserve(struct pipe_writer *writer, size_t bytes, struct pipe_writer_slab *slab)
{
	size_t chunk = writer->sizes.chunk_bytes;
	/* Rather a smaller slab than to leave much of a region unused. */
	size_t least = bytes > 0 ? bytes : chunk / 4;
	int reason;

	*slab = (struct pipe_writer_slab){ 0 };
	if (bytes > SIZE_MAX / 2)
		return EINVAL;
	reason = ready(writer);
	if (reason != 0)
		return reason;
	if (bytes < chunk)
		bytes = chunk;
	if (writer->given.data == NULL || writer->given.bytes < least) {
		guard(writer, &writer->given, PROT_NONE);
		writer->given = (struct pipe_writer_slab){ 0 };
		if (writer->policy == PIPE_WRITER_RING)
			reason = pipe_writer_ring_reserve(&writer->ring, writer->descriptor, bytes, chunk, &writer->given,
			                                  &writer->statistics);
		else
			reason = reserve_region(writer, bytes, least);
		if (reason != 0)
			return reason;
	}
	if (!guard(writer, &writer->given, PROT_READ | PROT_WRITE))
		return ENOMEM;
	*slab = writer->given;
	return 0;
}

int pipe_writer_commit(struct pipe_writer *writer, struct pipe_writer_slab *slab, size_t bytes)
{
	struct pipe_writer_slab taken = *slab;
	int reason;

	*slab = (struct pipe_writer_slab){ 0 };
	if (writer->owner != pipe_writer_owner_here())
		return EPERM;
	if (taken.data == NULL || taken.data != writer->given.data)
		return EINVAL;
	/* Whatever comes now, it is out of the caller's hands; what was not sent may be reserved again. */
	guard(writer, &writer->given, PROT_NONE);
	if (bytes > writer->given.bytes)
		return EINVAL;
	if (bytes == 0)
		return writer->failed;
	reason = ready(writer);
	if (reason != 0)
		return reason;
	taken = writer->given;
	writer->given = (struct pipe_writer_slab){ 0 };
	writer->rest.memory = taken.data;
	writer->rest.bytes = bytes;
	writer->rest.way = choose_way(writer, bytes);
	writer->rest.slab = taken;
	/* What is copied may be used again at once. With `trap` it is not, so that a stale pointer is found. */
	if (writer->rest.way == TRANSFER_VMSPLICE || writer->trap) {
		if (writer->policy == PIPE_WRITER_RING)
			pipe_writer_ring_advance(&writer->ring, bytes);
		else
			writer->used += round_up(bytes, writer->page_bytes);
	}
	return push_rest(writer);
}

int pipe_writer_write(struct pipe_writer *writer, const void *data, size_t bytes, size_t *sent)
{
	enum transfer_way way = TRANSFER_WRITE;
	const uint8_t *memory = data;
	size_t left = bytes;
	int reason = ready(writer);

	if (reason == 0)
		reason = push(writer, &way, &memory, &left);
	if (sent != NULL)
		*sent = bytes - left;
	return reason;
}

int pipe_writer_repeat(struct pipe_writer *writer, struct pipe_writer_constant *constant, uint64_t offset,
                       uint64_t bytes, uint64_t *sent)
{
	uint64_t done = 0;
	int reason = ready(writer);
	bool tees = writer->tees;

	if (sent != NULL)
		*sent = 0;
	if (reason != 0)
		return reason;
	offset %= pipe_writer_constant_bytes(constant); /* so that the sum below stays in range */
	while (reason == 0 && done < bytes) {
		struct constant_piece piece = pipe_writer_constant_next(constant, offset + done, bytes - done, tees);
		size_t moved;

		reason = pipe_writer_transfer_some(writer->descriptor, piece.way, piece.memory, piece.source, piece.bytes,
		                                   writer->wait, &moved);
		count(writer, piece.way, NULL, moved);
		done += moved;
		if (can_be_copied(writer, piece.way, reason)) {
			if (reason == ENOTSUP)
				writer->tees = false;
			tees = false;
			reason = 0;
		}
	}
	if (reason != 0 && reason != EAGAIN)
		writer->failed = reason;
	if (sent != NULL)
		*sent = done;
	return reason;
}

enum pipe_writer_policy pipe_writer_policy(const struct pipe_writer *writer)
{
	return lacks_huge_pages(writer) ? PIPE_WRITER_WRITE : writer->policy;
}

size_t pipe_writer_chunk_bytes(const struct pipe_writer *writer)
{
	return writer->sizes.chunk_bytes;
}

size_t pipe_writer_pipe_bytes(const struct pipe_writer *writer)
{
	return writer->sizes.pipe_bytes;
}

struct pipe_writer_statistics pipe_writer_statistics(const struct pipe_writer *writer)
{
	return writer->statistics;
}

int pipe_writer_close(struct pipe_writer **handle)
{
	struct pipe_writer *writer = *handle;
	int reason = 0;

	*handle = NULL;
	if (writer == NULL)
		return 0;
	/* In a child the addresses are not this writer's, but perhaps somebody else's. */
	if (writer->owner == pipe_writer_owner_here()) {
		reason = writer->failed != 0 ? writer->failed : writer->rest.bytes > 0 ? EAGAIN : 0;
		pipe_writer_region_drop(&writer->region);
		pipe_writer_ring_close(&writer->ring);
		pipe_writer_retired_drop(&writer->retired);
	} else {
		free(writer->ring.marks);
	}
	free(writer);
	return reason;
}
