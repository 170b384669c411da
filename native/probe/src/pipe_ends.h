/* The two ends of the pipe, each for a process of its own. */
#ifndef STEND_PIPE_ENDS_H
#define STEND_PIPE_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "pipe_pattern.h"

enum pipe_writer_kind { WRITER_WRITE, WRITER_VMSPLICE_FRESH, WRITER_VMSPLICE_CONSTANT };
enum pipe_reader_kind { READER_READ, READER_SPLICE_NULL };

struct pipe_end_result {
	uint64_t bytes, chunks, cpu_ns;
	uint64_t switches_voluntary, switches_involuntary;
	bool right; /* reader: what was looked at was as expected */
};

/* Both end the program with one line if the system refuses. The writer sends whole chunks for `duration_ns`, at least
 * one, but not more than `bytes_most`; `go` becomes readable when it may start. */
void pipe_write_end(int descriptor, int go, enum pipe_writer_kind kind, const struct pipe_pattern *pattern,
                    bool huge_pages, uint64_t duration_ns, uint64_t bytes_most, struct pipe_end_result *result);

/* Until the end of the stream. `release` is called when the reader is ready. */
void pipe_read_end(int descriptor, enum pipe_reader_kind kind, const struct pipe_pattern *pattern, bool check_all,
                   void (*release)(void *), void *argument, struct pipe_end_result *result);

#endif
