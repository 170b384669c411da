#include "stream.h"

#include "backend.h"

#include <stdlib.h>
#include <string.h>

static const struct backend *const backends[] = {
#ifdef FIZZBUZZ_X86
	&fizzbuzz_avx512,
#endif
#ifdef FIZZBUZZ_ARM
	&fizzbuzz_neon,
#endif
	&fizzbuzz_portable,
};

enum { BACKENDS = sizeof backends / sizeof *backends };

struct fizzbuzz {
	const struct backend *backend;
	uint64_t end; /* of the stream */
	/* The place in the stream: byte `within` of the block whose first number is `first`. */
	uint64_t first;
	size_t within, bytes; /* of this block */
	bool uniform;         /* all numbers of this block have shape.digits digits */
	bool made;            /* it stands in `block` */
	uint64_t start;       /* the block's offset in the stream */
	struct alphabet alphabet;
	struct shape shape;
	uint8_t block[BLOCK_BYTES_MOST + SLACK];
};

static unsigned digits_of(uint64_t number)
{
	unsigned digits = 1;

	for (; number >= 10; number /= 10)
		digits++;
	return digits;
}

/* How many of 1 … `last` are numbers in the output: neither a multiple of 3 nor of 5. */
static uint64_t plain_numbers(uint64_t last)
{
	return last - last / 3 - last / 5 + last / 15;
}

uint64_t fizzbuzz_offset_of_line(uint64_t line)
{
	uint64_t last = line - 1, bytes = 0, power = 1;

	/* One byte for each digit of each number, counted from the units upwards. */
	for (; power <= last; power *= 10)
		bytes += plain_numbers(last) - plain_numbers(power - 1);
	bytes += last;                                  /* the ends of lines */
	bytes += 4 * (last / 3) + 4 * (last / 5);
	return bytes;
}

