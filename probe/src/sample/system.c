/* Processors, memory, pressure and load. Formats: proc(5), Documentation/accounting/psi.rst of the kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "sample/sources.h"

static const char *const pressure_names[3] = { "cpu", "io", "memory" };

/* A root of fixtures may show more processors than this machine has. */
static long processors_of(const char *root)
{
	long processors = sysconf(_SC_NPROCESSORS_CONF);

	return *root != '\0' || processors < 1 ? 4096 : processors;
}

static void find_throttles(struct sample_system *system, const char *root)
{
	char path[96];

	for (long i = 0; i < processors_of(root); i++) {
		struct source_file file;

		snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/thermal_throttle/core_throttle_count", i);
		source_file_make(&file, root, path);
		if (!source_file_read(&file)) {
			source_file_free(&file);
			continue;
		}
		struct source_file *larger = realloc(system->throttles, (system->throttle_count + 1) * sizeof *larger);
		if (larger == NULL)
			fail(EXIT_BROKEN, "out of memory");
		system->throttles = larger;
		system->throttles[system->throttle_count++] = file;
	}
}

static void find_frequencies(struct sample_system *system, const char *root)
{
	char path[96];

	for (long i = 0; i < processors_of(root); i++) {
		struct frequency frequency;

		snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/cpufreq/scaling_cur_freq", i);
		source_file_make(&frequency.file, root, path);
		if (!source_file_read(&frequency.file)) {
			source_file_free(&frequency.file);
			continue;
		}
		snprintf(frequency.name, sizeof frequency.name, "cpu%ld", i);
		struct frequency *larger =
			realloc(system->frequencies, (system->frequency_count + 1) * sizeof *system->frequencies);
		if (larger == NULL)
			fail(EXIT_BROKEN, "out of memory");
		system->frequencies = larger;
		system->frequencies[system->frequency_count++] = frequency;
	}
}

void missing_file(struct json *missing, const char *name, const char *file, const char *said)
{
	json_open_object(missing, name);
	json_text(missing, "cause", "unread");
	json_text(missing, "file", file);
	json_text(missing, "said", said);
	json_close_object(missing);
}

void missing_in(struct json *missing, const char *name, const char *one, const char *other)
{
	json_open_object(missing, name);
	json_text(missing, "cause", "silent");
	json_open_array(missing, "sources");
	json_text(missing, NULL, one);
	if (other != NULL)
		json_text(missing, NULL, other);
	json_close_array(missing);
	json_close_object(missing);
}

static void make_file(struct source_file *file, const char *root, const char *path, const char *name,
                      struct json *missing)
{
	source_file_make(file, root, path);
	if (!source_file_read(file))
		missing_file(missing, name, path, "");
}

void sample_system_make(struct sample_system *system, const char *root, struct json *missing)
{
	long ticks = sysconf(_SC_CLK_TCK);
	char path[64], name[64];

	*system = (struct sample_system){ .tick_ns = 1000000000u / (uint64_t)(ticks > 0 ? ticks : 100) };
	make_file(&system->stat, root, "/proc/stat", "cpu", missing);
	make_file(&system->memory, root, "/proc/meminfo", "memory", missing);
	make_file(&system->vm, root, "/proc/vmstat", "swap", missing);
	make_file(&system->load, root, "/proc/loadavg", "load", missing);
	for (unsigned i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "/proc/pressure/%s", pressure_names[i]);
		snprintf(name, sizeof name, "pressure.%s", pressure_names[i]);
		make_file(&system->pressure[i], root, path, name, missing);
	}
	find_throttles(system, root);
	find_frequencies(system, root);
	if (system->frequency_count == 0)
		missing_in(missing, "frequency", "/sys/devices/system/cpu/cpu*/cpufreq", NULL);
}

void sample_system_free(struct sample_system *system)
{
	source_file_free(&system->stat);
	source_file_free(&system->memory);
	source_file_free(&system->vm);
	source_file_free(&system->load);
	for (unsigned i = 0; i < 3; i++)
		source_file_free(&system->pressure[i]);
	for (size_t i = 0; i < system->frequency_count; i++)
		source_file_free(&system->frequencies[i].file);
	free(system->frequencies);
	for (size_t i = 0; i < system->throttle_count; i++)
		source_file_free(&system->throttles[i]);
	free(system->throttles);
}

/* "cpu  1 2 3 …" and "cpu0 1 2 3 …", in ticks. */
static void add_processor(const struct sample_system *system, struct sample_line *line, const char *at)
{
	static const char *const states[] = {
		".user_ns_total", ".nice_ns_total", ".system_ns_total", ".idle_ns_total",
		".iowait_ns_total", ".irq_ns_total", ".softirq_ns_total", ".steal_ns_total",
	};
	char name[24];
	size_t length = strcspn(at, " \t\n");

	metric_name(name, sizeof name, at, length);
	at += length;
	for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
		at = skip_spaces(at);
		/* Old kernels have fewer columns. */
		if (*at < '0' || *at > '9')
			return;
		sample_line_add(line, name, states[i], take_number(&at) * system->tick_ns);
	}
}

