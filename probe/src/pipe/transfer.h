/* One stream from a process of its own to this one. */
#ifndef STEND_PIPE_TRANSFER_H
#define STEND_PIPE_TRANSFER_H

#include "pipe/ends.h"

struct pipe_transfer {
	const struct transport *transport;
	uint64_t capacity;             /* wanted; 0: as the system has it */
	int writer_core, reader_core;  /* -1: any */
	struct pipe_end_result *shared; /* filled by the writer's process */
};

struct pipe_transfer_result {
	uint64_t t_ns, wall_ns; /* from the writer's start to the end of the stream at the reader */
	uint64_t capacity;      /* what the system gave; 0: not known */
	struct pipe_end_result writer, reader;
};

/* Both end the program with one line if something fails; the writer's process is then ended too. */
void pipe_transfer_make(struct pipe_transfer *transfer);
void pipe_transfer_run(struct pipe_transfer *transfer, const struct pipe_job *job, struct pipe_transfer_result *result);
void pipe_transfer_free(struct pipe_transfer *transfer);

#endif
