/* `stend-probe sample`: what the machine does meanwhile. */
#include "commands.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/signals.h"
#include "sample/sources.h"
#include "wire/wire.h"

static struct {
	uint64_t hertz, seconds;
	const char *root, *loader;
	struct option_pairs groups, disks;
} chosen;

static const struct option_definition options[] = {
	{ "hertz", OPTION_INTEGER, "N", "10", "samples per second, 1 to 100", &chosen.hertz, 1, 100 },
	{ "seconds", OPTION_DURATION, "TIME", NULL, "end after this long", &chosen.seconds, 1, UINT64_C(31536000000000000) },
	{ "group", OPTION_PAIRS, "NAME=DIR", NULL, "a control group's directory; its metrics begin with NAME", &chosen.groups, 0, 0 },
	{ "disks", OPTION_PAIRS, "NAME=DISK", NULL, "a disk to include in the sum NAME", &chosen.disks, 0, 0 },
	{ "loader", OPTION_TEXT, "FILE", NULL, "sample the descendants of the guard whose process ID is in FILE", &chosen.loader, 0, 0 },
	{ "root", OPTION_TEXT, "DIR", "", "read DIR/proc and DIR/sys (for tests)", &chosen.root, 0, 0 },
};

static const struct command command = {
	"sample", "Sample the machine: processors, memory, disks, networks, pressure, temperatures, energy, control groups.",
	"Prints `begin`, one `sample` per tick from the start, and `end`. Ends when standard input is closed, if that is a pipe,\n"
	"a socket or a terminal; on TERM, INT and HUP; or after --seconds. Ticks are at fixed moments; a missed one is skipped.\n"
	"Frequencies and energy are read at most ten times a second, temperatures, throttling and swapping once. To limit the cost to 0.4 %\n"
	"of one core (at 10 samples a second; in proportion above), a group of metrics that is expensive on this machine is read\n"
	"less often, but at least once a second. Unavailable metrics are listed under `missing` in `begin`; metrics that\n"
	"disappear later are omitted from the samples.",
	options, sizeof options / sizeof *options, NULL, NULL,
};

/* /dev/null and plain files are always at their end: that says nothing. */
static bool input_can_close(void)
{
	struct stat status;

	if (fstat(STDIN_FILENO, &status) != 0)
		return false;
	return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || isatty(STDIN_FILENO);
}

static bool input_has_closed(void)
{
	char ignored[4096];
	ssize_t count = read(STDIN_FILENO, ignored, sizeof ignored);

	return count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN);
}

/* Sleeps until the moment; false: it is time to end. */
static bool sleep_until(uint64_t moment, int signals, bool *watch_input)
{
	for (;;) {
		struct pollfd descriptors[2] = {
			{ .fd = signals, .events = POLLIN },
			{ .fd = *watch_input ? STDIN_FILENO : -1, .events = POLLIN },
		};
		uint64_t now = monotonic_ns();
		if (now >= moment)
			return true;
		uint64_t left = moment - now;
#ifdef __linux__
		struct timespec wait = { (time_t)(left / 1000000000u), (long)(left % 1000000000u) };
		int ready = ppoll(descriptors, 2, &wait, NULL);
#else
		int ready = poll(descriptors, 2, (int)((left + 999999) / 1000000));
#endif
		if (ready <= 0)
			continue;
		if (descriptors[0].revents != 0)
			return false;
		if (descriptors[1].revents != 0 && input_has_closed())
			return false;
	}
}

static void print_begin(struct json *json, struct sample_system *system, struct sample_devices *devices,
                        struct sample_energy *energy, struct sample_groups *groups)
{
	wire_open_begin(json, "sample");
	json_unsigned(json, "hertz", chosen.hertz);
	if (chosen.seconds > 0)
		json_real(json, "seconds", (double)chosen.seconds / 1e9);
	if (*chosen.root != '\0')
		json_text(json, "root", chosen.root);
	json_close_object(json);
	json_open_object(json, "missing");
	sample_system_make(system, chosen.root, json);
	sample_devices_make(devices, chosen.root, &chosen.disks, json);
	sample_energy_make(energy, chosen.root, json);
	sample_groups_make(groups, chosen.root, &chosen.groups, json);
	/* Closes "missing" and the event. */
	wire_close_begin(json);
}

static struct sample_system the_system;
static struct sample_devices the_devices;
static struct sample_energy the_energy;
static struct sample_groups the_groups;
static struct sample_loader the_loader;

#define GROUP(kind, group)                            \
	static void add_##group(struct sample_line *line) \
	{                                                 \
		sample_##kind##_add_##group(&the_##kind, line); \
	}
