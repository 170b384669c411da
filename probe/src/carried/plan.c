#include "carried/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"

#define PLAN_VERSION 1
#define LARGEST ((size_t)64 << 20)
#define LONGEST_NS UINT64_C(31536000000000000) /* a year */
#define MOST_STEPS 1000000u

char *read_file(const char *path, size_t most, size_t *length)
{
	FILE *file = fopen(path, "re");
	struct stat status;
	char *text;
	size_t count, room;

	if (file == NULL)
		fail(EXIT_USAGE, "%s cannot be read: %s", path, strerror(errno));
	if (fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode))
		fail(EXIT_USAGE, "%s is no file", path);
	if ((uintmax_t)status.st_size > most)
		fail(EXIT_USAGE, "%s is longer than %zu MiB", path, most >> 20);
	room = (size_t)status.st_size;
	text = malloc(room + 1);
	if (text == NULL)
		fail(EXIT_BROKEN, "out of memory for the %zu bytes of %s", room, path);
	count = fread(text, 1, room, file);
	if (ferror(file))
		fail(EXIT_USAGE, "%s cannot be read: %s", path, strerror(errno));
	fclose(file);
	text[count] = '\0';
	*length = count;
	return text;
}

static const char *file_name;

static _Noreturn void refuse(const struct plan *plan, const char *at, const char *why)
{
	size_t line, column;

	json_position(&plan->document, at, &line, &column);
	fail(EXIT_USAGE, "%s:%zu:%zu: %s", file_name, line, column, why);
}

static const struct json_value *member(const struct plan *plan, const struct json_value *object, const char *name,
                                       enum json_kind kind, const char *wanted)
{
	const struct json_value *found = json_member(object, name);
	char why[160];

	if (found != NULL && found->kind == kind)
		return found;
	snprintf(why, sizeof why, "\"%s\" must be %s", name, wanted);
	refuse(plan, found != NULL ? found->begin : object->begin, why);
}

static const struct json_value *list(const struct plan *plan, const struct json_value *object, const char *name)
{
	return member(plan, object, name, JSON_ARRAY, "a list");
}

static const char *text_of(const struct plan *plan, const struct json_value *object, const char *name)
{
	return member(plan, object, name, JSON_TEXT, "a text")->text;
}

static uint64_t whole_of(const struct plan *plan, const struct json_value *object, const char *name, uint64_t most)
{
	const struct json_value *found = member(plan, object, name, JSON_NUMBER, "a whole number");
	uint64_t number;
	char why[160];

	if (json_whole(found, most, &number))
		return number;
	snprintf(why, sizeof why, "\"%s\" must be a whole number from 0 to %ju", name, (uintmax_t)most);
	refuse(plan, found->begin, why);
}

/* The same of what an older lab leaves out: 0 then. */
static uint64_t whole_if_any(const struct plan *plan, const struct json_value *object, const char *name, uint64_t most)
{
	return json_member(object, name) == NULL ? 0 : whole_of(plan, object, name, most);
}

static void check_object(const struct plan *plan, const struct json_value *value)
{
	if (value->kind != JSON_OBJECT)
		refuse(plan, value->begin, "an object in braces is wanted");
}

static void *zeroed(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);

	if (memory == NULL)
		fail(EXIT_BROKEN, "out of memory");
	return memory;
}

/* Ended by NULL. */
static char **words_of(const struct plan *plan, const struct json_value *object, const char *name, size_t least)
{
	const struct json_value *words = list(plan, object, name);
	char **found = zeroed(words->count, sizeof *found);
	size_t count = 0;

	if (words->count < least)
		refuse(plan, words->begin, "at least one word is wanted");
	for (const struct json_value *word = words->first; word != NULL; word = word->next) {
		if (word->kind != JSON_TEXT)
			refuse(plan, word->begin, "a text is wanted");
		/* Nobody writes to it; exec wants it so. */
		found[count++] = (char *)(uintptr_t)word->text;
	}
	return found;
}

