#include "fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void (*cleaners[4])(void);
static unsigned cleaner_count;

void fail_clean(void (*clean)(void))
{
	cleaners[cleaner_count++] = clean;
}

void fail(int status, const char *form, ...)
{
	char line[2048];
	va_list words;

	va_start(words, form);
	vsnprintf(line, sizeof line, form, words);
	va_end(words);
	for (char *at = line; *at != '\0'; at++)
		if ((unsigned char)*at < ' ' || *at == 127)
			*at = '?';
	while (cleaner_count > 0)
		cleaners[--cleaner_count]();
	fprintf(stderr, "morse: %s\n", line);
	exit(status);
}
