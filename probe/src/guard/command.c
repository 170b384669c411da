/* `stend-probe guard`: a command that cannot outlive whoever started it, and what it used. */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/clock.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/signals.h"
#include "guard/descendants.h"
#include "machine/counters.h"
#include "wire/wire.h"

/* What is left when the command has ended gets so long to end by itself. A reader at the end of the command's output, such
 * as `tee`, needs milliseconds to write out what it has, also on a busy machine; and every repeat of a command that leaves
 * something running takes so much longer. */
#define LEAVE_NS UINT64_C(200000000)
#define TERM_NS UINT64_C(2000000000) /* from TERM to KILL */
/* From the first KILL to giving up. With TERM_NS it must stay below the eight seconds that the lab gives the guard. */
#define KILL_NS UINT64_C(4000000000)
#define AGAIN_NS UINT64_C(20000000) /* from one KILL to the next */

static struct {
	uint64_t timeout;
	const char *directory, *pid_file;
} chosen;

static const struct option_definition options[] = {
	{ "timeout", OPTION_DURATION, "SECONDS", NULL, "kill the command after this long: TERM, two seconds later KILL", &chosen.timeout, 1, UINT64_C(31536000000000000) },
	{ "directory", OPTION_TEXT, "DIR", NULL, "run the command in this directory", &chosen.directory, 0, 0 },
	{ "pid-file", OPTION_TEXT, "FILE", NULL, "write the guard's process ID to this file while the command runs", &chosen.pid_file, 0, 0 },
};

static const struct command command = {
	"guard", "Run a command, end it with all its descendants, and report its usage.",
	"The command and all its descendants, in any group or session, are ended (TERM, two seconds later KILL) when standard\n"
	"input, if it is a pipe or a socket, is closed; on TERM and HUP; and after the timeout. Processes that the command leaves\n"
	"running have 0.2 seconds to exit, and are then ended the same way. A terminal sends HUP; files and /dev/null are not\n"
	"watched. The command's standard input is /dev/null. INT is ignored: the caller decides.\n"
	"Afterwards one line `usage` is printed.\n"
	"Exit status: the command's; 128 + signal; 127 if it could not be started.",
	options, sizeof options / sizeof *options, "-- COMMAND [ARGUMENT]...", NULL,
};

static uint64_t timeval_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

/* Reports why exec failed to the parent through `failure`, which closes by itself when it does not. */
static _Noreturn void become_command(char **words, int failure, pid_t guard)
{
	int null, reason;
	sigset_t none;

	(void)guard;
	setpgid(0, 0);
#ifdef PR_SET_PDEATHSIG
	/* Should the guard itself be killed outright; reaches the command alone, not what it started. */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != guard)
		_exit(127);
#endif
	for (int number = 1; number < NSIG; number++)
		if (number != SIGKILL && number != SIGSTOP)
			signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	null = open("/dev/null", O_RDONLY);
	if (null >= 0 && null != STDIN_FILENO) {
		dup2(null, STDIN_FILENO);
		close(null);
	}
	if (null >= 0 && (chosen.directory == NULL || chdir(chosen.directory) == 0))
		execvp(words[0], words);
	reason = errno;
	ssize_t ignored = write(failure, &reason, sizeof reason);
	(void)ignored;
	_exit(127);
}

/* From the command's start to its end. */
struct stretch {
	uint64_t start, end;
	int64_t offset_before, offset_after; /* of the Unix time */
	struct machine_counters before, after;
};

/* What is being waited for; each stage ends early when nothing is left to wait for. */
enum stage {
	RUNNING,  /* the command */
	LEAVING,  /* what it left running, to end by itself */
	TERMINATED, /* all of them, after TERM */
	KILLED    /* all of them, after KILL */
};

struct watch {
	pid_t command;
	enum stage stage;
	uint64_t next; /* when the stage has lasted long enough; 0: never */
	uint64_t give_up;
	bool adopting, watch_input, timed_out, left_running, ended;
	bool finding; /* what left the group can be found */
	int status; /* of the command, when it has ended */
	struct stretch stretch;
	struct rusage usage; /* until the command's end */
};

static void terminate(struct watch *watch)
{
	if (watch->stage >= TERMINATED)
		return;
	if (!descendants_signal(SIGTERM) || !watch->adopting) {
		kill(-watch->command, SIGTERM);
		kill(-watch->command, SIGCONT);
	}
	watch->stage = TERMINATED;
	watch->next = monotonic_ns() + TERM_NS;
}

