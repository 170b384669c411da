/* Every byte of standard input against Fizz Buzz. */
#include "fizzbuzz/ends.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "pipe/readers.h"
#include "wire/wire.h"

enum { READ_BYTES = 256 * 1024 };

struct findings {
	uint64_t bytes, wrong;
	uint64_t wrong_at; /* offset in the stream of the first byte that is */
	uint8_t had, wanted;
};

static const struct reader_kind *find_reader(const char *name)
{
	unsigned i = 0;

	while (strcmp(reader_kinds[i]->name, name) != 0)
		i++;
	return reader_kinds[i];
}

/* Goes through a piece again in which something was wrong. */
static void count_wrong(struct fizzbuzz *stream, uint64_t start, const uint8_t *data, size_t bytes, struct findings *found)
{
	static uint8_t expected[READ_BYTES];

	fizzbuzz_seek(stream, start);
	/* What comes after the end of the stream is wrong too. */
	size_t count = fizzbuzz_fill(stream, expected, bytes);
	for (size_t i = 0; i < bytes; i++) {
		if (i < count && data[i] == expected[i])
			continue;
		if (found->wrong++ > 0)
			continue;
		found->wrong_at = start + i;
		found->had = data[i];
		found->wanted = i < count ? expected[i] : 0;
	}
}

static void check(struct fizzbuzz *stream, const uint8_t *data, size_t bytes, struct findings *found)
{
	uint64_t start = fizzbuzz_offset(stream);

	if (fizzbuzz_check(stream, data, bytes) != bytes)
		count_wrong(stream, start, data, bytes, found);
	found->bytes += bytes;
}

static void describe(const struct findings *found, const struct fizzbuzz_input *how, struct repeat *repeat)
{
	bool missing = how->bytes != 0 && found->bytes != how->bytes;

	repeat->passed = found->wrong == 0 && !missing && found->bytes > 0;
	if (found->wrong > 0) {
		uint64_t line = fizzbuzz_line_at(found->wrong_at);

		repeat_check(repeat, "wrong_from", (struct check_field[]){
			{ .name = "byte", .number = found->wrong_at }, { .name = "line", .number = line },
			{ .name = "had", .number = found->had }, { .name = "wanted", .number = found->wanted },
			{ .name = "wrong", .number = found->wrong }, { .name = "bytes", .number = found->bytes }, { .name = NULL } });
		warn_line("wrong from byte %" PRIu64 " on, in line %" PRIu64 ": 0x%02x instead of 0x%02x; %" PRIu64 " of %" PRIu64 " bytes are",
		          found->wrong_at, line, found->had, found->wanted, found->wrong, found->bytes);
	} else if (missing) {
		repeat_check(repeat, "other_length", (struct check_field[]){
			{ .name = "bytes", .number = found->bytes }, { .name = "wanted", .number = how->bytes }, { .name = NULL } });
		warn_line("right, but %" PRIu64 " bytes instead of %" PRIu64, found->bytes, how->bytes);
	} else if (found->bytes == 0) {
		repeat_check(repeat, "nothing_came", NULL);
		warn_line("no byte came");
	} else {
		repeat_check(repeat, "every_byte", (struct check_field[]){ { .name = "bytes", .number = found->bytes }, { .name = NULL } });
	}
	repeat_observe(repeat, "wrong_bytes", (double)found->wrong);
}

bool fizzbuzz_verify(struct fizzbuzz *stream, const struct fizzbuzz_input *how)
{
	struct pipe_job job = { .reader = find_reader(how->reader), .chunk = READ_BYTES };
	int64_t capacity = pipe_set_capacity(STDIN_FILENO, 0);
	struct channel channel = { .reader = STDIN_FILENO, .writer = -1, .capacity = capacity > 0 ? (uint64_t)capacity : 0 };
	struct findings found = { 0 };
	struct repeat repeat = { 0 };
	struct json json = { 0 };
	struct reader reader;

	if (capacity < 0 && job.reader->transports == TRANSPORT_PIPES)
		fail(EXIT_UNSUPPORTED, "--reader %s: standard input is no pipe", how->reader);
	reader_open(&reader, &job, &channel, -1);
	wire_open_begin(&json, "fizzbuzz");
	json_text(&json, "backend", fizzbuzz_backend(stream));
	json_unsigned(&json, "offset", fizzbuzz_offset(stream));
	json_text(&json, "reader", how->reader);
	wire_close_begin(&json);
	while (how->most == 0 || found.bytes < how->most) {
		const uint8_t *data = NULL;
		size_t count = job.reader->take(&reader, &data);

		if (count == 0)
			break;
		/* The time runs from the first bytes on: before, the writer may still have been starting. */
		if (found.bytes == 0) {
			repeat.t_ns = monotonic_ns();
			repeat.cpu_ns = process_cpu_ns();
		}
		if (how->most != 0 && count > how->most - found.bytes)
			count = (size_t)(how->most - found.bytes);
		check(stream, data, count, &found);
	}
	if (found.bytes == 0) {
		repeat.t_ns = monotonic_ns();
		repeat.cpu_ns = process_cpu_ns();
	}
	repeat.wall_ns = monotonic_ns() - repeat.t_ns;
	repeat.cpu_ns = process_cpu_ns() - repeat.cpu_ns;
	repeat.bytes = found.bytes;
	describe(&found, how, &repeat);
	wire_repeat(&json, &repeat);
	wire_end(&json, 1);
	reader_close(&reader);
	json_free(&json);
	return repeat.passed;
}
