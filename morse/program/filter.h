/* All input through a coder to the output. */
#ifndef MORSE_PROGRAM_FILTER_H
#define MORSE_PROGRAM_FILTER_H

#include "morse.h"

struct job {
	bool encode, wave;
	struct morse_options options;
	const char *output; /* NULL: standard output */
	char **inputs;      /* "-" is standard input */
	size_t input_count;
	unsigned wpm, pitch;
};

/* Ends the program if it cannot be done. */
void filter_run(const struct job *job);

#endif
