/* The ways to move memory. */
#ifndef STEND_COPY_METHODS_H
#define STEND_COPY_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct copy_method {
	const char *name;
	bool (*supported)(void); /* NULL: everywhere */
	void (*copy)(uint8_t *restrict to, const uint8_t *restrict from, size_t bytes);
	/* Loads all bytes `passes` times. The result is `passes` × copy_sum(), modulo 2^64: a load that was left out shows.
	 * NULL: only copies and stores. */
	uint64_t (*load)(const uint8_t *from, size_t bytes, uint64_t passes);
	/* Sets every byte to `value`. */
	void (*store)(uint8_t *to, uint8_t value, size_t bytes);
};

/* Each ends with an element whose name is NULL; those of other processors are empty. */
extern const struct copy_method copy_methods_portable[];
extern const struct copy_method copy_methods_x86[];
extern const struct copy_method copy_methods_arm[];

/* Sum of the words in the byte order of this machine, the last one filled up with zeros. */
static inline uint64_t copy_sum(const uint8_t *from, size_t bytes)
{
	uint64_t sum = 0, word;

	for (; bytes >= sizeof word; bytes -= sizeof word, from += sizeof word) {
		memcpy(&word, from, sizeof word);
		sum += word;
	}
	word = 0;
	memcpy(&word, from, bytes);
	return sum + word;
}

/* A word of which every byte is `value`. */
static inline uint64_t copy_word_of(uint8_t value)
{
	return value * UINT64_C(0x0101010101010101);
}

/* Loops over whole vectors of `width` bytes, four at a time, then one at a time; what is left goes to memcpy and its like.
 * They stand in functions with the parameters of struct copy_method. */
#define COPY_LOOP(type, width, load, store)                                                           \
	size_t i = 0;                                                                                 \
	for (; i + 4 * (width) <= bytes; i += 4 * (width)) {                                          \
		type a = load(from + i), b = load(from + i + (width));                                \
		type c = load(from + i + 2 * (width)), d = load(from + i + 3 * (width));              \
		store(to + i, a);                                                                     \
		store(to + i + (width), b);                                                           \
		store(to + i + 2 * (width), c);                                                       \
		store(to + i + 3 * (width), d);                                                       \
	}                                                                                             \
	for (; i + (width) <= bytes; i += (width))                                                    \
		store(to + i, load(from + i));                                                        \
	if (i < bytes)                                                                                \
	memcpy(to + i, from + i, bytes - i)

/* Four sums, so that the loads do not wait for the additions. The barrier makes each pass load again. */
#define LOAD_LOOP(type, width, zero, load, add)                                                       \
	type a = zero, b = zero, c = zero, d = zero, sums[4];                                         \
	uint64_t sum = 0;                                                                             \
	for (uint64_t pass = 0; pass < passes; pass++) {                                              \
		size_t i = 0;                                                                         \
		__asm__ volatile("" : : : "memory");                                                  \
		for (; i + 4 * (width) <= bytes; i += 4 * (width)) {                                  \
			a = add(a, load(from + i));                                                   \
			b = add(b, load(from + i + (width)));                                         \
			c = add(c, load(from + i + 2 * (width)));                                     \
			d = add(d, load(from + i + 3 * (width)));                                     \
		}                                                                                     \
		for (; i + (width) <= bytes; i += (width))                                            \
			a = add(a, load(from + i));                                                   \
		sum += copy_sum(from + i, bytes - i);                                                 \
	}                                                                                             \
	sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d;                                           \
	return sum + copy_sum((const uint8_t *)sums, sizeof sums)

#define STORE_LOOP(width, store, vector)                                                              \
	size_t i = 0;                                                                                 \
	for (; i + 4 * (width) <= bytes; i += 4 * (width)) {                                          \
		store(to + i, vector);                                                                \
		store(to + i + (width), vector);                                                      \
		store(to + i + 2 * (width), vector);                                                  \
		store(to + i + 3 * (width), vector);                                                  \
	}                                                                                             \
	for (; i + (width) <= bytes; i += (width))                                                    \
		store(to + i, vector);                                                                \
	if (i < bytes)                                                                                \
	memset(to + i, value, bytes - i)

#endif
