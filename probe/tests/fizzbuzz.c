/* The stream against one printed line by line, at its beginning, around every change in the number of digits and at its end;
 * and that no wrong byte escapes the check. */
#include "fizzbuzz/stream.h"
#include "harness.h"

#include <stdlib.h>

enum { AROUND = 7000 };

static uint8_t wanted[AROUND * 2 * 20], got[AROUND * 2 * 20 + 64];

static size_t print_lines(uint64_t first, uint64_t last)
{
	char *to = (char *)wanted;

	for (uint64_t number = first; number <= last; number++) {
		if (number % 15 == 0)
			to += sprintf(to, "FizzBuzz\n");
		else if (number % 3 == 0)
			to += sprintf(to, "Fizz\n");
		else if (number % 5 == 0)
			to += sprintf(to, "Buzz\n");
		else
			to += sprintf(to, "%llu\n", (unsigned long long)number);
	}
	return (size_t)(to - (char *)wanted);
}

/* Fills in pieces of 1 to `most` bytes, each into memory of that size and no more. */
static bool fill_in_pieces(struct fizzbuzz *stream, size_t bytes, size_t most, uint64_t *seed)
{
	for (size_t done = 0; done < bytes;) {
		size_t count = 1 + random_next(seed) % most;
		if (count > bytes - done)
			count = bytes - done;
		uint8_t *piece = malloc(count);
		size_t filled = piece == NULL ? 0 : fizzbuzz_fill(stream, piece, count);
		bool right = filled == count && memcmp(piece, wanted + done, count) == 0;
		free(piece);
		if (!right)
			return false;
		done += count;
	}
	return true;
}

static void test_content(struct fizzbuzz *stream, uint64_t middle)
{
	const char *name = fizzbuzz_backend(stream);
	uint64_t first = middle > AROUND ? middle - AROUND : 1, seed = middle;
	uint64_t last = middle + AROUND - 1 < FIZZBUZZ_LINES ? middle + AROUND - 1 : FIZZBUZZ_LINES;
	size_t bytes = print_lines(first, last);
	uint64_t start = fizzbuzz_offset_of_line(first);

	CHECK(fizzbuzz_offset_of_line(last + 1) == start + bytes, "offset of line %llu", (unsigned long long)last + 1);
	CHECK(fizzbuzz_seek(stream, start), "seek");
	CHECK(fizzbuzz_fill(stream, got, bytes) == bytes && memcmp(got, wanted, bytes) == 0, "%s, around %llu, at once", name,
	      (unsigned long long)middle);
	CHECK(fizzbuzz_offset(stream) == start + bytes, "%s: offset after filling", name);
	fizzbuzz_seek(stream, start);
	CHECK(fizzbuzz_check(stream, wanted, bytes) == bytes, "%s, around %llu: right bytes are refused", name,
	      (unsigned long long)middle);
	CHECK(fizzbuzz_offset(stream) == start + bytes, "%s: offset after checking", name);
	fizzbuzz_seek(stream, start);
	CHECK(fill_in_pieces(stream, bytes, 100, &seed), "%s, around %llu, small pieces", name, (unsigned long long)middle);
	fizzbuzz_seek(stream, start);
	CHECK(fill_in_pieces(stream, bytes, 60000, &seed), "%s, around %llu, large pieces", name, (unsigned long long)middle);
	for (int i = 0; i < 100; i++) {
		size_t at = random_next(&seed) % bytes, left = bytes - at;
		fizzbuzz_seek(stream, start + at);
		fizzbuzz_fill(stream, got, left < 50 ? left : 50);
		CHECK(memcmp(got, wanted + at, left < 50 ? left : 50) == 0, "%s, at offset %llu", name,
		      (unsigned long long)(start + at));
	}
	for (uint64_t line = first; line <= last; line += 97) {
		uint64_t offset = fizzbuzz_offset_of_line(line);
		CHECK(fizzbuzz_line_at(offset) == line, "line at %llu", (unsigned long long)offset);
		CHECK(line == 1 || fizzbuzz_line_at(offset - 1) == line - 1, "line before %llu", (unsigned long long)offset);
	}
}

