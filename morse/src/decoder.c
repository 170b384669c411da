/* Code to text, cut anywhere: the backend does the bulk, and what is left is done here a byte at a time. */
#include "coder.h"
#include "utf8.h"

#include <string.h>

enum {
	/* What is counted at a time, so that it is still in the first-level cache. */
	STRETCH = 32 << 10,
	/* How many bytes are taken one at a time after a backend could do next to nothing. */
	SINGLY = 64
};

/* `code` before the first element; and when there are more than any letter has. */
enum { NO_ELEMENTS = 1, TOO_LONG = 0 };

enum morse_status morse_decoder_init(struct morse_decoder *decoder, const struct morse_options *options)
{
	const struct morse_backend *backend;
	struct morse_partial replacement = { .count = 0 };
	enum morse_status status;

	if (decoder == NULL)
		return MORSE_ERROR_ARGUMENT;
	memset(decoder, 0, sizeof *decoder);
	status = morse_options_check(options, &backend);
	if (status != MORSE_OK)
		return status;
	if (options->replacement != NULL && !morse_one_character(options->replacement, &replacement))
		return MORSE_ERROR_REPLACEMENT;
	decoder->alphabet = options->alphabet;
	decoder->backend = backend;
	decoder->lenient = options->replacement != NULL;
	memcpy(decoder->replacement, replacement.bytes, replacement.count);
	decoder->replacement_bytes = replacement.count;
	decoder->line = 1;
	decoder->code = NO_ELEMENTS;
	return MORSE_OK;
}

struct room {
	uint8_t *output;
	size_t room, written;
};

static bool put(struct room *room, const uint8_t *text, size_t bytes)
{
	if (room->room - room->written < bytes)
		return false;
	memcpy(room->output + room->written, text, bytes);
	room->written += bytes;
	return true;
}

enum result { DONE, NO_ROOM, FAILED };

/* The last `length` bytes read cannot be decoded; `bytes` are the first of them. */
static enum result put_unknown(struct morse_decoder *decoder, struct room *room, enum morse_status status,
                               const uint8_t *bytes, uint64_t length)
{
	struct morse_error *error = &decoder->error;

	if (decoder->lenient) {
		if (!put(room, decoder->replacement, decoder->replacement_bytes))
			return NO_ROOM;
		decoder->replaced++;
		return DONE;
	}
	error->status = status;
	error->offset = decoder->offset - length;
	error->line = decoder->line;
	/* All before it in the line was read as code, so characters are bytes. */
	error->column = error->offset - decoder->line_start + 1;
	error->length = length;
	memcpy(error->bytes, bytes, length < sizeof error->bytes ? (size_t)length : sizeof error->bytes);
	return FAILED;
}

/* Writes what the elements up to here mean. */
static enum result end_token(struct morse_decoder *decoder, struct room *room)
{
	uint32_t letter;
	enum result result;

	if (decoder->code == NO_ELEMENTS)
		return DONE;
	letter = decoder->alphabet->letter[decoder->code];
	if (letter == 0) {
		result = put_unknown(decoder, room, MORSE_ERROR_CODE, decoder->token, decoder->token_bytes);
	} else {
		uint8_t text[2];

		result = put(room, text, morse_utf8_put(letter, text)) ? DONE : NO_ROOM;
	}
	if (result == DONE) {
		decoder->code = NO_ELEMENTS;
		decoder->token_bytes = 0;
	}
	return result;
}

static void add_element(struct morse_decoder *decoder, uint8_t byte)
{
	unsigned top = 1u << decoder->token_bytes % 16;

	if (decoder->token_bytes < sizeof decoder->token)
		decoder->token[decoder->token_bytes] = byte;
	/* The bit above the elements moves up. */
	if (decoder->token_bytes >= MORSE_ELEMENTS_MAX)
		decoder->code = TOO_LONG;
	else
		decoder->code = (uint16_t)((decoder->code ^ top) | top << 1 | (byte == '-' ? top : 0));
	decoder->token_bytes++;
}

/* What is in `partial` is no part of a code. */
static enum result end_foreign(struct morse_decoder *decoder, struct room *room)
{
	const struct morse_partial *partial = &decoder->partial;
	enum result result = put_unknown(decoder, room, MORSE_ERROR_BYTE, partial->bytes, partial->count);

	if (result == DONE)
		decoder->partial.count = 0;
	return result;
}

/* The next byte. If there is no room for what it means, it is as if it had not come. */
static enum result take_byte(struct morse_decoder *decoder, struct room *room, uint8_t byte, bool *taken)
{
	enum result result;

	*taken = false;
	if (decoder->partial.count > 0) {
		/* A foreign character is reported, or replaced, as a whole. */
		struct morse_partial before = decoder->partial;
		enum morse_utf8 kind = morse_utf8_take(&decoder->partial, byte);

		*taken = kind != MORSE_UTF8_CUT;
		decoder->offset += *taken;
		if (kind == MORSE_UTF8_MORE)
			return DONE;
		result = end_foreign(decoder, room);
		if (result == NO_ROOM) {
			decoder->offset -= *taken;
			decoder->partial = before;
			*taken = false;
		}
		return result;
	}
	if (byte == '.' || byte == '-') {
		add_element(decoder, byte);
	} else {
		result = end_token(decoder, room);
		if (result != DONE)
			return result;
		if (byte == '/' && !put(room, (const uint8_t *)" ", 1))
			return NO_ROOM;
		if (byte == '\n') {
			if (!put(room, (const uint8_t *)"\n", 1))
				return NO_ROOM;
			decoder->line++;
			decoder->line_start = decoder->offset + 1;
		}
		if (byte != '/' && byte != '\n' && byte != ' ') {
			enum morse_utf8 kind = morse_utf8_take(&decoder->partial, byte);

			decoder->offset++;
			if (kind != MORSE_UTF8_MORE && (result = end_foreign(decoder, room)) == NO_ROOM) {
				decoder->offset--;
				decoder->partial.count = 0;
				return NO_ROOM;
			}
			*taken = true;
			return result;
		}
	}
	decoder->offset++;
	*taken = true;
	return DONE;
}