/* Again and again: what forks while we look is seen the next time. */
static void kill_all(struct watch *watch, uint64_t now)
{
	if (watch->stage != KILLED)
		watch->give_up = now + KILL_NS;
	watch->stage = KILLED;
	watch->next = now + AGAIN_NS;
	watch->finding = descendants_signal(SIGKILL);
	kill(-watch->command, SIGKILL);
}

static void next_stage(struct watch *watch)
{
	uint64_t now = monotonic_ns();

	if (watch->next == 0 || now < watch->next)
		return;
	switch (watch->stage) {
	case RUNNING:
		watch->timed_out = true;
		terminate(watch);
		return;
	case LEAVING:
		watch->left_running = true;
		terminate(watch);
		return;
	case TERMINATED:
	case KILLED:
	default:
		kill_all(watch, now);
	}
}

/* Milliseconds, rounded up; -1: for ever. */
static int poll_timeout(const struct watch *watch)
{
	uint64_t now = monotonic_ns();

	/* No signal says that somebody else's child has ended. */
	if (watch->ended && !watch->adopting)
		return 10;
	if (watch->next == 0)
		return -1;
	if (watch->next <= now)
		return 0;
	uint64_t left = (watch->next - now + 999999) / 1000000;
	return left > 60000 ? 60000 : (int)left;
}

static void watch_input(struct watch *watch, short events)
{
	char ignored[4096];
	ssize_t count;

	if ((events & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) == 0)
		return;
	/* What is written there is of no interest, only its end. */
	count = (events & POLLNVAL) != 0 ? 0 : read(STDIN_FILENO, ignored, sizeof ignored);
	if (count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN)))
		return;
	watch->watch_input = false;
	terminate(watch);
}

static void command_ended(struct watch *watch, int status)
{
	watch->ended = true;
	watch->status = status;
	watch->stretch.end = monotonic_ns();
	watch->stretch.offset_after = unix_offset_ns();
	watch->stretch.after = machine_counters_read();
	if (watch->stage == RUNNING) {
		watch->stage = LEAVING;
		watch->next = watch->stretch.end + LEAVE_NS;
	}
}

/* Takes the children that have ended, and counts what they used as long as the command ran: the machine's counters are read
 * at its end too. Adopted ones among them: their times count as well. False: nothing is left. */
static bool reap(struct watch *watch)
{
	bool counting = !watch->ended;
	struct rusage one;
	int status;
	pid_t ended;

	while ((ended = wait4(-1, &status, WNOHANG, &one)) != 0) {
		if (ended < 0 && errno == EINTR)
			continue;
		if (ended < 0)
			break;
		if (counting) {
			timeval_add(&watch->usage.ru_utime, one.ru_utime);
			timeval_add(&watch->usage.ru_stime, one.ru_stime);
			if (one.ru_maxrss > watch->usage.ru_maxrss)
				watch->usage.ru_maxrss = one.ru_maxrss;
		}
		if (ended == watch->command)
			command_ended(watch, status);
	}
	if (ended == 0) {
		if (counting && watch->ended)
			descendants_add_times(&watch->usage.ru_utime, &watch->usage.ru_stime);
		return true;
	}
	if (!watch->ended)
		fail(EXIT_BROKEN, "cannot wait for the command: %s", strerror(errno));
	/* Without adoption what is left is known only as far as it stayed in the group. */
	return !watch->adopting && kill(-watch->command, 0) == 0;
}

/* Until the command and all that it started have ended. */
static void wait_for_all(struct watch *watch, int signals)
{
	while (reap(watch)) {
		struct pollfd descriptors[2] = {
			{ .fd = signals, .events = POLLIN },
			{ .fd = watch->watch_input ? STDIN_FILENO : -1, .events = POLLIN },
		};
		unsigned char numbers[64];
		ssize_t count;

		if (watch->stage == KILLED && watch->ended && monotonic_ns() >= watch->give_up) {
			if (watch->finding)
				warn_line("a process that the command started cannot be ended, not even by KILL; going on without it");
			else
				warn_line("/proc is not this process namespace's: what left the command's group cannot be found; "
				          "going on without it");
			return;
		}
		if (poll(descriptors, 2, poll_timeout(watch)) > 0) {
			while ((count = read(signals, numbers, sizeof numbers)) > 0)
				for (ssize_t i = 0; i < count; i++)
					if (numbers[i] != SIGCHLD)
						terminate(watch);
			watch_input(watch, descriptors[1].revents);
		}
		next_stage(watch);
	}
}

