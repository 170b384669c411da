/* The command line of a subcommand: each option is defined once, and the definition gives parser and help. */
#ifndef STEND_OPTIONS_H
#define STEND_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
	OPTION_FLAG,     /* target: bool */
	OPTION_TEXT,     /* const char * */
	OPTION_CHOICE,   /* const char *; `value` lists what is allowed, separated by | */
	OPTION_SIZE,     /* uint64_t, bytes: 4096, 4k, 64KiB, 1M, 1GB; k, M, G are powers of 1024, kB, MB, GB of 1000 */
	OPTION_DURATION, /* uint64_t, nanoseconds: 0.2, 200ms, 2s, 1m; a bare number is seconds */
	OPTION_INTEGER,  /* uint64_t */
	OPTION_PAIRS     /* struct option_pairs; NAME=VALUE, and may be given again and again */
};

/* What was given of an OPTION_PAIRS, in the order of the command line. */
struct option_pairs {
	struct option_pair {
		const char *name; /* up to the =, not ended by a zero byte */
		size_t length;
		const char *value;
	} *all;
	size_t count;
};

struct option_definition {
	const char *name; /* without the dashes */
	enum option_kind kind;
	const char *value;   /* how the help calls the value, or the choices */
	const char *initial; /* the default as one would type it; NULL: none */
	const char *help;
	void *target;
	uint64_t least, most; /* both 0: no limits; durations in nanoseconds */
};

struct command {
	const char *name;    /* "cipher" */
	const char *summary; /* one line */
	const char *notes;   /* printed below the options; may be NULL */
	const struct option_definition *options;
	size_t option_count;
	const char *rest; /* what must follow the options, as the usage line calls it; NULL: nothing may */
	/* Refuses, with EXIT_USAGE, values that do not go together or that the definitions cannot describe; may be NULL. It
	 * touches nothing and looks at nothing of the machine. */
	void (*check)(void);
};

/* Sets the targets. Returns the index in argv of the first word that is no option. argv[0] is the name of the
 * subcommand. Prints the help and exits 0 for --help; exits 0 for --check where all is right. Whatever is wrong with the
 * command line gives one line and exit status 2, here and nowhere later. */
int options_parse(const struct command *command, int argc, char **argv);

/* The parsers alone; false: malformed or too large. */
bool parse_size(const char *text, uint64_t *bytes);
bool parse_duration(const char *text, uint64_t *nanoseconds);

#endif
