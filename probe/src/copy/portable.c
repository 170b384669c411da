#include "copy/methods.h"

static void copy_memcpy(uint8_t *restrict to, const uint8_t *restrict from, size_t bytes)
{
	memcpy(to, from, bytes);
}

static void store_memset(uint8_t *to, uint8_t value, size_t bytes)
{
	memset(to, value, bytes);
}

/* Loads, or stores where there is no load, are volatile: else compilers know the loop, and call memcpy or use vectors. */
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

static uint64_t load_words(const uint8_t *from, size_t bytes, uint64_t passes)
{
	const volatile uint64_t *source = (const volatile uint64_t *)(const volatile void *)from;
	size_t words = bytes / 8;
	uint64_t a = 0, b = 0, c = 0, d = 0;

	for (uint64_t pass = 0; pass < passes; pass++) {
		size_t i = 0;

		for (; i + 4 <= words; i += 4) {
			a += source[i];
			b += source[i + 1];
			c += source[i + 2];
			d += source[i + 3];
		}
		for (; i < words; i++)
			a += source[i];
		b += copy_sum(from + words * 8, bytes % 8);
	}
	return a + b + c + d;
}

static void store_words(uint8_t *to, uint8_t value, size_t bytes)
{
	volatile uint64_t *target = (volatile uint64_t *)(volatile void *)to;
	uint64_t word = copy_word_of(value);
	size_t words = bytes / 8, i = 0;

	for (; i + 4 <= words; i += 4) {
		target[i] = word;
		target[i + 1] = word;
		target[i + 2] = word;
		target[i + 3] = word;
	}
	for (; i < words; i++)
		target[i] = word;
	memset(to + words * 8, value, bytes % 8);
}

static void copy_bytes(uint8_t *restrict to, const uint8_t *restrict from, size_t bytes)
{
	const volatile uint8_t *source = from;

	for (size_t i = 0; i < bytes; i++)
		to[i] = source[i];
}

static void store_bytes(uint8_t *to, uint8_t value, size_t bytes)
{
	volatile uint8_t *target = to;

	for (size_t i = 0; i < bytes; i++)
		target[i] = value;
}

const struct copy_method copy_methods_portable[] = {
	{ "memcpy", NULL, copy_memcpy, NULL, store_memset },
	{ "words", NULL, copy_words, load_words, store_words },
	{ "bytes", NULL, copy_bytes, NULL, store_bytes },
	{ NULL, NULL, NULL, NULL, NULL },
};
