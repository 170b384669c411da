/* How the lines of one block are made. A block is 3000 numbers, from a multiple of 3000 on: a multiple of 15, so that words
 * and numbers stand in the same places in every block, and of 1000, so that only the digits above the last three
 * differ, and take three values, one after the other. A tenth of it, 300 numbers, is the same in small, with the digits
 * above the last two: so little that where its bytes come from stays in the first cache. */
#ifndef FIZZBUZZ_BACKEND_H
#define FIZZBUZZ_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TENTHS = 10,
	TENTH_LINES = 300,
	BLOCK_LINES = TENTHS * TENTH_LINES,
	LOW_DIGITS = 3, /* in a block */
	DIGITS_MOST = 17,
	/* Of 15 lines, 8 are numbers, 4 "Fizz", 2 "Buzz" and one "FizzBuzz". */
	TENTH_BYTES_MOST = TENTH_LINES / 15 * (8 * (DIGITS_MOST + 1) + 4 * 5 + 2 * 5 + 9),
	BLOCK_BYTES_MOST = TENTHS * TENTH_BYTES_MOST,
	/* What backends may write or read beyond a block. */
	SLACK = 64,
	HIGH_ROOM = 16
};

/* What the bytes of a block, or of a tenth, are taken from: the digits above the last three, or two, for each thousand,
 * or hundred, of it, then the letters. 64 bytes, as many as one permutation takes. */
struct alphabet {
	uint8_t high[3][HIGH_ROOM]; /* from the first digit on */
	uint8_t letters[16];        /* LETTERS */
};

#define LETTERS "FizBu\n0123456789"

/* All blocks whose numbers have the same number of digits. */
struct shape {
	unsigned digits; /* of all numbers of the block; 0: none yet */
	size_t tenth_bytes;
	uint8_t index[TENTH_BYTES_MOST + SLACK]; /* for each byte of a tenth, where it stands in the tenth's alphabet */
	char low[1000][LOW_DIGITS + 1];          /* "000\n" … "999\n" */
	/* How the alphabet of a tenth is made from that of the block: eight bytes each from where `thousands` says, then the
	 * digit of the hundreds put in place where `hundreds` is not 0. */
	uint64_t thousands[TENTHS][8];
	uint8_t hundreds[TENTHS][64];
};

struct backend {
	const char *name;
	bool (*supported)(void); /* NULL: always */
	/* Writes a block, and maybe up to SLACK bytes more. */
	void (*fill)(const struct shape *shape, const struct alphabet *alphabet, uint8_t *to);
	/* Whether `data` is the block; NULL: fill and compare. Reads no further. */
	bool (*same)(const struct shape *shape, const struct alphabet *alphabet, const uint8_t *data);
};

extern const struct backend fizzbuzz_portable;
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__e2k__) && !defined(STEND_NO_INTRINSICS)
#define FIZZBUZZ_X86
extern const struct backend fizzbuzz_avx512;
#elif defined(__aarch64__) && defined(__GNUC__) && !defined(STEND_NO_INTRINSICS)
#define FIZZBUZZ_ARM
extern const struct backend fizzbuzz_neon;
#endif

#endif
