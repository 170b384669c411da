/* What `stend-probe run` is told: the file that `stend pack` writes. */
#ifndef STEND_RUN_PLAN_H
#define STEND_RUN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/json_read.h"

/* A command line whose output the lab wants: what makes the fingerprint. */
struct plan_question {
	const char *name, *directory;
	char **words;
	uint64_t timeout_ns;
};

/* What applies a scenario's load once. */
struct plan_command {
	const char *name; /* of the scenario */
	bool by_probe;    /* stend-probe itself is to be put before the words */
	char **words;
	char **needs;     /* programs */
	uint64_t processors; /* so many must be online */
	uint64_t timeout_ns;
	/* How it stands. */
	const char *missing;      /* the program that is not here */
	uint64_t only_processors; /* so many are online, and that is too few */
	unsigned failures_in_a_row;
};

struct plan_step {
	size_t command;
	bool done;
};

struct plan {
	const char *name; /* of the suite, for messages */
	uint64_t hertz, most_failures;
	struct plan_question *questions;
	struct plan_command *commands;
	struct plan_step *steps;
	size_t question_count, command_count, step_count;
	char *text; /* as one line */
	size_t length;
	struct json_document document;
	char *file;
};

/* Ends the program with one line and EXIT_USAGE if the file is no plan. */
void plan_read(struct plan *plan, const char *path);
void plan_free(struct plan *plan);

/* The whole of a file; ends the program if it cannot be read, or is longer. */
char *read_file(const char *path, size_t most, size_t *length);

#endif
