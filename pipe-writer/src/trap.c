#include "trap.h"

#include <sys/mman.h>

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif
#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

void pipe_writer_retire(struct retired *retired, uint8_t *start, size_t bytes)
{
	unsigned place = retired->next++ % RETIRED_PLACES;

	if (retired->places[place].start != NULL)
		munmap(retired->places[place].start, retired->places[place].bytes);
	retired->places[place].start = NULL;
	if (mmap(start, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
		return; /* whether the old memory is still there is not known, so it is left alone */
	retired->places[place].start = start;
	retired->places[place].bytes = bytes;
}

void pipe_writer_retired_drop(struct retired *retired)
{
	for (unsigned place = 0; place < RETIRED_PLACES; place++)
		if (retired->places[place].start != NULL)
			munmap(retired->places[place].start, retired->places[place].bytes);
	*retired = (struct retired){ 0 };
}
