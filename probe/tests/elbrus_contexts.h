/* What glibc has on Elbrus instead of makecontext(), on top of makecontext(): for the tests alone, which include it before all
 * else where the build is told that it is one for Elbrus.
 *
 * As there: it may fail with errno, and what it took must be given back by freecontext_e2k(), for the very same ucontext_t, which
 * may not have moved. `elbrus_contexts` counts what was not given back. */
#ifndef STEND_ELBRUS_CONTEXTS_H
#define STEND_ELBRUS_CONTEXTS_H

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <ucontext.h>

/* Of all objects together. Contexts that are still allowed, if not all are. */
__attribute__((weak)) unsigned elbrus_contexts, elbrus_contexts_most = ~0u;
__attribute__((weak)) const ucontext_t *elbrus_owners[4096];

__attribute__((unused)) static int makecontext_e2k(ucontext_t *context, void (*function)(void), int count, ...)
{
	size_t place = 0;
	va_list arguments;

	if (count != 2)
		abort();
	if (elbrus_contexts >= elbrus_contexts_most) {
		errno = ENOMEM;
		return -1;
	}
	while (place < sizeof elbrus_owners / sizeof *elbrus_owners && elbrus_owners[place] != NULL)
		place++;
	if (place == sizeof elbrus_owners / sizeof *elbrus_owners)
		abort();
	elbrus_owners[place] = context;
	elbrus_contexts++;
	va_start(arguments, count);
	unsigned first = va_arg(arguments, unsigned), second = va_arg(arguments, unsigned);
	va_end(arguments);
	makecontext(context, function, 2, first, second);
	return 0;
}

__attribute__((unused)) static void freecontext_e2k(const ucontext_t *context)
{
	size_t place = 0;

	while (place < sizeof elbrus_owners / sizeof *elbrus_owners && elbrus_owners[place] != context)
		place++;
	/* It was never made, was freed before, or has moved. */
	if (place == sizeof elbrus_owners / sizeof *elbrus_owners)
		abort();
	elbrus_owners[place] = NULL;
	elbrus_contexts--;
}

#endif
