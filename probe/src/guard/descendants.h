/* All processes below this one, also those that left its process group or session. */
#ifndef STEND_DESCENDANTS_H
#define STEND_DESCENDANTS_H

#include <stdbool.h>
#include <sys/time.h>

/* From now on a descendant whose parent has ended becomes a child of this process, so that none gets away. False: this
 * system cannot do that; such a process then belongs to init. */
bool descendants_adopt(void);

/* Sends the signal to every descendant, parents first, and CONT after it, for a stopped process sees no other signal than
 * KILL. False: this system does not tell which they are, or its /proc is that of another process namespace. */
bool descendants_signal(int number);

/* Adds the CPU time that every descendant has used so far, and its children that have ended: of what is still running
 * nothing else tells. In steps of the kernel's tick. Adds nothing if this system does not tell which they are. */
void descendants_add_times(struct timeval *user, struct timeval *system);
/* *sum += time. */
void timeval_add(struct timeval *sum, struct timeval time);

#endif
