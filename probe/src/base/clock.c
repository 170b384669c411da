#include "base/clock.h"

#include <stdlib.h>
#include <time.h>

#include "base/fail.h"

enum { STEPS_A_TURN = 256, TURNS = 512, BURSTS_MAX = 4096 };

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0)
		fail(EXIT_BROKEN, "clock_gettime does not work for clock %ld", (long)clock);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t monotonic_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t process_cpu_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t thread_cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int64_t unix_offset_ns(void)
{
	uint64_t shortest = UINT64_MAX;
	int64_t offset = 0;

	/* Between two readings the process may lose its processor: the closest ones count. */
	for (int turn = 0; turn < 5; turn++) {
		uint64_t before = monotonic_ns(), real = read_clock(CLOCK_REALTIME), after = monotonic_ns();

		if (after - before < shortest) {
			shortest = after - before;
			offset = (int64_t)(real - before) - (int64_t)((after - before) / 2);
		}
	}
	return offset;
}

/* (x + k) ^ k cannot be simplified for an unknown k, so each step is two dependent operations. An immediate
 * operand would not do: some cores add small constants at renaming, at no cost. */
#define STEP2 x = (x + k) ^ k;
#define STEP8 STEP2 STEP2 STEP2 STEP2
#define STEP32 STEP8 STEP8 STEP8 STEP8
#define STEP128 STEP32 STEP32 STEP32 STEP32

static volatile uint64_t seed = 0x9E3779B97F4A7C15u;

static uint64_t burst_ns(void)
{
	uint64_t x = seed, k = seed;
	uint64_t start = monotonic_ns();

	for (unsigned turn = 0; turn < TURNS; turn++) {
		STEP128 STEP128
	}
	uint64_t elapsed = monotonic_ns() - start;
	seed = x | 1u;
	return elapsed;
}

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* So many bursts beside each other, of lengths that differ by no more than this, are no chance: what interrupts a burst takes as long as it
 * likes. */
enum { AGREEING = 3 };
#define AGREEMENT 0.01

/* What did not agree in the time that was given gets so many times as much. A time slice has room for dozens of bursts. */
enum { MORE = 20 };

struct clock_estimate clock_from_bursts(uint64_t *bursts, unsigned count)
{
	struct clock_estimate estimate = { .bursts = count };

	if (count == 0)
		return estimate;
	qsort(bursts, count, sizeof *bursts, compare);
	estimate.spread = (double)bursts[count / 2] / (double)bursts[0] - 1.0;
	if (count >= AGREEING && (double)bursts[AGREEING - 1] <= (double)bursts[0] * (1.0 + AGREEMENT))
		estimate.hz = (double)STEPS_A_TURN * TURNS * 1e9 / (double)bursts[0];
	return estimate;
}

struct clock_estimate clock_measure(uint64_t duration_ns)
{
	static uint64_t bursts[BURSTS_MAX];
	struct clock_estimate estimate = { 0 };
	uint64_t start = monotonic_ns(), spent;
	unsigned count = 0;

	do {
		uint64_t elapsed = burst_ns();
		if (elapsed > 0)
			bursts[count++] = elapsed;
		spent = monotonic_ns() - start;
		if (spent >= duration_ns)
			estimate = clock_from_bursts(bursts, count);
	} while (count < BURSTS_MAX && (spent < duration_ns || (estimate.hz <= 0 && spent / MORE < duration_ns)));
	return clock_from_bursts(bursts, count);
}
