/* `stend-probe guard`: a command that cannot outlive whoever started it, and what it used. */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "clock.h"
#include "fail.h"
#include "machine_counters.h"
#include "options.h"
#include "wire.h"

#define GRACE_NS UINT64_C(2000000000) /* from TERM to KILL */

static struct {
	uint64_t timeout;
	const char *directory;
} chosen;

static const struct option_definition options[] = {
	{ "timeout", OPTION_DURATION, "SECONDS", NULL, "kill the command after so long: TERM, two seconds later KILL", &chosen.timeout, 1, UINT64_C(31536000000000000) },
	{ "directory", OPTION_TEXT, "DIR", NULL, "run the command there", &chosen.directory, 0, 0 },
};

static const struct command command = {
	"guard", "Run a command in a process group of its own and say what it used.",
	"The group is killed (TERM, two seconds later KILL) when standard input, if it is a pipe or a socket, is closed; on TERM\n"
	"and HUP; after the timeout; and, if any of it is left, when the command itself has ended. A terminal sends HUP; files\n"
	"and /dev/null are not watched. The command's standard input is /dev/null. INT is ignored: the caller decides.\n"
	"Afterwards one line `usage` is printed.\n"
	"Exit status: the command's; 128 + signal; 127 if it could not be started.",
	options, sizeof options / sizeof *options, "-- COMMAND [ARGUMENT]...",
};

static uint64_t timeval_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

#ifdef __linux__
static void add_time(struct timeval *sum, struct timeval time)
{
	sum->tv_sec += time.tv_sec;
	sum->tv_usec += time.tv_usec;
	if (sum->tv_usec >= 1000000) {
		sum->tv_usec -= 1000000;
		sum->tv_sec++;
	}
}
#endif

static int signal_pipe[2];

static void on_signal(int number)
{
	int kept = errno;
	unsigned char byte = (unsigned char)number;
	ssize_t ignored = write(signal_pipe[1], &byte, 1);

	(void)ignored; /* full: there is something to read already */
	errno = kept;
}

static void catch_signal(int number)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	sigemptyset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

