/* `stend-probe run`: a suite on a machine that no lab reaches. What it prints is carried back by hand. */
#include "commands.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/owned.h"
#include "base/random.h"
#include "base/signals.h"
#include "base/version.h"
#include "carried/child.h"
#include "carried/plan.h"
#include "carried/result.h"
#include "carried/sampler.h"
#include "machine/lock.h"
#include "machine/stand_in.h"
#include "wire/wire.h"

#define RESULT_VERSION 1
#define USUAL_PATH "/bin:/usr/bin"
/* Of what a repeat prints at most so much is kept; one that prints more is ended. */
#define MOST_OUTPUT ((size_t)64 << 20)
#define MOST_ERRORS ((size_t)256 << 10)
/* The guard ends a command whose time is up. If it has not done so this much later, the guard itself hangs. */
#define GRACE_NS UINT64_C(8000000000)

enum { EXIT_SHORT = 3, EXIT_INTERRUPTED = 130 };

static struct {
	const char *continued;
	bool quiet;
} chosen;

static const struct option_definition options[] = {
	{ "continue", OPTION_TEXT, "RESULT", NULL, "continue this result: measure the missing repeats, and append them", &chosen.continued, 0, 0 },
	{ "quiet", OPTION_FLAG, NULL, NULL, "print only errors and warnings", &chosen.quiet, 0, 0 },
};

static const struct command command = {
	"run", "Measure a suite on a machine without a network connection.",
	"PLAN is a file written by `stend pack SUITE`. Each repeat is printed as one line of standard output as soon as it has ended,\n"
	"so an interruption costs only the current repeat; --continue resumes. `stend import` reads the result.\n"
	"Meanwhile no other stend can measure on this machine: the command holds the locks /tmp/stend.lock (override: STEND_LOCK) and\n"
	"in-use.lock in STEND_WORK, or ~/.cache/stend.\n"
	"Exit status: 0 success, 2 invalid command line or plan, 3 repeats are invalid or missing, 4 the machine can measure none of\n"
	"the scenarios, or another stend is measuring, 130 interrupted. An interrupted result can be continued, or imported as it is.",
	options, sizeof options / sizeof *options, "PLAN", NULL,
};

static int signals; /* what came is read from it */
static volatile sig_atomic_t interrupted;

static void on_signal(void)
{
	if (interrupted)
		_exit(EXIT_INTERRUPTED); /* guards end with us */
	interrupted = 1;
}

/* --- where things are --- */

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* As exec looks for it. */
static bool find_program(const char *name, char *path, size_t bytes)
{
	const char *directories = getenv("PATH"), *end;

	if (strchr(name, '/') != NULL)
		return (size_t)snprintf(path, bytes, "%s", name) < bytes && is_program(path);
	if (directories == NULL)
		directories = USUAL_PATH;
	for (;; directories = end + 1) {
		end = strchrnul(directories, ':');
		int length = (int)(end - directories);
		if ((size_t)snprintf(path, bytes, "%.*s/%s", length > 0 ? length : 1, length > 0 ? directories : ".", name) < bytes &&
		    is_program(path))
			return true;
		if (*end == '\0')
			return false;
	}
}

/* This program itself, to be started again. */
static const char *own_path(const char *started_as)
{
	static char path[PATH_MAX];
	const char *given = getenv("STEND_PROBE");
	ssize_t length;

	if (given != NULL && *given != '\0') {
		if (realpath(given, path) == NULL)
			fail(EXIT_USAGE, "STEND_PROBE is %s: %s", given, strerror(errno));
		return path;
	}
	length = readlink("/proc/self/exe", path, sizeof path - 1);
	if (length > 0) {
		path[length] = '\0';
		if (is_program(path))
			return path;
	}
	if (!find_program(started_as, path, sizeof path))
		fail(EXIT_BROKEN, "this program does not find itself; say where it is with STEND_PROBE");
	return path;
}

