/* What the fuzz targets share: how bytes from the fuzzer become a case, and what every mode that turns a message into
 * another of the same length must do. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kuzma.h"

/* What must hold whatever a fuzzer gives: else the program stops where the fuzzer sees it. */
#define REQUIRE(condition)                                                                   \
	do {                                                                                 \
		if (!(condition)) {                                                          \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                             \
		}                                                                            \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* ---- The fuzzer's bytes; past their end come zeros. */
struct input {
	const uint8_t *at;
	size_t left;
};

static inline void take(struct input *input, uint8_t *to, size_t bytes)
{
	size_t taken = bytes < input->left ? bytes : input->left;

	memset(to, 0, bytes);
	if (taken == 0)
		return;
	memcpy(to, input->at, taken);
	input->at += taken;
	input->left -= taken;
}

/* A number from 0 to `most`. */
static inline size_t take_number(struct input *input, size_t most)
{
	uint8_t bytes[4];

	take(input, bytes, most < 256 ? 1 : 4);
	return ((size_t)bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24) % (most + 1);
}

/* ---- Buffers that end where the heap's guard begins, at any alignment. */
struct buffer {
	uint8_t *memory, *bytes;
	size_t count;
};

static inline void make_buffer(struct buffer *buffer, struct input *input, size_t count)
{
	size_t offset = take_number(input, 63);

	buffer->memory = malloc(offset + count + (offset + count == 0));
	REQUIRE(buffer->memory != NULL);
	buffer->bytes = buffer->memory + offset;
	buffer->count = count;
	memset(buffer->bytes, 0xA5, count);
}

static inline void free_buffer(struct buffer *buffer)
{
	free(buffer->memory);
}

/* A message of up to `most` units, short ones more often: the fuzzer's next bytes over and over, so that short inputs
 * make long messages too. */
static inline void make_message(struct buffer *buffer, struct input *input, size_t unit, size_t most)
{
	uint8_t pattern[37];
	size_t limits[] = { 40, 40, 300, 300, 300, 1200, 1200, most };
	size_t limit = limits[take_number(input, 7)];

	make_buffer(buffer, input, unit * take_number(input, limit < most ? limit : most));
	take(input, pattern, sizeof pattern);
	for (size_t i = 0; i < buffer->count; i++)
		buffer->bytes[i] = (uint8_t)(pattern[i % sizeof pattern] + i / sizeof pattern);
}

static inline bool is_untouched(const struct buffer *buffer)
{
	for (size_t i = 0; i < buffer->count; i++)
		if (buffer->bytes[i] != 0xA5)
			return false;
	return true;
}

static inline bool same(const struct buffer *left, const struct buffer *right)
{
	return left->count == right->count && memcmp(left->bytes, right->bytes, left->count) == 0;
}

/* ---- One key, a backend under test, and `compact`. */
struct side {
	const struct kuzma_backend *backend;
	struct kuzma_context context;
};

struct setup {
	uint8_t key[KUZMA_KEY_BYTES];
	size_t block;
	struct side tested, base;
};

static inline void make_setup(struct setup *setup, struct input *input)
{
	enum kuzma_cipher cipher = take_number(input, 1) == 0 ? KUZMA_KUZNYECHIK : KUZMA_MAGMA;
	const struct kuzma_backend *backend;
	size_t supported = 0, choice;

	for (size_t i = 0; (backend = kuzma_backend_at(cipher, i)) != NULL; i++)
		supported += kuzma_backend_supported(backend);
	choice = take_number(input, supported - 1);
	for (size_t i = 0; (backend = kuzma_backend_at(cipher, i)) != NULL; i++)
		if (kuzma_backend_supported(backend) && choice-- == 0)
			break;
	setup->block = kuzma_block_bytes(cipher);
	setup->tested.backend = backend;
	setup->base.backend = kuzma_backend_by_name(cipher, "compact");
	take(input, setup->key, sizeof setup->key);
	REQUIRE(kuzma_init(&setup->tested.context, setup->tested.backend, setup->key, sizeof setup->key) == KUZMA_OK);
	REQUIRE(kuzma_init(&setup->base.context, setup->base.backend, setup->key, sizeof setup->key) == KUZMA_OK);
}

/* Calls next(what, output, input, bytes) on the message in pieces of whole units, of none as well. */
typedef void piece_call(void *what, uint8_t *output, const uint8_t *input, size_t bytes);

static inline void in_pieces(struct input *input, piece_call *next, void *what, uint8_t *to, const uint8_t *from,
                             size_t count, size_t unit)
{
	/* Mostly small pieces, sometimes the rest at once; a case that has run out of bytes takes large steps. */
	while (count > 0) {
		size_t limit = take_number(input, 3) == 3 ? 40 : 1200, piece = unit * take_number(input, limit);

		if (input->left == 0 || piece > count)
			piece = count;
		next(what, to, from, piece);
		to = to == NULL ? NULL : to + piece;
		from += piece;
		count -= piece;
	}
	next(what, to, from, 0);
}

/* ---- A mode that works on a message from its beginning on. */
struct stream {
	/* Begins a message, and does the next piece of it. */
	void (*begin)(const struct side *side, bool encrypt);
	void (*next)(bool encrypt, uint8_t *output, const uint8_t *input, size_t bytes);
	size_t unit; /* pieces are whole numbers of these bytes */
};

struct stream_way {
	const struct stream *stream;
	bool encrypt;
};

static inline void stream_piece(void *what, uint8_t *output, const uint8_t *input, size_t bytes)
{
	const struct stream_way *way = what;

	way->stream->next(way->encrypt, output, input, bytes);
}

/* The message by one side, whole or in pieces. */
static inline void stream_run(const struct stream *stream, const struct side *side, bool encrypt, struct input *pieces,
                              const struct buffer *to, const struct buffer *from)
{
	struct stream_way way = { stream, encrypt };

	stream->begin(side, encrypt);
	if (pieces == NULL)
		stream->next(encrypt, to->bytes, from->bytes, from->count);
	else
		in_pieces(pieces, stream_piece, &way, to->bytes, from->bytes, from->count, stream->unit);
}

/* Both ways: `compact`, the backend under test, whole, in pieces, and in place all give the same; and the other way
 * back gives the message. */
static inline void check_stream(const struct stream *stream, const struct setup *setup, struct input *input,
                                const struct buffer *message)
{
	struct buffer expected, output;

	make_buffer(&expected, input, message->count);
	make_buffer(&output, input, message->count);
	for (int encrypt = 0; encrypt < 2; encrypt++) {
		stream_run(stream, &setup->base, encrypt != 0, NULL, &expected, message);
		stream_run(stream, &setup->tested, encrypt != 0, NULL, &output, message);
		REQUIRE(same(&output, &expected));
		memset(output.bytes, 0xA5, output.count);
		stream_run(stream, &setup->tested, encrypt != 0, input, &output, message);
		REQUIRE(same(&output, &expected));
		memcpy(output.bytes, message->bytes, message->count);
		stream_run(stream, &setup->tested, encrypt != 0, input, &output, &output);
		REQUIRE(same(&output, &expected));
		stream_run(stream, &setup->tested, encrypt == 0, NULL, &output, &output);
		REQUIRE(same(&output, message));
	}
	free_buffer(&expected);
	free_buffer(&output);
}

#endif
