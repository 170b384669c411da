#include "pipe/ends.h"

#include "base/clock.h"
#include "base/fail.h"
#include "pipe/calls.h"
#include "pipe/readers.h"
#include "pipe/writers.h"

/* The writer looks at the clock after so many bytes. */
#define BYTES_BETWEEN_LOOKS 65536u

void pipe_write_end(struct channel *channel, int go, const struct pipe_job *job, struct pipe_end_result *result)
{
	uint64_t batch = (BYTES_BETWEEN_LOOKS + job->chunk - 1) / job->chunk;
	struct writer writer;
	uint8_t byte;

	writer_open(&writer, job, channel, go);
	if (call_read(go, &byte, 1) != 1)
		fail(EXIT_BROKEN, "the reader is gone");
	uint64_t start = monotonic_ns();
	usage_start(&result->usage);
	do {
		for (uint64_t i = 0; i < batch && result->bytes < job->bytes_most; i++) {
			job->writer->send(&writer, result->chunks);
			result->chunks++;
			result->bytes += job->chunk;
		}
	} while (result->bytes < job->bytes_most && monotonic_ns() - start < job->duration_ns);
	writer_close(&writer);
	if (channel->ring != NULL)
		shared_ring_end(channel->ring);
	channel_close_writer(channel);
	usage_stop(&result->usage);
	result->completed = writer.completed;
	result->copied = writer.copied;
}

void pipe_read_end(const struct channel *channel, int alive, const struct pipe_job *job, void (*release)(void *),
                   void *argument, struct pipe_end_result *result)
{
	struct reader reader;

	reader_open(&reader, job, channel, alive);
	release(argument);
	usage_start(&result->usage);
	for (;;) {
		const uint8_t *data = NULL;
		size_t count = job->reader->take(&reader, &data);

		if (count == 0)
			break;
		if (data != NULL)
			pipe_pattern_check(&job->pattern, result->bytes, data, count, job->check_all, &result->check);
		result->bytes += count;
	}
	usage_stop(&result->usage);
	reader_close(&reader);
}
