/* The whole test framework: CHECK counts, finish() prints the totals as the last line. */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned harness_passed, harness_failed;

#define CHECK(condition, ...)                                                       \
	do {                                                                        \
		if (condition) {                                                    \
			harness_passed++;                                           \
		} else {                                                            \
			harness_failed++;                                           \
			fprintf(stderr, "%s:%d: failed: ", __FILE__, __LINE__);     \
			fprintf(stderr, __VA_ARGS__);                               \
			fputc('\n', stderr);                                        \
		}                                                                   \
	} while (0)

static inline int harness_finish(void)
{
	printf("%u passed, %u failed\n", harness_passed, harness_failed);
	return harness_failed == 0 ? 0 : 1;
}

/* Whether an emulator runs this program; then `name` is skipped for that reason. */
static inline int skip_emulated(const char *name, const char *reason)
{
	if (getenv("RUN") == NULL || *getenv("RUN") == '\0')
		return 0;
	fprintf(stderr, "skipped under an emulator: %s: %s\n", name, reason);
	return 1;
}

/* Hexadecimal digits to bytes; returns the number of bytes. */
static inline size_t from_hex(uint8_t *to, const char *digits)
{
	size_t count = strlen(digits) / 2;

	for (size_t i = 0; i < count; i++) {
		unsigned value;
		char pair[3] = { digits[2 * i], digits[2 * i + 1], '\0' };
		if (sscanf(pair, "%2x", &value) != 1)
			return 0;
		to[i] = (uint8_t)value;
	}
	return count;
}

static inline int equals_hex(const uint8_t *bytes, const char *digits)
{
	uint8_t expected[256];
	size_t count = from_hex(expected, digits);

	return count > 0 && memcmp(bytes, expected, count) == 0;
}

/* SplitMix64: fixed seeds, so that a failure repeats. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = (*state += 0x9E3779B97F4A7C15u);
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

static inline void random_bytes(uint64_t *state, uint8_t *to, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = (uint8_t)(random_next(state) >> 24);
}

#endif
