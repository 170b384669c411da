/* The two halves of `stend-probe fizzbuzz`. Both end the program with one line if the system refuses. */
#ifndef STEND_FIZZBUZZ_ENDS_H
#define STEND_FIZZBUZZ_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "fizzbuzz/stream.h"

#define FIZZBUZZ_WRITERS "auto|write|fresh|ring|one-buffer|two-buffers|two-buffers-gift"
/* As `stend-probe pipe` has them, but for those whose bytes are never seen. */
#define FIZZBUZZ_READERS "read|readv|splice-pipe|tee|splice-file|read-enlarged"

struct fizzbuzz_output {
	const char *writer;  /* of FIZZBUZZ_WRITERS */
	uint64_t bytes;      /* 0: without end */
	uint64_t pipe_bytes; /* what the pipe is enlarged to; 0: as the writer thinks best */
	bool huge_pages;
};

struct fizzbuzz_input {
	const char *reader; /* of FIZZBUZZ_READERS */
	uint64_t bytes;     /* so many there must be; 0: any */
	uint64_t most;      /* what comes after them is left unread; 0: all is read */
};

/* To standard output, from where the stream stands. A reader that goes away is no error. */
void fizzbuzz_write(struct fizzbuzz *stream, const struct fizzbuzz_output *how);

/* Standard input against the stream, from where it stands; prints the events. Whether all was right. */
bool fizzbuzz_verify(struct fizzbuzz *stream, const struct fizzbuzz_input *how);

#endif
