/* Signals as bytes to be read, so that poll() waits for them beside whatever else is waited for. */
#ifndef STEND_SIGNALS_H
#define STEND_SIGNALS_H

#include <stddef.h>

/* From now on each of these signals puts its number, as a byte, into a pipe; `also`, if it is not NULL, is called in the handler after that. Gives
 * the end to read from, which does not block and which no other program gets. To be called once; ends the program if there is no pipe to be had. */
int signals_catch(const int *numbers, size_t count, void (*also)(void));

#endif
