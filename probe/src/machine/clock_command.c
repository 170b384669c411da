/* stend-probe clock: the lab asks what time it is here, several times, and compares. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/options.h"
#include "commands.h"
#include "wire/wire.h"

static uint64_t ahead_ns;

static const struct option_definition options[] = {
	{ "ahead", OPTION_DURATION, "TIME", "0", "add this to the Unix time (for tests)", &ahead_ns, 0, 0 },
};

static const struct command command = {
	.name = "clock",
	.summary = "Print both clocks, once for each line on standard input.",
	.notes = "Prints an event \"clock\" for each line: CLOCK_MONOTONIC and CLOCK_REALTIME in nanoseconds, at one moment. Ends at the end of\n"
	         "standard input.",
	.options = options,
	.option_count = sizeof options / sizeof *options,
};

static void tell(struct json *json)
{
	uint64_t now = monotonic_ns();

	json_open_object(json, NULL);
	json_text(json, "event", "clock");
	json_unsigned(json, "monotonic_ns", now);
	json_signed(json, "realtime_ns", unix_offset_ns() + (int64_t)now + (int64_t)ahead_ns);
	json_close_object(json);
	wire_send(json);
}

int command_clock(int argc, char **argv)
{
	struct json json = { 0 };
	char asked[256];
	ssize_t count;

	options_parse(&command, argc, argv);
	/* The first answer has what the others find there already. */
	unix_offset_ns();
	while ((count = read(STDIN_FILENO, asked, sizeof asked)) > 0)
		for (ssize_t i = 0; i < count; i++)
			if (asked[i] == '\n')
				tell(&json);
	json_free(&json);
	return 0;
}
