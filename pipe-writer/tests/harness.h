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