static void read_questions(struct plan *plan, const struct json_value *all)
{
	plan->questions = zeroed(all->count, sizeof *plan->questions);
	for (const struct json_value *one = all->first; one != NULL; one = one->next) {
		check_object(plan, one);
		plan->questions[plan->question_count++] = (struct plan_question){
			.name = text_of(plan, one, "name"),
			.directory = text_of(plan, one, "directory"),
			.words = words_of(plan, one, "words", 1),
			.timeout_ns = whole_of(plan, one, "timeout_ns", LONGEST_NS),
		};
	}
}

static void read_commands(struct plan *plan, const struct json_value *all)
{
	plan->commands = zeroed(all->count, sizeof *plan->commands);
	for (const struct json_value *one = all->first; one != NULL; one = one->next) {
		check_object(plan, one);
		plan->commands[plan->command_count++] = (struct plan_command){
			.name = text_of(plan, one, "scenario"),
			.by_probe = member(plan, one, "by_probe", JSON_BOOLEAN, "true or false")->truth,
			.words = words_of(plan, one, "words", 1),
			.needs = words_of(plan, one, "needs", 0),
			.processors = whole_if_any(plan, one, "processors", UINT32_MAX),
			.timeout_ns = whole_of(plan, one, "timeout_ns", LONGEST_NS),
		};
	}
}

static void read_steps(struct plan *plan, const struct json_value *all)
{
	if (all->count > MOST_STEPS)
		refuse(plan, all->begin, "more than 1000000 steps");
	plan->steps = zeroed(all->count, sizeof *plan->steps);
	for (const struct json_value *one = all->first; one != NULL; one = one->next) {
		const struct json_value *command;
		uint64_t number;

		check_object(plan, one);
		command = member(plan, one, "command", JSON_NUMBER, "a whole number");
		if (!json_whole(command, UINT64_MAX, &number) || number >= plan->command_count)
			refuse(plan, command->begin, "there is no command of this number; the first is 0");
		plan->steps[plan->step_count++].command = (size_t)number;
	}
}

/* The same JSON without the spaces around its parts: a text cannot hold a newline, so it is one line. */
static void keep_as_a_line(struct plan *plan)
{
	const char *at = plan->document.value->begin, *end = plan->document.value->end;
	bool in_text = false;

	plan->text = zeroed((size_t)(end - at), 1);
	for (; at < end; at++) {
		bool space = *at == ' ' || *at == '\n' || *at == '\r' || *at == '\t';

		if (in_text && *at == '\\')
			plan->text[plan->length++] = *at++;
		else if (*at == '"')
			in_text = !in_text;
		if (in_text || !space)
			plan->text[plan->length++] = *at;
	}
}

void plan_read(struct plan *plan, const char *path)
{
	size_t length;
	uint64_t version;
	const struct json_value *root;

	*plan = (struct plan){ 0 };
	file_name = path;
	plan->file = read_file(path, LARGEST, &length);
	if (!json_read(&plan->document, plan->file, length))
		refuse(plan, plan->document.at, plan->document.wrong);
	root = plan->document.value;
	if (root->kind != JSON_OBJECT || json_member(root, "plan") == NULL)
		refuse(plan, root->begin, "this is no plan; `stend pack SUITE` writes one");
	version = whole_of(plan, root, "plan", UINT64_MAX);
	if (version != PLAN_VERSION)
		refuse(plan, json_member(root, "plan")->begin, "a plan of another version; this stend-probe knows version 1");
	plan->name = text_of(plan, member(plan, root, "suite", JSON_OBJECT, "an object"), "name");
	plan->hertz = whole_of(plan, root, "sample_hertz", 100);
	plan->most_failures = whole_of(plan, root, "most_failures_in_a_row", 1000000);
	read_questions(plan, list(plan, root, "questions"));
	read_commands(plan, list(plan, root, "commands"));
	read_steps(plan, list(plan, root, "steps"));
	keep_as_a_line(plan);
}

void plan_free(struct plan *plan)
{
	for (size_t i = 0; i < plan->question_count; i++)
		free(plan->questions[i].words);
	for (size_t i = 0; i < plan->command_count; i++) {
		free(plan->commands[i].words);
		free(plan->commands[i].needs);
	}
	free(plan->questions);
	free(plan->commands);
	free(plan->steps);
	free(plan->text);
	json_document_free(&plan->document);
	free(plan->file);
}
