/* `stend-probe sample` beside what is measured. */
#ifndef STEND_RUN_SAMPLER_H
#define STEND_RUN_SAMPLER_H

#include <stdint.h>

#include "carried/child.h"

struct sampler {
	struct child child;
	bool running;
	struct bytes begin;   /* its first event */
	struct bytes samples; /* the others, between commas */
	struct bytes line;    /* that has not ended */
	struct bytes errors;
	size_t newest_at;     /* where the newest of the samples begins */
	uint64_t newest_ns, period_ns;
};

/* At 0 hertz there is none. */
void sampler_start(struct sampler *sampler, const char *probe, uint64_t hertz, const char *pid_file);
/* Takes what it has printed. */
void sampler_take(struct sampler *sampler);
/* Waits for a moment until it has said what it cannot read, and sampled once. */
void sampler_begin(struct sampler *sampler);
/* Waits a little for a sample that was due before this moment. */
void sampler_catch_up(struct sampler *sampler, uint64_t moment_ns);
/* Of what was sampled until now only the newest is of interest: what counters were before the next command. */
void sampler_forget(struct sampler *sampler);
void sampler_end(struct sampler *sampler);

#endif
