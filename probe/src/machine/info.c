/* `stend-probe info`: what this machine is, as far as a program can tell without privileges. */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <netinet/in.h>
#include <sys/socket.h>
#endif
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/version.h"
#include "machine/cpu_features.h"
#include "machine/emulator.h"
#include "wire/wire.h"

static uint64_t calibration_ns;

static const struct option_definition options[] = {
	{ "seconds", OPTION_DURATION, "TIME", "0.1", "time spent measuring the clock frequency", &calibration_ns, 1, 10000000000u },
};

static const struct command command = {
	"info", "Describe this machine: one JSON object.",
	"Sizes are bytes, times nanoseconds, frequencies hertz. Values that could not be read are listed under `missing`, with the reason.",
	options, sizeof options / sizeof *options, NULL, NULL,
};

/* What could not be found out, and why. */
static struct {
	const char *name, *reason;
} missing[16];
static size_t missing_count;

static void miss(const char *name, const char *reason)
{
	if (missing_count < sizeof missing / sizeof *missing) {
		missing[missing_count].name = name;
		missing[missing_count].reason = reason;
		missing_count++;
	}
}

/* The first line of a small file, without its newline. */
static bool read_line(const char *path, char *line, size_t bytes)
{
	FILE *file = fopen(path, "re");
	bool read = file != NULL && fgets(line, (int)bytes, file) != NULL;

	if (file != NULL)
		fclose(file);
	if (read)
		line[strcspn(line, "\n")] = '\0';
	return read;
}

static void add_feature(void *argument, const char *name)
{
	json_text(argument, NULL, name);
}

static void add_features(struct json *json)
{
	json_open_array(json, "instruction_sets");
	const char *source = features_list(add_feature, json);
	json_close_array(json);
	json_text(json, "instruction_sets_source", source);
}

/* "32K" as sysfs writes it. */
static uint64_t cache_size(const char *text)
{
	uint64_t bytes = 0;

	return parse_size(text, &bytes) ? bytes : 0;
}

static bool cache_file(unsigned index, const char *name, char *line, size_t bytes)
{
	char path[128];

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%u/%s", index, name);
	return read_line(path, line, bytes);
}

static void add_caches(struct json *json)
{
	char line[256];
	bool any = false;

	json_open_array(json, "caches");
	for (unsigned index = 0; index < 16 && cache_file(index, "level", line, sizeof line); index++) {
		any = true;
		json_open_object(json, NULL);
		json_unsigned(json, "level", strtoull(line, NULL, 10));
		if (cache_file(index, "type", line, sizeof line))
			json_text(json, "type", line);
		if (cache_file(index, "size", line, sizeof line) && cache_size(line) > 0)
			json_unsigned(json, "size_bytes", cache_size(line));
		if (cache_file(index, "coherency_line_size", line, sizeof line))
			json_unsigned(json, "line_bytes", strtoull(line, NULL, 10));
		if (cache_file(index, "ways_of_associativity", line, sizeof line))
			json_unsigned(json, "ways", strtoull(line, NULL, 10));
		if (cache_file(index, "shared_cpu_list", line, sizeof line))
			json_text(json, "shared_cpus", line);
		json_close_object(json);
	}
	json_close_array(json);
	if (!any)
		miss("caches", "no /sys/devices/system/cpu/cpu0/cache");
}