static size_t run_backend(struct morse_decoder *decoder, const struct morse_backend *backend, struct room *room,
                          const uint8_t *input, size_t bytes)
{
	uint8_t *output = room->output + room->written;
	struct morse_progress progress = backend->decode(decoder->alphabet, output, room->room - room->written, input,
	                                                 bytes < STRETCH ? bytes : STRETCH);

	room->written += progress.written;
	decoder->offset += progress.read;
	/* The ends of lines are the same in the text, and that is shorter. */
	if (!decoder->lenient && progress.written > 0) {
		size_t lines = decoder->backend->count_byte(output, progress.written, '\n');

		decoder->line += lines;
		if (lines > 0)
			decoder->line_start = decoder->offset - morse_after_last(input, progress.read, '\n');
	}
	return progress.read;
}

enum morse_status morse_decoder_update(struct morse_decoder *decoder, uint8_t *output, size_t room, size_t *written,
                                       const uint8_t *input, size_t bytes, size_t *read)
{
	const struct morse_call call = { output, room, written, input, bytes, read };
	struct room out = { output, room, 0 };
	enum morse_status status;
	size_t at = 0, singly = 0;

	if (decoder == NULL)
		return MORSE_ERROR_ARGUMENT;
	status = morse_call_check(&call, &decoder->error, decoder->alphabet, decoder->finished);
	if (status != MORSE_OK)
		return status;
	while (at < bytes) {
		enum result result;
		bool taken;

		if (singly > 0) {
			singly--;
		} else if (decoder->code == NO_ELEMENTS && decoder->partial.count == 0) {
			size_t start = at;

			at += run_backend(decoder, decoder->backend, &out, input + at, bytes - at);
			if (at - start >= STRETCH / 2)
				continue;
			if (at < bytes && decoder->backend != &morse_portable)
				at += run_backend(decoder, &morse_portable, &out, input + at, bytes - at);
			if (at == bytes)
				break;
			/* Where it leaves something every few bytes, it is not asked each time. */
			if (at - start < SINGLY / 4)
				singly = SINGLY;
		}
		result = take_byte(decoder, &out, input[at], &taken);
		at += taken;
		if (result == FAILED)
			status = decoder->error.status;
		if (result != DONE)
			break;
	}
	*written = out.written;
	*read = at;
	return status;
}

enum morse_status morse_decoder_finish(struct morse_decoder *decoder, uint8_t *output, size_t room, size_t *written)
{
	size_t none;
	const struct morse_call call = { output, room, written, NULL, 0, &none };
	struct room out = { output, room, 0 };
	enum result result;
	enum morse_status status;

	if (decoder == NULL)
		return MORSE_ERROR_ARGUMENT;
	status = morse_call_check(&call, &decoder->error, decoder->alphabet, decoder->finished);
	if (status != MORSE_OK)
		return status;
	/* There is one or the other. */
	result = decoder->partial.count > 0 ? end_foreign(decoder, &out) : end_token(decoder, &out);
	*written = out.written;
	if (result == NO_ROOM)
		return MORSE_ERROR_ROOM;
	if (result == FAILED)
		return decoder->error.status;
	decoder->finished = true;
	return MORSE_OK;
}

struct morse_place morse_decoder_place(const struct morse_decoder *decoder)
{
	unsigned foreign = decoder->partial.count;
	/* All else is code, so characters are bytes. */
	uint64_t characters = decoder->offset - decoder->line_start - (foreign > 1 ? foreign - 1 : 0);

	return (struct morse_place){ .offset = decoder->offset, .line = decoder->line, .column = characters + 1 };
}

size_t morse_decoded_max(size_t bytes)
{
	/* Each byte may be replaced by a character of 4 bytes. */
	return bytes > SIZE_MAX / 4 ? SIZE_MAX : bytes * 4;
}

enum morse_status morse_decode(const struct morse_options *options, uint8_t *output, size_t room, size_t *written,
                               const uint8_t *input, size_t bytes, struct morse_error *error)
{
	struct morse_decoder decoder;
	size_t read = 0, more = 0;
	enum morse_status status;

	if (written == NULL)
		return MORSE_ERROR_ARGUMENT;
	*written = 0;
	status = morse_decoder_init(&decoder, options);
	if (status == MORSE_OK)
		status = morse_decoder_update(&decoder, output, room, written, input, bytes, &read);
	if (status == MORSE_OK && read < bytes)
		status = MORSE_ERROR_ROOM;
	if (status == MORSE_OK) {
		uint8_t *rest = output == NULL ? NULL : output + *written;

		status = morse_decoder_finish(&decoder, rest, room - *written, &more);
		*written += more;
	}
	if (error != NULL)
		*error = decoder.error;
	return status;
}
