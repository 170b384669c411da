#include "carried/sampler.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"

#define PATIENCE_NS UINT64_C(3000000000) /* to say which sensors there are, and to read them once */
#define LAG_NS UINT64_C(250000000)       /* from a sample to here, on a machine that is too busy to sample in time */
#define MOST_SAMPLES ((size_t)256 << 20)
#define MOST_ERRORS ((size_t)64 << 10)

static void start(struct sampler *sampler, const char *probe, uint64_t hertz, const char *pid_file)
{
	char number[24], *words[7], *place = (char *)(uintptr_t)pid_file;

	snprintf(number, sizeof number, "%" PRIu64, hertz);
	words[0] = (char *)(uintptr_t)probe;
	words[1] = (char[]){ "sample" };
	words[2] = (char[]){ "--hertz" };
	words[3] = number;
	words[4] = (char[]){ "--loader" };
	words[5] = place;
	words[6] = NULL;
	sampler->child = child_start(words, NULL);
	sampler->running = true;
}

void sampler_start(struct sampler *sampler, const char *probe, uint64_t hertz, const char *pid_file)
{
	*sampler = (struct sampler){ .period_ns = hertz > 0 ? 1000000000u / hertz : 0 };
	if (hertz > 0)
		start(sampler, probe, hertz, pid_file);
}

/* The number behind a member's name; our own program wrote the line. */
static uint64_t member_of(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	return at != NULL ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static void take_line(struct sampler *sampler, const char *line, size_t length)
{
	if (strncmp(line, "{\"event\":\"sample\"", 17) == 0) {
		if (sampler->samples.length > MOST_SAMPLES)
			return;
		if (sampler->samples.length > 0)
			bytes_add(&sampler->samples, ",", 1);
		sampler->newest_at = sampler->samples.length;
		bytes_add(&sampler->samples, line, length);
		sampler->newest_ns = member_of(line, "\"t_ns\":");
	} else if (sampler->begin.length == 0 && strncmp(line, "{\"event\":\"begin\"", 16) == 0) {
		bytes_add(&sampler->begin, line, length);
	}
}

void sampler_take(struct sampler *sampler)
{
	size_t done = 0;
	const char *newline;

	if (!sampler->running)
		return;
	stream_take(&sampler->child.err, &sampler->errors, MOST_ERRORS);
	bool open = stream_take(&sampler->child.out, &sampler->line, MOST_SAMPLES);
	while (sampler->line.length > done &&
	       (newline = memchr(sampler->line.data + done, '\n', sampler->line.length - done)) != NULL) {
		size_t length = (size_t)(newline - (sampler->line.data + done));

		sampler->line.data[done + length] = '\0';
		take_line(sampler, sampler->line.data + done, length);
		done += length + 1;
	}
	bytes_drop(&sampler->line, done);
	if (!open) {
		int status = child_wait(&sampler->child);

		sampler->running = false;
		warn_line("the sampler ended with status %d: %s", status,
		          sampler->errors.length > 0 ? sampler->errors.data : "it did not say why");
	}
}

static void wait_for_output(struct sampler *sampler, uint64_t until)
{
	struct pollfd descriptor = { .fd = sampler->child.out, .events = POLLIN };
	uint64_t now = monotonic_ns();

	if (now < until)
		poll(&descriptor, 1, (int)((until - now) / 1000000) + 1);
	sampler_take(sampler);
}

void sampler_begin(struct sampler *sampler)
{
	uint64_t until = monotonic_ns() + PATIENCE_NS;

	while (sampler->running && sampler->newest_ns == 0 && monotonic_ns() < until)
		wait_for_output(sampler, until);
}

void sampler_catch_up(struct sampler *sampler, uint64_t moment_ns)
{
	uint64_t until = monotonic_ns() + LAG_NS;

	sampler_take(sampler);
	while (sampler->running && sampler->newest_ns > 0 && sampler->newest_ns + sampler->period_ns <= moment_ns &&
	       monotonic_ns() < until)
		wait_for_output(sampler, until);
}

void sampler_forget(struct sampler *sampler)
{
	sampler_take(sampler);
	bytes_drop(&sampler->samples, sampler->newest_at);
	sampler->newest_at = 0;
}

void sampler_end(struct sampler *sampler)
{
	if (sampler->running) {
		kill(sampler->child.pid, SIGTERM);
		/* It may be waiting for somebody to read. */
		close(sampler->child.out);
		close(sampler->child.err);
		sampler->child.out = sampler->child.err = -1;
		child_wait(&sampler->child);
	}
	bytes_free(&sampler->begin);
	bytes_free(&sampler->samples);
	bytes_free(&sampler->line);
	bytes_free(&sampler->errors);
	sampler->running = false;
}
