/* The program's sound, heard: tones are found in the samples again, their lengths make the code, and that is compared. */
#include "harness.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static char folder[512];

struct sound {
	uint8_t *file;
	size_t file_bytes;
	int16_t *samples;
	size_t count;
	unsigned hertz;
};

/* What the program makes of `text`. A file where the output can be patched, else a pipe. */
static struct sound play(const char *options, const char *text, bool file)
{
	const char *emulator = getenv("RUN");
	struct sound sound = { .file = malloc(64 << 20) };
	char command[2048], name[] = "/tmp/morse_sound_XXXXXX";
	int descriptor = mkstemp(name);

	CHECK(descriptor >= 0, "a file for the sound");
	snprintf(command, sizeof command, "printf '%s' | %s '%s/morse' encode --wav %s %s%s %s cat%s%s", text,
	         emulator == NULL ? "" : emulator, folder, options, file ? "-o " : "", file ? name : "", file ? "&&" : "|",
	         file ? " " : "", file ? name : "");
	FILE *output = popen(command, "r");
	if (output != NULL) {
		sound.file_bytes = fread(sound.file, 1, 64 << 20, output);
		CHECK(pclose(output) == 0, "%s", command);
	}
	remove(name);
	return sound;
}

static unsigned number(const uint8_t *from, unsigned bytes)
{
	unsigned value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (unsigned)from[i] << 8 * i;
	return value;
}

static bool read_header(struct sound *sound, bool sizes_known)
{
	const uint8_t *header = sound->file;
	size_t data = sound->file_bytes - 44;

	CHECK(sound->file_bytes >= 44, "%zu bytes", sound->file_bytes);
	if (sound->file_bytes < 44)
		return false;
	CHECK(memcmp(header, "RIFF", 4) == 0 && memcmp(header + 8, "WAVEfmt ", 8) == 0 && memcmp(header + 36, "data", 4) == 0, "marks");
	CHECK(number(header + 16, 4) == 16 && number(header + 20, 2) == 1 && number(header + 22, 2) == 1, "PCM, mono");
	sound->hertz = number(header + 24, 4);
	CHECK(sound->hertz == 44100 && number(header + 28, 4) == 88200 && number(header + 32, 2) == 2 && number(header + 34, 2) == 16,
	      "44100 Hz, 16 bits");
	CHECK(number(header + 4, 4) == (sizes_known ? data + 36 : 0xFFFFFFFF), "RIFF: %u", number(header + 4, 4));
	CHECK(number(header + 40, 4) == (sizes_known ? data : 0xFFFFFFFF), "data: %u", number(header + 40, 4));
	CHECK(data % 2 == 0, "whole samples");
	sound->count = data / 2;
	sound->samples = malloc(data + 2);
	for (size_t i = 0; i < sound->count; i++)
		sound->samples[i] = (int16_t)number(header + 44 + 2 * i, 2);
	return true;
}

/* The loudness around a sample: over two turns of the tone, or 2 ms if that is less. */
static double *envelope(const struct sound *sound, double pitch)
{
	size_t width = (size_t)(2 * sound->hertz / pitch), half;
	double *level = malloc((sound->count + 1) * sizeof *level), sum = 0;

	width = width > sound->hertz / 500u ? sound->hertz / 500u : width;
	half = width / 2;
	for (size_t i = 0; i < sound->count + half; i++) {
		if (i < sound->count)
			sum += (double)sound->samples[i] * sound->samples[i];
		if (i >= width)
			sum -= (double)sound->samples[i - width] * sound->samples[i - width];
		if (i >= half)
			level[i - half] = sqrt(2 * (sum < 0 ? 0 : sum) / (double)width);
	}
	return level;
}

/* How often the tone turns a second, by its rising zeros. */
static double turns(const struct sound *sound, size_t from, size_t to)
{
	size_t first = 0, last = 0, count = 0;

	for (size_t i = from + 1; i < to; i++) {
		if (sound->samples[i - 1] < 0 && sound->samples[i] >= 0) {
			first = count == 0 ? i : first;
			last = i;
			count++;
		}
	}
	return count < 2 ? 0 : (double)(count - 1) * sound->hertz / (double)(last - first);
}

