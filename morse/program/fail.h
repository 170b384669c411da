/* One clear line on standard error, and out. */
#ifndef MORSE_PROGRAM_FAIL_H
#define MORSE_PROGRAM_FAIL_H

enum { EXIT_DATA = 1, EXIT_USAGE = 2 };

/* "morse: " and the words; the form is that of printf. Control characters in them are shown as '?'. */
#ifdef __GNUC__
__attribute__((format(printf, 2, 3), noreturn))
#endif
void fail(int status, const char *form, ...);

/* `clean` is called before the line is printed: what must not be left behind goes. There is place for four. */
void fail_clean(void (*clean)(void));

#endif
