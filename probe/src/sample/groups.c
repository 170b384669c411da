/* Control groups. Formats: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/{cpuacct,memory}.rst of the kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "sample/sources.h"

/* False: there is no such file. */
static bool open_file(struct source_file *file, const char *root, const char *directory, const char *name)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	source_file_make(file, root, path);
	if (source_file_read(file))
		return true;
	source_file_free(file);
	return false;
}

static bool open_group(struct control_group *group, const char *root, const char *directory)
{
	bool found = open_file(&group->usage, root, directory, "cpuacct.usage");

	found |= open_file(&group->stat, root, directory, "cpuacct.stat");
	found |= open_file(&group->cpu, root, directory, "cpu.stat");
	return open_file(&group->memory, root, directory, "memory.current") ||
	       open_file(&group->memory, root, directory, "memory.usage_in_bytes") || found;
}

void sample_groups_make(struct sample_groups *groups, const char *root, const struct option_pairs *directories,
                        struct json *missing)
{
	long ticks = sysconf(_SC_CLK_TCK);

	*groups = (struct sample_groups){ .tick_ns = 1000000000u / (uint64_t)(ticks > 0 ? ticks : 100) };
	if (directories->count == 0)
		return;
	groups->all = calloc(directories->count, sizeof *groups->all);
	if (groups->all == NULL)
		fail(EXIT_BROKEN, "out of memory");
	for (size_t i = 0; i < directories->count; i++) {
		const struct option_pair *pair = &directories->all[i];
		struct control_group *group = &groups->all[groups->count++];

		metric_name(group->name, sizeof group->name, pair->name, pair->length);
		if (open_group(group, root, pair->value))
			continue;
		missing_in(missing, group->name, pair->value, NULL);
	}
}

void sample_groups_free(struct sample_groups *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		source_file_free(&groups->all[i].usage);
		source_file_free(&groups->all[i].stat);
		source_file_free(&groups->all[i].cpu);
		source_file_free(&groups->all[i].memory);
	}
	free(groups->all);
}

/* A file that was there at the beginning. */
static bool read_file(struct source_file *file)
{
	return file->path != NULL && source_file_read(file);
}

struct row {
	const char *word, *metric;
	uint64_t factor;
};

/* "word number" in each line. */
static void add_rows(const struct control_group *group, const char *text, const struct row *rows, size_t count,
                     struct sample_line *line)
{
	const char *value;

	for (const char *at = text; *at != '\0'; at = next_line(at))
		for (size_t i = 0; i < count; i++)
			if ((value = after_word(at, rows[i].word)) != NULL)
				sample_line_add(line, group->name, rows[i].metric, take_number(&value) * rows[i].factor);
}

/* Where nothing limits the group there are no periods, and nothing to throttle. */
static bool is_limited(const char *text)
{
	const char *value;

	for (const char *at = text; *at != '\0'; at = next_line(at))
		if ((value = after_word(at, "nr_periods ")) != NULL)
			return take_number(&value) > 0;
	return false;
}

static void add_group(struct control_group *group, uint64_t tick_ns, struct sample_line *line)
{
	const struct row ticks[] = { { "user ", ".user_ns_total", tick_ns }, { "system ", ".system_ns_total", tick_ns } };
	static const struct row unified[] = { { "usage_usec ", ".cpu_ns_total", 1000 },
		                              { "user_usec ", ".user_ns_total", 1000 },
		                              { "system_usec ", ".system_ns_total", 1000 } };
	static const struct row throttled[] = { { "throttled_usec ", ".throttled_ns_total", 1000 },
		                                { "throttled_time ", ".throttled_ns_total", 1 } };
	const char *value;

	if (read_file(&group->usage)) {
		value = group->usage.text;
		sample_line_add(line, group->name, ".cpu_ns_total", take_number(&value));
	}
	if (read_file(&group->stat))
		add_rows(group, group->stat.text, ticks, 2, line);
	if (read_file(&group->cpu)) {
		add_rows(group, group->cpu.text, unified, 3, line);
		if (is_limited(group->cpu.text))
			add_rows(group, group->cpu.text, throttled, 2, line);
	}
	if (read_file(&group->memory)) {
		value = group->memory.text;
		sample_line_add(line, group->name, ".memory_bytes", take_number(&value));
	}
}

void sample_groups_add(struct sample_groups *groups, struct sample_line *line)
{
	for (size_t i = 0; i < groups->count; i++)
		add_group(&groups->all[i], groups->tick_ns, line);
}
