/* What both ends of a stream are told before it begins. */
#ifndef STEND_PIPE_JOB_H
#define STEND_PIPE_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipe/pattern.h"

struct pipe_job {
	const struct writer_kind *writer;
	const struct reader_kind *reader;
	size_t chunk; /* bytes of a call */
	struct pipe_pattern pattern;
	bool huge_pages; /* ask for them for what is sent */
	bool check_all;
	uint64_t duration_ns;
	uint64_t bytes_most;
};

/* Pieces of so many bytes for readv and writev, and so many of them in a call. */
enum { PIECE_BYTES = 4096, PIECES_MOST = 1024 };

#endif
