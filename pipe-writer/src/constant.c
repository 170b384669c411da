#include "constant.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What every user may ask for. */
enum { SOURCE_BYTES = 1 << 20 };

struct pipe_writer_constant {
	uint8_t *memory; /* whole repetitions of the data */
	size_t data_bytes, memory_bytes;
	int source[2]; /* a pipe that holds `teed_bytes` of them, and that nobody reads; -1: none */
	size_t teed_bytes;
};

static size_t greatest_common_divisor(size_t a, size_t b)
{
	while (b > 0) {
		size_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* As many whole repetitions as the pipe takes; whole pages of them if that goes, so that each tee() of a part ends at
 * the start of a repetition. */
static size_t repetitions_that_fit(size_t data_bytes, size_t capacity, size_t page_bytes)
{
	size_t unit = data_bytes / greatest_common_divisor(data_bytes, page_bytes);

	if (unit <= capacity / page_bytes)
		return capacity / (unit * page_bytes) * (unit * page_bytes);
	return capacity / data_bytes * data_bytes;
}

#ifdef __linux__
static int fill_source(struct pipe_writer_constant *constant, size_t page_bytes)
{
	size_t moved, bytes;
	int capacity;

	if (pipe2(constant->source, O_CLOEXEC) != 0)
		return errno;
	for (int wanted = SOURCE_BYTES; wanted > 65536 && fcntl(constant->source[1], F_SETPIPE_SZ, wanted) < 0;)
		wanted /= 2;
	capacity = fcntl(constant->source[1], F_GETPIPE_SZ);
	bytes = capacity > 0 ? repetitions_that_fit(constant->data_bytes, (size_t)capacity, page_bytes) : 0;
	if (bytes > constant->memory_bytes)
		bytes = constant->memory_bytes;
	/* It fits, so this does not wait. */
	int reason = pipe_writer_transfer_all(constant->source[1], TRANSFER_WRITE, constant->memory, bytes, true, &moved);
	constant->teed_bytes = moved;
	return reason;
}
#endif

int pipe_writer_constant_open(struct pipe_writer_constant **result, const void *data, size_t bytes)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	struct pipe_writer_constant *constant;
	int reason = 0;

	*result = NULL;
	if (bytes == 0)
		return EINVAL;
	constant = calloc(1, sizeof *constant);
	if (constant == NULL)
		return ENOMEM;
	constant->source[0] = constant->source[1] = -1;
	constant->data_bytes = bytes;
	constant->memory_bytes = bytes < SOURCE_BYTES ? repetitions_that_fit(bytes, SOURCE_BYTES, page_bytes) : bytes;
	constant->memory = malloc(constant->memory_bytes);
	if (constant->memory == NULL) {
		free(constant);
		return ENOMEM;
	}
	for (size_t at = 0; at < constant->memory_bytes; at += bytes)
		memcpy(constant->memory + at, data, bytes);
#ifdef __linux__
	if (bytes <= SOURCE_BYTES)
		reason = fill_source(constant, page_bytes);
#endif
	if (reason != 0)
		pipe_writer_constant_close(&constant);
	*result = constant;
	return reason;
}

void pipe_writer_constant_close(struct pipe_writer_constant **handle)
{
	struct pipe_writer_constant *constant = *handle;

	*handle = NULL;
	if (constant == NULL)
		return;
	for (int i = 0; i < 2; i++)
		if (constant->source[i] >= 0)
			close(constant->source[i]);
	free(constant->memory);
	free(constant);
}

size_t pipe_writer_constant_bytes(const struct pipe_writer_constant *constant)
{
	return constant->data_bytes;
}

struct constant_piece pipe_writer_constant_next(const struct pipe_writer_constant *constant, uint64_t offset,
                                                uint64_t most, bool to_pipe)
{
	size_t phase = (size_t)(offset % constant->data_bytes);
	struct constant_piece piece = { .way = TRANSFER_WRITE, .memory = constant->memory + phase, .source = -1 };

	if (to_pipe && constant->teed_bytes > 0) {
		if (phase == 0) {
			piece.way = TRANSFER_TEE;
			piece.source = constant->source[0];
			piece.bytes = constant->teed_bytes;
		} else {
			/* Up to the next repetition: tee() begins with one. */
			piece.bytes = constant->data_bytes - phase;
		}
	} else {
		piece.bytes = constant->memory_bytes - phase;
	}
	if (piece.bytes > most)
		piece.bytes = (size_t)most;
	return piece;
}