static const char *environment(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0' ? value : NULL;
}

static void make_directories(char *path)
{
	for (char *at = path + 1;; at++) {
		char kept = *at;

		if (kept != '/' && kept != '\0')
			continue;
		*at = '\0';
		if (mkdir(path, 0700) != 0 && errno != EEXIST)
			fail(EXIT_UNSUPPORTED, "cannot make %s: %s; set STEND_WORK to a directory that can be written", path,
			     strerror(errno));
		*at = kept;
		if (kept == '\0')
			return;
	}
}

/* The directory that every stend on this machine locks. */
static const char *work_directory(void)
{
	static char path[3800];
	const char *work = environment("STEND_WORK"), *cache = environment("XDG_CACHE_HOME"), *home = getenv("HOME");
	int length;

	if (work != NULL)
		length = snprintf(path, sizeof path, "%s", work);
	else if (cache != NULL)
		length = snprintf(path, sizeof path, "%s/stend", cache);
	else
		length = snprintf(path, sizeof path, "%s/.cache/stend", home != NULL ? home : "");
	if (path[0] != '/' || (size_t)length >= sizeof path)
		fail(EXIT_USAGE, "%s is no place for the run's files; set STEND_WORK to an absolute path", path);
	owned_check(path);
	make_directories(path);
	/* Another user may have been faster. */
	owned_check(path);
	return path;
}

static void take_lock(const char *work)
{
	const char *machine = environment("STEND_LOCK");
	const char *user = environment("USER");
	char path[4096], since[32], holder[256], held_by[256];
	struct utsname system;
	time_t now = time(NULL);
	struct tm utc;

	snprintf(path, sizeof path, "%s/in-use.lock", work);
	if (gmtime_r(&now, &utc) == NULL || strftime(since, sizeof since, "%Y-%m-%d %H:%M UTC", &utc) == 0)
		since[0] = '\0';
	snprintf(holder, sizeof holder, "%.64s@%.64s, process %ld%s%s", user != NULL ? user : "somebody",
	         uname(&system) == 0 ? system.nodename : "this machine", (long)getpid(), since[0] != '\0' ? ", since " : "", since);
	if (machine == NULL)
		machine = "/tmp/stend.lock";
	/* The machine's, which all users share, and that of the directory. */
	if (!lock_take_shared(machine, holder, held_by, sizeof held_by))
		fail(EXIT_UNSUPPORTED, "another stend measures on this machine (%s); wait for it (the lock is %s)", held_by, machine);
	if (!lock_take(path, holder, held_by, sizeof held_by))
		fail(EXIT_UNSUPPORTED, "another stend is using %s (%s); wait for it, or set STEND_WORK to another directory", work, held_by);
}

/* --- lines --- */

static int64_t unix_ns(void)
{
	return unix_offset_ns() + (int64_t)monotonic_ns();
}

static void open_line(struct json *json, const char *event)
{
	json_open_object(json, NULL);
	json_text(json, "event", event);
}

/* When this returns, the line is on disk. */
static void send_line(struct json *json)
{
	json_close_object(json);
	if (!json_send(json))
		fail(EXIT_BROKEN, "the result cannot be written: %s", strerror(errno));
	/* A pipe has no disk. */
	if (fsync(STDOUT_FILENO) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP)
		fail(EXIT_BROKEN, "the result cannot be written: %s", strerror(errno));
}

static void send_plan(struct json *json, const struct plan *plan)
{
	char id[40];
	int64_t now = unix_ns();
	time_t seconds = (time_t)(now / 1000000000);
	uint64_t state = (uint64_t)now ^ (uint64_t)getpid() << 40;
	struct tm utc;

	gmtime_r(&seconds, &utc);
	strftime(id, sizeof id, "%Y%m%d-%H%M-", &utc);
	snprintf(id + strlen(id), sizeof id - strlen(id), "%04x", (unsigned)(random_word(&state) & 0xFFFF));
	open_line(json, "plan");
	json_unsigned(json, "result", RESULT_VERSION);
	json_text(json, "run", id);
	json_signed(json, "realtime_ns", now);
	json_text(json, "version", STEND_VERSION);
	wire_build(json);
	json_raw(json, "plan", plan->text, plan->length);
	send_line(json);
}

