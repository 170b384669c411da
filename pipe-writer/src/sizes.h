/* What sizes go well, by measurements on several machines: see README.md. */
#ifndef PIPE_WRITER_SIZES_H
#define PIPE_WRITER_SIZES_H

#include <stdbool.h>
#include <stddef.h>

#include "pipe_writer.h"

struct sizes {
	size_t pipe_bytes;      /* the pipe's capacity; 0: no pipe, or not known */
	size_t chunk_bytes;
	size_t smallest_splice; /* what is smaller is cheaper copied */
};

/* Enlarges the pipe if that is of use. `is_pipe`: the descriptor is a pipe or FIFO. */
struct sizes pipe_writer_sizes_choose(int descriptor, bool is_pipe, const struct pipe_writer_options *options);

#endif