/* Files and /dev/null are always at their end, which says nothing; a terminal sends HUP, and must not be read from the
 * background. A descriptor that is not open counts as closed. */
static bool input_can_close(void)
{
	struct stat status;

	if (fstat(STDIN_FILENO, &status) != 0)
		return true;
	return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
}

static void print_usage(const struct watch *watch)
{
	const struct stretch *stretch = &watch->stretch;
	const struct rusage *usage = &watch->usage;
	struct json json = { 0 };
#ifdef __APPLE__
	uint64_t unit = 1;
#else
	uint64_t unit = 1024; /* ru_maxrss is in KiB */
#endif

	json_open_object(&json, NULL);
	json_text(&json, "event", "usage");
	json_unsigned(&json, "t_ns", stretch->start);
	json_unsigned(&json, "wall_ns", stretch->end - stretch->start);
	json_unsigned(&json, "user_ns", timeval_ns(usage->ru_utime));
	json_unsigned(&json, "system_ns", timeval_ns(usage->ru_stime));
	json_unsigned(&json, "max_rss_bytes", (uint64_t)usage->ru_maxrss * unit);
	if (WIFSIGNALED(watch->status))
		json_signed(&json, "signal", WTERMSIG(watch->status));
	else
		json_signed(&json, "exit", WEXITSTATUS(watch->status));
	if (watch->timed_out)
		json_boolean(&json, "timed_out", true);
	if (watch->left_running)
		json_boolean(&json, "left_running", true);
	json_signed(&json, "clock_step_ns", stretch->offset_after - stretch->offset_before);
	machine_counters_add(&json, &stretch->before, &stretch->after);
	json_close_object(&json);
	/* The command may have left its output without a newline, or the reader may be gone: neither matters here. */
	json_send(&json);
	json_free(&json);
}

/* For `stend-probe sample --loader`. It is only watched by it, so a place that cannot be written is no reason to end. */
static void write_pid_file(void)
{
	FILE *file = chosen.pid_file != NULL ? fopen(chosen.pid_file, "we") : NULL;

	if (chosen.pid_file == NULL)
		return;
	if (file == NULL || fprintf(file, "%ld\n", (long)getpid()) < 0 || fclose(file) != 0)
		warn_line("cannot write %s: %s", chosen.pid_file, strerror(errno));
}

/* Another guard may have been given the same file meanwhile; then it is not ours to remove. */
static void remove_pid_file(void)
{
	FILE *file = chosen.pid_file != NULL ? fopen(chosen.pid_file, "re") : NULL;
	long number;

	if (file == NULL)
		return;
	if (fscanf(file, "%ld", &number) == 1 && number == (long)getpid())
		unlink(chosen.pid_file);
	fclose(file);
}

int command_guard(int argc, char **argv)
{
	struct watch watch = { .watch_input = input_can_close() };
	int failure[2], reason = 0;
	int first = options_parse(&command, argc, argv);

	if (pipe(failure) != 0)
		fail(EXIT_BROKEN, "cannot make a pipe: %s", strerror(errno));
	fcntl(failure[0], F_SETFD, FD_CLOEXEC);
	fcntl(failure[1], F_SETFD, FD_CLOEXEC);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
	int signals = signals_catch((const int[]){ SIGCHLD, SIGTERM, SIGHUP }, 3, NULL);

	watch.adopting = descendants_adopt();
	write_pid_file();
	watch.stretch.before = machine_counters_read();
	watch.stretch.offset_before = unix_offset_ns();
	watch.stretch.start = monotonic_ns();
	pid_t guard = getpid();
	watch.command = fork();
	if (watch.command < 0)
		fail(EXIT_BROKEN, "cannot start a process: %s", strerror(errno));
	if (watch.command == 0)
		become_command(argv + first, failure[1], guard);
	/* In both, for either may be first. */
	setpgid(watch.command, watch.command);
	close(failure[1]);
	if (chosen.timeout != 0)
		watch.next = watch.stretch.start + chosen.timeout;
	ssize_t count;
	do
		count = read(failure[0], &reason, sizeof reason);
	while (count < 0 && errno == EINTR);
	close(failure[0]);
	if (count == (ssize_t)sizeof reason)
		warn_line("cannot start %s%s%s: %s", argv[first], chosen.directory != NULL ? " in " : "",
		          chosen.directory != NULL ? chosen.directory : "", strerror(reason));
	wait_for_all(&watch, signals);
	remove_pid_file();
	print_usage(&watch);
	return WIFSIGNALED(watch.status) ? 128 + WTERMSIG(watch.status) : WEXITSTATUS(watch.status);
}
