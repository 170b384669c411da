/* A file that `stend-probe run` wrote before, to go on with. */
#ifndef STEND_RUN_RESULT_H
#define STEND_RUN_RESULT_H

#include "carried/plan.h"

struct result {
	uint64_t sessions;
	size_t attempts;
	bool finished; /* the last session came to its end, and was not interrupted */
};

/* Opens the file to add to it, on standard output, and marks in the plan what is done. A last line that was cut off is taken away. Ends the
 * program if the file is of another plan, or damaged. */
struct result result_continue(struct plan *plan, const char *path);
/* Notes what came of an attempt. */
void result_count(struct plan *plan, size_t step, int exit);

#endif
