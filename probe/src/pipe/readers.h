/* The ways by which bytes get out. */
#ifndef STEND_PIPE_READERS_H
#define STEND_PIPE_READERS_H

#include "base/buffer.h"
#include "pipe/job.h"
#include "pipe/transports.h"

struct reader {
	const struct pipe_job *job;
	const struct channel *channel;
	int alive; /* a pipe to the writer's process, which shows when that is gone */
	/* What the kinds keep. */
	struct buffer buffer;
	int null, file;    /* -1: not open */
	int second[2];     /* a pipe of the reader's own */
	uint64_t held;     /* bytes in it */
	uint64_t second_capacity;
	bool ended;        /* no more comes out of the channel */
	bool enlarged;     /* the channel */
	uint8_t *mapping;  /* of the file */
	off_t file_at;
};

struct reader_kind {
	const char *name;
	unsigned transports;
	bool blind; /* the bytes are never seen */
	/* Both end the program with one line if the system refuses. */
	void (*open)(struct reader *reader);
	/* The next bytes, at least one; 0 at the end. `*data` stays NULL for the blind. */
	size_t (*take)(struct reader *reader, const uint8_t **data);
};

extern const struct reader_kind reader_read;
extern const struct reader_kind *const reader_kinds[];
extern const unsigned reader_kind_count;

void reader_open(struct reader *reader, const struct pipe_job *job, const struct channel *channel, int alive);
void reader_close(struct reader *reader);

#endif
