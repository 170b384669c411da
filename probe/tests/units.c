/* The parts of the probe that can be tested by themselves: sizes, durations, JSON, patterns, the clock. */
#include "base/buffer.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/options.h"
#include "harness.h"
#include "pipe/pattern.h"
#include "sample/output.h"
#include "wire/json.h"
#include "wire/wire.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void sizes(void)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{ "0", 0 }, { "4096", 4096 }, { "1B", 1 }, { "4k", 4096 }, { "4K", 4096 }, { "64KiB", 65536 }, { "1kB", 1000 },
		{ "1M", 1048576 }, { "2MiB", 2097152 }, { "1MB", 1000000 }, { "1G", 1073741824 }, { "1GB", 1000000000 },
		{ "1.5k", 1536 }, { "0.1MB", 100000 }, { "1GiB", 1073741824 },
	};
	static const char *const bad[] = { "", "k", "-1", "+1", "1x", "1 k", " 1", "1.", ".5k", "1e3", "99999999999999999999",
		                           "20000000000GB", "1kib", "0x10" };
	uint64_t bytes;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		CHECK(parse_size(good[i].text, &bytes) && bytes == good[i].bytes, "size %s", good[i].text);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK(!parse_size(bad[i], &bytes), "size '%s' must be refused", bad[i]);
}

static void durations(void)
{
	static const struct {
		const char *text;
		uint64_t nanoseconds;
	} good[] = {
		{ "0.2", 200000000 }, { "2", 2000000000 }, { "200ms", 200000000 }, { "2s", 2000000000 }, { "1m", 60000000000 },
		{ "1.5h", 5400000000000 }, { "50us", 50000 }, { "7ns", 7 }, { "0.000000001", 1 }, { "0.1s", 100000000 },
		{ "0.123456789m", 7407407340 },
	};
	static const char *const bad[] = { "", "s", "1 s", "1sec", "-1s", "1..2", "1d" };
	uint64_t nanoseconds;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		CHECK(parse_duration(good[i].text, &nanoseconds) && nanoseconds == good[i].nanoseconds, "duration %s",
		      good[i].text);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK(!parse_duration(bad[i], &nanoseconds), "duration '%s' must be refused", bad[i]);
}

static void writes_json(void)
{
	struct json json = { 0 };
	static const char expected[] =
		"{\"a\":\"q\\\" b\\\\ n\\u000a \xD0\xB6 \xEF\xBF\xBD\",\"b\":[1,-2,0.5,null],\"c\":{},\"d\":true,\"e\":null}";

	json_open_object(&json, NULL);
	json_text(&json, "a", "q\" b\\ n\n \xD0\xB6 \xFF");
	json_open_array(&json, "b");
	json_unsigned(&json, NULL, 1);
	json_signed(&json, NULL, -2);
	json_real(&json, NULL, 0.5);
	json_real(&json, NULL, strtod("nan", NULL));
	json_close_array(&json);
	json_open_object(&json, "c");
	json_close_object(&json);
	json_boolean(&json, "d", true);
	json_text(&json, "e", NULL);
	json_close_object(&json);
	CHECK(json.text.length == sizeof expected - 1 && memcmp(json.text.data, expected, json.text.length) == 0, "got %.*s",
	      (int)json.text.length, json.text.data);
	json_free(&json);
}

/* All but these may stand in a string of JSON as they are. */
static void escapes_control_characters(void)
{
	for (int character = 1; character < 0x20; character++) {
		char text[] = { (char)character, '\0' }, expected[16];
		struct json json = { 0 };

		snprintf(expected, sizeof expected, "[\"\\u%04x\"]", (unsigned)character);
		json_open_array(&json, NULL);
		json_text(&json, NULL, text);
		json_close_array(&json);
		CHECK(json.text.length == strlen(expected) && memcmp(json.text.data, expected, json.text.length) == 0,
		      "control character %d: %.*s", character, (int)json.text.length, json.text.data);
		json_free(&json);
	}
}

static void writes_samples(void)
{
	struct sample_line line = { 0 };
	static const char expected[] =
		"{\"event\":\"sample\",\"t_ns\":5,\"values\":{\"a.b\":0,\"c\":18446744073709551615,\"d\":-0.050,\"e\":41.007";
	char name[8];

	sample_line_open(&line, 5);
	sample_line_add(&line, "a", ".b", 0);
	sample_line_add(&line, "", "c", UINT64_MAX);
	sample_line_add_milli(&line, "", "d", -50);
	sample_line_add_milli(&line, "", "e", 41007);
	CHECK(line.json.text.length == sizeof expected - 1 && memcmp(line.json.text.data, expected, line.json.text.length) == 0,
	      "got %.*s", (int)line.json.text.length, line.json.text.data);
	json_free(&line.json);
	metric_name(name, sizeof name, "a\"b c\\d/e", 9);
	CHECK(strcmp(name, "a_b_c_d") == 0, "got %s", name);
}

