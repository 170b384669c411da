#include "pipe/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/random.h"

enum {
	STRIDE = 4096,
	/* Of Fizz Buzz a sample is so many bytes at each multiple of the other: what is before a byte must be made too. */
	FIZZBUZZ_SAMPLE = 4096,
	FIZZBUZZ_STRIDE = 1 << 20
};

void pipe_pattern_make(struct pipe_pattern *pattern, enum pipe_fill fill, size_t chunk)
{
	uint64_t seed = 1987;

	*pattern = (struct pipe_pattern){ .fill = fill, .chunk = chunk, .words = malloc(chunk) };
	if (pattern->words == NULL)
		fail(EXIT_UNSUPPORTED, "no memory for a chunk of %zu bytes", chunk);
	for (size_t i = 0; i < chunk / 8; i++)
		pattern->words[i] = random_word(&seed);
	if (fill != FILL_FIZZBUZZ)
		return;
	pattern->stream = fizzbuzz_create(NULL);
	if (pattern->stream == NULL)
		fail(EXIT_UNSUPPORTED, "no memory for Fizz Buzz");
}

void pipe_pattern_free(struct pipe_pattern *pattern)
{
	free(pattern->words);
	pattern->words = NULL;
	fizzbuzz_destroy(pattern->stream);
	pattern->stream = NULL;
}

/* Counters start at 1: a page of zeros must not look right. */
static uint64_t touch_word(const struct pipe_pattern *pattern, uint64_t n, size_t at)
{
	if (at % STRIDE != 0)
		return 0;
	return n * ((pattern->chunk + STRIDE - 1) / STRIDE) + at / STRIDE + 1;
}

/* No two chunks that follow one another are alike. */
static uint8_t flat_byte(uint64_t n)
{
	return (uint8_t)(n % 251 + 1);
}

static uint64_t expected_word(const struct pipe_pattern *pattern, uint64_t n, size_t at)
{
	switch (pattern->fill) {
	case FILL_TOUCH: return touch_word(pattern, n, at);
	case FILL_FULL: return pattern->words[at / 8] + n;
	case FILL_FLAT: return flat_byte(n) * UINT64_C(0x0101010101010101);
	case FILL_FIZZBUZZ:
	case FILL_NONE:
	default: return pattern->words[at / 8];
	}
}

void pipe_pattern_prepare(const struct pipe_pattern *pattern, uint8_t *to)
{
	if (pattern->fill == FILL_TOUCH)
		memset(to, 0, pattern->chunk);
	else
		memcpy(to, pattern->words, pattern->chunk);
}

/* Calls follow one another in the stream, so that it seldom has to be sought. */
static void stream_at(struct fizzbuzz *stream, uint64_t offset)
{
	if (fizzbuzz_offset(stream) != offset && !fizzbuzz_seek(stream, offset))
		fail(EXIT_UNSUPPORTED, "Fizz Buzz ends here");
}

void pipe_pattern_fill(const struct pipe_pattern *pattern, uint8_t *to, uint64_t n)
{
	uint64_t word;

	switch (pattern->fill) {
	case FILL_NONE:
		return;
	case FILL_FLAT:
		memset(to, flat_byte(n), pattern->chunk);
		return;
	case FILL_FIZZBUZZ:
		stream_at(pattern->stream, n * pattern->chunk);
		fizzbuzz_fill(pattern->stream, to, pattern->chunk);
		return;
	case FILL_TOUCH:
		for (size_t at = 0; at < pattern->chunk; at += STRIDE) {
			word = touch_word(pattern, n, at);
			memcpy(to + at, &word, sizeof word);
		}
		return;
	case FILL_FULL:
	default:
		for (size_t i = 0; i < pattern->chunk / 8; i++) {
			word = pattern->words[i] + n;
			memcpy(to + 8 * i, &word, sizeof word);
		}
	}
}

/* Words [at, at + bytes) of chunk `n`, both multiples of 8. Simple loops, which compilers turn into vectors. */
static uint64_t wrong_words(const struct pipe_pattern *pattern, uint64_t n, size_t at, const uint8_t *data, size_t bytes)
{
	uint64_t wrong = 0, word;

	if (pattern->fill == FILL_TOUCH || pattern->fill == FILL_FLAT) {
		for (size_t i = 0; i < bytes; i += 8) {
			memcpy(&word, data + i, sizeof word);
			wrong += word != expected_word(pattern, n, at + i);
		}
		return wrong;
	}
	uint64_t add = pattern->fill == FILL_FULL ? n : 0;
	const uint64_t *words = pattern->words + at / 8;
	for (size_t i = 0; i < bytes / 8; i++) {
		memcpy(&word, data + 8 * i, sizeof word);
		wrong += word != words[i] + add;
	}
	return wrong;
}

