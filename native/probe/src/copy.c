/* `stend-probe copy`: from buffer to buffer. */
#include "commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "buffer.h"
#include "clock.h"
#include "copy_methods.h"
#include "fail.h"
#include "options.h"
#include "random.h"
#include "wire.h"

#define BYTES_BETWEEN_LOOKS 1048576u
#define CALIBRATION_NS 10000000u

static struct {
	const char *method, *huge_pages;
	uint64_t size, alignment, seconds, repeats;
} chosen;

static const struct option_definition options[] = {
	{ "method", OPTION_CHOICE, "memcpy|words|bytes|sse2|avx2|avx512|rep-movsb|nontemporal", "memcpy",
	  "how to copy", &chosen.method, 0, 0 },
	{ "size", OPTION_SIZE, "SIZE", "64KiB", "working set: source and target together, half each; even", &chosen.size, 2, (uint64_t)1 << 40 },
	{ "alignment", OPTION_INTEGER, "BYTES", "0", "offset of both buffers from the start of a page (so of a cache line)", &chosen.alignment, 0, 63 },
	{ "seconds", OPTION_DURATION, "TIME", "0.2", "copy again until so much time has passed", &chosen.seconds, 1, UINT64_C(3600000000000) },
	{ "huge-pages", OPTION_CHOICE, "yes|no", "no", "ask for huge pages", &chosen.huge_pages, 0, 0 },
	{ "repeats", OPTION_INTEGER, "N", "1", "measure so many times", &chosen.repeats, 1, 1000000 },
};

/* What both addresses must be multiples of; also for methods that this build lacks. */
static uint64_t needed_alignment(void)
{
	if (strcmp(chosen.method, "words") == 0)
		return 8;
	return strcmp(chosen.method, "nontemporal") == 0 ? 16 : 1;
}

static void check(void)
{
	uint64_t alignment = needed_alignment();

	if (chosen.size % 2 != 0)
		fail(EXIT_USAGE, "--size %" PRIu64 ": must be even, half for the source and half for the target", chosen.size);
	if (chosen.alignment % alignment != 0)
		fail(EXIT_USAGE, "--alignment %" PRIu64 ": --method %s needs a multiple of %" PRIu64, chosen.alignment,
		     chosen.method, alignment);
}

static const struct command command = {
	"copy", "Copy a buffer to another again and again.",
	"Work: bytes copied (each is read once and written once); operations: copies of the whole buffer.\n"
	"words needs an alignment that is a multiple of 8, nontemporal of 16. The target is compared whole afterwards.\n"
	"A method that this processor or build lacks: exit status 4.",
	options, sizeof options / sizeof *options, NULL, check,
};

static const struct copy_method *find(const struct copy_method *methods, const char *name)
{
	for (; methods->name != NULL; methods++)
		if (strcmp(methods->name, name) == 0)
			return methods;
	return NULL;
}

static const struct copy_method *choose_method(void)
{
	const struct copy_method *method = find(copy_methods_portable, chosen.method);

	if (method == NULL)
		method = find(copy_methods_x86, chosen.method);
	if (method == NULL)
		fail(EXIT_UNSUPPORTED, "--method %s: this build for %s has no such instructions", chosen.method,
		     build_architecture());
	if (method->supported != NULL && !method->supported())
		fail(EXIT_UNSUPPORTED, "--method %s: this processor lacks the instructions", chosen.method);
	return method;
}

static void measure(const struct copy_method *method, const struct buffer *from, const struct buffer *to,
                    struct repeat *repeat)
{
	uint64_t batch = (BYTES_BETWEEN_LOOKS + from->bytes - 1) / from->bytes, now;

	method->copy(to->data, from->data, from->bytes);
	/* So that the check after cannot pass on the copy before. */
	for (size_t i = 0; i < from->bytes; i += 4096)
		from->data[i] ^= 0x55;

	uint64_t cpu = thread_cpu_ns();
	repeat->t_ns = monotonic_ns();
	do {
		for (uint64_t i = 0; i < batch; i++)
			method->copy(to->data, from->data, from->bytes);
		repeat->operations += batch;
		now = monotonic_ns();
	} while (now - repeat->t_ns < chosen.seconds);
	repeat->wall_ns = now - repeat->t_ns;
	repeat->cpu_ns = thread_cpu_ns() - cpu;
	repeat->bytes = repeat->operations * from->bytes;
}

int command_copy(int argc, char **argv)
{
	struct json json = { 0 };
	uint64_t seed = 1;

	options_parse(&command, argc, argv);
	buffer_check(2, chosen.size / 2);
	const struct copy_method *method = choose_method();
	size_t half = (size_t)(chosen.size / 2);
	bool huge_pages = strcmp(chosen.huge_pages, "yes") == 0;
	struct buffer from = buffer_make(half, (size_t)chosen.alignment, huge_pages);
	struct buffer to = buffer_make(half, (size_t)chosen.alignment, huge_pages);
	buffer_touch(&to);

	wire_open_begin(&json, "copy");
	json_text(&json, "method", chosen.method);
	json_unsigned(&json, "size", chosen.size);
	json_unsigned(&json, "alignment", chosen.alignment);
	json_boolean(&json, "huge_pages", huge_pages);
	json_real(&json, "seconds", (double)chosen.seconds / 1e9);
	wire_close_begin(&json);
	for (uint64_t n = 0; n < chosen.repeats; n++) {
		struct repeat repeat = { .n = n };

		/* New content each time: the target must not be right already. */
		random_fill(&seed, from.data, half);
		struct clock_estimate before = clock_measure(CALIBRATION_NS);
		measure(method, &from, &to, &repeat);
		struct clock_estimate after = clock_measure(CALIBRATION_NS);
		repeat_observe_clock(&repeat, before, after);
		repeat.passed = memcmp(from.data, to.data, half) == 0;
		snprintf(repeat.evidence, sizeof repeat.evidence, "all %zu bytes of the target against the source", half);
		wire_repeat(&json, &repeat);
	}
	wire_end(&json, chosen.repeats);
	buffer_free(&from);
	buffer_free(&to);
	json_free(&json);
	return EXIT_FINE;
}