/* Hears the whole; writes code as text, with '/' between words. */
static void hear(const struct sound *sound, double unit, double pitch, char *code, size_t room)
{
	double *level = envelope(sound, pitch), loud = 0;
	/* A tone is as long as from the middle of its rise to the middle of its fall, and that much shorter. */
	double edge = unit / 2 < 0.005 * sound->hertz ? unit / 2 : 0.005 * sound->hertz;
	size_t at = 0, start = 0, longest = 0, best = 0;
	bool on = false;

	for (size_t i = 0; i < sound->count; i++)
		loud = level[i] > loud ? level[i] : loud;
	CHECK(loud > 15000 && loud < 32767, "loudness %.0f", loud);
	for (size_t i = 0; i <= sound->count; i++) {
		bool now = i < sound->count && level[i] > loud / 2;

		if (now == on && i < sound->count)
			continue;
		double units = ((double)(i - start) + (on ? edge : -edge)) / unit;
		double whole = floor(units + 0.5);
		CHECK(fabs(units - whole) < 0.1 || start == 0 || i == sound->count, "%.2f units at %zu", units, start);
		if (on) {
			CHECK(whole == 1 || whole == 3, "a tone of %.2f units", units);
			if (at + 4 < room)
				code[at++] = whole == 1 ? '.' : '-';
			if (i - start > longest) {
				longest = i - start;
				best = start;
			}
		} else if (start > 0 && i < sound->count) {
			CHECK(whole == 1 || whole == 3 || whole == 7, "a silence of %.2f units", units);
			if (whole >= 3 && at + 4 < room)
				code[at++] = ' ';
			if (whole >= 7 && at + 4 < room) {
				code[at++] = '/';
				code[at++] = ' ';
			}
		}
		on = now;
		start = i;
	}
	code[at] = '\0';
	if (longest > 0) {
		double heard = turns(sound, best, best + longest);

		CHECK(fabs(heard / pitch - 1) < 0.02, "%.1f Hz instead of %.0f", heard, pitch);
	}
	free(level);
}

/* No click: from one sample to the next never more than the tone itself does, and it begins and ends softly. */
static void no_clicks(const struct sound *sound, double pitch)
{
	double limit = 32767 * 0.7 * 2 * sin(3.141592653589793 * pitch / sound->hertz) + 300;
	int worst = 0, first = 0;

	for (size_t i = 1; i < sound->count; i++) {
		int step = abs(sound->samples[i] - sound->samples[i - 1]);

		worst = step > worst ? step : worst;
	}
	CHECK(worst <= limit, "a step of %d, where %.0f is smooth", worst, limit);
	for (size_t i = 0; i < sound->count && i < sound->hertz / 2000u; i++)
		first = abs(sound->samples[i]) > first ? abs(sound->samples[i]) : first;
	CHECK(first < 32767 / 20, "the first half of a millisecond is as loud as %d", first);
}

static void check(const char *options, double wpm, double pitch, const char *text, const char *code, double units, bool file)
{
	struct sound sound = play(options, text, file);
	double unit = 1.2 / wpm * 44100;
	char heard[1024] = "";

	if (read_header(&sound, file)) {
		hear(&sound, unit, pitch, heard, sizeof heard);
		CHECK(strcmp(heard, code) == 0, "%s '%s': heard '%s'", options, text, heard);
		/* A unit is a whole number of samples. */
		CHECK(fabs((double)sound.count / unit - units) <= units * 0.5 / unit + 1e-9, "%s '%s': %.2f units", options, text,
		      (double)sound.count / unit);
		no_clicks(&sound, pitch);
	}
	free(sound.samples);
	free(sound.file);
}

int main(int argc, char **argv)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;

	snprintf(folder, sizeof folder, "%.*s/../bin", slash == NULL ? 1 : (int)(slash - argv[0]), slash == NULL ? "." : argv[0]);
	/* PARIS and the space after it are 50 units, which is the definition of the speed; the second without its space. */
	check("", 20, 600, "paris paris", ".--. .- .-. .. ... / .--. .- .-. .. ...", 50 + 44, true);
	check("", 20, 600, "paris paris", ".--. .- .-. .. ... / .--. .- .-. .. ...", 50 + 44, false);
	check("--wpm 13 --pitch 440", 13, 440, "sos\\nsos", "... --- ... / ... --- ...", 27 + 7 + 28, true);
	check("--wpm 60 --pitch 1200", 60, 1200, "the quick brown fox",
	      "- .... . / --.- ..- .. -.-. -.- / -... .-. --- .-- -. / ..-. --- -..-", 18 + 6 + 56 + 6 + 54 + 6 + 38, true);
	check("--wpm 100 --pitch 2500", 100, 2500, "e t", ". / -", 1 + 7 + 4, true);
	/* Between two words are seven units, however many spaces and ends of lines the text has there; before the first word
	 * there is nothing, and after the last what stands behind it: with it PARIS has its 50. */
	static const char *const gaps[] = { " ", "  ", "     ", "\\n", "\\n\\n", " \\n", "\\n ", "  \\n \\n  " };
	for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
		char text[64];

		snprintf(text, sizeof text, "e%se", gaps[i]);
		check("", 20, 600, text, ". / .", 1 + 7 + 2, i % 2 == 0);
		snprintf(text, sizeof text, "%sparis", gaps[i]);
		check("", 20, 600, text, ".--. .- .-. .. ...", 44, i % 2 == 1);
		snprintf(text, sizeof text, "paris%s", gaps[i]);
		check("", 20, 600, text, ".--. .- .-. .. ...", 50, i % 2 == 0);
	}
	check("--lossy=", 20, 600, "e & e", ". / .", 1 + 7 + 2, true);
	check("--alphabet ru --wpm 25", 25, 600, "Ёж!", ". ...- --..--", 2 + 2 + 10 + 2 + 20, false);
	return harness_finish();
}