static void set_descriptor_flags(int descriptor)
{
	fcntl(descriptor, F_SETFD, FD_CLOEXEC);
	fcntl(descriptor, F_SETFL, O_NONBLOCK);
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

struct watch {
	pid_t group;
	uint64_t deadline; /* of the timeout; 0: none */
	uint64_t kill_at;  /* TERM was sent, KILL follows; 0: not yet */
	bool timed_out, killed;
	bool watch_input;
};

static void terminate(struct watch *watch)
{
	if (watch->kill_at != 0)
		return;
	kill(-watch->group, SIGTERM);
	/* A stopped process would not see it. */
	kill(-watch->group, SIGCONT);
	watch->kill_at = monotonic_ns() + GRACE_NS;
}

/* Milliseconds, rounded up, to whatever comes first; -1: nothing will. */
static int poll_timeout(const struct watch *watch)
{
	uint64_t at = watch->kill_at != 0 ? watch->kill_at : watch->deadline, now = monotonic_ns();

	if (watch->killed || at == 0)
		return -1;
	if (at <= now)
		return 0;
	uint64_t left = (at - now + 999999) / 1000000;
	return left > 60000 ? 60000 : (int)left;
}

static void watch_clock(struct watch *watch)
{
	uint64_t now = monotonic_ns();

	if (watch->kill_at == 0 && watch->deadline != 0 && now >= watch->deadline) {
		watch->timed_out = true;
		terminate(watch);
	} else if (watch->kill_at != 0 && !watch->killed && now >= watch->kill_at) {
		kill(-watch->group, SIGKILL);
		watch->killed = true;
	}
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

/* Until the command has ended. */
static int wait_for_command(struct watch *watch, struct rusage *usage)
{
	int status;

	for (;;) {
		struct pollfd descriptors[2] = {
			{ .fd = signal_pipe[0], .events = POLLIN },
			{ .fd = watch->watch_input ? STDIN_FILENO : -1, .events = POLLIN },
		};
		unsigned char numbers[64];
		ssize_t count;

		pid_t ended = wait4(watch->group, &status, WNOHANG, usage);
		if (ended == watch->group)
			return status;
		if (ended < 0 && errno != EINTR)
			fail(EXIT_BROKEN, "cannot wait for the command: %s", strerror(errno));
		if (poll(descriptors, 2, poll_timeout(watch)) > 0) {
			while ((count = read(signal_pipe[0], numbers, sizeof numbers)) > 0)
				for (ssize_t i = 0; i < count; i++)
					if (numbers[i] != SIGCHLD)
						terminate(watch);
			watch_input(watch, descriptors[1].revents);
		}
		watch_clock(watch);
	}
}

/* Linux hands orphans to us, see below: their times count as well, and as zombies they would look alive. */
static void reap_orphans(struct rusage *usage)
{
#ifdef __linux__
	struct rusage one;
	int status;

	while (wait4(-1, &status, WNOHANG, &one) > 0) {
		add_time(&usage->ru_utime, one.ru_utime);
		add_time(&usage->ru_stime, one.ru_stime);
		if (one.ru_maxrss > usage->ru_maxrss)
			usage->ru_maxrss = one.ru_maxrss;
	}
#else
	(void)usage;
#endif
}

/* Grandchildren that went into the background: TERM, a moment, KILL. */
static void end_group(struct watch *watch, struct rusage *usage)
{
	uint64_t until;

	reap_orphans(usage);
	if (kill(-watch->group, 0) != 0)
		return;
	if (watch->kill_at == 0) {
		kill(-watch->group, SIGTERM);
		kill(-watch->group, SIGCONT);
	}
	until = watch->kill_at != 0 ? watch->kill_at : monotonic_ns() + GRACE_NS;
	while (kill(-watch->group, 0) == 0 && monotonic_ns() < until) {
		poll(NULL, 0, 10);
		reap_orphans(usage);
	}
	if (kill(-watch->group, SIGKILL) == 0) {
		poll(NULL, 0, 10);
		reap_orphans(usage);
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

/* From the command's start to its end. */
struct stretch {
	uint64_t start, end;
	struct machine_counters before, after;
};

static void print_usage(const struct stretch *stretch, const struct rusage *usage, int status, bool timed_out)
{
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
	if (WIFSIGNALED(status))
		json_signed(&json, "signal", WTERMSIG(status));
	else
		json_signed(&json, "exit", WEXITSTATUS(status));
	if (timed_out)
		json_boolean(&json, "timed_out", true);
	machine_counters_add(&json, &stretch->before, &stretch->after);
	json_close_object(&json);
	/* The command may have left its output without a newline, or the reader may be gone: neither matters here. */
	json_send(&json);
	json_free(&json);
}

int command_guard(int argc, char **argv)
{
	struct watch watch = { .watch_input = input_can_close() };
	struct rusage usage = { 0 };
	int failure[2], reason = 0, status;
	int first = options_parse(&command, argc, argv);

	if (first >= argc)
		fail(EXIT_USAGE, "a command is missing: stend-probe guard [OPTIONS] -- COMMAND [ARGUMENT]...");
	if (pipe(signal_pipe) != 0 || pipe(failure) != 0)
		fail(EXIT_BROKEN, "cannot make a pipe: %s", strerror(errno));
	set_descriptor_flags(signal_pipe[0]);
	set_descriptor_flags(signal_pipe[1]);
	fcntl(failure[0], F_SETFD, FD_CLOEXEC);
	fcntl(failure[1], F_SETFD, FD_CLOEXEC);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
	catch_signal(SIGCHLD);
	catch_signal(SIGTERM);
	catch_signal(SIGHUP);

#ifdef PR_SET_CHILD_SUBREAPER
	/* Orphans of the command become our children, not those of init, which may not be there in a container. */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif

	struct stretch stretch = { .before = machine_counters_read() };
	stretch.start = monotonic_ns();
	pid_t guard = getpid();
	watch.group = fork();
	if (watch.group < 0)
		fail(EXIT_BROKEN, "cannot start a process: %s", strerror(errno));
	if (watch.group == 0)
		become_command(argv + first, failure[1], guard);
	/* In both, for either may be first. */
	setpgid(watch.group, watch.group);
	close(failure[1]);
	if (chosen.timeout != 0)
		watch.deadline = stretch.start + chosen.timeout;
	ssize_t count;
	do
		count = read(failure[0], &reason, sizeof reason);
	while (count < 0 && errno == EINTR);
	close(failure[0]);
	if (count == (ssize_t)sizeof reason)
		warn_line("cannot start %s%s%s: %s", argv[first], chosen.directory != NULL ? " in " : "",
		          chosen.directory != NULL ? chosen.directory : "", strerror(reason));
	status = wait_for_command(&watch, &usage);
	stretch.end = monotonic_ns();
	stretch.after = machine_counters_read();
	end_group(&watch, &usage);
	print_usage(&stretch, &usage, status, watch.timed_out);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