/* --- following a command --- */

struct output {
	struct bytes out, err;
};

/* Until both streams are at their end. False: it was not in time, and is killed. */
static bool follow(struct child *child, struct output *output, uint64_t deadline, struct sampler *sampler)
{
	for (bool stopped = false;;) {
		struct pollfd descriptors[4] = {
			{ .fd = child->out, .events = POLLIN },
			{ .fd = child->err, .events = POLLIN },
			{ .fd = signals, .events = POLLIN },
			{ .fd = sampler != NULL && sampler->running ? sampler->child.out : -1, .events = POLLIN },
		};
		uint64_t now = monotonic_ns();

		if (interrupted && !stopped) {
			stopped = true;
			child_stop(child);
			if (deadline > now + GRACE_NS)
				deadline = now + GRACE_NS;
			/* Read no more: it would be ready for ever. */
			char some[16];
			while (read(signals, some, sizeof some) > 0)
				;
		}
		bool out = stream_take(&child->out, &output->out, MOST_OUTPUT), err = stream_take(&child->err, &output->err, MOST_ERRORS);
		if (sampler != NULL)
			sampler_take(sampler);
		if (!out && !err)
			return true;
		if (output->out.length >= MOST_OUTPUT)
			child_stop(child);
		if (now >= deadline) {
			kill(-child->pid, SIGKILL);
			return false;
		}
		uint64_t left = (deadline - now) / 1000000 + 1;
		poll(descriptors, 4, left > 60000 ? 60000 : (int)left);
	}
}

static void free_output(struct output *output)
{
	bytes_free(&output->out);
	bytes_free(&output->err);
}

static void add_output(struct json *json, const struct output *output)
{
	json_text(json, "output", output->out.length > 0 ? output->out.data : "");
	json_text(json, "error_output", output->err.length > 0 ? output->err.data : "");
}

static void ask(struct json *json, const struct plan_question *question)
{
	struct output output = { 0 };
	struct child child = child_start(question->words, question->directory);

	child_stop(&child);
	bool in_time = follow(&child, &output, monotonic_ns() + question->timeout_ns, NULL);
	int status = child_wait(&child);
	open_line(json, "answer");
	json_text(json, "question", question->name);
	json_boolean(json, "in_time", in_time);
	json_signed(json, "exit", status);
	add_output(json, &output);
	send_line(json);
	free_output(&output);
}

static void send_session(struct json *json, uint64_t session, const struct sampler *sampler)
{
	char boot[64] = "";
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (file != NULL) {
		if (fgets(boot, sizeof boot, file) == NULL)
			boot[0] = '\0';
		fclose(file);
	}
	boot[strcspn(boot, "\n")] = '\0';
	open_line(json, "session");
	json_unsigned(json, "session", session);
	json_signed(json, "realtime_ns", unix_ns());
	json_unsigned(json, "monotonic_ns", monotonic_ns());
	if (boot[0] != '\0')
		json_text(json, "boot_id", boot);
	if (sampler->begin.length > 0)
		json_raw(json, "sampler", sampler->begin.data, sampler->begin.length);
	send_line(json);
}

/* --- repeats --- */

struct place {
	const char *probe;
	char directory[3900]; /* of this run alone */
	char pid_file[3950];
	char stand_ins[3950];
};

