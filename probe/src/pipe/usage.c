#include "pipe/usage.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"

/* Whole, for these files are small. */
static bool read_file(const char *path, char *text, size_t bytes)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t count = file < 0 ? -1 : read(file, text, bytes - 1);

	if (file >= 0)
		close(file);
	text[count > 0 ? count : 0] = '\0';
	return count > 0;
}

/* "time on a processor, time waiting for one, timeslices" */
static bool read_timeslices(uint64_t *timeslices)
{
	char text[128], *at = text;

	if (!read_file("/proc/self/schedstat", text, sizeof text))
		return false;
	for (unsigned field = 0; field < 3; field++) {
		char *start = at;

		*timeslices = strtoull(start, &at, 10);
		if (at == start)
			return false;
	}
	return true;
}

/* "nr_wakeups   :   12", which the kernel prints only while it counts. */
static bool read_wakeups(uint64_t *wakeups)
{
	static const char name[] = "\nnr_wakeups ", longer[] = "\nse.statistics.nr_wakeups ";
	static char text[16384];

	if (!read_file("/proc/self/sched", text, sizeof text))
		return false;
	const char *at = strstr(text, name);
	if (at == NULL)
		at = strstr(text, longer);
	if (at == NULL || (at = strchr(at, ':')) == NULL)
		return false;
	*wakeups = strtoull(at + 1, NULL, 10);
	return true;
}

const char *usage_timeslices_missing(void)
{
	uint64_t count;

	return read_timeslices(&count) ? NULL : "no /proc/self/schedstat";
}

const char *usage_wakeups_missing(void)
{
	uint64_t count;

	return read_wakeups(&count) ? NULL : "no nr_wakeups in /proc/self/sched; the kernel counts with kernel.sched_schedstats=1";
}

void usage_start(struct pipe_usage *usage)
{
	struct rusage counted;

	*usage = (struct pipe_usage){ 0 };
	read_timeslices(&usage->timeslices);
	read_wakeups(&usage->wakeups);
	getrusage(RUSAGE_SELF, &counted);
	usage->switches_voluntary = (uint64_t)counted.ru_nvcsw;
	usage->switches_involuntary = (uint64_t)counted.ru_nivcsw;
	usage->cpu_ns = process_cpu_ns();
}

void usage_stop(struct pipe_usage *usage)
{
	struct pipe_usage before = *usage;

	usage->cpu_ns = process_cpu_ns() - before.cpu_ns;
	struct rusage counted;
	getrusage(RUSAGE_SELF, &counted);
	usage->switches_voluntary = (uint64_t)counted.ru_nvcsw - before.switches_voluntary;
	usage->switches_involuntary = (uint64_t)counted.ru_nivcsw - before.switches_involuntary;
	read_timeslices(&usage->timeslices);
	read_wakeups(&usage->wakeups);
	usage->timeslices -= before.timeslices;
	usage->wakeups -= before.wakeups;
}
