#include "backend.h"

#include <string.h>

/* Each line is written from left to right with stores of a fixed width; what is too much is overwritten by the next. */
static uint8_t *number(uint8_t *to, const uint8_t *high, size_t high_digits, const char *low)
{
	memcpy(to, high, HIGH_ROOM / 2);
	if (high_digits > HIGH_ROOM / 2)
		memcpy(to + HIGH_ROOM / 2, high + HIGH_ROOM / 2, HIGH_ROOM / 2);
	memcpy(to + high_digits, low, LOW_DIGITS + 1);
	return to + high_digits + LOW_DIGITS + 1;
}

static uint8_t *word(uint8_t *to, const char *line, size_t bytes)
{
	memcpy(to, line, 8);
	to[8] = '\n';
	return to + bytes;
}

static void fill(const struct shape *shape, const struct alphabet *alphabet, uint8_t *to)
{
	size_t high_digits = shape->digits - LOW_DIGITS;
	unsigned thousand = 0, low = 0;

#define SKIP() (++low == 1000 ? (low = 0, thousand++) : 0)
#define NUMBER() (to = number(to, alphabet->high[thousand], high_digits, shape->low[low]), SKIP())
#define FIZZ() (to = word(to, "Fizz\n\0\0\0", 5), SKIP())
#define BUZZ() (to = word(to, "Buzz\n\0\0\0", 5), SKIP())
	for (unsigned line = 0; line < BLOCK_LINES; line += 15) {
		to = word(to, "FizzBuzz", 9), SKIP();
		NUMBER(), NUMBER(), FIZZ(), NUMBER(), BUZZ(), FIZZ(), NUMBER();
		NUMBER(), FIZZ(), BUZZ(), NUMBER(), FIZZ(), NUMBER(), NUMBER();
	}
}

const struct backend fizzbuzz_portable = { "portable", NULL, fill, NULL };
