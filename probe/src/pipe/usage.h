/* What an end has used between two moments. */
#ifndef STEND_PIPE_USAGE_H
#define STEND_PIPE_USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct pipe_usage {
	uint64_t cpu_ns;
	uint64_t switches_voluntary, switches_involuntary; /* getrusage */
	uint64_t timeslices; /* times that it was put on a processor: /proc/self/schedstat */
	uint64_t wakeups;    /* nr_wakeups of /proc/self/sched */
};

/* NULL: the figure can be had here; else why not. */
const char *usage_timeslices_missing(void);
const char *usage_wakeups_missing(void);

/* Of this process. The second call makes the difference. */
void usage_start(struct pipe_usage *usage);
void usage_stop(struct pipe_usage *usage);

#endif
