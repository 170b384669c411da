#include "carried/result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

#define LARGEST ((size_t)1 << 30)

void result_count(struct plan *plan, size_t step, int exit)
{
	struct plan_command *command = &plan->commands[plan->steps[step].command];

	plan->steps[step].done = true;
	command->failures_in_a_row = exit == 0 ? 0 : command->failures_in_a_row + 1;
}

static bool is_event(const struct json_value *line, const char *name)
{
	const struct json_value *event = json_member(line, "event");

	return event != NULL && event->kind == JSON_TEXT && strcmp(event->text, name) == 0;
}

static void take_line(struct plan *plan, const char *path, size_t number, const struct json_document *document,
                      struct result *result)
{
	const struct json_value *line = document->value;
	uint64_t step, status;

	if (is_event(line, "session")) {
		result->sessions++;
		result->finished = false;
	}
	if (is_event(line, "finished")) {
		const struct json_value *complete = json_member(line, "complete");

		result->finished = complete != NULL && complete->kind == JSON_BOOLEAN && complete->truth;
	}
	if (!is_event(line, "attempt"))
		return;
	if (plan->step_count == 0 || !json_whole(json_member(line, "step"), plan->step_count - 1, &step) ||
	    !json_whole(json_member(line, "exit"), 255, &status))
		fail(EXIT_USAGE, "%s:%zu: an attempt at no step of this plan", path, number);
	result_count(plan, (size_t)step, (int)status);
	result->attempts++;
}

static void check_plan(const struct plan *plan, const char *path, const struct json_document *document)
{
	const struct json_value *of = json_member(document->value, "plan");

	if (!is_event(document->value, "plan") || of == NULL)
		fail(EXIT_USAGE, "%s is no result of stend-probe run", path);
	if ((size_t)(of->end - of->begin) != plan->length || memcmp(of->begin, plan->text, plan->length) != 0)
		fail(EXIT_USAGE, "%s is the result of another plan; go on with the file that it was begun with", path);
}

struct result result_continue(struct plan *plan, const char *path)
{
	struct result result = { 0 };
	size_t length, number = 0, done = 0;
	char *text = read_file(path, LARGEST, &length);
	int file;

	while (done < length) {
		const char *newline = memchr(text + done, '\n', length - done);
		struct json_document document;

		if (newline == NULL)
			break;
		number++;
		if (!json_read(&document, text + done, (size_t)(newline - (text + done))))
			fail(EXIT_USAGE, "%s:%zu:%zu: the file is damaged: %s", path, number, (size_t)(document.at - (text + done)) + 1,
			     document.wrong);
		if (number == 1)
			check_plan(plan, path, &document);
		take_line(plan, path, number, &document, &result);
		json_document_free(&document);
		done = (size_t)(newline - text) + 1;
	}
	free(text);
	if (number == 0)
		fail(EXIT_USAGE, "%s is no result of stend-probe run: it has no whole line", path);
	file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (file < 0 || dup2(file, STDOUT_FILENO) < 0)
		fail(EXIT_USAGE, "%s cannot be added to: %s", path, strerror(errno));
	close(file);
	if (done < length) {
		if (ftruncate(STDOUT_FILENO, (off_t)done) != 0)
			fail(EXIT_BROKEN, "%s cannot be cut: %s", path, strerror(errno));
		warn_line("the last line of %s was cut off; that repeat is made again", path);
	}
	return result;
}
