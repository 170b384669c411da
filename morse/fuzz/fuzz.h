/* What the fuzz targets share. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "morse.h"

/* What must hold whatever a fuzzer gives: else the program stops where the fuzzer sees it. */
#define REQUIRE(condition)                                                                   \
	do {                                                                                 \
		if (!(condition)) {                                                          \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                             \
		}                                                                            \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* The first two bytes choose alphabet and backend, the rest is the case. */
struct fuzz_case {
	struct morse_options options;
	uint8_t choice;
	uint8_t *bytes; /* in memory of their own, that ends where they do */
	size_t count;
};

static inline struct fuzz_case make_case(const uint8_t *data, size_t bytes)
{
	struct fuzz_case made = { .choice = bytes > 1 ? data[1] : 0 };
	const struct morse_backend *backend;
	size_t supported = 0, choice = bytes > 0 ? data[0] : 0;

	made.options.alphabet = morse_alphabet_at(choice % 4);
	for (size_t i = 0; (backend = morse_backend_at(i)) != NULL; i++)
		supported += morse_backend_supported(backend);
	choice = choice / 4 % supported;
	for (size_t i = 0; (backend = morse_backend_at(i)) != NULL; i++)
		if (morse_backend_supported(backend) && choice-- == 0)
			break;
	made.options.backend = backend;
	made.count = bytes > 2 ? bytes - 2 : 0;
	made.bytes = malloc(made.count + (made.count == 0));
	REQUIRE(made.bytes != NULL);
	if (made.count > 0)
		memcpy(made.bytes, data + 2, made.count);
	return made;
}

/* Random bytes are seldom code: this makes code of them, mostly. */
static inline void make_code(struct fuzz_case *made)
{
	static const uint8_t signs[16] = { '.', '-', '.', '-', '.', '-', '.', '-', ' ', ' ', ' ', '/', '\n', ' ', '.', '-' };

	for (size_t i = 0; i < made->count; i++)
		if (made->bytes[i] < 0xF0)
			made->bytes[i] = signs[made->bytes[i] % 16];
}

struct output {
	enum morse_status status;
	struct morse_error error;
	uint8_t *bytes;
	size_t count;
};

/* In memory that is as large as the library says, and no larger. */
static inline struct output run(bool encode, const struct morse_options *options, const uint8_t *bytes, size_t count)
{
	size_t most = encode ? morse_encoded_max(count) : morse_decoded_max(count);
	struct output output = { .bytes = malloc(most + (most == 0)) };

	REQUIRE(output.bytes != NULL);
	output.status = (encode ? morse_encode : morse_decode)(options, output.bytes, most, &output.count, bytes, count, &output.error);
	REQUIRE(output.count <= most && output.status != MORSE_ERROR_ROOM && output.status != MORSE_ERROR_ARGUMENT);
	REQUIRE(output.status == output.error.status);
	return output;
}

/* The error is in the input, at the place it names. */
static inline void check_error(const struct output *output, const uint8_t *bytes, size_t count)
{
	const struct morse_error *error = &output->error;
	uint64_t line = 1, column = 1;

	if (error->status == MORSE_OK)
		return;
	REQUIRE(error->length > 0 && error->offset < count && error->length <= count - error->offset);
	REQUIRE(memcmp(error->bytes, bytes + error->offset,
	               error->length < sizeof error->bytes ? (size_t)error->length : sizeof error->bytes) == 0);
	for (uint64_t i = 0; i < error->offset; i++) {
		column += (bytes[i] & 0xC0) != 0x80;
		if (bytes[i] == '\n') {
			line++;
			column = 1;
		}
	}
	REQUIRE(error->line == line && error->column == column);
}

static inline bool same(const struct output *left, const struct output *right)
{
	return left->status == right->status && left->count == right->count &&
	       memcmp(left->bytes, right->bytes, left->count) == 0 && left->error.offset == right->error.offset &&
	       left->error.line == right->error.line && left->error.column == right->error.column &&
	       left->error.length == right->error.length;
}

/* `portable` agrees. */
static inline void check_portable(bool encode, const struct fuzz_case *made, const struct output *output)
{
	struct morse_options options = made->options;
	struct output other;

	options.backend = morse_backend_by_name("portable");
	other = run(encode, &options, made->bytes, made->count);
	REQUIRE(same(&other, output));
	free(other.bytes);
}

#endif
