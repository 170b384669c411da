/* The ways by which bytes get in. */
#ifndef STEND_PIPE_WRITERS_H
#define STEND_PIPE_WRITERS_H

#include "base/buffer.h"
#include "pipe/job.h"
#include "pipe/transports.h"
#include "pipe_writer.h"

struct writer {
	const struct pipe_job *job;
	const struct channel *channel;
	int alive; /* a pipe to the reader's process, which shows when that is gone */
	/* What the kinds keep. */
	struct buffer buffer;      /* `cells` chunks, each at `cell_bytes` from the one before */
	size_t cell_bytes, cells;
	struct pipe_writer *fresh;
	size_t used;               /* of the buffer */
	int source[2];             /* a file, or a pipe's ends; -1: none */
	void *state;
	uint64_t completed, copied; /* notifications of MSG_ZEROCOPY */
};

struct writer_kind {
	const char *name;
	unsigned transports;
	enum pipe_fill fill; /* where none is chosen */
	bool constant;       /* what is sent must never change */
	bool new_memory;     /* each chunk is sent from memory of its own, which is zero before */
	bool whole_pages;    /* a chunk must be some */
	/* All end the program with one line if the system refuses. */
	void (*open)(struct writer *writer);
	void (*send)(struct writer *writer, uint64_t n);
	void (*finish)(struct writer *writer); /* until the memory is not needed any more; NULL: at once */
};

extern const struct writer_kind *const writer_kinds[];
extern const unsigned writer_kind_count;

extern const struct writer_kind writer_vmsplice_fresh, writer_vmsplice_ring, writer_vmsplice_gift, writer_vmsplice_constant;
extern const struct writer_kind writer_tee_constant, writer_splice_file, writer_io_uring, writer_send_zerocopy;

void writer_open(struct writer *writer, const struct pipe_job *job, const struct channel *channel, int alive);
void writer_close(struct writer *writer);

/* For the kinds. Cells of memory, each ready for its first chunk and none sharing a page with another. */
void writer_make_cells(struct writer *writer, size_t cells);
/* Chunk `n` in its cell. */
uint8_t *writer_fill_cell(struct writer *writer, uint64_t n);
/* `call` has failed, as errno says. */
_Noreturn void writer_fail(const struct writer *writer, const char *call);
size_t page_bytes(void);

#endif
