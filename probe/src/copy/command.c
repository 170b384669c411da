/* `stend-probe copy`: from buffer to buffer, from a buffer, or to one. */
#include "commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/random.h"
#include "copy/methods.h"
#include "wire/wire.h"

#define BYTES_BETWEEN_LOOKS 1048576u
#define CALIBRATION_NS 10000000u

static struct {
	const char *method, *operation, *huge_pages;
	uint64_t size, alignment, seconds, repeats;
} chosen;

static const struct option_definition options[] = {
	{ "method", OPTION_CHOICE,
	  "memcpy|words|bytes|sse2|avx2|avx512|neon|rep-movsb|nontemporal-sse2|nontemporal-avx2|nontemporal-avx512|nontemporal-neon",
	  "memcpy", "instructions to use", &chosen.method, 0, 0 },
	{ "operation", OPTION_CHOICE, "copy|load|store", "copy", "copy, load only, or store only", &chosen.operation, 0, 0 },
	{ "size", OPTION_SIZE, "SIZE", "64KiB", "working set; a copy uses half each for source and target, so it must be even", &chosen.size, 1, (uint64_t)1 << 40 },
	{ "alignment", OPTION_INTEGER, "BYTES", "0", "offset of each buffer from the start of a page (so of a cache line)", &chosen.alignment, 0, 63 },
	{ "seconds", OPTION_DURATION, "TIME", "0.2", "repeat passes over the buffer for this long", &chosen.seconds, 1, UINT64_C(3600000000000) },
	{ "huge-pages", OPTION_CHOICE, "yes|no", "no", "request huge pages", &chosen.huge_pages, 0, 0 },
	{ "repeats", OPTION_INTEGER, "N", "1", "number of repeats", &chosen.repeats, 1, 1000000 },
};

/* What differs from the rest; also for methods that this build lacks. */
static const struct {
	const char *method;
	uint64_t alignment; /* what addresses must be multiples of */
	const char *no_load; /* why there is no load; NULL: there is one */
} limits[] = {
	{ "memcpy", 1, "the C library has none" },
	{ "words", 8, NULL },
	{ "bytes", 1, "the sum that checks a load is one of words" },
	{ "rep-movsb", 1, "the string instruction that loads keeps only the last byte" },
	{ "nontemporal-sse2", 16, "of ordinary memory it is the same as that of sse2" },
	{ "nontemporal-avx2", 32, "of ordinary memory it is the same as that of avx2" },
	{ "nontemporal-avx512", 64, "of ordinary memory it is the same as that of avx512" },
	{ "nontemporal-neon", 1, "of ordinary memory it is the same as that of neon" },
};

static bool is(const char *value, const char *word)
{
	return strcmp(value, word) == 0;
}

static void check(void)
{
	if (is(chosen.operation, "copy") && chosen.size % 2 != 0)
		fail(EXIT_USAGE, "--size %" PRIu64 ": must be even, half for the source and half for the target", chosen.size);
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		if (!is(chosen.method, limits[i].method))
			continue;
		if (chosen.alignment % limits[i].alignment != 0)
			fail(EXIT_USAGE, "--alignment %" PRIu64 ": --method %s needs a multiple of %" PRIu64, chosen.alignment,
			     chosen.method, limits[i].alignment);
		if (is(chosen.operation, "load") && limits[i].no_load != NULL)
			fail(EXIT_USAGE, "--operation load: --method %s has no load: %s; use words, sse2, avx2, avx512 or neon",
			     chosen.method, limits[i].no_load);
	}
}

static const struct command command = {
	"copy", "Copy, load or store a buffer repeatedly.",
	"Work: bytes copied (each is read once and written once), loaded or stored; operations: passes over the whole buffer.\n"
	"memcpy is the C library's, and memset for stores; rep-movsb is rep stosb for stores; nontemporal-… stores bypass the\n"
	"caches. words requires an alignment that is a multiple of 8, nontemporal-sse2 of 16, -avx2 of 32, -avx512 of 64.\n"
	"Afterwards the target of a copy is compared in full, every stored byte is checked, and the sum of all words of all\n"
	"loads is compared with that of one plain pass. A method that this processor or build lacks: exit status 4.",
	options, sizeof options / sizeof *options, NULL, check,
};

static const struct copy_method *choose_method(void)
{
	const struct copy_method *const lists[] = { copy_methods_portable, copy_methods_x86, copy_methods_arm };

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		for (const struct copy_method *method = lists[i]; method->name != NULL; method++) {
			if (!is(method->name, chosen.method))
				continue;
			if (method->supported != NULL && !method->supported())
				fail(EXIT_UNSUPPORTED, "--method %s: this processor lacks the instructions", chosen.method);
			return method;
		}
	}
	fail(EXIT_UNSUPPORTED, "--method %s: this build for %s has no such instructions", chosen.method,
	     build_architecture());
}

