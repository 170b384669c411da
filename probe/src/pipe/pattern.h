/* What the bytes of the stream are: predictable at every offset, so that a reader can check any piece of it. */
#ifndef STEND_PIPE_PATTERN_H
#define STEND_PIPE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fizzbuzz/stream.h"

enum pipe_fill {
	FILL_NONE,    /* every chunk is the same and is filled once */
	FILL_TOUCH,   /* the first word of each 4096 bytes is a counter, all else is zero */
	FILL_FULL,    /* every word depends on its place in the stream */
	FILL_FLAT,    /* all bytes of a chunk are alike: the least that it costs to make bytes */
	FILL_FIZZBUZZ /* the stream is Fizz Buzz */
};

struct pipe_pattern {
	enum pipe_fill fill;
	size_t chunk;    /* bytes, a multiple of 8; with FILL_NONE the stream repeats after so many */
	uint64_t *words; /* chunk / 8 of them; unused with FILL_TOUCH and FILL_FLAT */
	struct fizzbuzz *stream; /* of this process: another one after fork() */
};

void pipe_pattern_make(struct pipe_pattern *pattern, enum pipe_fill fill, size_t chunk);
void pipe_pattern_free(struct pipe_pattern *pattern);

/* Before the first chunk goes into memory that is used again; with FILL_NONE this is all that is ever done. */
void pipe_pattern_prepare(const struct pipe_pattern *pattern, uint8_t *to);

/* Writes chunk number `n`. With FILL_TOUCH the rest must be zero already. */
void pipe_pattern_fill(const struct pipe_pattern *pattern, uint8_t *to, uint64_t n);

struct pipe_check {
	uint64_t words; /* looked at */
	uint64_t wrong; /* of them */
};

/* Holds `data` against what stands at `offset` of the stream, and adds to the counts: all of it, or the first word of each
 * 4096 bytes, of Fizz Buzz the first 4096 bytes of each MiB. A word that two pieces share counts in both. */
void pipe_pattern_check(const struct pipe_pattern *pattern, uint64_t offset, const uint8_t *data, size_t bytes, bool all,
                        struct pipe_check *check);

#endif
