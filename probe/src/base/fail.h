/* How the program ends when it cannot go on: one line on standard error, and an exit status that says why. */
#ifndef STEND_FAIL_H
#define STEND_FAIL_H

enum exit_status {
	EXIT_FINE = 0,
	EXIT_BROKEN = 1,      /* the system refused something that it should give */
	EXIT_USAGE = 2,       /* the command line is wrong */
	EXIT_UNSUPPORTED = 4  /* this machine or this build cannot do it */
};

#if defined(__GNUC__)
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define PRINTF_LIKE(text, first)
#endif

/* The prefix of all messages, "stend-probe cipher". */
void fail_set_name(const char *name);

_Noreturn void fail(int status, const char *format, ...) PRINTF_LIKE(2, 3);

/* Same form, but goes on. */
void warn_line(const char *format, ...) PRINTF_LIKE(1, 2);

/* Without the prefix: progress. */
void say_line(const char *format, ...) PRINTF_LIKE(1, 2);

#endif
