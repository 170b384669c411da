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
 * pair may become one operation of two cycles). An interruption can only slow a burst, so the fastest of many short ones counts; but only
 * where others were as fast, since one alone may be all that was not interrupted, or may not be whole. */
struct clock_estimate {
	double hz;     /* from the fastest burst; 0: unknown, the timer is too coarse or no three bursts were as fast as each other */
	double spread; /* median burst / fastest burst - 1 */
	unsigned bursts;
};

#define CLOCK_METHOD "fastest of short bursts of dependent one-cycle add and xor"

/* Spends about `duration_ns` of one core, and more where that does not do: at least one burst. */
struct clock_estimate clock_measure(uint64_t duration_ns);

/* The same from bursts that were timed, in nanoseconds, none of them 0. Sorts them. */
struct clock_estimate clock_from_bursts(uint64_t *bursts, unsigned count);

#endif
