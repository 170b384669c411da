#include "copy_methods.h"

#include <string.h>

static void copy_memcpy(uint8_t *restrict to, const uint8_t *restrict from, size_t bytes)
{
	memcpy(to, from, bytes);
}

/* The loads are volatile: else compilers know the loop, and call memcpy or use vectors. */
static void copy_words(uint8_t *restrict to, const uint8_t *restrict from, size_t bytes)
{
	const volatile uint64_t *source = (const volatile uint64_t *)(const volatile void *)from;
	uint64_t *target = (uint64_t *)(void *)to;
	size_t words = bytes / 8, i = 0;

	for (; i + 4 <= words; i += 4) {
		uint64_t a = source[i], b = source[i + 1], c = source[i + 2], d = source[i + 3];
		target[i] = a;
		target[i + 1] = b;
		target[i + 2] = c;
		target[i + 3] = d;
	}
	for (; i < words; i++)
		target[i] = source[i];
	memcpy(to + words * 8, from + words * 8, bytes % 8);
}

static void copy_bytes(uint8_t *restrict to, const uint8_t *restrict from, size_t bytes)
{
	const volatile uint8_t *source = from;

	for (size_t i = 0; i < bytes; i++)
		to[i] = source[i];
}

const struct copy_method copy_methods_portable[] = {
	{ "memcpy", "the C library's", NULL, copy_memcpy },
	{ "words", "64-bit loads and stores, four at a time", NULL, copy_words },
	{ "bytes", "one byte at a time", NULL, copy_bytes },
	{ NULL, NULL, NULL, NULL },
};
