/* The events that every instrument prints; the language is defined in docs/reference/instruments.md. */
#ifndef STEND_WIRE_H
#define STEND_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "wire/json.h"

/* gcc, clang and the others by the macros that they define, "x86_64", "aarch64", "riscv64", "e2k", … */
const char *build_architecture(void);
const char *build_compiler(void); /* the first line of `$(CC) --version` */
const char *build_flags(void);
const char *build_sources(void); /* the first 16 digits of the SHA-256 of what it was built of; empty if it was not told */

/* Adds the member "build". */
void wire_build(struct json *json);

/* Opens the event `begin` of "stend-probe NAME" and, in it, the object "parameters". */
void wire_open_begin(struct json *json, const char *name);
/* Closes both and sends. */
void wire_close_begin(struct json *json);

struct observation {
	const char *name; /* NULL ends the list */
	double value;
};

/* A fact about what was checked, in fields: numbers, or texts that outlive the repeat. */
struct check_field {
	const char *name; /* NULL ends the list */
	uint64_t number;
	const char *text; /* instead of the number, if not NULL */
};

struct repeat {
	uint64_t n, t_ns, wall_ns, cpu_ns;
	uint64_t bytes, operations; /* 0: not sent; one of them always is */
	struct observation observed[24];
	bool passed;
	struct {
		const char *name; /* NULL ends the list */
		struct check_field fields[8];
	} checks[5];
};

/* Adds what was checked: `name` is a tag of the lab's, `fields` end with a name NULL, and may be NULL. */
void repeat_check(struct repeat *repeat, const char *name, const struct check_field *fields);

void repeat_observe(struct repeat *repeat, const char *name, double value);
/* clock_hz_before, clock_hz_after, and their mean as clock_hz if they are within 2 % of each other; those that are known. */
void repeat_observe_clock(struct repeat *repeat, struct clock_estimate before, struct clock_estimate after);
void wire_repeat(struct json *json, const struct repeat *repeat);
void wire_end(struct json *json, uint64_t repeats);
/* Sends or ends the program: nobody reads any more. */
void wire_send(struct json *json);

#endif
