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
	for (unsigned char *at = (unsigned char *)line; *at != '\0'; at++) {
		/* U+0080 to U+009F as well: U+009B begins commands of terminals. */
		if (*at == 0xC2 && at[1] >= 0x80 && at[1] < 0xA0)
			at[0] = at[1] = '?';
		if (*at < ' ' || *at == 127)
			*at = '?';
	}
	while (cleaner_count > 0)
		cleaners[--cleaner_count]();
	fprintf(stderr, "morse: %s\n", line);
	exit(status);
}