/* A directory for the run's files, and in it what stands in for programs that this machine lacks. */
static void make_place(struct place *place, const char *work)
{
	const char *path = getenv("PATH");
	char *longer;

	/* Nobody else uses it, by the lock. Of one name: what a killed run left there goes when the next one has ended. */
	snprintf(place->directory, sizeof place->directory, "%s/carried", work);
	snprintf(place->pid_file, sizeof place->pid_file, "%s/guard.pid", place->directory);
	snprintf(place->stand_ins, sizeof place->stand_ins, "%s/stand-ins", place->directory);
	make_directories(place->stand_ins);
	unlink(place->pid_file);
	stand_in_link(place->stand_ins, place->probe);
	path = path != NULL ? path : USUAL_PATH;
	longer = malloc(strlen(path) + strlen(place->stand_ins) + 2);
	if (longer == NULL)
		fail(EXIT_BROKEN, "out of memory");
	sprintf(longer, "%s:%s", path, place->stand_ins);
	if (setenv("PATH", longer, 1) != 0)
		fail(EXIT_BROKEN, "cannot set PATH: %s", strerror(errno));
	free(longer);
}

static void remove_place(const struct place *place)
{
	stand_in_link(place->stand_ins, NULL);
	rmdir(place->stand_ins);
	unlink(place->pid_file);
	rmdir(place->directory);
}

static char **guarded(const struct plan_command *one, const struct place *place, char *timeout, size_t bytes)
{
	static char guard_word[] = "guard", timeout_word[] = "--timeout", pid_word[] = "--pid-file", end_word[] = "--";
	char *const guard[] = { (char *)(uintptr_t)place->probe, guard_word, timeout_word, timeout, pid_word,
		                (char *)(uintptr_t)place->pid_file, end_word };
	size_t head = sizeof guard / sizeof *guard, count = 0;
	char **words;

	while (one->words[count] != NULL)
		count++;
	words = calloc(head + count + 2, sizeof *words);
	if (words == NULL)
		fail(EXIT_BROKEN, "out of memory");
	snprintf(timeout, bytes, "%" PRIu64 "ns", one->timeout_ns);
	memcpy(words, guard, sizeof guard);
	if (one->by_probe)
		words[head++] = (char *)(uintptr_t)place->probe;
	memcpy(words + head, one->words, count * sizeof *words);
	return words;
}

/* False: it was interrupted, and is as if it had not been. */
static bool attempt(struct json *json, struct plan *plan, size_t step, uint64_t session, const struct place *place,
                    struct sampler *sampler)
{
	struct plan_command *one = &plan->commands[plan->steps[step].command];
	struct output output = { 0 };
	char timeout[32], **words = guarded(one, place, timeout, sizeof timeout);
	int64_t began = unix_ns();

	sampler_forget(sampler);
	struct child child = child_start(words, NULL);
	bool in_time = follow(&child, &output, monotonic_ns() + one->timeout_ns + GRACE_NS, sampler);
	uint64_t ended = monotonic_ns();
	int status = child_wait(&child);
	free(words);
	if (interrupted) {
		free_output(&output);
		return false;
	}
	sampler_catch_up(sampler, ended);
	open_line(json, "attempt");
	json_unsigned(json, "step", step);
	json_unsigned(json, "session", session);
	json_signed(json, "realtime_ns", began);
	json_boolean(json, "in_time", in_time);
	json_signed(json, "exit", status);
	add_output(json, &output);
	json_open_array(json, "samples");
	if (sampler->samples.length > 0)
		json_raw(json, NULL, sampler->samples.data, sampler->samples.length);
	json_close_array(json);
	send_line(json);
	result_count(plan, step, status);
	free_output(&output);
	return true;
}

static bool is_given_up(const struct plan *plan, const struct plan_command *one)
{
	return one->failures_in_a_row >= plan->most_failures;
}

static bool can_be_measured(const struct plan_command *one)
{
	return one->missing == NULL && one->only_processors == 0;
}

static bool is_left(const struct plan *plan, size_t step)
{
	const struct plan_command *one = &plan->commands[plan->steps[step].command];

	return !plan->steps[step].done && can_be_measured(one) && !is_given_up(plan, one);
}