static uint64_t wrong_words(const struct pipe_pattern *pattern, size_t at, const uint8_t *data, size_t bytes, bool all)
{
	struct pipe_check check = { 0 };

	pipe_pattern_check(pattern, at, data, bytes, all, &check);
	return check.wrong <= check.words ? check.wrong : UINT64_MAX;
}

/* Any piece of the stream, cut anywhere, is recognised; one wrong bit anywhere is found, and is one wrong word. */
static void patterns(void)
{
	static const size_t chunks[] = { 8, 64, 4096, 12288, 10000 };
	uint64_t seed = 3;

	for (int fill = FILL_NONE; fill <= FILL_FLAT; fill++) {
		for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++) {
			struct pipe_pattern pattern;
			size_t chunk = chunks[c], all = 4 * chunk;
			uint8_t *stream = malloc(all);
			int cut_right = 1, wrong_found = 1;

			if (stream == NULL)
				return;
			pipe_pattern_make(&pattern, (enum pipe_fill)fill, chunk);
			for (size_t n = 0; n < 4; n++) {
				pipe_pattern_prepare(&pattern, stream + n * chunk);
				pipe_pattern_fill(&pattern, stream + n * chunk, n);
			}
			for (unsigned i = 0; i < 200; i++) {
				size_t from = (size_t)(random_next(&seed) % all), bytes = (size_t)(random_next(&seed) % (all - from)) + 1;
				size_t place = from + (size_t)(random_next(&seed) % bytes);

				cut_right &= wrong_words(&pattern, from, stream + from, bytes, true) == 0;
				cut_right &= wrong_words(&pattern, from, stream + from, bytes, false) == 0;
				stream[place] ^= 4;
				wrong_found &= wrong_words(&pattern, from, stream + from, bytes, true) == 1;
				stream[place] ^= 4;
			}
			CHECK(cut_right, "fill %d, chunk %zu: cut anywhere", fill, chunk);
			CHECK(wrong_found, "fill %d, chunk %zu: one wrong bit", fill, chunk);
			if (fill != FILL_NONE) {
				CHECK(wrong_words(&pattern, chunk, stream, chunk, false) == (chunk + 4095) / 4096, "fill %d: a sample of an old chunk", fill);
				CHECK(fill == FILL_TOUCH || wrong_words(&pattern, chunk, stream, chunk, true) == chunk / 8, "fill %d: an old chunk", fill);
			}
			pipe_pattern_free(&pattern);
			free(stream);
		}
	}
}

/* Of Fizz Buzz a sample is the first 4096 bytes of each MiB, wherever the stream is cut. */
static void fizzbuzz_samples(void)
{
	enum { CHUNK = 24000, CHUNKS = 110, ALL = CHUNK * CHUNKS, MIB = 1 << 20 };
	static const struct {
		size_t at;
		bool seen;
	} places[] = {
		{ 0, true }, { 4095, true }, { 4096, false }, { MIB - 1, false }, { MIB, true }, { MIB + 4095, true },
		{ MIB + 4096, false }, { 2 * MIB, true }, { 2 * MIB - 1, false },
	};
	struct pipe_pattern pattern;
	uint8_t *stream = malloc(ALL);
	uint64_t seed = 7;

	if (stream == NULL)
		return;
	pipe_pattern_make(&pattern, FILL_FIZZBUZZ, CHUNK);
	for (size_t n = 0; n < CHUNKS; n++)
		pipe_pattern_fill(&pattern, stream + n * CHUNK, n);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		uint64_t all = 0, some = 0;

		stream[places[i].at] ^= 1;
		for (size_t done = 0; done < ALL;) {
			size_t bytes = (size_t)(random_next(&seed) % 100000) + 1;
			bytes = bytes < ALL - done ? bytes : ALL - done;
			all += wrong_words(&pattern, done, stream + done, bytes, true);
			some += wrong_words(&pattern, done, stream + done, bytes, false);
			done += bytes;
		}
		CHECK(all == 1, "Fizz Buzz, a wrong byte at %zu is seen", places[i].at);
		CHECK(some == places[i].seen, "Fizz Buzz, a wrong byte at %zu is in the sample, or not", places[i].at);
		stream[places[i].at] ^= 1;
	}
	pipe_pattern_free(&pattern);
	free(stream);
}

static void clocks(void)
{
	uint64_t start = monotonic_ns();
	struct clock_estimate estimate = clock_measure(20000000);

	CHECK(monotonic_ns() - start >= 20000000, "spends the time that it was given");
	/* A machine that did something else all the while. */
	for (unsigned again = 0; again < 10 && estimate.hz <= 0; again++)
		estimate = clock_measure(20000000);
	CHECK(estimate.hz > 1e7 && estimate.hz < 2e10, "a clock of %g Hz", estimate.hz);
	CHECK(estimate.spread >= 0 && estimate.bursts > 0, "spread %g of %u bursts", estimate.spread, estimate.bursts);
}

