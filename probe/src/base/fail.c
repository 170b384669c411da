#include "base/fail.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static const char *program = "stend-probe";

void fail_set_name(const char *name)
{
	program = name;
}

/* How many bytes the character at `at` has in UTF-8, and which it is; 1 and a control character for what is no UTF-8. */
static size_t character(const unsigned char *at, unsigned long *code)
{
	size_t length = *at < 0x80 ? 1 : *at >= 0xf0 && *at < 0xf8 ? 4 : *at >= 0xe0 ? 3 : *at >= 0xc2 ? 2 : 0;

	*code = length == 1 ? *at : *at & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			length = 0;
		*code = *code << 6 | (at[i] & 0x3f);
	}
	if (length == 0 || *at >= 0xf8) {
		*code = 0;
		return 1;
	}
	return length;
}

/* Whether a terminal does something by it, or shows what stands around it in another order: as is_plain() of the lab's plain.rs has it. */
static bool is_dangerous(unsigned long code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/* Question marks for what no terminal may get: a message may hold what somebody else wrote. */
static void make_plain(char *line)
{
	unsigned char *to = (unsigned char *)line;

	for (const unsigned char *at = to; *at != '\0';) {
		unsigned long code;
		size_t length = character(at, &code);

		if (is_dangerous(code))
			*to++ = '?';
		else
			for (size_t i = 0; i < length; i++)
				*to++ = at[i];
		at += length;
	}
	*to = '\0';
}

static void print_line(const char *prefix, const char *format, va_list arguments)
{
	char line[1024];

	/* One write, so that the lines of several processes do not mix. */
	vsnprintf(line, sizeof line, format, arguments);
	make_plain(line);
	fprintf(stderr, "%s%s%s\n", prefix, *prefix != '\0' ? ": " : "", line);
}

void fail(int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_line(program, format, arguments);
	va_end(arguments);
	exit(status);
}

void warn_line(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_line(program, format, arguments);
	va_end(arguments);
}

void say_line(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_line("", format, arguments);
	va_end(arguments);
}
