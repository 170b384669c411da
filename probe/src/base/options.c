#include "base/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

struct suffix {
	const char *text;
	uint64_t factor;
};

static const struct suffix size_suffixes[] = {
	{ "", 1 }, { "B", 1 },
	{ "k", 1024 }, { "K", 1024 }, { "KiB", 1024 }, { "kB", 1000 }, { "KB", 1000 },
	{ "M", 1u << 20 }, { "MiB", 1u << 20 }, { "MB", 1000000 },
	{ "G", 1u << 30 }, { "GiB", 1u << 30 }, { "GB", 1000000000 },
};

static const struct suffix duration_suffixes[] = {
	{ "", 1000000000 }, { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
	{ "m", UINT64_C(60000000000) }, { "min", UINT64_C(60000000000) }, { "h", UINT64_C(3600000000000) },
};

/* digits [. digits] suffix, without floating point: 0.1 must be exact. At most 9 digits after the point count. */
static bool parse_quantity(const char *text, const struct suffix *suffixes, size_t count, uint64_t *result)
{
	uint64_t whole = 0, fraction = 0, scale = 1;
	const char *at = text;

	if (*at < '0' || *at > '9')
		return false;
	for (; *at >= '0' && *at <= '9'; at++) {
		if (whole > (UINT64_MAX - 9) / 10)
			return false;
		whole = whole * 10 + (uint64_t)(*at - '0');
	}
	if (*at == '.') {
		at++;
		if (*at < '0' || *at > '9')
			return false;
		for (; *at >= '0' && *at <= '9'; at++) {
			if (scale < 1000000000) {
				fraction = fraction * 10 + (uint64_t)(*at - '0');
				scale *= 10;
			}
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (strcmp(at, suffixes[i].text) != 0)
			continue;
		uint64_t factor = suffixes[i].factor;
		if (whole > UINT64_MAX / 2 / factor)
			return false;
		/* fraction * factor may pass 64 bits for hours: divide first where nothing is lost by it. */
		uint64_t part = factor / scale * fraction + factor % scale * fraction / scale;
		*result = whole * factor + part;
		return true;
	}
	return false;
}

bool parse_size(const char *text, uint64_t *bytes)
{
	return parse_quantity(text, size_suffixes, sizeof size_suffixes / sizeof *size_suffixes, bytes);
}

bool parse_duration(const char *text, uint64_t *nanoseconds)
{
	return parse_quantity(text, duration_suffixes, sizeof duration_suffixes / sizeof *duration_suffixes,
	                      nanoseconds);
}

/* Where the explanations begin. */
enum { HELP_COLUMN = 32 };

static void print_help(const struct command *command)
{
	printf("%s\n\nUsage: stend-probe %s%s%s%s\n", command->summary, command->name,
	       command->option_count > 0 ? " [OPTIONS]" : "", command->rest != NULL ? " " : "",
	       command->rest != NULL ? command->rest : "");
	printf("\nOptions:\n");
	for (size_t i = 0; i < command->option_count; i++) {
		const struct option_definition *option = &command->options[i];
		bool flag = option->kind == OPTION_FLAG;

		int width = printf("  --%s%s%s", option->name, flag ? "" : " ", flag ? "" : option->value);
		if (width < HELP_COLUMN)
			printf("%*s", HELP_COLUMN - width, "");
		else
			printf("\n%*s", HELP_COLUMN, "");
		printf("%s", option->help);
		if (option->initial != NULL && *option->initial != '\0')
			printf(" [default: %s]", option->initial);
		printf("\n");
	}
	printf("  %-30s%s\n", "--check", "only check the command line: exit status 0, or 2 with one line");
	printf("  %-30s%s\n", "--help", "print this and exit");
	if (command->notes != NULL)
		printf("\n%s\n", command->notes);
}

static bool is_choice(const char *choices, const char *text)
{
	size_t length = strlen(text);

	if (length == 0 || strchr(text, '|') != NULL)
		return false;
	for (const char *at = choices; (at = strstr(at, text)) != NULL; at++)
		if ((at == choices || at[-1] == '|') && (at[length] == '|' || at[length] == '\0'))
			return true;
	return false;
}

static void check_limits(const struct option_definition *option, const char *text, uint64_t number)
{
	if (option->least == 0 && option->most == 0)
		return;
	if (number >= option->least && number <= option->most)
		return;
	if (option->kind == OPTION_DURATION)
		fail(EXIT_USAGE, "--%s %s: must be from %.9g to %.9g seconds", option->name, text,
		     (double)option->least / 1e9, (double)option->most / 1e9);
	fail(EXIT_USAGE, "--%s %s: must be from %" PRIu64 " to %" PRIu64, option->name, text, option->least,
	     option->most);
}

static void add_pair(const struct option_definition *option, const char *text)
{
	struct option_pairs *pairs = option->target;
	const char *equals = strchr(text, '=');

	if (equals == NULL || equals == text || equals[1] == '\0')
		fail(EXIT_USAGE, "--%s %s: must be %s", option->name, text, option->value);
	struct option_pair *larger = realloc(pairs->all, (pairs->count + 1) * sizeof *larger);
	if (larger == NULL)
		fail(EXIT_BROKEN, "out of memory");
	pairs->all = larger;
	pairs->all[pairs->count++] = (struct option_pair){ text, (size_t)(equals - text), equals + 1 };
}

static void set_option(const struct option_definition *option, const char *text)
{
	uint64_t number;

	switch (option->kind) {
	case OPTION_FLAG:
		*(bool *)option->target = true;
		return;
	case OPTION_TEXT:
		*(const char **)option->target = text;
		return;
	case OPTION_CHOICE:
		if (!is_choice(option->value, text))
			fail(EXIT_USAGE, "--%s %s: must be one of %s", option->name, text, option->value);
		*(const char **)option->target = text;
		return;
	case OPTION_PAIRS:
		add_pair(option, text);
		return;
	case OPTION_SIZE:
		if (!parse_size(text, &number))
			fail(EXIT_USAGE, "--%s %s: not a size, write for example 4096, 64KiB, 1M, 1GB", option->name, text);
		break;
	case OPTION_DURATION:
		if (!parse_duration(text, &number))
			fail(EXIT_USAGE, "--%s %s: not a duration, write for example 0.2, 200ms, 2s, 1m", option->name,
			     text);
		break;
	case OPTION_INTEGER:
	default: {
		static const struct suffix none[] = { { "", 1 } };
		if (strchr(text, '.') != NULL || !parse_quantity(text, none, 1, &number))
			fail(EXIT_USAGE, "--%s %s: not a whole number", option->name, text);
		break;
	}
	}
	check_limits(option, text, number);
	*(uint64_t *)option->target = number;
}

static const struct option_definition *find(const struct command *command, const char *name, size_t length)
{
	for (size_t i = 0; i < command->option_count; i++)
		if (strlen(command->options[i].name) == length && strncmp(command->options[i].name, name, length) == 0)
			return &command->options[i];
	return NULL;
}

int options_parse(const struct command *command, int argc, char **argv)
{
	static char name[64];
	bool check_only = false;
	int i = 1;

	snprintf(name, sizeof name, "stend-probe %s", command->name);
	fail_set_name(name);
	for (size_t n = 0; n < command->option_count; n++)
		if (command->options[n].initial != NULL)
			set_option(&command->options[n], command->options[n].initial);
	for (; i < argc; i++) {
		const char *word = argv[i];

		if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
			print_help(command);
			exit(fflush(stdout) == 0 ? EXIT_FINE : EXIT_BROKEN);
		}
		if (strcmp(word, "--check") == 0) {
			check_only = true;
			continue;
		}
		if (strcmp(word, "--") == 0 && command->rest != NULL) {
			i++;
			break;
		}
		if (strncmp(word, "--", 2) != 0) {
			if (command->rest != NULL && word[0] != '-')
				break;
			fail(EXIT_USAGE, "unexpected argument %s; see stend-probe %s --help", word, command->name);
		}
		const char *equals = strchr(word, '=');
		size_t length = equals != NULL ? (size_t)(equals - word) - 2 : strlen(word) - 2;
		const struct option_definition *option = find(command, word + 2, length);
		if (option == NULL)
			fail(EXIT_USAGE, "unknown option %s; see stend-probe %s --help", word, command->name);
		if (option->kind == OPTION_FLAG) {
			if (equals != NULL)
				fail(EXIT_USAGE, "--%s takes no value", option->name);
			set_option(option, NULL);
		} else if (equals != NULL) {
			set_option(option, equals + 1);
		} else {
			if (i + 1 >= argc)
				fail(EXIT_USAGE, "--%s needs a value: %s", option->name, option->value);
			set_option(option, argv[++i]);
		}
	}
	if (command->rest != NULL && i >= argc)
		fail(EXIT_USAGE, "%s is missing; see stend-probe %s --help", command->rest, command->name);
	if (command->check != NULL)
		command->check();
	if (check_only)
		exit(EXIT_FINE);
	return i;
}