static bool is_anything_left(const struct plan *plan)
{
	for (size_t step = 0; step < plan->step_count; step++)
		if (is_left(plan, step))
			return true;
	return false;
}

/* All steps that are not done. False: interrupted. */
static bool make_all(struct json *json, struct plan *plan, uint64_t session, const struct place *place, struct sampler *sampler)
{
	for (size_t step = 0; step < plan->step_count; step++) {
		struct plan_command *one = &plan->commands[plan->steps[step].command];

		if (!is_left(plan, step))
			continue;
		if (interrupted)
			return false;
		if (!chosen.quiet)
			say_line("%zu/%zu %s", step + 1, plan->step_count, one->name);
		if (!sampler->running && plan->hertz > 0) {
			sampler_end(sampler);
			sampler_start(sampler, place->probe, plan->hertz, place->pid_file);
			sampler_begin(sampler);
		}
		if (!attempt(json, plan, step, session, place, sampler))
			return false;
		if (one->failures_in_a_row > 0)
			warn_line("%s failed%s", one->name, is_given_up(plan, one) ? " again and again, and is given up" : "");
	}
	return true;
}

/* Which commands lack a program or processors here. False: all of them. */
static bool look_for_needs(struct plan *plan)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	char path[4096];
	bool any = false;

	for (size_t i = 0; i < plan->command_count; i++) {
		struct plan_command *one = &plan->commands[i];

		if (!one->by_probe && !find_program(one->words[0], path, sizeof path))
			one->missing = one->words[0];
		for (char **need = one->needs; one->missing == NULL && *need != NULL; need++)
			if (!find_program(*need, path, sizeof path))
				one->missing = *need;
		if (online > 0 && one->processors > (uint64_t)online)
			one->only_processors = (uint64_t)online;
		any = any || can_be_measured(one);
	}
	return any;
}

static const char *why_not(const struct plan_command *one, char *why, size_t bytes)
{
	if (one->missing != NULL)
		snprintf(why, bytes, "%s is missing", one->missing);
	else
		snprintf(why, bytes, "it takes %ju processors, and %ju are online", (uintmax_t)one->processors,
		         (uintmax_t)one->only_processors);
	return why;
}

static void send_skipped(struct json *json, const struct plan *plan)
{
	char why[4200];

	for (size_t i = 0; i < plan->command_count; i++) {
		const struct plan_command *one = &plan->commands[i];

		if (can_be_measured(one))
			continue;
		warn_line("skipped: %s: %s", one->name, why_not(one, why, sizeof why));
		open_line(json, "skipped");
		json_unsigned(json, "command", i);
		if (one->missing != NULL)
			json_text(json, "program", one->missing);
		else
			json_unsigned(json, "online", one->only_processors);
		send_line(json);
	}
}

/* Whether each command that could be measured gave all its repeats without a failure. */
static bool is_whole(const struct plan *plan)
{
	for (size_t step = 0; step < plan->step_count; step++) {
		const struct plan_command *one = &plan->commands[plan->steps[step].command];

		if (can_be_measured(one) && (!plan->steps[step].done || one->failures_in_a_row > 0))
			return false;
	}
	return true;
}

static size_t count_done(const struct plan *plan)
{
	size_t done = 0;

	for (size_t step = 0; step < plan->step_count; step++)
		done += plan->steps[step].done;
	return done;
}

/* What is written in a plan somebody else may have written. */
static void name_command(const char *path, char *const *words)
{
	char line[200] = "";
	size_t length = 0;

	for (; *words != NULL && length < sizeof line - 1; words++) {
		snprintf(line + length, sizeof line - length, " %s", *words);
		length = strlen(line);
	}
	warn_line("as root, and not part of stend: %s starts%s%s", path, line, *words != NULL || length == sizeof line - 1 ? "…" : "");
}

