/* Where the program's bytes go: a file, a terminal or a pipe. The only part that knows how a pipe is written best. */
#ifndef MORSE_PROGRAM_OUTPUT_H
#define MORSE_PROGRAM_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `path` NULL: standard output. Whatever goes wrong, here and below, ends the program with a line that says so. */
void output_open(const char *path);

/* Room for at least `least` bytes, which are written after output_add(). */
uint8_t *output_room(size_t least, size_t *room);
void output_add(size_t bytes);

/* Copies. */
void output_write(const uint8_t *bytes, size_t count);

/* Sends what was added so far. */
void output_flush(void);

/* Overwrites bytes at `offset` from where the output began, if that is possible: not in a pipe, nor when appending. */
void output_patch(size_t offset, const uint8_t *bytes, size_t count);

void output_close(void);

#endif