/* Interruptions slow bursts, and nothing makes one faster. */
static void clocks_of_a_busy_machine(void)
{
	static const struct {
		const char *name;
		uint64_t bursts[6];
		unsigned count;
		bool known;
	} all[] = {
		{ "none", { 0 }, 0, false },
		{ "one, which may be whole or not", { 9000000 }, 1, false },
		{ "one that was not interrupted", { 12000000, 40000, 9000000, 4000000 }, 4, false },
		{ "two that agree by chance", { 9000000, 4000100, 4000000, 12000000 }, 4, false },
		{ "three as fast as each other among slow ones", { 9000000, 40100, 12000000, 40000, 40300, 4000000 }, 6, true },
		{ "a clock that rises", { 80000, 60000, 50000, 40200, 40000, 40100 }, 6, true },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		uint64_t bursts[6];

		memcpy(bursts, all[i].bursts, sizeof bursts);
		struct clock_estimate estimate = clock_from_bursts(bursts, all[i].count);
		CHECK((estimate.hz > 0) == all[i].known, "a clock from bursts, %s: %g Hz", all[i].name, estimate.hz);
		CHECK(!all[i].known || (estimate.hz > 3.2e9 && estimate.hz < 3.3e9), "%s: %g Hz", all[i].name, estimate.hz);
		CHECK(estimate.bursts == all[i].count, "%s: %u bursts", all[i].name, estimate.bursts);
	}

	const struct clock_estimate unknown = { .bursts = 4 }, known = { .hz = 3e9, .bursts = 9 };
	struct repeat first = { 0 }, second = { 0 }, third = { 0 };

	repeat_observe_clock(&first, known, unknown);
	CHECK(first.observed[0].name != NULL && strcmp(first.observed[0].name, "clock_hz_before") == 0 && first.observed[1].name == NULL,
	      "what is not known after is left out");
	repeat_observe_clock(&second, unknown, unknown);
	CHECK(second.observed[0].name == NULL, "and so before");
	repeat_observe_clock(&third, known, known);
	CHECK(third.observed[2].name != NULL, "all three where both are known");
}

/* One observation more than there is room for ends the program: none is written over another. */
static void observations_fit_or_are_refused(void)
{
	const size_t room = sizeof ((struct repeat *)NULL)->observed / sizeof(struct observation);

	for (size_t more = 0; more < 2; more++) {
		int status = 0;
		pid_t child = fork();

		if (child == 0) {
			struct repeat repeat = { 0 };

			if (more > 0 && freopen("/dev/null", "w", stderr) == NULL)
				_exit(99);
			for (size_t i = 0; i < room + more; i++)
				repeat_observe(&repeat, "name", (double)i);
			_exit(repeat.observed[0].value == 0 && repeat.observed[room - 1].value == (double)(room - 1) ? 0 : 98);
		}
		CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status), "it ends by itself");
		CHECK(WEXITSTATUS(status) == (more == 0 ? 0 : EXIT_BROKEN), "%zu observations: status %d", room + more, WEXITSTATUS(status));
	}
}

/* Bytes of the mapping at `data` that are in huge pages, in KiB, as the kernel tells it; -1: it does not. */
static long huge_kib(const void *data)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	char line[512];
	unsigned long start, end, at = (unsigned long)(uintptr_t)data;
	bool ours = false;
	long kib = -1;

	while (file != NULL && fgets(line, sizeof line, file) != NULL) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			ours = at >= start && at < end;
		else if (ours && sscanf(line, "AnonHugePages: %ld kB", &kib) == 1)
			break;
	}
	if (file != NULL)
		fclose(file);
	return kib;
}

/* Whatever the size, huge pages can be had where the system gives any. */
static void buffers(void)
{
	static const size_t sizes[] = { 1, 65536, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 3 << 20 };
	struct buffer whole = buffer_make(64 << 20, 0, true);

	buffer_touch(&whole);
	bool given = huge_kib(whole.data) > 0;
	buffer_free(&whole);
	if (!given)
		fprintf(stderr, "told: this system gives no huge pages\n");
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct buffer buffer = buffer_make(sizes[i], 24, true);

		buffer_touch(&buffer);
		CHECK((uintptr_t)buffer.data % (2 << 20) == 24, "%zu bytes: at the start of a huge page", sizes[i]);
		CHECK(!given || huge_kib(buffer.data) >= 2048, "%zu bytes: %ld KiB in huge pages", sizes[i], huge_kib(buffer.data));
		buffer_free(&buffer);
	}
}

int main(void)
{
	sizes();
	durations();
	writes_json();
	escapes_control_characters();
	writes_samples();
	patterns();
	fizzbuzz_samples();
	buffers();
	clocks();
	clocks_of_a_busy_machine();
	observations_fit_or_are_refused();
	return harness_finish();
}
