/* What a strict coder found, said to a person. */
#ifndef MORSE_PROGRAM_COMPLAINT_H
#define MORSE_PROGRAM_COMPLAINT_H

#include "filter.h"

/* Ends the program. `open` inputs have been begun. */
#ifdef __GNUC__
__attribute__((noreturn))
#endif
void complain(const struct job *job, const struct morse_error *error, size_t open);

#endif