/* What the passes work on, and what they leave to be checked. */
struct passes {
	const struct copy_method *method;
	struct buffer from, to; /* of a load the first, of a store the second alone */
	size_t bytes;
	uint64_t count; /* so many so far */
	uint64_t sum;   /* of what was loaded */
};

/* No two passes that follow each other store the same. */
static uint8_t stored_value(uint64_t pass)
{
	return (uint8_t)(pass % 251);
}

static void copy_pass(struct passes *passes, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		passes->method->copy(passes->to.data, passes->from.data, passes->bytes);
	passes->count += count;
}

static void load_pass(struct passes *passes, uint64_t count)
{
	passes->sum += passes->method->load(passes->from.data, passes->bytes, count);
	passes->count += count;
}

static void store_pass(struct passes *passes, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		passes->method->store(passes->to.data, stored_value(passes->count++), passes->bytes);
}

static bool copied(const struct passes *passes)
{
	return memcmp(passes->from.data, passes->to.data, passes->bytes) == 0;
}

static bool loaded(const struct passes *passes)
{
	return passes->sum == passes->count * copy_sum(passes->from.data, passes->bytes);
}

static bool stored(const struct passes *passes)
{
	uint8_t wrong = 0, value = stored_value(passes->count - 1);

	for (size_t i = 0; i < passes->bytes; i++)
		wrong |= passes->to.data[i] ^ value;
	return wrong == 0;
}

static const struct operation {
	const char *name;
	void (*pass)(struct passes *passes, uint64_t count);
	bool (*right)(const struct passes *passes);
	unsigned buffers; /* that share the working set */
	bool reads, writes;
	const char *check; /* what is checked, of so many bytes */
} operations[] = {
	{ "copy", copy_pass, copied, 2, true, true, "target" },
	{ "load", load_pass, loaded, 1, true, false, "sum_of_words" },
	{ "store", store_pass, stored, 1, false, true, "last_pass" },
};

static const struct operation *choose_operation(void)
{
	const struct operation *operation = operations;

	while (!is(operation->name, chosen.operation))
		operation++;
	return operation;
}

static void measure(const struct operation *operation, struct passes *passes, struct repeat *repeat)
{
	uint64_t batch = (BYTES_BETWEEN_LOOKS + passes->bytes - 1) / passes->bytes, now;

	passes->count = passes->sum = 0;
	operation->pass(passes, 1);
	/* So that the check after cannot pass on the copy before. */
	for (size_t i = 0; operation->writes && i < passes->bytes; i += 4096)
		passes->to.data[i] ^= 0x55;

	uint64_t cpu = thread_cpu_ns(), before = passes->count;
	repeat->t_ns = monotonic_ns();
	do {
		operation->pass(passes, batch);
		now = monotonic_ns();
	} while (now - repeat->t_ns < chosen.seconds);
	repeat->wall_ns = now - repeat->t_ns;
	repeat->cpu_ns = thread_cpu_ns() - cpu;
	repeat->operations = passes->count - before;
	repeat->bytes = repeat->operations * passes->bytes;
}

int command_copy(int argc, char **argv)
{
	struct json json = { 0 };
	uint64_t seed = 1;

	options_parse(&command, argc, argv);
	const struct operation *operation = choose_operation();
	struct passes passes = { .bytes = (size_t)(chosen.size / operation->buffers) };
	buffer_check(operation->buffers, chosen.size / operation->buffers);
	passes.method = choose_method();
	bool huge_pages = is(chosen.huge_pages, "yes");
	if (operation->reads)
		passes.from = buffer_make(passes.bytes, (size_t)chosen.alignment, huge_pages);
	if (operation->writes) {
		passes.to = buffer_make(passes.bytes, (size_t)chosen.alignment, huge_pages);
		buffer_touch(&passes.to);
	}

	wire_open_begin(&json, "copy");
	json_text(&json, "method", chosen.method);
	json_text(&json, "operation", chosen.operation);
	json_unsigned(&json, "size", chosen.size);
	json_unsigned(&json, "alignment", chosen.alignment);
	json_boolean(&json, "huge_pages", huge_pages);
	json_real(&json, "seconds", (double)chosen.seconds / 1e9);
	wire_close_begin(&json);
	for (uint64_t n = 0; n < chosen.repeats; n++) {
		struct repeat repeat = { .n = n };

		/* New content each time: the target must not be right already. */
		if (operation->reads)
			random_fill(&seed, passes.from.data, passes.bytes);
		struct clock_estimate before = clock_measure(CALIBRATION_NS);
		measure(operation, &passes, &repeat);
		struct clock_estimate after = clock_measure(CALIBRATION_NS);
		repeat_observe_clock(&repeat, before, after);
		repeat.passed = operation->right(&passes);
		repeat_check(&repeat, operation->check, (struct check_field[]){ { .name = "bytes", .number = passes.bytes }, { .name = NULL } });
		wire_repeat(&json, &repeat);
	}
	wire_end(&json, chosen.repeats);
	buffer_free(&passes.from);
	buffer_free(&passes.to);
	json_free(&json);
	return EXIT_FINE;
}
