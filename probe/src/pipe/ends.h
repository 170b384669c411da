/* The two ends of a stream, each for a process of its own. */
#ifndef STEND_PIPE_ENDS_H
#define STEND_PIPE_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "pipe/job.h"
#include "pipe/transports.h"
#include "pipe/usage.h"

struct pipe_end_result {
	uint64_t bytes, chunks;
	struct pipe_usage usage;
	struct pipe_check check;            /* reader */
	uint64_t completed, copied;         /* writer: notifications of MSG_ZEROCOPY */
};

/* Both end the program with one line if the system refuses. The writer sends whole chunks for the job's time, at least
 * one, but not more than its bytes; `go` becomes readable when it may start. */
void pipe_write_end(struct channel *channel, int go, const struct pipe_job *job, struct pipe_end_result *result);

/* Until the end of the stream. `release` is called when the reader is ready. `alive`: a pipe to the other process. */
void pipe_read_end(const struct channel *channel, int alive, const struct pipe_job *job, void (*release)(void *),
                   void *argument, struct pipe_end_result *result);

#endif
