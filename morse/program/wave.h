/* The sound of code, as a WAV file: 16 bits, one channel. */
#ifndef MORSE_PROGRAM_WAVE_H
#define MORSE_PROGRAM_WAVE_H

#include <stddef.h>
#include <stdint.h>

enum {
	WAVE_HERTZ = 44100,
	WAVE_WPM = 20,
	WAVE_WPM_MAX = 200,
	WAVE_PITCH = 600,
	WAVE_PITCH_MIN = 50,
	WAVE_PITCH_MAX = 5000
};

/* Speed in words a minute, of which PARIS is one: 50 units of 1.2 s / wpm each. Writes the beginning of the file. */
void wave_begin(unsigned wpm, unsigned pitch);

/* The sound of more code: a dot is one unit and a dash three, then one of silence; three between letters, seven between
 * words, however many spaces and ends of lines stand there, and behind the last word if any do. */
void wave_add(const uint8_t *code, size_t bytes);

/* Writes the sizes into the beginning, if the output has one that can be reached; else they stay at "unknown". */
void wave_end(void);

#endif