GROUP(system, processors)
GROUP(system, memory)
GROUP(system, swap)
GROUP(system, pressure)
GROUP(system, frequencies)
GROUP(system, throttles)
GROUP(devices, disks)
GROUP(devices, networks)
GROUP(devices, temperatures)
GROUP(energy, readings)

static void add_control_groups(struct sample_line *line)
{
	sample_groups_add(&the_groups, line);
}

static void add_loader(struct sample_line *line)
{
	sample_loader_add(&the_loader, line);
}

static struct group {
	void (*add)(struct sample_line *line);
	uint64_t hertz_most; /* 0: every tick */
	uint64_t every;      /* ticks between two readings */
	uint64_t cost_ns;    /* CPU time of a reading, smoothed */
} groups[] = {
	{ add_processors, 0, 1, 0 }, { add_memory, 0, 1, 0 },    { add_swap, 1, 1, 0 },
	{ add_pressure, 0, 1, 0 },   { add_disks, 0, 1, 0 },     { add_networks, 0, 1, 0 },
	{ add_control_groups, 0, 1, 0 }, { add_loader, 0, 1, 0 },
	{ add_frequencies, 10, 1, 0 }, { add_readings, 10, 1, 0 }, { add_temperatures, 1, 1, 0 },
	{ add_throttles, 1, 1, 0 },
};

enum { GROUPS = sizeof groups / sizeof *groups };

static void start_groups(void)
{
	for (size_t i = 0; i < GROUPS; i++)
		if (groups[i].hertz_most > 0)
			groups[i].every = (chosen.hertz + groups[i].hertz_most - 1) / groups[i].hertz_most;
}

static void add_groups(struct sample_line *line, uint64_t tick)
{
	uint64_t before = thread_cpu_ns(), after;

	for (size_t i = 0; i < GROUPS; i++) {
		if (tick % groups[i].every != 0)
			continue;
		groups[i].add(line);
		after = thread_cpu_ns();
		groups[i].cost_ns = groups[i].cost_ns == 0 ? after - before : (7 * groups[i].cost_ns + after - before) / 8;
		before = after;
	}
}

/* Once a second: while all together cost too much, the most expensive group is read half as often. */
static void keep_budget(void)
{
	uint64_t budget = 4000000, least_hertz = 10; /* 0.4 % of one core at 10 samples a second */

	if (chosen.hertz > least_hertz)
		budget = budget * chosen.hertz / least_hertz;
	for (;;) {
		uint64_t sum = 0, most = 0;
		struct group *dearest = NULL;

		for (size_t i = 0; i < GROUPS; i++) {
			uint64_t cost = groups[i].cost_ns * chosen.hertz / groups[i].every;
			sum += cost;
			if (cost > most && groups[i].every * 2 <= chosen.hertz)
				most = cost, dearest = &groups[i];
		}
		if (sum <= budget || dearest == NULL)
			return;
		dearest->every *= 2;
	}
}

int command_sample(int argc, char **argv)
{
	struct json json = { 0 };
	struct sample_line line = { 0 };
	bool watch_input;

	options_parse(&command, argc, argv);
	int signals = signals_catch((const int[]){ SIGTERM, SIGINT, SIGHUP }, 3, NULL);
	watch_input = input_can_close();
	sample_loader_make(&the_loader, chosen.root, chosen.loader);
	print_begin(&json, &the_system, &the_devices, &the_energy, &the_groups);
	start_groups();

	uint64_t start = monotonic_ns(), period = 1000000000u / chosen.hertz;
	uint64_t last = chosen.seconds > 0 ? chosen.seconds / period : UINT64_MAX;
	for (uint64_t tick = 0; tick <= last;) {
		if (!sleep_until(start + tick * period, signals, &watch_input))
			break;
		uint64_t now = monotonic_ns();
		sample_line_open(&line, now);
		add_groups(&line, tick);
		sample_line_close(&line);
		if (tick % chosen.hertz == chosen.hertz - 1)
			keep_budget();
		/* The next moment that is still to come. */
		uint64_t behind = (monotonic_ns() - start) / period;
		tick = behind >= tick ? behind + 1 : tick + 1;
	}
	wire_end(&json, 0);
	sample_system_free(&the_system);
	sample_devices_free(&the_devices);
	sample_energy_free(&the_energy);
	sample_groups_free(&the_groups);
	sample_loader_free(&the_loader);
	free(chosen.groups.all);
	free(chosen.disks.all);
	json_free(&json);
	json_free(&line.json);
	return EXIT_FINE;
}
