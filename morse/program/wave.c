#include "wave.h"

#include "fail.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 44, SAMPLE = 2 };

/* Units of silence: Recommendation ITU-R M.1677-1, Annex 1, section 2. */
enum { BETWEEN_LETTERS = 3, BETWEEN_WORDS = 7 };

/* The tone rises and falls within this time: a sudden edge clicks, and fills the band beside it. */
static const double edge_seconds = 0.005;
/* Of what 16 bits hold. */
static const double loudness = 0.7;

static const uint32_t unknown = UINT32_MAX;

/* The bytes of a unit of silence; of a dot and of a dash, each with the silence after it. */
static size_t unit_bytes;
static uint8_t *silence, *dot, *dash;
/* Units of silence since the last element. Before the first there is as much as there can be. */
static size_t quiet;
static uint64_t data_bytes;

static void put_number(uint8_t *to, uint32_t number, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (uint8_t)(number >> 8 * i);
}

static uint8_t *make_element(size_t unit, size_t units, unsigned pitch)
{
	const double turn = 6.283185307179586;
	size_t samples = units * unit;
	double edge = edge_seconds * WAVE_HERTZ;
	uint8_t *bytes = calloc((units + 1) * unit, SAMPLE);

	if (bytes == NULL)
		fail(EXIT_DATA, "the sound of a sign: out of memory");
	if (edge > (double)unit / 2)
		edge = (double)unit / 2;
	for (size_t i = 0; i < samples; i++) {
		double from_edge = (double)(i < samples - i ? i : samples - i), level = loudness;

		if (from_edge < edge)
			level *= 0.5 - 0.5 * cos(turn / 2 * from_edge / edge);
		double value = level * 32767 * sin(turn * pitch * (double)i / WAVE_HERTZ);
		put_number(bytes + SAMPLE * i, (uint32_t)lround(value), SAMPLE);
	}
	return bytes;
}

void wave_begin(unsigned wpm, unsigned pitch)
{
	uint8_t header[HEADER];
	size_t unit = (size_t)lround(1.2 * WAVE_HERTZ / wpm);

	unit_bytes = unit * SAMPLE;
	quiet = BETWEEN_WORDS;
	silence = calloc(unit, SAMPLE);
	dot = make_element(unit, 1, pitch);
	dash = make_element(unit, 3, pitch);
	if (silence == NULL)
		fail(EXIT_DATA, "the sound of a sign: out of memory");
	memcpy(header, "RIFF", 4);
	put_number(header + 4, unknown, 4);
	memcpy(header + 8, "WAVEfmt ", 8);
	put_number(header + 16, 16, 4);
	put_number(header + 20, 1, 2); /* PCM */
	put_number(header + 22, 1, 2); /* channels */
	put_number(header + 24, WAVE_HERTZ, 4);
	put_number(header + 28, WAVE_HERTZ * SAMPLE, 4);
	put_number(header + 32, SAMPLE, 2);
	put_number(header + 34, 8 * SAMPLE, 2);
	memcpy(header + 36, "data", 4);
	put_number(header + 40, unknown, 4);
	output_write(header, sizeof header);
}

static void add(const uint8_t *bytes, size_t units)
{
	output_write(bytes, units * unit_bytes);
	data_bytes += units * unit_bytes;
}

/* Silence of so many units altogether: what separates less, or as much, adds nothing. */
static void separate(size_t units)
{
	for (; quiet < units; quiet++)
		add(silence, 1);
}

void wave_add(const uint8_t *code, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		switch (code[i]) {
		case '.':
			add(dot, 2);
			quiet = 1;
			break;
		case '-':
			add(dash, 4);
			quiet = 1;
			break;
		case ' ':
			separate(BETWEEN_LETTERS);
			break;
		default:
			separate(BETWEEN_WORDS);
		}
	}
}

void wave_end(void)
{
	uint8_t size[4];

	/* More than the file's numbers can say stays at "unknown". */
	if (data_bytes <= unknown - HEADER) {
		put_number(size, (uint32_t)data_bytes + HEADER - 8, 4);
		output_patch(4, size, sizeof size);
		put_number(size, (uint32_t)data_bytes, 4);
		output_patch(40, size, sizeof size);
	}
	free(silence);
	free(dot);
	free(dash);
}
