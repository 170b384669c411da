/* The inputs, one after the other as if they were one, and how far along they are. */
#ifndef MORSE_PROGRAM_INPUT_H
#define MORSE_PROGRAM_INPUT_H

#include "morse.h"

/* Before anything is opened. Ends the program if an input is missing, or the output would overwrite one. */
void input_check(char **names, size_t count, const char *output);

/* Opens the input at `index`; `place` is where it begins in the whole. */
void input_open(size_t index, struct morse_place place);
/* 0: the end. Waits, and ends the program if it cannot be read. */
size_t input_read(uint8_t *to, size_t bytes);
/* Whether more is there already, as far as the system can tell. */
bool input_waits(void);
void input_close(void);

/* The name of an input for people, and where it began. */
const char *input_name(size_t index);
struct morse_place input_begin(size_t index);

#endif
