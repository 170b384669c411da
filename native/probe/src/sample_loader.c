/* What a guard's command and all below it use: CPU time and memory, from /proc/PID/stat (proc(5)), so that nobody needs
 * to be root for it. The kernel counts there in ticks. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "sample_sources.h"

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
		source_file_free(&loader->all[i].stat);
	loader->count = 0;
}

void sample_loader_free(struct sample_loader *loader)
{
	forget(loader);
	free(loader->all);
	if (loader->pid_file.path != NULL) {
		source_file_free(&loader->pid_file);
		source_file_free(&loader->forks);
	}
}

static void add_process(struct sample_loader *loader, const char *id)
{
	char path[64];

	if (loader->count == loader->capacity) {
		size_t capacity = loader->capacity * 2 + 16;
		struct loader_process *larger = realloc(loader->all, capacity * sizeof *larger);
		if (larger == NULL)
			fail(EXIT_BROKEN, "out of memory");
		loader->all = larger;
		loader->capacity = capacity;
	}
	struct loader_process *process = &loader->all[loader->count++];
	snprintf(process->id, sizeof process->id, "%.20s", id);
	snprintf(path, sizeof path, "/proc/%.20s/stat", id);
	source_file_make(&process->stat, loader->root, path);
}

/* All processes with their parents, as /proc lists them: by number, so mostly a parent before its children. */
struct kin {
	char id[24];
	uint64_t parent;
};

static size_t read_all(const char *root, struct kin **all)
{
	char path[4096];
	size_t count = 0, capacity = 0;
	const struct dirent *entry;

	snprintf(path, sizeof path, "%s/proc", root);
	DIR *directory = opendir(path);
	*all = NULL;
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		struct source_file file;
		struct usage usage;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof path, "/proc/%.20s/stat", entry->d_name);
		source_file_make(&file, root, path);
		bool known = source_file_read(&file) && parse_stat(file.text, &usage);
		source_file_free(&file);
		if (!known)
			continue;
		if (count == capacity) {
			capacity = capacity * 2 + 256;
			struct kin *larger = realloc(*all, capacity * sizeof *larger);
			if (larger == NULL)
				fail(EXIT_BROKEN, "out of memory");
			*all = larger;
		}
		snprintf((*all)[count].id, sizeof (*all)[count].id, "%.20s", entry->d_name);
		(*all)[count++].parent = usage.parent;
	}
	if (directory != NULL)
		closedir(directory);
	return count;
}

/* The guard and all below it. */
static void find_processes(struct sample_loader *loader)
{
	struct kin *all;
	size_t count = read_all(loader->root, &all);

	forget(loader);
	for (size_t i = 0; i < count; i++)
		if (strcmp(all[i].id, loader->guard) == 0)
			add_process(loader, all[i].id);
	for (size_t next = 0; next < loader->count; next++) {
		uint64_t parent = strtoull(loader->all[next].id, NULL, 10);

		for (size_t i = 0; i < count; i++)
			if (all[i].parent == parent)
				add_process(loader, all[i].id);
	}
	free(all);
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
	uint64_t now = forks(loader);
	bool same = strcmp(guard, loader->guard) == 0 && now == loader->forks_seen;
	loader->forks_seen = now;
	memcpy(loader->guard, guard, sizeof guard);
	if (*guard == '\0')
		forget(loader);
	else if (!same)
		find_processes(loader);
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
		struct source_file *file = &loader->all[i].stat;

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
