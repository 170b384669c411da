#include "pipe_ends.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "buffer.h"
#include "clock.h"
#include "fail.h"
#include "pipe_writer.h"

/* The writer looks at the clock after so many bytes. */
#define BYTES_BETWEEN_LOOKS 65536u

static void count_from(struct pipe_end_result *result)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	/* Unsigned arithmetic: the start is subtracted first, the end added later. */
	result->switches_voluntary -= (uint64_t)usage.ru_nvcsw;
	result->switches_involuntary -= (uint64_t)usage.ru_nivcsw;
	result->cpu_ns -= process_cpu_ns();
}

static void count_to(struct pipe_end_result *result)
{
	struct rusage usage;

	result->cpu_ns += process_cpu_ns();
	getrusage(RUSAGE_SELF, &usage);
	result->switches_voluntary += (uint64_t)usage.ru_nvcsw;
	result->switches_involuntary += (uint64_t)usage.ru_nivcsw;
}

struct sender {
	int descriptor;
	enum pipe_writer_kind kind;
	const struct pipe_pattern *pattern;
	struct pipe_writer fresh;
	struct buffer buffer;
};

static void sender_make(struct sender *sender, bool huge_pages)
{
	if (sender->kind == WRITER_VMSPLICE_FRESH) {
		int reason = pipe_writer_open(&sender->fresh, sender->descriptor, PIPE_WRITER_FRESH, huge_pages);
		if (reason != 0)
			fail(EXIT_UNSUPPORTED, "--writer vmsplice-fresh: %s", strerror(reason));
		return;
	}
	/* Starts with a page and takes whole ones: no other data shares a page with what is spliced. */
	sender->buffer = buffer_make((sender->pattern->chunk + 4095) / 4096 * 4096, 0, huge_pages);
	buffer_touch(&sender->buffer);
	pipe_pattern_prepare(sender->pattern, sender->buffer.data);
}

static void send_chunk(struct sender *sender, uint64_t n)
{
	size_t chunk = sender->pattern->chunk;
	int reason;

	if (sender->kind == WRITER_VMSPLICE_FRESH) {
		uint8_t *memory = pipe_writer_reserve(&sender->fresh, chunk);
		if (memory == NULL)
			fail(EXIT_BROKEN, "no fresh memory of %zu bytes: %s", chunk, strerror(errno));
		pipe_pattern_fill(sender->pattern, memory, n);
		reason = pipe_writer_commit(&sender->fresh, chunk);
	} else if (sender->kind == WRITER_VMSPLICE_CONSTANT) {
		reason = pipe_writer_splice_constant(sender->descriptor, sender->buffer.data, chunk);
	} else {
		pipe_pattern_fill(sender->pattern, sender->buffer.data, n);
		reason = pipe_writer_write(sender->descriptor, sender->buffer.data, chunk);
	}
	if (reason != 0)
		fail(EXIT_BROKEN, "cannot write to the pipe: %s", strerror(reason));
}

void pipe_write_end(int descriptor, int go, enum pipe_writer_kind kind, const struct pipe_pattern *pattern,
                    bool huge_pages, uint64_t duration_ns, uint64_t bytes_most, struct pipe_end_result *result)
{
	struct sender sender = { .descriptor = descriptor, .kind = kind, .pattern = pattern };
	uint64_t batch = (BYTES_BETWEEN_LOOKS + pattern->chunk - 1) / pattern->chunk;
	char byte;

	sender_make(&sender, huge_pages);
	if (read(go, &byte, 1) != 1)
		fail(EXIT_BROKEN, "the other end of the pipe is gone");
	uint64_t start = monotonic_ns();
	count_from(result);
	do {
		for (uint64_t i = 0; i < batch && result->bytes < bytes_most; i++) {
			send_chunk(&sender, result->chunks);
			result->chunks++;
			result->bytes += pattern->chunk;
		}
	} while (result->bytes < bytes_most && monotonic_ns() - start < duration_ns);
	pipe_writer_close(&sender.fresh);
	close(descriptor);
	count_to(result);
	buffer_free(&sender.buffer);
}

static ssize_t take(int descriptor, int null, uint8_t *to, size_t bytes)
{
#ifdef __linux__
	if (null >= 0)
		return splice(descriptor, NULL, null, NULL, bytes, SPLICE_F_MOVE);
#else
	(void)null;
#endif
	return read(descriptor, to, bytes);
}

void pipe_read_end(int descriptor, enum pipe_reader_kind kind, const struct pipe_pattern *pattern, bool check_all,
                   void (*release)(void *), void *argument, struct pipe_end_result *result)
{
	struct buffer buffer = buffer_make(pattern->chunk, 0, false);
	int null = -1;

	buffer_touch(&buffer);
	result->right = true;
	if (kind == READER_SPLICE_NULL && (null = open("/dev/null", O_WRONLY | O_CLOEXEC)) < 0)
		fail(EXIT_UNSUPPORTED, "--reader splice-null: cannot open /dev/null: %s", strerror(errno));
	release(argument);
	count_from(result);
	for (;;) {
		ssize_t count = take(descriptor, null, buffer.data, pattern->chunk);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			fail(EXIT_BROKEN, "cannot read from the pipe: %s", strerror(errno));
		if (count == 0)
			break;
		if (kind == READER_READ)
			result->right &= pipe_pattern_check(pattern, result->bytes, buffer.data, (size_t)count, check_all);
		result->bytes += (uint64_t)count;
	}
	count_to(result);
	if (null >= 0)
		close(null);
	buffer_free(&buffer);
}
