/* Formats: proc(5); the kernel's Documentation/ABI/testing/sysfs-devices-system-cpu for the throttle counts. */
#include "machine/counters.h"

#include <stdio.h>
#include <unistd.h>

#include "base/source_file.h"

static bool read_once(struct source_file *file, const char *path)
{
	source_file_make(file, "", path);
	return source_file_read(file);
}

static void read_time(struct machine_counters *counters)
{
	enum { USER, NICE, SYSTEM, IDLE, WAIT, INTERRUPT, SOFT_INTERRUPT, STEAL, STATES };
	long ticks = sysconf(_SC_CLK_TCK);
	uint64_t tick_ns = 1000000000u / (uint64_t)(ticks > 0 ? ticks : 100);
	uint64_t states[STATES] = { 0 };
	struct source_file file;
	const char *at;

	if (read_once(&file, "/proc/stat") && (at = after_word(file.text, "cpu ")) != NULL) {
		for (int i = 0; i < STATES; i++)
			states[i] = take_number(&at) * tick_ns;
		counters->busy_ns = states[USER] + states[NICE] + states[SYSTEM] + states[INTERRUPT] + states[SOFT_INTERRUPT];
		counters->idle_ns = states[IDLE] + states[WAIT];
		counters->steal_ns = states[STEAL];
		for (at = next_line(file.text); after_word(at, "cpu") != NULL; at = next_line(at))
			counters->processors++;
		counters->has_time = counters->processors > 0;
	}
	source_file_free(&file);
}

static void read_swap(struct machine_counters *counters)
{
	struct source_file file;
	const char *value;

	if (read_once(&file, "/proc/vmstat")) {
		for (const char *at = file.text; *at != '\0'; at = next_line(at)) {
			if ((value = after_word(at, "pswpin ")) != NULL || (value = after_word(at, "pswpout ")) != NULL) {
				counters->swapped_pages += take_number(&value);
				counters->has_swap = true;
			}
		}
	}
	source_file_free(&file);
}

static void read_throttles(struct machine_counters *counters)
{
	long processors = sysconf(_SC_NPROCESSORS_CONF);
	char path[96];

	for (long i = 0; i < processors; i++) {
		struct source_file file;

		snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/thermal_throttle/core_throttle_count", i);
		bool there = read_once(&file, path);
		if (there) {
			const char *at = file.text;
			counters->throttles += take_number(&at);
			counters->has_throttles = true;
		}
		source_file_free(&file);
		/* Where the first processor has none, the others have none either. */
		if (!there && i == 0)
			return;
	}
}

struct machine_counters machine_counters_read(void)
{
	struct machine_counters counters = { 0 };

	read_time(&counters);
	read_swap(&counters);
	read_throttles(&counters);
	return counters;
}

/* A counter that went back, because a processor left, has not grown. */
static void add_growth(struct json *json, const char *name, uint64_t before, uint64_t after)
{
	json_unsigned(json, name, after > before ? after - before : 0);
}

void machine_counters_add(struct json *json, const struct machine_counters *before,
                          const struct machine_counters *after)
{
	bool time = before->has_time && after->has_time, swap = before->has_swap && after->has_swap;
	bool throttles = before->has_throttles && after->has_throttles;

	if (!time && !swap && !throttles)
		return;
	json_open_object(json, "machine");
	if (time) {
		add_growth(json, "busy_ns", before->busy_ns, after->busy_ns);
		add_growth(json, "idle_ns", before->idle_ns, after->idle_ns);
		add_growth(json, "steal_ns", before->steal_ns, after->steal_ns);
		json_unsigned(json, "cpus", after->processors);
	}
	if (swap)
		add_growth(json, "swapped_pages", before->swapped_pages, after->swapped_pages);
	if (throttles)
		add_growth(json, "throttles", before->throttles, after->throttles);
	json_close_object(json);
}
