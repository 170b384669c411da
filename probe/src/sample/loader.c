/* What a guard's command and all below it use: CPU time and memory, from /proc/PID/stat (proc(5)), so that nobody needs
 * to be root for it. The kernel counts there in ticks. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "sample/sources.h"

struct usage {
	uint64_t user, system;                   /* of the process itself, in ticks */
	uint64_t children_user, children_system; /* of its children that ended and were waited for */
	uint64_t pages;
	uint64_t parent;
};

/* "1 (name) S parent …"; the name may hold anything, parentheses too. */
static bool parse_stat(const char *text, struct usage *usage)
{
	const char *at = strrchr(text, ')');
	uint64_t fields[22];

	if (at == NULL || strlen(at) < 5)
		return false;
	at += 3;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		at = skip_spaces(at);
		/* A few may be negative; none of those that are wanted is. */
		if (*at == '-')
			at++;
		fields[i] = take_number(&at);
	}
	*usage = (struct usage){ .parent = fields[0], .user = fields[10], .system = fields[11],
		                 .children_user = fields[12], .children_system = fields[13], .pages = fields[20] };
	return true;
}

void sample_loader_make(struct sample_loader *loader, const char *root, const char *pid_file)
{
	long ticks = sysconf(_SC_CLK_TCK), page = sysconf(_SC_PAGESIZE);

	*loader = (struct sample_loader){ .root = root,
		                          .tick_ns = 1000000000u / (uint64_t)(ticks > 0 ? ticks : 100),
		                          .page_bytes = (uint64_t)(page > 0 ? page : 4096) };
	if (pid_file == NULL)
		return;
	source_file_make(&loader->pid_file, "", pid_file);
	source_file_make(&loader->forks, root, "/proc/stat");
}

static void forget(struct sample_loader *loader)
{
	for (size_t i = 0; i < loader->count; i++)
		source_file_free(&loader->stats[i]);
	loader->count = 0;
	free(loader->seen);
	loader->seen = NULL;
	loader->seen_count = 0;
}

void sample_loader_free(struct sample_loader *loader)
{
	forget(loader);
	free(loader->stats);
	if (loader->pid_file.path != NULL) {
		source_file_free(&loader->pid_file);
		source_file_free(&loader->forks);
	}
}

static void add_process(struct sample_loader *loader, uint64_t id)
{
	char path[64];

	if (loader->count == loader->capacity) {
		size_t capacity = loader->capacity * 2 + 16;
		struct source_file *larger = realloc(loader->stats, capacity * sizeof *larger);
		if (larger == NULL)
			fail(EXIT_BROKEN, "out of memory");
		loader->stats = larger;
		loader->capacity = capacity;
	}
	snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)id);
	source_file_make(&loader->stats[loader->count++], loader->root, path);
}

/* From one search for processes to the next. What starts and ends in between is counted with its parent. */
#define SEARCH_NS UINT64_C(1000000000)

static int by_number(const void *left, const void *right)
{
	uint64_t a = ((const struct seen_process *)left)->id, b = ((const struct seen_process *)right)->id;

	return (a > b) - (a < b);
}

static const struct seen_process *find_seen(const struct seen_process *all, size_t count, uint64_t id)
{
	struct seen_process wanted = { .id = id };

	return count == 0 ? NULL : bsearch(&wanted, all, count, sizeof *all, by_number);
}

static size_t list_processes(const char *root, struct seen_process **all)
{
	char path[4096];
	size_t count = 0, capacity = 0;
	const struct dirent *entry;

	snprintf(path, sizeof path, "%s/proc", root);
	DIR *directory = opendir(path);
	*all = NULL;
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		if (count == capacity) {
			capacity = capacity * 2 + 256;
			struct seen_process *larger = realloc(*all, capacity * sizeof *larger);
			if (larger == NULL)
				fail(EXIT_BROKEN, "out of memory");
			*all = larger;
		}
		(*all)[count++] = (struct seen_process){ .id = strtoull(entry->d_name, NULL, 10) };
	}
	if (directory != NULL)
		closedir(directory);
	if (count > 0)
		qsort(*all, count, sizeof **all, by_number);
	return count;
}

