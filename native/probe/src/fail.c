#include "fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *program = "stend-probe";

void fail_set_name(const char *name)
{
	program = name;
}

static void print_line(const char *format, va_list arguments)
{
	char line[1024];

	/* One write, so that the lines of several processes do not mix. */
	vsnprintf(line, sizeof line, format, arguments);
	/* What the user typed may hold newlines and worse. */
	for (char *at = line; *at != '\0'; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			*at = '?';
	fprintf(stderr, "%s: %s\n", program, line);
}

void fail(int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_line(format, arguments);
	va_end(arguments);
	exit(status);
}

void warn_line(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_line(format, arguments);
	va_end(arguments);
}
