/* Between the two ends: a pipe, a named one, sockets, or shared memory. */
#ifndef STEND_PIPE_TRANSPORTS_H
#define STEND_PIPE_TRANSPORTS_H

#include <stdint.h>

#include "pipe/ring.h"

enum {
	TRANSPORT_PIPE = 1,
	TRANSPORT_FIFO = 2,
	TRANSPORT_UNIX_STREAM = 4,
	TRANSPORT_UNIX_SEQPACKET = 8,
	TRANSPORT_TCP = 16,
	TRANSPORT_SHARED_MEMORY = 32,
	/* The two that splice and its like work on. */
	TRANSPORT_PIPES = TRANSPORT_PIPE | TRANSPORT_FIFO,
	TRANSPORT_DESCRIPTORS = 31,
	TRANSPORT_ALL = 63
};

struct channel {
	int reader, writer;       /* descriptors; -1: closed, or there is none */
	struct shared_ring *ring; /* instead of them */
	uint64_t capacity;        /* bytes that fit in between; 0: not known */
};

struct transport {
	const char *name;
	unsigned bit;
	bool has_capacity; /* that can be chosen */
	/* `capacity` 0: as the system has it. Ends the program with one line if the system refuses. */
	void (*make)(struct channel *channel, uint64_t capacity);
};

extern const struct transport transports[];
extern const unsigned transport_count;

/* In bytes, for one who is not privileged; 0: this system does not say. */
uint64_t pipe_capacity_limit(void);
/* Chooses the capacity of a pipe and returns what the system gave, 0 if it does not say; -1 and errno. */
int64_t pipe_set_capacity(int descriptor, uint64_t bytes);

void channel_close_reader(struct channel *channel);
void channel_close_writer(struct channel *channel);
/* What is still open. */
void channel_free(struct channel *channel);

#endif
