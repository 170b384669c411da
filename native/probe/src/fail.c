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
