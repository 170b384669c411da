#include "base/cores.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>

#include "base/fail.h"

enum { CORES_MAX = 4096 };

void cores_choose(const char *cores, int chosen[2])
{
	chosen[0] = chosen[1] = -1;
	if (strcmp(cores, "any") == 0)
		return;
#ifdef __linux__
	static cpu_set_t set[CORES_MAX / CPU_SETSIZE];
	int found[2] = { -1, -1 };

	if (sched_getaffinity(0, sizeof set, set) != 0)
		fail(EXIT_BROKEN, "cannot tell the allowed cores: %s", strerror(errno));
	for (int core = 0, n = 0; core < CORES_MAX && n < 2; core++)
		if (CPU_ISSET_S((size_t)core, sizeof set, set))
			found[n++] = core;
	chosen[0] = found[0];
	chosen[1] = strcmp(cores, "same") == 0 ? found[0] : found[1];
	if (chosen[1] < 0)
		fail(EXIT_UNSUPPORTED, "--cores different: only one core is allowed here");
#else
	fail(EXIT_UNSUPPORTED, "--cores %s: this system cannot pin to cores", cores);
#endif
}

void core_pin(int core)
{
#ifdef __linux__
	cpu_set_t set[CORES_MAX / CPU_SETSIZE];

	if (core < 0)
		return;
	CPU_ZERO_S(sizeof set, set);
	CPU_SET_S((size_t)core, sizeof set, set);
	if (sched_setaffinity(0, sizeof set, set) != 0)
		fail(EXIT_BROKEN, "cannot stay on core %d: %s", core, strerror(errno));
#else
	(void)core;
#endif
}
