/* The writer send-zerocopy: send() with MSG_ZEROCOPY. The kernel takes the pages themselves, and says on the socket's error
 * queue when it is done with them; before that they must not be written again. On loopback it copies all the same, later,
 * and says that too. */
#include "pipe/writers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "pipe/calls.h"

#if defined(__linux__) && defined(__has_include)
#if __has_include(<linux/errqueue.h>)
#include <linux/errqueue.h>
#include <netinet/in.h>
#endif
#endif

#if defined(SO_EE_ORIGIN_ZEROCOPY) && defined(MSG_ZEROCOPY) && defined(SO_ZEROCOPY)

/* Chunks in flight, and calls, which may be more where one takes only a part. */
enum { CELLS = 16, CALLS = 64, PATIENCE_MS = 10000 };

struct zerocopy {
	uint32_t calls;          /* made; the kernel counts them in the same way, from 0 */
	unsigned open_calls;     /* not completed */
	unsigned open_of[CELLS]; /* of them, by cell */
	unsigned char cell_of[CALLS];
	bool open[CALLS];
};

static void open_zerocopy(struct writer *writer)
{
	int on = 1;

	if (setsockopt(writer->channel->writer, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on) != 0)
		fail(EXIT_UNSUPPORTED, "--writer send-zerocopy: the system refuses SO_ZEROCOPY: %s", strerror(errno));
	writer->state = calloc(1, sizeof(struct zerocopy));
	if (writer->state == NULL)
		fail(EXIT_BROKEN, "no memory");
	writer_make_cells(writer, CELLS);
}

/* Calls `first` to `last` are done; the numbers wrap around. */
static void complete(struct writer *writer, uint32_t first, uint32_t last, bool copied)
{
	struct zerocopy *state = writer->state;

	for (uint32_t call = first; call != last + 1; call++) {
		unsigned place = call % CALLS;

		if (state->calls - call > CALLS || call == state->calls || !state->open[place])
			fail(EXIT_BROKEN, "the system reports send %u as done, which is not under way", (unsigned)call);
		state->open[place] = false;
		state->open_calls--;
		state->open_of[state->cell_of[place]]--;
		writer->completed++;
		writer->copied += copied;
	}
}

/* Reads one notification. False: there is none now. */
static bool take_notification(struct writer *writer)
{
	union {
		char bytes[256];
		struct cmsghdr aligned;
	} control;
	struct msghdr message = { .msg_control = &control, .msg_controllen = sizeof control };

	if (call_recvmsg(writer->channel->writer, &message, MSG_ERRQUEUE) < 0) {
		if (errno == EAGAIN)
			return false;
		writer_fail(writer, "recvmsg of the error queue");
	}
	for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
		struct sock_extended_err report;

		if (header->cmsg_level != SOL_IP || header->cmsg_type != IP_RECVERR)
			continue;
		memcpy(&report, CMSG_DATA(header), sizeof report);
		if (report.ee_origin == SO_EE_ORIGIN_ZEROCOPY && report.ee_errno == 0)
			complete(writer, report.ee_info, report.ee_data, report.ee_code == SO_EE_CODE_ZEROCOPY_COPIED);
	}
	return true;
}

/* Takes what there is, and waits for one if there is none. */
static void take_notifications(struct writer *writer)
{
	bool any = false;

	while (take_notification(writer))
		any = true;
	if (any)
		return;
	int events = call_poll(writer->channel->writer, 0, PATIENCE_MS);
	if (events < 0)
		writer_fail(writer, "poll");
	if (events == 0)
		fail(EXIT_BROKEN, "the system has not said for %d s whether it is done with what was sent", PATIENCE_MS / 1000);
	if (!take_notification(writer) && (events & POLLHUP) != 0)
		fail(EXIT_BROKEN, "the reader is gone");
}

static void send_zerocopy(struct writer *writer, uint64_t n)
{
	struct zerocopy *state = writer->state;
	unsigned cell = (unsigned)(n % CELLS);
	size_t left = writer->job->chunk;

	while (state->open_of[cell] > 0)
		take_notifications(writer);
	const uint8_t *from = writer_fill_cell(writer, n);
	while (left > 0) {
		while (state->open_calls == CALLS || state->open[state->calls % CALLS])
			take_notifications(writer);
		ssize_t count = call_send(writer->channel->writer, from, left, MSG_ZEROCOPY);
		/* Too many notifications wait to be read. */
		if (count < 0 && errno == ENOBUFS && state->open_calls > 0) {
			take_notifications(writer);
			continue;
		}
		if (count < 0)
			writer_fail(writer, "send");
		state->cell_of[state->calls % CALLS] = (unsigned char)cell;
		state->open[state->calls % CALLS] = true;
		state->open_of[cell]++;
		state->open_calls++;
		state->calls++;
		from += count;
		left -= (size_t)count;
	}
}

static void finish_zerocopy(struct writer *writer)
{
	struct zerocopy *state = writer->state;

	while (state->open_calls > 0)
		take_notifications(writer);
	free(state);
}

#else

static void open_zerocopy(struct writer *writer)
{
	(void)writer;
	fail(EXIT_UNSUPPORTED, "--writer send-zerocopy: this build has no MSG_ZEROCOPY");
}

static void send_zerocopy(struct writer *writer, uint64_t n)
{
	(void)writer;
	(void)n;
}

static void finish_zerocopy(struct writer *writer)
{
	(void)writer;
}

#endif

const struct writer_kind writer_send_zerocopy = {
	.name = "send-zerocopy", .transports = TRANSPORT_TCP, .open = open_zerocopy, .send = send_zerocopy,
	.finish = finish_zerocopy,
};
