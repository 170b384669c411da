/* The writer io-uring: one IORING_OP_WRITE at a time. The ring is set up by hand, for it takes three calls and no
 * library. */
#include "pipe/writers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "pipe/calls.h"

#if defined(__linux__) && defined(__has_include)
#if __has_include(<linux/io_uring.h>)
#include <linux/io_uring.h>
#include <sys/syscall.h>
#endif
#endif

/* Came with IORING_OP_WRITE, in Linux 5.6. */
#if defined(IORING_FEAT_RW_CUR_POS) && defined(SYS_io_uring_setup)

#include <stdatomic.h>
#include <sys/mman.h>

enum { ENTRIES = 4 };

/* What the kernel shares with us; the counters are read and written by both. */
struct uring {
	int descriptor;
	uint8_t *submissions, *completions; /* two mappings, or the same one */
	size_t submission_bytes, completion_bytes;
	struct io_uring_sqe *entries;
	_Atomic(uint32_t) *submission_tail, *completion_head, *completion_tail;
	uint32_t *indices, submission_mask, completion_mask;
	const struct io_uring_cqe *results;
};

static void *map(int descriptor, size_t bytes, off_t what)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, what);

	if (memory == MAP_FAILED)
		fail(EXIT_UNSUPPORTED, "--writer io-uring: cannot map its ring: %s", strerror(errno));
	return memory;
}

static _Atomic(uint32_t) *counter(uint8_t *ring, uint32_t offset)
{
	return (_Atomic(uint32_t) *)(void *)(ring + offset);
}

static void open_uring(struct writer *writer)
{
	struct io_uring_params parameters;
	struct uring *uring = calloc(1, sizeof *uring);

	if (uring == NULL)
		fail(EXIT_BROKEN, "no memory");
	writer->state = uring;
	memset(&parameters, 0, sizeof parameters);
	uring->descriptor = (int)syscall(SYS_io_uring_setup, ENTRIES, &parameters);
	if (uring->descriptor < 0)
		fail(EXIT_UNSUPPORTED, "--writer io-uring: the kernel refuses: %s", strerror(errno));
	if ((parameters.features & IORING_FEAT_RW_CUR_POS) == 0)
		fail(EXIT_UNSUPPORTED, "--writer io-uring: the kernel is too old for a write; it needs Linux 5.6");
	const struct io_sqring_offsets *in = &parameters.sq_off;
	const struct io_cqring_offsets *out = &parameters.cq_off;
	uring->submission_bytes = in->array + parameters.sq_entries * sizeof(uint32_t);
	uring->completion_bytes = out->cqes + parameters.cq_entries * sizeof(struct io_uring_cqe);
	uring->submissions = map(uring->descriptor, uring->submission_bytes, (off_t)IORING_OFF_SQ_RING);
	uring->completions = map(uring->descriptor, uring->completion_bytes, (off_t)IORING_OFF_CQ_RING);
	uring->entries = map(uring->descriptor, ENTRIES * sizeof(struct io_uring_sqe), (off_t)IORING_OFF_SQES);
	uring->submission_tail = counter(uring->submissions, in->tail);
	uring->indices = (uint32_t *)(void *)(uring->submissions + in->array);
	uring->submission_mask = *(uint32_t *)(void *)(uring->submissions + in->ring_mask);
	uring->completion_head = counter(uring->completions, out->head);
	uring->completion_tail = counter(uring->completions, out->tail);
	uring->completion_mask = *(uint32_t *)(void *)(uring->completions + out->ring_mask);
	uring->results = (struct io_uring_cqe *)(void *)(uring->completions + out->cqes);
	writer_make_cells(writer, 1);
}

/* As write(): the count, or -1 and errno. */
static ssize_t write_by_ring(struct uring *uring, int to, const uint8_t *from, size_t bytes)
{
	uint32_t tail = atomic_load_explicit(uring->submission_tail, memory_order_relaxed);
	uint32_t place = tail & uring->submission_mask;
	struct io_uring_sqe *entry = &uring->entries[place];

	memset(entry, 0, sizeof *entry);
	entry->opcode = IORING_OP_WRITE;
	entry->fd = to;
	entry->off = (uint64_t)-1; /* where the descriptor is */
	entry->addr = (uint64_t)(uintptr_t)from;
	entry->len = bytes < INT32_MAX ? (uint32_t)bytes : INT32_MAX;
	uring->indices[place] = place;
	atomic_store_explicit(uring->submission_tail, tail + 1, memory_order_release);

	uint32_t head = atomic_load_explicit(uring->completion_head, memory_order_relaxed);
	unsigned submit = 1;
	while (atomic_load_explicit(uring->completion_tail, memory_order_acquire) == head) {
		int taken = call_uring_enter(uring->descriptor, submit, 1);
		if (taken < 0)
			return -1;
		submit -= (unsigned)taken;
	}
	int32_t result = uring->results[head & uring->completion_mask].res;
	atomic_store_explicit(uring->completion_head, head + 1, memory_order_release);
	if (result < 0)
		errno = -result;
	return result < 0 ? -1 : result;
}

static void send_uring(struct writer *writer, uint64_t n)
{
	const uint8_t *from = writer_fill_cell(writer, n);
	size_t left = writer->job->chunk;

	while (left > 0) {
		ssize_t count = write_by_ring(writer->state, writer->channel->writer, from, left);

		if (count < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (count < 0)
			writer_fail(writer, "io_uring");
		from += count;
		left -= (size_t)count;
	}
}

static void finish_uring(struct writer *writer)
{
	struct uring *uring = writer->state;

	munmap(uring->entries, ENTRIES * sizeof(struct io_uring_sqe));
	munmap(uring->completions, uring->completion_bytes);
	munmap(uring->submissions, uring->submission_bytes);
	close(uring->descriptor);
	free(uring);
}

#else

static void open_uring(struct writer *writer)
{
	(void)writer;
	fail(EXIT_UNSUPPORTED, "--writer io-uring: this build has no io_uring");
}

static void send_uring(struct writer *writer, uint64_t n)
{
	(void)writer;
	(void)n;
}

static void finish_uring(struct writer *writer)
{
	(void)writer;
}

#endif

const struct writer_kind writer_io_uring = {
	.name = "io-uring", .transports = TRANSPORT_DESCRIPTORS, .open = open_uring, .send = send_uring, .finish = finish_uring,
};
