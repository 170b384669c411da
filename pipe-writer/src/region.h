/* Anonymous memory, with huge pages where that is wanted. */
#ifndef PIPE_WRITER_REGION_H
#define PIPE_WRITER_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trap.h"

struct region {
	uint8_t *start; /* NULL: none */
	size_t bytes;
	size_t boundary; /* of its start and length: a huge page, or a page */
	bool huge;       /* its pages were huge when it was new */
};

/* The size of a huge page if memory may have them on request, and if it is of use here; otherwise 0. */
size_t pipe_writer_region_huge_page_bytes(void);

/* New memory of at least `bytes` bytes instead of what `region` has. The old pages are given up: who holds references
 * to them keeps their content. `huge_page_bytes` 0: small pages. With `retired`, which otherwise is NULL, it lies elsewhere,
 * and has no access rights yet. Returns 0 or ENOMEM and the like, and then there is no region. */
int pipe_writer_region_renew(struct region *region, size_t bytes, size_t huge_page_bytes, struct retired *retired);

/* The same pages at another address, without access rights, as the old one. False: it stays where it was. */
bool pipe_writer_region_move(struct region *region, struct retired *retired);

void pipe_writer_region_drop(struct region *region);

#endif
