/* Commands that `stend-probe run` starts, and what they print. */
#ifndef STEND_RUN_CHILD_H
#define STEND_RUN_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/bytes.h"

struct child {
	pid_t pid;        /* and its process group */
	int in, out, err; /* our ends; -1: closed */
};

/* In a process group of its own: Ctrl-C at the terminal is for us. Ends the program if nothing can be started; a program that is not there
 * ends with status 127 and says so. `directory` may be NULL. */
struct child child_start(char *const *words, const char *directory);
/* Its end of input: a guard ends what it guards. */
void child_stop(struct child *child);
/* Waits for its end. The exit status; 128 + signal. */
int child_wait(struct child *child);

/* Reads what is there, and keeps at most so much. False: the stream is at its end, and closed. */
bool stream_take(int *stream, struct bytes *bytes, size_t most);

#endif