/* Root may do anything, so what is about to be started is named first. */
static void name_commands(const struct plan *plan, const char *path)
{
	enum { MOST_NAMED = 20 };
	size_t count = 0;

	if (geteuid() != 0)
		return;
	for (size_t i = 0; i < plan->command_count; i++)
		if (!plan->commands[i].by_probe && count++ < MOST_NAMED)
			name_command(path, plan->commands[i].words);
	for (size_t i = 0; i < plan->question_count; i++)
		if (count++ < MOST_NAMED)
			name_command(path, plan->questions[i].words);
	if (count > MOST_NAMED)
		warn_line("as root, and not part of stend: %s starts %zu commands more", path, count - MOST_NAMED);
}

static int measure(struct plan *plan, const char *started_as, const char *path)
{
	struct json json = { 0 };
	struct result before = { 0 };
	struct sampler sampler = { 0 };
	struct place place = { .probe = own_path(started_as) };
	const char *work = work_directory();
	char why[4200];

	if (!look_for_needs(plan))
		fail(EXIT_UNSUPPORTED, "no scenario of %s can be measured here: %s", plan->name,
		     plan->command_count > 0 ? why_not(&plan->commands[0], why, sizeof why) : "there is none");
	take_lock(work);
	if (chosen.continued != NULL)
		before = result_continue(plan, chosen.continued);
	else if (isatty(STDOUT_FILENO))
		fail(EXIT_USAGE, "standard output is a terminal; write the result into a file: stend-probe run %s > result.jsonl", path);
	if (before.finished && !is_anything_left(plan)) {
		if (!chosen.quiet)
			warn_line("%s is complete, with %zu of %zu repeats; nothing was made. Carry it back, and there: stend import %s",
			          chosen.continued, count_done(plan), plan->step_count, chosen.continued);
		return is_whole(plan) ? EXIT_FINE : EXIT_SHORT;
	}
	name_commands(plan, path);
	make_place(&place, work);
	/* For questions that stend-probe itself answers. */
	if (setenv("STEND_PROBE", place.probe, 1) != 0)
		fail(EXIT_BROKEN, "out of memory");
	signals = signals_catch((const int[]){ SIGTERM, SIGINT, SIGHUP }, 3, on_signal);
	if (chosen.continued == NULL)
		send_plan(&json, plan);
	for (size_t i = 0; i < plan->question_count && !interrupted; i++)
		ask(&json, &plan->questions[i]);
	send_skipped(&json, plan);
	sampler_start(&sampler, place.probe, plan->hertz, place.pid_file);
	sampler_begin(&sampler);
	send_session(&json, before.sessions, &sampler);
	bool complete = make_all(&json, plan, before.sessions, &place, &sampler);
	sampler_end(&sampler);
	remove_place(&place);
	open_line(&json, "finished");
	json_signed(&json, "realtime_ns", unix_ns());
	json_boolean(&json, "complete", complete);
	send_line(&json);
	json_free(&json);
	if (!complete) {
		warn_line("interrupted; the result has %zu of %zu repeats. Go on with: stend-probe run %s --continue %s",
		          count_done(plan), plan->step_count, path, chosen.continued != NULL ? chosen.continued : "RESULT");
		return EXIT_INTERRUPTED;
	}
	return is_whole(plan) ? EXIT_FINE : EXIT_SHORT;
}

int command_run(int argc, char **argv)
{
	struct plan plan;
	const char *started_as = argv[-1];

	/* The plan may also stand before the options. */
	if (argc > 2 && argv[1][0] != '-') {
		char *first = argv[1];

		memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof *argv);
		argv[argc - 1] = first;
	}
	int at = options_parse(&command, argc, argv);
	if (at + 1 < argc)
		fail(EXIT_USAGE, "unexpected argument %s; see stend-probe run --help", argv[at + 1]);
	plan_read(&plan, argv[at]);
	int status = measure(&plan, started_as, argv[at]);
	plan_free(&plan);
	return status;
}