/* 0: it has none, or is gone. */
static uint64_t parent_of(const struct sample_loader *loader, uint64_t id)
{
	char path[64];
	struct source_file file;
	struct usage usage;

	snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)id);
	source_file_make(&file, loader->root, path);
	uint64_t parent = source_file_read(&file) && parse_stat(file.text, &usage) ? usage.parent : 0;
	source_file_free(&file);
	return parent;
}

/* Adds those that were not there at the last search and stand below the guard, the guard first. Where a process stands does
 * not change as far as that goes: the guard adopts what its descendants leave behind. Numbers are given out in rising order, so
 * one look finds nearly all; once they begin again from below, a parent may come behind its child, and another look finds it. */
static void find_processes(struct sample_loader *loader)
{
	struct seen_process *all;
	size_t count = list_processes(loader->root, &all);
	uint64_t guard = strtoull(loader->guard, NULL, 10);
	bool found;

	for (size_t i = 0; i < count; i++) {
		const struct seen_process *before = find_seen(loader->seen, loader->seen_count, all[i].id);

		if (before != NULL)
			all[i] = *before;
		else
			all[i].parent = parent_of(loader, all[i].id);
		if (before == NULL && all[i].id == guard) {
			all[i].below = true;
			add_process(loader, all[i].id);
		}
	}
	do {
		found = false;
		for (size_t i = 0; i < count; i++) {
			const struct seen_process *above = all[i].below ? NULL : find_seen(all, count, all[i].parent);

			if (above == NULL || !above->below)
				continue;
			all[i].below = found = true;
			add_process(loader, all[i].id);
		}
	} while (found);
	free(loader->seen);
	loader->seen = all;
	loader->seen_count = count;
}

/* How many processes and threads were started on the machine so far. */
static uint64_t forks(struct sample_loader *loader)
{
	const char *value;

	if (!source_file_read(&loader->forks))
		return 0;
	for (const char *at = loader->forks.text; *at != '\0'; at = next_line(at))
		if ((value = after_word(at, "processes ")) != NULL)
			return take_number(&value);
	return 0;
}

/* Looking for the processes is expensive: that is done only when some were started since it was done last. */
static bool refresh(struct sample_loader *loader)
{
	char guard[sizeof loader->guard] = "";

	loader->pid_file.wait = 0; /* it comes and goes with each command */
	if (source_file_read(&loader->pid_file)) {
		const char *at = loader->pid_file.text;
		snprintf(guard, sizeof guard, "%.*s", (int)strspn(at, "0123456789"), at);
		close(loader->pid_file.descriptor);
		loader->pid_file.descriptor = -1;
	}
	bool changed = strcmp(guard, loader->guard) != 0;
	if (changed)
		forget(loader);
	memcpy(loader->guard, guard, sizeof guard);
	if (*guard == '\0')
		return false;
	uint64_t now = monotonic_ns();
	if (changed || now - loader->searched_ns >= SEARCH_NS) {
		uint64_t started = forks(loader);
		if (changed || started != loader->forks_seen)
			find_processes(loader);
		loader->forks_seen = started;
		loader->searched_ns = now;
	}
	return loader->count > 0;
}

/* What a process used goes to its parent's account when it has been waited for, so the sum over all that there are, with
 * what their children used, only grows. The guard itself is no load: of it the children alone count. */
void sample_loader_add(struct sample_loader *loader, struct sample_line *line)
{
	struct usage sum = { 0 }, one;
	size_t alive = 0;

	if (loader->pid_file.path == NULL || !refresh(loader))
		return;
	for (size_t i = 0; i < loader->count; i++) {
		struct source_file *file = &loader->stats[i];

		if (!source_file_read(file) || !parse_stat(file->text, &one))
			continue;
		alive++;
		if (i > 0) {
			sum.user += one.user;
			sum.system += one.system;
			sum.pages += one.pages;
		}
		sum.user += one.children_user;
		sum.system += one.children_system;
	}
	if (alive == 0)
		return;
	sample_line_add(line, "loader", ".user_ns_total", sum.user * loader->tick_ns);
	sample_line_add(line, "loader", ".system_ns_total", sum.system * loader->tick_ns);
	sample_line_add(line, "loader", ".memory_bytes", sum.pages * loader->page_bytes);
}