/* From wherever the stream stands, forth and back, near and far, it goes to the same place as one that was never moved. */
static void test_seek(struct fizzbuzz *stream)
{
	const char *name = fizzbuzz_backend(stream);
	uint64_t end = fizzbuzz_offset_of_line(FIZZBUZZ_LINES + 1), seed = 11, at = 0;

	for (int i = 0; i < 3000; i++) {
		/* Steps of all sizes; around the changes in the number of digits too. */
		uint64_t step = random_next(&seed) >> random_next(&seed) % 64;
		uint64_t power = 1;
		for (uint64_t n = random_next(&seed) % 17; n > 0; n--)
			power *= 10;
		if (i % 3 == 0)
			at = fizzbuzz_offset_of_line(power) - (power > 1 ? step % 100000 % fizzbuzz_offset_of_line(power) : 0);
		else
			at = (at + step) % (end - 100);
		struct fizzbuzz *other = fizzbuzz_create(name);
		CHECK(fizzbuzz_seek(stream, at) && fizzbuzz_seek(other, at), "%s: seek %llu", name, (unsigned long long)at);
		CHECK(fizzbuzz_offset(stream) == at, "%s: offset %llu", name, (unsigned long long)at);
		size_t count = fizzbuzz_fill(stream, got, 1 + at % 100);
		CHECK(fizzbuzz_fill(other, wanted, 1 + at % 100) == count && memcmp(got, wanted, count) == 0,
		      "%s: other bytes at %llu", name, (unsigned long long)at);
		fizzbuzz_destroy(other);
	}
}

static void test_wrong_bytes(struct fizzbuzz *stream)
{
	const char *name = fizzbuzz_backend(stream);
	uint64_t seed = 5, start = fizzbuzz_offset_of_line(1000000001);
	size_t bytes = print_lines(1000000001, 1000000000 + 2 * AROUND);

	for (int i = 0; i < 2000; i++) {
		/* Blocks take other ways at their ends: a flipped bit in every place that may be one. */
		size_t at = i < 1000 ? random_next(&seed) % bytes : (size_t)(i - 1000) * 64 + 63;
		unsigned bit = random_next(&seed) % 8;
		wanted[at] ^= (uint8_t)(1u << bit);
		fizzbuzz_seek(stream, start);
		CHECK(fizzbuzz_check(stream, wanted, bytes) == at, "%s: a wrong bit %u at %zu escaped", name, bit, at);
		CHECK(fizzbuzz_offset(stream) == start + bytes, "%s: offset after a wrong byte", name);
		wanted[at] ^= (uint8_t)(1u << bit);
	}
	/* Two pages that changed places, and one byte that is missing. */
	memcpy(got, wanted, bytes);
	memcpy(got + 4096, wanted + 8192, 4096);
	memcpy(got + 8192, wanted + 4096, 4096);
	fizzbuzz_seek(stream, start);
	size_t right = fizzbuzz_check(stream, got, bytes);
	CHECK(right >= 4096 && right < 4200, "%s: exchanged pages are found at %zu", name, right);
	fizzbuzz_seek(stream, start);
	right = fizzbuzz_check(stream, wanted + 1, bytes - 1);
	CHECK(right < 20, "%s: a missing byte is found at %zu", name, right);
}

static void test_end(struct fizzbuzz *stream)
{
	uint64_t end = fizzbuzz_offset_of_line(FIZZBUZZ_LINES + 1);
	size_t bytes = print_lines(FIZZBUZZ_LINES - 10, FIZZBUZZ_LINES);

	CHECK(!fizzbuzz_seek(stream, end + 1), "beyond the end");
	CHECK(fizzbuzz_seek(stream, end - bytes), "near the end");
	CHECK(fizzbuzz_fill(stream, got, sizeof got) == bytes && memcmp(got, wanted, bytes) == 0, "the last lines");
	CHECK(fizzbuzz_fill(stream, got, 1) == 0 && fizzbuzz_check(stream, got, 1) == 0, "after the end");
	CHECK(fizzbuzz_seek(stream, end) && fizzbuzz_fill(stream, got, 1) == 0, "at the end");
	CHECK(fizzbuzz_line_at(end) == FIZZBUZZ_LINES + 1, "the line of the end");
}

int main(void)
{
	const char *name;
	unsigned tried = 0;

	CHECK(fizzbuzz_create("no such backend") == NULL, "an unknown backend");
	for (size_t i = 0; (name = fizzbuzz_backend_at(i)) != NULL; i++) {
		struct fizzbuzz *stream = fizzbuzz_create(name);
		if (stream == NULL)
			continue;
		tried++;
		CHECK(strcmp(fizzbuzz_backend(stream), name) == 0, "the backend is %s", fizzbuzz_backend(stream));
		for (uint64_t power = 1; power <= FIZZBUZZ_LINES; power *= 10)
			test_content(stream, power);
		test_content(stream, UINT64_C(1234567890123));
		test_content(stream, FIZZBUZZ_LINES);
		test_seek(stream);
		test_wrong_bytes(stream);
		test_end(stream);
		fizzbuzz_destroy(stream);
	}
	CHECK(tried >= 1, "no backend was tried");
	return harness_finish();
}