void sample_system_add_processors(struct sample_system *system, struct sample_line *line)
{
	const char *at, *value;

	if (!source_file_read(&system->stat))
		return;
	for (at = system->stat.text; *at != '\0'; at = next_line(at)) {
		if (at[0] == 'c' && at[1] == 'p' && at[2] == 'u') {
			add_processor(system, line, at);
		} else if ((value = after_word(at, "ctxt ")) != NULL) {
			sample_line_add(line, "", "context_switches_total", take_number(&value));
			return;
		}
	}
}

void sample_system_add_memory(struct sample_system *system, struct sample_line *line)
{
	static const struct {
		const char *word, *metric;
	} rows[] = {
		{ "MemTotal:", "memory.total_bytes" }, { "MemAvailable:", "memory.available_bytes" },
		{ "MemFree:", "memory.free_bytes" }, { "Cached:", "memory.cached_bytes" }, { "Dirty:", "memory.dirty_bytes" },
	};
	uint64_t swap_total = 0, swap_free = 0;
	bool swap_known = false;
	const char *value;

	if (!source_file_read(&system->memory))
		return;
	for (const char *at = system->memory.text; *at != '\0'; at = next_line(at)) {
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
			if ((value = after_word(at, rows[i].word)) != NULL) {
				sample_line_add(line, "", rows[i].metric, take_number(&value) * 1024);
				break;
			}
		}
		if ((value = after_word(at, "SwapTotal:")) != NULL)
			swap_total = take_number(&value) * 1024;
		if ((value = after_word(at, "SwapFree:")) != NULL)
			swap_free = take_number(&value) * 1024, swap_known = true;
	}
	if (swap_known)
		sample_line_add(line, "", "swap.used_bytes", swap_total > swap_free ? swap_total - swap_free : 0);
}

void sample_system_add_swap(struct sample_system *system, struct sample_line *line)
{
	const char *value;

	if (!source_file_read(&system->vm))
		return;
	for (const char *at = system->vm.text; *at != '\0'; at = next_line(at)) {
		if (at[0] != 'p' || at[1] != 's')
			continue;
		if ((value = after_word(at, "pswpin ")) != NULL)
			sample_line_add(line, "", "swap.in_pages_total", take_number(&value));
		if ((value = after_word(at, "pswpout ")) != NULL) {
			sample_line_add(line, "", "swap.out_pages_total", take_number(&value));
			return;
		}
	}
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345", in microseconds; the second line says full. */
static void add_pressure(struct sample_system *system, struct sample_line *line, unsigned which)
{
	char prefix[32];

	if (!source_file_read(&system->pressure[which]))
		return;
	snprintf(prefix, sizeof prefix, "pressure.%s_", pressure_names[which]);
	for (const char *at = system->pressure[which].text; *at != '\0'; at = next_line(at)) {
		bool some = strncmp(at, "some ", 5) == 0;
		const char *end = next_line(at), *total = strstr(at, "total=");

		if ((!some && strncmp(at, "full ", 5) != 0) || total == NULL || total >= end)
			continue;
		total += strlen("total=");
		sample_line_add(line, prefix, some ? "some_ns_total" : "full_ns_total", take_number(&total) * 1000);
	}
}

/* "0.52 …": two digits behind the point. */
static void add_load(struct sample_system *system, struct sample_line *line)
{
	if (!source_file_read(&system->load))
		return;
	const char *at = system->load.text;
	uint64_t milli = take_number(&at) * 1000;
	if (*at == '.' && at[1] >= '0' && at[1] <= '9' && at[2] >= '0' && at[2] <= '9')
		milli += (uint64_t)(at[1] - '0') * 100 + (uint64_t)(at[2] - '0') * 10;
	sample_line_add_milli(line, "", "load.1m", (int64_t)milli);
}

void sample_system_add_pressure(struct sample_system *system, struct sample_line *line)
{
	for (unsigned i = 0; i < 3; i++)
		add_pressure(system, line, i);
	add_load(system, line);
}

void sample_system_add_frequencies(struct sample_system *system, struct sample_line *line)
{
	for (size_t i = 0; i < system->frequency_count; i++) {
		struct frequency *frequency = &system->frequencies[i];

		/* In kHz; a processor that is offline has none. */
		if (source_file_read(&frequency->file) && frequency->file.text[0] >= '0' && frequency->file.text[0] <= '9') {
			const char *at = frequency->file.text;
			sample_line_add(line, frequency->name, ".frequency_hz", take_number(&at) * 1000);
		}
	}
}

/* The sum over all processors: how often heat slowed a core down. */
void sample_system_add_throttles(struct sample_system *system, struct sample_line *line)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < system->throttle_count; i++) {
		if (!source_file_read(&system->throttles[i]))
			return;
		const char *at = system->throttles[i].text;
		sum += take_number(&at);
	}
	if (system->throttle_count > 0)
		sample_line_add(line, "cpu", ".throttles_total", sum);
}
