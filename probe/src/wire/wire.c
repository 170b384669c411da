#include "wire/wire.h"

#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "base/version.h"
#include "build_info.h"
#include "machine/emulator.h"

const char *build_architecture(void)
{
#if defined(__e2k__)
	return "e2k";
#elif defined(__x86_64__)
	return "x86_64";
#elif defined(__i386__)
	return "i686";
#elif defined(__aarch64__)
	return "aarch64";
#elif defined(__arm__)
	return "arm";
#elif defined(__riscv) && __riscv_xlen == 64
	return "riscv64";
#elif defined(__riscv)
	return "riscv32";
#elif defined(__loongarch64)
	return "loongarch64";
#elif defined(__powerpc64__)
	return "ppc64";
#elif defined(__s390x__)
	return "s390x";
#elif defined(__mips64)
	return "mips64";
#else
	return "unknown";
#endif
}

const char *build_compiler(void)
{
	return BUILD_COMPILER;
}

const char *build_flags(void)
{
	return BUILD_FLAGS;
}

const char *build_sources(void)
{
	return BUILD_SOURCES;
}

void wire_build(struct json *json)
{
	json_open_object(json, "build");
	json_text(json, "compiler", build_compiler());
	json_text(json, "flags", build_flags());
	json_text(json, "architecture", build_architecture());
	if (emulator() != NULL)
		json_text(json, "emulator", emulator());
	if (build_sources()[0] != '\0')
		json_text(json, "sources", build_sources());
	json_close_object(json);
}

void wire_send(struct json *json)
{
	if (!json_send(json))
		fail(EXIT_BROKEN, "cannot write to standard output: %s", strerror(errno));
}

void wire_open_begin(struct json *json, const char *name)
{
	char instrument[64] = "stend-probe ";

	strncat(instrument, name, sizeof instrument - strlen(instrument) - 1);
	json_open_object(json, NULL);
	json_text(json, "event", "begin");
	json_unsigned(json, "wire", 1);
	json_unsigned(json, "t_ns", monotonic_ns());
	json_text(json, "instrument", instrument);
	json_text(json, "version", STEND_VERSION);
	wire_build(json);
	json_open_object(json, "parameters");
}

void wire_close_begin(struct json *json)
{
	json_close_object(json);
	json_close_object(json);
	wire_send(json);
}

void repeat_observe(struct repeat *repeat, const char *name, double value)
{
	size_t i = 0;

	while (i < sizeof repeat->observed / sizeof *repeat->observed && repeat->observed[i].name != NULL)
		i++;
	if (i == sizeof repeat->observed / sizeof *repeat->observed)
		fail(EXIT_BROKEN, "there is no room for the observation %s", name);
	repeat->observed[i] = (struct observation){ name, value };
}

void repeat_check(struct repeat *repeat, const char *name, const struct check_field *fields)
{
	size_t i = 0, field = 0;

	while (i < sizeof repeat->checks / sizeof *repeat->checks && repeat->checks[i].name != NULL)
		i++;
	if (i == sizeof repeat->checks / sizeof *repeat->checks)
		fail(EXIT_BROKEN, "there is no room for the check %s", name);
	repeat->checks[i].name = name;
	for (; fields != NULL && fields[field].name != NULL; field++) {
		if (field + 1 == sizeof repeat->checks[i].fields / sizeof *repeat->checks[i].fields)
			fail(EXIT_BROKEN, "there is no room for the fields of the check %s", name);
		repeat->checks[i].fields[field] = fields[field];
	}
	repeat->checks[i].fields[field] = (struct check_field){ .name = NULL };
}

void repeat_observe_clock(struct repeat *repeat, struct clock_estimate before, struct clock_estimate after)
{
	double difference = before.hz > after.hz ? before.hz - after.hz : after.hz - before.hz;

	/* What is not known is left out: whoever reads it must not take it for a clock that fell. */
	if (before.hz > 0 && after.hz > 0 && difference <= 0.02 * before.hz)
		repeat_observe(repeat, "clock_hz", (before.hz + after.hz) / 2);
	if (before.hz > 0)
		repeat_observe(repeat, "clock_hz_before", before.hz);
	if (after.hz > 0)
		repeat_observe(repeat, "clock_hz_after", after.hz);
}

void wire_repeat(struct json *json, const struct repeat *repeat)
{
	json_open_object(json, NULL);
	json_text(json, "event", "repeat");
	json_unsigned(json, "n", repeat->n);
	json_unsigned(json, "t_ns", repeat->t_ns);
	/* The wire wants 1 or more. */
	json_unsigned(json, "wall_ns", repeat->wall_ns > 0 ? repeat->wall_ns : 1);
	json_unsigned(json, "cpu_ns", repeat->cpu_ns);
	json_open_object(json, "work");
	if (repeat->bytes > 0 || repeat->operations == 0)
		json_unsigned(json, "bytes", repeat->bytes);
	if (repeat->operations > 0)
		json_unsigned(json, "operations", repeat->operations);
	json_close_object(json);
	if (repeat->observed[0].name != NULL) {
		json_open_object(json, "observed");
		for (size_t i = 0; i < sizeof repeat->observed / sizeof *repeat->observed; i++)
			if (repeat->observed[i].name != NULL)
				json_real(json, repeat->observed[i].name, repeat->observed[i].value);
		json_close_object(json);
	}
	json_text(json, "check", repeat->passed ? "passed" : "failed");
	json_open_array(json, "evidence");
	for (size_t i = 0; i < sizeof repeat->checks / sizeof *repeat->checks && repeat->checks[i].name != NULL; i++) {
		json_open_object(json, NULL);
		json_text(json, "check", repeat->checks[i].name);
		for (const struct check_field *field = repeat->checks[i].fields; field->name != NULL; field++)
			if (field->text != NULL)
				json_text(json, field->name, field->text);
			else
				json_unsigned(json, field->name, field->number);
		json_close_object(json);
	}
	json_close_array(json);
	json_close_object(json);
	wire_send(json);
}

void wire_end(struct json *json, uint64_t repeats)
{
	json_open_object(json, NULL);
	json_text(json, "event", "end");
	json_unsigned(json, "repeats", repeats);
	json_close_object(json);
	wire_send(json);
}
