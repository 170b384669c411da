/* All processes below this one, also those that left its process group or session. */
#ifndef STEND_DESCENDANTS_H
#define STEND_DESCENDANTS_H

#include <stdbool.h>

/* From now on a descendant whose parent has ended becomes a child of this process, so that none gets away. False: this
 * system cannot do that; such a process then belongs to init. */
bool descendants_adopt(void);

/* Sends the signal to every descendant that lives, parents first, and CONT after it, for a stopped process sees no
 * other signal than KILL. False: this system does not tell which they are. */
bool descendants_signal(int number);

#endif