uint64_t fizzbuzz_line_at(uint64_t offset)
{
	uint64_t low = 1, high = FIZZBUZZ_LINES + 1;

	while (low < high) {
		uint64_t middle = low + (high - low + 1) / 2;
		if (fizzbuzz_offset_of_line(middle) <= offset)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

static uint8_t *put_line(uint8_t *to, uint64_t number)
{
	char digits[24];
	size_t count = 0;

	if (number % 15 == 0) {
		memcpy(to, "FizzBuzz", 8);
		to += 8;
	} else if (number % 3 == 0) {
		memcpy(to, "Fizz", 4);
		to += 4;
	} else if (number % 5 == 0) {
		memcpy(to, "Buzz", 4);
		to += 4;
	} else {
		for (; number > 0; number /= 10)
			digits[count++] = (char)('0' + number % 10);
		while (count > 0)
			*to++ = (uint8_t)digits[--count];
	}
	*to++ = '\n';
	return to;
}

/* For all blocks whose numbers have `digits` digits; `first` begins one of them. */
static void make_shape(struct shape *shape, uint64_t first, unsigned digits)
{
	uint8_t line[32];
	uint8_t *to = shape->index;
	size_t high_digits = digits - LOW_DIGITS + 1; /* of a tenth: the hundreds as well */

	for (unsigned i = 0; i < TENTH_LINES; i++) {
		size_t bytes = (size_t)(put_line(line, first + i) - line);
		bool is_number = line[0] >= '0' && line[0] <= '9';

		for (size_t j = 0; j < bytes; j++) {
			size_t place = (size_t)(strchr(LETTERS, line[j]) - LETTERS) + offsetof(struct alphabet, letters);
			if (is_number && j < high_digits)
				place = i / 100 * HIGH_ROOM + j;
			*to++ = (uint8_t)place;
		}
	}
	shape->tenth_bytes = (size_t)(to - shape->index);
	shape->digits = digits;
	memset(to, 0, SLACK);
	for (unsigned i = 0; i < 1000; i++) {
		char text[] = { (char)('0' + i / 100), (char)('0' + i / 10 % 10), (char)('0' + i % 10), '\n' };
		memcpy(shape->low[i], text, sizeof text);
	}
	memset(shape->hundreds, 0, sizeof shape->hundreds);
	for (unsigned tenth = 0; tenth < TENTHS; tenth++) {
		for (unsigned i = 0; i < 3; i++) {
			unsigned hundred = 3 * tenth + i;
			shape->thousands[tenth][2 * i] = hundred / 10 * 2;
			shape->thousands[tenth][2 * i + 1] = hundred / 10 * 2 + 1;
			shape->hundreds[tenth][HIGH_ROOM * i + high_digits - 1] = (uint8_t)('0' + hundred % 10);
		}
		shape->thousands[tenth][6] = 6; /* the letters */
		shape->thousands[tenth][7] = 7;
	}
}

static void make_alphabet(struct alphabet *alphabet, uint64_t first)
{
	for (unsigned i = 0; i < BLOCK_LINES / 1000; i++) {
		uint64_t high = first / 1000 + i;
		for (unsigned at = digits_of(high); at-- > 0; high /= 10)
			alphabet->high[i][at] = (uint8_t)('0' + high % 10);
	}
}

/* Makes the block that begins with `first` the present one. */
static void enter(struct fizzbuzz *stream, uint64_t first)
{
	unsigned digits = digits_of(first);

	stream->first = first;
	stream->within = 0;
	stream->made = false;
	stream->uniform = digits > LOW_DIGITS && digits_of(first + BLOCK_LINES - 1) == digits &&
	                  first + BLOCK_LINES - 1 <= FIZZBUZZ_LINES;
	if (stream->uniform) {
		if (stream->shape.digits != digits)
			make_shape(&stream->shape, first, digits);
		make_alphabet(&stream->alphabet, first);
		stream->bytes = TENTHS * stream->shape.tenth_bytes;
		return;
	}
	/* Few blocks are like that: line by line. */
	uint8_t *to = stream->block;
	for (unsigned i = 0; i < BLOCK_LINES; i++)
		if (first + i > 0 && first + i <= FIZZBUZZ_LINES)
			to = put_line(to, first + i);
	stream->bytes = (size_t)(to - stream->block);
	stream->made = true;
}

static void next_block(struct fizzbuzz *stream)
{
	stream->start += stream->bytes;
	enter(stream, stream->first + BLOCK_LINES);
}

/* The present block, in memory. */
static const uint8_t *made_block(struct fizzbuzz *stream)
{
	if (!stream->made)
		stream->backend->fill(&stream->shape, &stream->alphabet, stream->block);
	stream->made = true;
	return stream->block;
}

struct fizzbuzz *fizzbuzz_create(const char *backend)
{
	for (size_t i = 0; i < BACKENDS; i++) {
		if (backend != NULL && strcmp(backend, backends[i]->name) != 0)
			continue;
		if (backends[i]->supported != NULL && !backends[i]->supported())
			continue;
		struct fizzbuzz *stream = calloc(1, sizeof *stream);
		if (stream == NULL)
			return NULL;
		stream->backend = backends[i];
		stream->end = fizzbuzz_offset_of_line(FIZZBUZZ_LINES + 1);
		memcpy(stream->alphabet.letters, LETTERS, sizeof stream->alphabet.letters);
		enter(stream, 0);
		return stream;
	}
	return NULL;
}

void fizzbuzz_destroy(struct fizzbuzz *stream)
{
	free(stream);
}

const char *fizzbuzz_backend(const struct fizzbuzz *stream)
{
	return stream->backend->name;
}

const char *fizzbuzz_backend_at(size_t index)
{
	return index < BACKENDS ? backends[index]->name : NULL;
}

uint64_t fizzbuzz_offset(const struct fizzbuzz *stream)
{
	return stream->start + stream->within;
}

/* Forward among blocks that have as many bytes, which are nearly all, nothing need be searched. */
static bool seek_near(struct fizzbuzz *stream, uint64_t offset)
{
	if (!stream->uniform || offset < stream->start)
		return false;
	uint64_t blocks = (offset - stream->start) / stream->bytes, first = stream->first + blocks * BLOCK_LINES;
	if (first + BLOCK_LINES - 1 > FIZZBUZZ_LINES || digits_of(first + BLOCK_LINES - 1) != stream->shape.digits)
		return false;
	stream->start += blocks * stream->bytes;
	if (blocks > 0)
		enter(stream, first);
	stream->within = (size_t)(offset - stream->start);
	return true;
}

bool fizzbuzz_seek(struct fizzbuzz *stream, uint64_t offset)
{
	if (offset > stream->end)
		return false;
	if (seek_near(stream, offset))
		return true;
	uint64_t first = fizzbuzz_line_at(offset) / BLOCK_LINES * BLOCK_LINES;
	enter(stream, first);
	stream->start = fizzbuzz_offset_of_line(first == 0 ? 1 : first);
	stream->within = (size_t)(offset - stream->start);
	return true;
}

/* How much of the present block is wanted: fewer than `bytes` at its end; 0 at the end of the stream. */
static size_t piece(struct fizzbuzz *stream, size_t bytes)
{
	if (stream->within == stream->bytes && stream->start + stream->within < stream->end)
		next_block(stream);
	size_t left = stream->bytes - stream->within;
	return left < bytes ? left : bytes;
}

size_t fizzbuzz_fill(struct fizzbuzz *stream, uint8_t *to, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		size_t count = piece(stream, bytes - done);
		if (count == 0)
			break;
		if (stream->within == 0 && count == stream->bytes && !stream->made && bytes - done >= count + SLACK)
			stream->backend->fill(&stream->shape, &stream->alphabet, to + done);
		else
			memcpy(to + done, made_block(stream) + stream->within, count);
		stream->within += count;
		done += count;
	}
	return done;
}

size_t fizzbuzz_check(struct fizzbuzz *stream, const uint8_t *data, size_t bytes)
{
	size_t done = 0, right = 0;
	bool all_right = true;

	while (done < bytes) {
		size_t count = piece(stream, bytes - done);
		if (count == 0)
			break;
		bool whole = stream->within == 0 && count == stream->bytes && !stream->made && stream->backend->same != NULL;
		if (all_right && !(whole && stream->backend->same(&stream->shape, &stream->alphabet, data + done))) {
			const uint8_t *wanted = made_block(stream) + stream->within;
			size_t same = 0;

			if (memcmp(wanted, data + done, count) == 0)
				same = count;
			else
				while (wanted[same] == data[done + same])
					same++;
			right = done + same;
			all_right = same == count;
		} else if (all_right) {
			right = done + count;
		}
		stream->within += count;
		done += count;
	}
	return right;
}
