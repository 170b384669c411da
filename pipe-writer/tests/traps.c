/* Option `trap`: whoever kept the pointer to a slab is stopped. */
#include "pipe_writer.h"
#include "harness.h"
#include "reader.h"

#ifdef __linux__
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>

static sigjmp_buf back;

static void caught(int signal_number)
{
	siglongjmp(back, signal_number);
}

/* Both to read and to write it. */
static bool faults(uint8_t *place)
{
	volatile int touched = 0; /* so that it is not moved before the touch */

	if (sigsetjmp(back, 1) == 0) {
		(void)*(volatile uint8_t *)place;
		touched++;
	}
	if (sigsetjmp(back, 1) == 0) {
		*(volatile uint8_t *)place = 2;
		touched++;
	}
	return touched == 0;
}

static void traps(struct pipe_writer_options options, const char *name)
{
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	uint8_t *kept;
	int ends[2];

	if (pipe(ends) != 0)
		return;
	options.trap = true;
	CHECK(pipe_writer_open(&writer, ends[1], &options) == 0, "%s: open", name);
	CHECK(pipe_writer_reserve(writer, 100, &slab) == 0, "%s: reserve", name);
	CHECK(faults(slab.data + slab.bytes), "%s: what lies behind a slab", name);
	kept = slab.data;
	kept[0] = 1;
	CHECK(pipe_writer_commit(writer, &slab, 100) == 0, "%s: commit", name);
	CHECK(faults(kept), "%s: committed memory cannot be touched", name);
	CHECK(pipe_writer_reserve(writer, 100, &slab) == 0 && slab.data != kept, "%s: the next slab lies elsewhere", name);
	slab.data[0] = 3;
	CHECK(faults(kept), "%s: nor when others were reserved since", name);
	kept = slab.data;
	CHECK(pipe_writer_commit(writer, &slab, 1 << 30) == EINVAL && faults(kept), "%s: a commit that is refused", name);
	CHECK(pipe_writer_reserve(writer, 0, &slab) == 0, "%s: reserve", name);
	kept = slab.data;
	CHECK(pipe_writer_commit(writer, &slab, 0) == 0 && faults(kept), "%s: a commit of nothing", name);
	CHECK(pipe_writer_reserve(writer, 0, &slab) == 0, "%s: reserve", name);
	kept = slab.data;
	close(ends[0]);
	CHECK(pipe_writer_commit(writer, &slab, 100) == EPIPE && faults(kept), "%s: the reader is gone", name);
	pipe_writer_close(&writer);
	close(ends[1]);
}

/* What waits for room is out of the caller's hands too; and it arrives. */
static void traps_while_waiting(struct pipe_writer_options options, const char *name)
{
	enum { BYTES = 500000 };
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	struct reader *start, reader;
	uint8_t *kept;
	int ends[2], reason;

	if (pipe(ends) != 0)
		return;
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	options.trap = options.no_wait = true;
	options.pipe_bytes = 1;
	CHECK(pipe_writer_open(&writer, ends[1], &options) == 0, "%s: open", name);
	CHECK(pipe_writer_reserve(writer, BYTES, &slab) == 0, "%s: reserve", name);
	kept = slab.data;
	stream_fill(kept, BYTES, 0);
	CHECK(pipe_writer_commit(writer, &slab, BYTES) == EAGAIN, "%s: no room for all", name);
	CHECK(faults(kept) && faults(kept + BYTES - 1), "%s: what waits cannot be touched", name);
	CHECK(pipe_writer_flush(writer) == EAGAIN && faults(kept + BYTES - 1), "%s: nor after a flush", name);
	start = reader_start(ends);
	while ((reason = pipe_writer_flush(writer)) == EAGAIN)
		usleep(100);
	CHECK(reason == 0 && faults(kept) && faults(kept + BYTES - 1), "%s: nor when all is sent", name);
	CHECK(pipe_writer_close(&writer) == 0, "%s: close", name);
	close(ends[1]);
	reader = reader_finish(start);
	CHECK(reader.got == BYTES && reader.wrong == 0, "%s: what waited arrives", name);
}

/* Pointers into memory that has been used up long since, and, of a ring, used again: no slab lies there. */
static void traps_later(struct pipe_writer_options options, const char *name)
{
	enum { SLABS = 300, KEPT = 60, BYTES = 100000 };
	uint8_t *kept[SLABS];
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	struct pipe_writer_statistics statistics;
	struct reader *start, reader;
	int ends[2], right = 1, missed = 0;

	if (pipe(ends) != 0)
		return;
	start = reader_start(ends);
	options.trap = true;
	CHECK(pipe_writer_open(&writer, ends[1], &options) == 0, "%s: open", name);
	for (int n = 0; n < SLABS; n++) {
		right &= pipe_writer_reserve(writer, BYTES, &slab) == 0;
		kept[n] = slab.data;
		stream_fill(slab.data, BYTES, (uint64_t)n * BYTES);
		for (int old = n < KEPT ? 0 : n - KEPT; old < n; old++)
			missed += !faults(kept[old]);
		right &= pipe_writer_commit(writer, &slab, BYTES) == 0;
	}
	statistics = pipe_writer_statistics(writer);
	CHECK(right && missed == 0, "%s: %d old pointers are of use again", name, missed);
	if (options.policy == PIPE_WRITER_RING)
		CHECK(statistics.pages_again > 1000, "%s: %llu pages used again", name, (unsigned long long)statistics.pages_again);
	CHECK(pipe_writer_close(&writer) == 0, "%s: close", name);
	close(ends[1]);
	reader = reader_finish(start);
	CHECK(reader.got == (uint64_t)SLABS * BYTES && reader.wrong == 0, "%s: content", name);
}
#endif

int main(void)
{
#ifdef __linux__
	static const struct pipe_writer_options fresh = { .strict = true },
		small = { .strict = true, .small_pages = true }, ring = { .policy = PIPE_WRITER_RING, .strict = true },
		copy = { .policy = PIPE_WRITER_WRITE }, automatic;
	static const struct {
		const struct pipe_writer_options *options;
		const char *name;
	} kinds[] = { { &fresh, "fresh" }, { &small, "fresh, small pages" }, { &ring, "ring" }, { &copy, "write" },
		      { &automatic, "chosen" } };
	struct sigaction action = { .sa_handler = caught };

	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
		traps(*kinds[n].options, kinds[n].name);
		traps_while_waiting(*kinds[n].options, kinds[n].name);
		traps_later(*kinds[n].options, kinds[n].name);
	}
#endif
	return harness_finish();
}
