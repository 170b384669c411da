/* A lock on a file, as the lab takes it too. The kernel gives it back when the process ends, however it ends. */
#ifndef STEND_LOCK_H
#define STEND_LOCK_H

#include <stdbool.h>
#include <stddef.h>

/* Takes the lock and writes the holder into the file; it is held until the process ends. Only who holds it may remove the file: whoever waits
 * for it opens the next one then. False: somebody else has it; who, as far as the file says, is in `held_by`. Ends the program where the file
 * cannot be opened or locked. */
bool lock_take(const char *path, const char *holder, char *held_by, size_t bytes);

/* The same of a file that all users of the machine share, in a directory where anybody may write. */
bool lock_take_shared(const char *path, const char *holder, char *held_by, size_t bytes);

#endif
