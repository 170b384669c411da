/* Format of /proc/PID/stat: proc(5). */
#include "guard/descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#if defined SYS_pidfd_open && defined SYS_pidfd_send_signal
#include <errno.h>
#define HAVE_PIDFD
#endif

bool descendants_adopt(void)
{
#ifdef PR_SET_CHILD_SUBREAPER
	return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
#else
	return false;
#endif
}

struct process {
	pid_t id, parent;
	unsigned long long user, system; /* in ticks, with children that have ended */
};

struct processes {
	struct process *all;
	size_t count, capacity;
};

/* A /proc of another process namespace would make us signal strangers. */
static bool proc_is_ours(void)
{
	char digits[24];
	ssize_t length = readlink("/proc/self", digits, sizeof digits - 1);

	if (length <= 0)
		return false;
	digits[length] = '\0';
	return strtol(digits, NULL, 10) == (long)getpid();
}

static bool read_process(const char *name, struct process *process)
{
	char path[64], text[512];
	const char *at;
	char *end;
	unsigned long long ticks[4];

	snprintf(path, sizeof path, "/proc/%.20s/stat", name);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	ssize_t count = read(file, text, sizeof text - 1);
	close(file);
	if (count <= 0)
		return false;
	text[count] = '\0';
	/* "1 (name) S parent …"; the name may hold anything, parentheses too. State Z says nothing: a process shows it also
	 * when its main thread has ended and others go on. */
	at = strrchr(text, ')');
	if (at == NULL || strlen(at) < 5)
		return false;
	process->id = (pid_t)strtol(name, NULL, 10);
	process->parent = (pid_t)strtol(at + 3, &end, 10);
	/* Between the parent and utime, stime, cutime, cstime are nine others. */
	for (int skipped = 0; skipped < 9; skipped++)
		strtoll(end, &end, 10);
	for (int i = 0; i < 4; i++)
		ticks[i] = strtoull(end, &end, 10);
	process->user = ticks[0] + ticks[2];
	process->system = ticks[1] + ticks[3];
	return true;
}

static bool add(struct processes *processes, struct process process)
{
	if (processes->count == processes->capacity) {
		size_t capacity = processes->capacity * 2 + 256;
		struct process *larger = realloc(processes->all, capacity * sizeof *larger);
		if (larger == NULL)
			return false;
		processes->all = larger;
		processes->capacity = capacity;
	}
	processes->all[processes->count++] = process;
	return true;
}

static bool read_all(struct processes *processes)
{
	DIR *directory = opendir("/proc");
	const struct dirent *entry;
	bool whole = true;

	if (directory == NULL)
		return false;
	while (whole && (entry = readdir(directory)) != NULL) {
		struct process process;

		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && read_process(entry->d_name, &process))
			whole = add(processes, process);
	}
	closedir(directory);
	return whole;
}

/* Moves the descendants of `ancestor` to the front, each behind its parent, and gives their number. */
static size_t gather(struct processes *processes, pid_t ancestor)
{
	size_t found = 0;

	for (size_t next = 0; next <= found; next++) {
		pid_t parent = next == 0 ? ancestor : processes->all[next - 1].id;

		for (size_t i = found; i < processes->count; i++) {
			if (processes->all[i].parent != parent)
				continue;
			struct process child = processes->all[i];
			processes->all[i] = processes->all[found];
			processes->all[found++] = child;
		}
	}
	return found;
}

/* The first *count of `processes` are the descendants. False: this system does not tell. */
static bool find(struct processes *processes, size_t *count)
{
	bool known = proc_is_ours() && read_all(processes);

	*count = known ? gather(processes, getpid()) : 0;
	return known;
}

#ifdef HAVE_PIDFD
/* Whether the process of that number is, now, a child of ours or of one of the `count` in front: its parent may have
 * ended, and another of those may have adopted it. */
static bool still_below(const struct processes *processes, size_t count, pid_t id)
{
	char name[24];
	struct process now;
	bool below;

	snprintf(name, sizeof name, "%ld", (long)id);
	if (!read_process(name, &now))
		return false;
	below = now.parent == getpid();
	for (size_t i = 0; !below && i < count; i++)
		below = processes->all[i].id == now.parent;
	return below;
}

/* Whoever is not our child may end and be waited for at any time, and its number may then be a stranger's. What a
 * descriptor stands for stays: so take one, look again who that is, then send. False: this system has no such calls. */
static bool signal_for_sure(const struct processes *processes, size_t count, pid_t id, int number)
{
	int descriptor = (int)syscall(SYS_pidfd_open, id, 0);
	bool done = true;

	if (descriptor < 0)
		return errno == ESRCH;
	if (still_below(processes, count, id)) {
		done = syscall(SYS_pidfd_send_signal, descriptor, number, NULL, 0) == 0 || errno == ESRCH;
		syscall(SYS_pidfd_send_signal, descriptor, SIGCONT, NULL, 0);
	}
	close(descriptor);
	return done;
}
#else
static bool signal_for_sure(const struct processes *processes, size_t count, pid_t id, int number)
{
	(void)processes, (void)count, (void)id, (void)number;
	return false;
}
#endif

bool descendants_signal(int number)
{
	struct processes processes = { 0 };
	size_t count;
	bool known = find(&processes, &count);

	for (size_t i = 0; i < count; i++) {
		pid_t id = processes.all[i].id;

		if (signal_for_sure(&processes, count, id, number))
			continue;
		kill(id, number);
		kill(id, SIGCONT);
	}
	free(processes.all);
	return known;
}

void timeval_add(struct timeval *sum, struct timeval time)
{
	sum->tv_sec += time.tv_sec;
	sum->tv_usec += time.tv_usec;
	if (sum->tv_usec >= 1000000) {
		sum->tv_usec -= 1000000;
		sum->tv_sec++;
	}
}

static struct timeval timeval_of(unsigned long long ticks, unsigned long long hertz)
{
	return (struct timeval){ .tv_sec = (time_t)(ticks / hertz),
		                 .tv_usec = (suseconds_t)(ticks % hertz * 1000000 / hertz) };
}

void descendants_add_times(struct timeval *user, struct timeval *system)
{
	struct processes processes = { 0 };
	size_t count;
	long hertz = sysconf(_SC_CLK_TCK);

	find(&processes, &count);
	for (size_t i = 0; hertz > 0 && i < count; i++) {
		timeval_add(user, timeval_of(processes.all[i].user, (unsigned long long)hertz));
		timeval_add(system, timeval_of(processes.all[i].system, (unsigned long long)hertz));
	}
	free(processes.all);
}