/* "always [madvise] never": the word in brackets. */
static void add_huge_pages(struct json *json)
{
	char line[128], *start, *end;

	if (read_line("/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof line) &&
	    (start = strchr(line, '[')) != NULL && (end = strchr(start, ']')) != NULL) {
		*end = '\0';
		json_text(json, "huge_pages", start + 1);
	} else {
		miss("huge_pages", "no /sys/kernel/mm/transparent_hugepage/enabled");
	}
}

static void add_clock(struct json *json)
{
	struct clock_estimate estimate = clock_measure(calibration_ns);

	if (estimate.hz <= 0) {
		miss("clock", estimate.bursts == 0 ? "the timer is too coarse"
		                                   : "something else ran all the while: no three of the bursts that it is measured by took the same time");
		return;
	}
	json_open_object(json, "clock");
	json_real(json, "hz", estimate.hz);
	json_real(json, "spread", estimate.spread);
	json_unsigned(json, "bursts", estimate.bursts);
	json_text(json, "method", CLOCK_METHOD);
	json_close_object(json);
}

/* The fastest of 64 bursts of 256 readings. */
static double timer_cost_ns(void)
{
	uint64_t best = UINT64_MAX;

	for (unsigned burst = 0; burst < 64; burst++) {
		uint64_t start = monotonic_ns(), end = start;
		for (unsigned i = 0; i < 256; i++)
			end = monotonic_ns();
		if (end - start < best)
			best = end - start;
	}
	return (double)best / 256.0;
}

static void add_timer(struct json *json)
{
	struct timespec resolution = { 0 };
	char line[64];

	json_open_object(json, "timer");
	if (read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", line, sizeof line))
		json_text(json, "source", line);
	else
		miss("timer.source", "no /sys/devices/system/clocksource/clocksource0/current_clocksource");
	if (clock_getres(CLOCK_MONOTONIC, &resolution) == 0)
		json_unsigned(json, "resolution_ns", (uint64_t)resolution.tv_sec * 1000000000u + (uint64_t)resolution.tv_nsec);
	json_real(json, "cost_ns", timer_cost_ns());
	json_close_object(json);
}

#ifdef __linux__
/* The numbers of linux/socket.h and linux/tcp.h, which older headers lack. */
enum { CRYPTO_FAMILY = 38, UPPER_PROTOCOL = 31 };

/* A socket of the kernel's ciphers. */
static bool has_af_alg(void)
{
	int descriptor = socket(CRYPTO_FAMILY, SOCK_SEQPACKET, 0);

	if (descriptor >= 0)
		close(descriptor);
	return descriptor >= 0;
}

/* Without a connection the kernel refuses TLS that it has in another way than TLS that it has not. */
static bool has_ktls(void)
{
	static const char name[] = "tls";
	int descriptor = socket(AF_INET, SOCK_STREAM, 0);

	if (descriptor < 0)
		return false;
	bool has = setsockopt(descriptor, IPPROTO_TCP, UPPER_PROTOCOL, name, sizeof name - 1) == 0 || errno == ENOTCONN;
	close(descriptor);
	return has;
}

static void add_offers(struct json *json)
{
	json_open_object(json, "offers");
	json_boolean(json, "af_alg", has_af_alg());
	json_boolean(json, "ktls", has_ktls());
	json_close_object(json);
}
#else
static void add_offers(struct json *json)
{
	(void)json;
	miss("offers", "only Linux is asked");
}
#endif

static const char *endianness(void)
{
	const uint32_t one = 1;
	uint8_t first;

	memcpy(&first, &one, 1);
	return first == 1 ? "little" : "big";
}

int command_info(int argc, char **argv)
{
	struct json json = { .pretty = true };

	options_parse(&command, argc, argv);
	json_open_object(&json, NULL);
	json_text(&json, "version", STEND_VERSION);
	json_text(&json, "architecture", build_architecture());
	json_text(&json, "compiler", build_compiler());
	json_text(&json, "flags", build_flags());
	if (emulator() != NULL)
		json_text(&json, "emulator", emulator());
	json_text(&json, "endianness", endianness());
	json_unsigned(&json, "pointer_bits", sizeof(void *) * 8);
	add_features(&json);
	add_caches(&json);
	json_signed(&json, "cpus_online", sysconf(_SC_NPROCESSORS_ONLN));
	json_signed(&json, "page_size_bytes", sysconf(_SC_PAGESIZE));
	add_huge_pages(&json);
	add_clock(&json);
	add_timer(&json);
	add_offers(&json);
	json_open_object(&json, "missing");
	for (size_t i = 0; i < missing_count; i++)
		json_text(&json, missing[i].name, missing[i].reason);
	json_close_object(&json);
	json_close_object(&json);
	wire_send(&json);
	json_free(&json);
	return EXIT_FINE;
}