/* `bytes` bytes that lie within one word. */
static void check_piece(const struct pipe_pattern *pattern, uint64_t n, size_t at, const uint8_t *data, size_t bytes,
                        struct pipe_check *check)
{
	uint64_t word = expected_word(pattern, n, at / 8 * 8);
	uint8_t expected[8];

	memcpy(expected, &word, sizeof word);
	check->words++;
	check->wrong += memcmp(data, expected + at % 8, bytes) != 0;
}

static void check_all(const struct pipe_pattern *pattern, uint64_t n, size_t at, const uint8_t *data, size_t bytes,
                      struct pipe_check *check)
{
	if (at % 8 != 0) {
		size_t piece = 8 - at % 8 < bytes ? 8 - at % 8 : bytes;
		check_piece(pattern, n, at, data, piece, check);
		at += piece, data += piece, bytes -= piece;
	}
	size_t whole = bytes / 8 * 8;
	check->words += whole / 8;
	check->wrong += wrong_words(pattern, n, at, data, whole);
	if (bytes > whole)
		check_piece(pattern, n, at + whole, data + whole, bytes - whole, check);
}

static void check_some(const struct pipe_pattern *pattern, uint64_t n, size_t at, const uint8_t *data, size_t bytes,
                       struct pipe_check *check)
{
	for (size_t i = (STRIDE - at % STRIDE) % STRIDE; i + 8 <= bytes; i += STRIDE)
		check_piece(pattern, n, at + i, data + i, 8, check);
}

/* Words are counted from the beginning of `data`. */
static void check_all_fizzbuzz(struct fizzbuzz *stream, uint64_t offset, const uint8_t *data, size_t bytes, struct pipe_check *check)
{
	uint8_t expected[STRIDE];

	check->words += (bytes + 7) / 8;
	stream_at(stream, offset);
	if (fizzbuzz_check(stream, data, bytes) == bytes)
		return;
	fizzbuzz_seek(stream, offset);
	for (size_t at = 0; at < bytes; at += STRIDE) {
		size_t piece = bytes - at < STRIDE ? bytes - at : STRIDE;

		fizzbuzz_fill(stream, expected, piece);
		for (size_t i = 0; i < piece; i += 8)
			check->wrong += memcmp(data + at + i, expected + i, piece - i < 8 ? piece - i : 8) != 0;
	}
}

static void check_some_fizzbuzz(struct fizzbuzz *stream, uint64_t offset, const uint8_t *data, size_t bytes,
                                struct pipe_check *check)
{
	while (bytes > 0) {
		uint64_t at = offset % FIZZBUZZ_STRIDE;
		size_t end = at < FIZZBUZZ_SAMPLE ? FIZZBUZZ_SAMPLE : FIZZBUZZ_STRIDE;
		size_t piece = end - (size_t)at < bytes ? end - (size_t)at : bytes;

		if (at < FIZZBUZZ_SAMPLE)
			check_all_fizzbuzz(stream, offset, data, piece, check);
		offset += piece, data += piece, bytes -= piece;
	}
}

void pipe_pattern_check(const struct pipe_pattern *pattern, uint64_t offset, const uint8_t *data, size_t bytes, bool all,
                        struct pipe_check *check)
{
	if (pattern->fill == FILL_FIZZBUZZ) {
		(all ? check_all_fizzbuzz : check_some_fizzbuzz)(pattern->stream, offset, data, bytes, check);
		return;
	}
	while (bytes > 0) {
		uint64_t n = offset / pattern->chunk;
		size_t at = (size_t)(offset % pattern->chunk);
		size_t piece = pattern->chunk - at < bytes ? pattern->chunk - at : bytes;

		if (all)
			check_all(pattern, n, at, data, piece, check);
		else
			check_some(pattern, n, at, data, piece, check);
		offset += piece, data += piece, bytes -= piece;
	}
}
