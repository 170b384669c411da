/* Time, in nanoseconds, and the frequency of the core's clock. */
#ifndef STEND_CLOCK_H
#define STEND_CLOCK_H

#include <stdint.h>

uint64_t monotonic_ns(void);   /* CLOCK_MONOTONIC */
uint64_t process_cpu_ns(void); /* CLOCK_PROCESS_CPUTIME_ID */
uint64_t thread_cpu_ns(void);  /* CLOCK_THREAD_CPUTIME_ID */

/* CLOCK_REALTIME less CLOCK_MONOTONIC. It changes only where somebody sets the clock: what disciplines it (adjtime, NTP)
 * changes the pace of both. */
int64_t unix_offset_ns(void);

/* The core's clock as seen by a chain of dependent one-cycle operations.
 *
 * Assumption: an add and an exclusive-or of two registers have a latency of one cycle each. It holds for every
 * processor that is known to the authors (x86 since the Pentium Pro, ARMv7/v8, RISC-V, POWER excepted: 2, e2k, where the
 * pair may become one operation of two cycles). The fastest of many short bursts counts: an interruption
 * can only slow a burst. */
struct clock_estimate {
	double hz;     /* from the fastest burst; 0: could not be measured */
	double spread; /* median burst / fastest burst - 1 */
	unsigned bursts;
};

#define CLOCK_METHOD "fastest of short bursts of dependent one-cycle add and xor"

/* Spends about `duration_ns` of one core, at least one burst. */
struct clock_estimate clock_measure(uint64_t duration_ns);

#endif
