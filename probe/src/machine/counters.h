/* What the whole machine's own counters say, read before and after a command: whether somebody else disturbed it. */
#ifndef STEND_MACHINE_COUNTERS_H
#define STEND_MACHINE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/json.h"

struct machine_counters {
	bool has_time, has_swap, has_throttles;
	uint64_t busy_ns, idle_ns, steal_ns; /* all processors together; idle holds the wait for disks */
	uint64_t processors;
	uint64_t swapped_pages; /* in and out */
	uint64_t throttles;     /* how often heat slowed a core down */
};

/* Reads /proc and /sys; what is not there is left out. */
struct machine_counters machine_counters_read(void);

/* Adds the object "machine" with what has grown from `before` to `after`; nothing if nothing is known. */
void machine_counters_add(struct json *json, const struct machine_counters *before,
                          const struct machine_counters *after);

#endif
