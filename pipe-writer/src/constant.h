/* Constant data in a pipe of its own. */
#ifndef PIPE_WRITER_CONSTANT_H
#define PIPE_WRITER_CONSTANT_H

#include <stdbool.h>
#include <stdint.h>

#include "pipe_writer.h"
#include "transfer.h"

struct constant_piece {
	enum transfer_way way;
	const uint8_t *memory; /* to be copied */
	int source;            /* to be teed */
	size_t bytes;
};

/* The length of the data that is repeated. */
size_t pipe_writer_constant_bytes(const struct pipe_writer_constant *constant);

/* How the next bytes are best sent: those from `offset` on, at most `most`. */
struct constant_piece pipe_writer_constant_next(const struct pipe_writer_constant *constant, uint64_t offset,
                                                uint64_t most, bool to_pipe);

#endif
