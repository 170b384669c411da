/* The ways to copy memory. */
#ifndef STEND_COPY_METHODS_H
#define STEND_COPY_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct copy_method {
	const char *name, *help;
	bool (*supported)(void); /* NULL: everywhere */
	void (*copy)(uint8_t *restrict to, const uint8_t *restrict from, size_t bytes);
};

/* Both end with an element whose name is NULL; the second is empty where there are no such instructions. */
extern const struct copy_method copy_methods_portable[];
extern const struct copy_method copy_methods_x86[];

#endif
