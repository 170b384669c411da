/* Option `trap`: memory that was committed has no access rights, and its addresses do not come back soon. */
#ifndef PIPE_WRITER_TRAP_H
#define PIPE_WRITER_TRAP_H

#include <stddef.h>
#include <stdint.h>

/* Regions as a rule are 2 MiB, so this is 128 MiB of addresses; 32 bits have room for that too. */
enum { RETIRED_PLACES = 64 };

/* Addresses that were memory, and are kept so that nothing else comes there. All zero: none yet. */
struct retired {
	struct {
		uint8_t *start;
		size_t bytes;
	} places[RETIRED_PLACES];
	unsigned next;
};

/* Gives up the memory, and keeps its addresses until as many others were retired as there are places. */
void pipe_writer_retire(struct retired *retired, uint8_t *start, size_t bytes);
void pipe_writer_retired_drop(struct retired *retired);

#endif
