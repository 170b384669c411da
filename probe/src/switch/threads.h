/* Handing over from thread to thread: one wakes the other, and sleeps until it is woken itself. */
#ifndef STEND_SWITCH_THREADS_H
#define STEND_SWITCH_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* What the two threads share; each has its own way to be woken. */
struct hand_over;

struct hand_over_method {
	const char *name;
	const char *(*missing)(void); /* NULL: it is to be had here */
	bool (*open)(struct hand_over *threads); /* false: refused, with errno */
	void (*close)(struct hand_over *threads);
	/* Wakes the thread `to`, 0 or 1; `turn` is how many times so far, this one included. False: refused, with errno. */
	bool (*wake)(struct hand_over *threads, unsigned to, uint32_t turn);
	/* Waits until `self` was woken for the `turn`th time. False: by something else, or refused. */
	bool (*sleep)(struct hand_over *threads, unsigned self, uint32_t turn);
};

/* futex, pipe, eventfd; the last element's name is NULL. */
extern const struct hand_over_method hand_over_methods[];

struct hand_over_result {
	uint64_t t_ns, wall_ns, cpu_ns, sleeps; /* both threads together */
	uint64_t sent, received;                /* as each of them has counted */
	bool right;                             /* no thread was woken by anything but its turn */
};

/* Starts a second thread, hands over to it and back for so long, and ends it. `cores`: where the threads stay, below 0:
 * anywhere. Ends the program with one line if the system refuses. */
void hand_over_run(const struct hand_over_method *method, const int cores[2], uint64_t duration_ns,
                   struct hand_over_result *result);

#endif
