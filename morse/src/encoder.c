/* Text to code, cut anywhere: the backend does the bulk, and what is left is done here a character at a time. */
#include "alphabet.h"
#include "coder.h"
#include "utf8.h"

#include <string.h>

/* No code at all: the replacement is left out. And the space between words, which is not in the tables. */
enum { NO_CODE = 0, WORD_SPACE = 1 };

enum {
	/* What is counted at a time, so that it is still in the first-level cache. */
	STRETCH = 16 << 10,
	/* How many bytes are taken one at a time after a backend could do next to nothing. */
	SINGLY = 64
};

enum morse_status morse_encoder_init(struct morse_encoder *encoder, const struct morse_options *options)
{
	const struct morse_backend *backend;
	struct morse_partial replacement;
	enum morse_status status;
	uint16_t code = NO_CODE;

	if (encoder == NULL)
		return MORSE_ERROR_ARGUMENT;
	memset(encoder, 0, sizeof *encoder);
	status = morse_options_check(options, &backend);
	if (status != MORSE_OK)
		return status;
	if (options->replacement != NULL && *options->replacement != '\0') {
		if (!morse_one_character(options->replacement, &replacement))
			return MORSE_ERROR_REPLACEMENT;
		uint32_t character = morse_utf8_character(&replacement);
		code = character == ' ' ? WORD_SPACE : morse_code_of(options->alphabet, character);
		if (code == NO_CODE)
			return MORSE_ERROR_REPLACEMENT;
	}
	encoder->alphabet = options->alphabet;
	encoder->backend = backend;
	encoder->lenient = options->replacement != NULL;
	encoder->replacement = code;
	encoder->line = encoder->column = 1;
	return MORSE_OK;
}

/* The place after more of the input. Nobody asks a lenient coder. */
static void advance(struct morse_encoder *encoder, const uint8_t *input, size_t bytes)
{
	encoder->offset += bytes;
	if (encoder->lenient)
		return;
	size_t lines = encoder->backend->count_byte(input, bytes, '\n'), after = bytes;

	if (lines > 0) {
		encoder->line += lines;
		encoder->column = 1;
		after = morse_after_last(input, bytes, '\n');
	}
	encoder->column += encoder->backend->count_characters(input + bytes - after, after);
}

/* Where output goes; both count from the start of the call. */
struct room {
	uint8_t *output;
	size_t room, written;
};

/* A code, with the space that was due before it; false: no room. */
static bool put_code(struct morse_encoder *encoder, struct room *room, uint16_t code)
{
	uint8_t text[1 + MORSE_ELEMENTS_MAX];
	size_t count = 0;

	if (encoder->space_due)
		text[count++] = ' ';
	if (code == WORD_SPACE)
		text[count++] = '/';
	for (; code > 1; code >>= 1)
		text[count++] = code & 1 ? '-' : '.';
	if (room->room - room->written < count)
		return false;
	memcpy(room->output + room->written, text, count);
	room->written += count;
	encoder->space_due = true;
	return true;
}

static bool put_newline(struct morse_encoder *encoder, struct room *room)
{
	if (room->room == room->written)
		return false;
	room->output[room->written++] = '\n';
	encoder->space_due = false;
	return true;
}

enum result { DONE, NO_ROOM, FAILED };

/* What is in `partial` cannot be coded. */
static enum result put_unknown(struct morse_encoder *encoder, struct room *room, enum morse_status status)
{
	if (encoder->lenient) {
		if (encoder->replacement != NO_CODE && !put_code(encoder, room, encoder->replacement))
			return NO_ROOM;
		encoder->replaced++;
		return DONE;
	}
	encoder->error = (struct morse_error){
		.status = status, .offset = encoder->offset, .line = encoder->line, .column = encoder->column,
		.length = encoder->partial.count,
	};
	memcpy(encoder->error.bytes, encoder->partial.bytes, encoder->partial.count);
	return FAILED;
}

static enum result put_character(struct morse_encoder *encoder, struct room *room)
{
	uint32_t character = morse_utf8_character(&encoder->partial);
	uint16_t code = character == ' ' ? WORD_SPACE : morse_code_of(encoder->alphabet, character);

	if (character == '\n')
		return put_newline(encoder, room) ? DONE : NO_ROOM;
	if (code == NO_CODE)
		return put_unknown(encoder, room, MORSE_ERROR_CHARACTER);
	return put_code(encoder, room, code) ? DONE : NO_ROOM;
}

/* The next byte. If there is no room for what it completes, it is as if it had not come. */
static enum result take_byte(struct morse_encoder *encoder, struct room *room, uint8_t byte, bool *taken)
{
	struct morse_partial before = encoder->partial;
	enum morse_utf8 kind = morse_utf8_take(&encoder->partial, byte);
	enum result result;

	*taken = kind != MORSE_UTF8_CUT;
	if (kind == MORSE_UTF8_MORE)
		return DONE;
	if (kind == MORSE_UTF8_WHOLE)
		result = put_character(encoder, room);
	else
		result = put_unknown(encoder, room, MORSE_ERROR_UTF8);
	if (result == DONE) {
		advance(encoder, encoder->partial.bytes, encoder->partial.count);
		encoder->partial.count = 0;
	} else if (result == NO_ROOM) {
		encoder->partial = before;
		*taken = false;
	}
	return result;
}

static size_t run_backend(struct morse_encoder *encoder, const struct morse_backend *backend, struct room *room,
                          const uint8_t *input, size_t bytes)
{
	struct morse_progress progress;

	/* Backends begin with a character, so the space comes first. */
	if (encoder->space_due && *input != '\n') {
		if (room->written == room->room)
			return 0;
		room->output[room->written++] = ' ';
	}
	encoder->space_due = false;
	progress = backend->encode(encoder->alphabet, room->output + room->written, room->room - room->written, input,
	                           bytes < STRETCH ? bytes : STRETCH);
	room->written += progress.written;
	/* And the last one is held back: what comes next may drop it. */
	if (room->written > 0 && room->output[room->written - 1] == ' ') {
		room->written--;
		encoder->space_due = true;
	}
	advance(encoder, input, progress.read);
	return progress.read;
}

enum morse_status morse_encoder_update(struct morse_encoder *encoder, uint8_t *output, size_t room, size_t *written,
                                       const uint8_t *input, size_t bytes, size_t *read)
{
	const struct morse_call call = { output, room, written, input, bytes, read };
	struct room out = { output, room, 0 };
	enum morse_status status;
	size_t at = 0, singly = 0;

	if (encoder == NULL)
		return MORSE_ERROR_ARGUMENT;
	status = morse_call_check(&call, &encoder->error, encoder->alphabet, encoder->finished);
	if (status != MORSE_OK)
		return status;
	while (at < bytes) {
		enum result result;
		bool taken;

		if (singly > 0) {
			singly--;
		} else if (encoder->partial.count == 0) {
			size_t start = at;

			at += run_backend(encoder, encoder->backend, &out, input + at, bytes - at);
			if (at - start >= STRETCH / 2)
				continue;
			if (at < bytes && encoder->backend != &morse_portable)
				at += run_backend(encoder, &morse_portable, &out, input + at, bytes - at);
			if (at == bytes)
				break;
			/* Where it leaves something every few bytes, it is not asked each time. */
			if (at - start < SINGLY / 4)
				singly = SINGLY;
		}
		result = take_byte(encoder, &out, input[at], &taken);
		at += taken;
		if (result == FAILED)
			status = encoder->error.status;
		if (result != DONE)
			break;
	}
	*written = out.written;
	*read = at;
	return status;
}

enum morse_status morse_encoder_finish(struct morse_encoder *encoder, uint8_t *output, size_t room, size_t *written)
{
	size_t none;
	const struct morse_call call = { output, room, written, NULL, 0, &none };
	struct room out = { output, room, 0 };
	enum result result = DONE;
	enum morse_status status;

	if (encoder == NULL)
		return MORSE_ERROR_ARGUMENT;
	status = morse_call_check(&call, &encoder->error, encoder->alphabet, encoder->finished);
	if (status != MORSE_OK)
		return status;
	if (encoder->partial.count > 0)
		result = put_unknown(encoder, &out, MORSE_ERROR_UTF8);
	*written = out.written;
	if (result == NO_ROOM)
		return MORSE_ERROR_ROOM;
	if (result == FAILED)
		return encoder->error.status;
	encoder->finished = true;
	return MORSE_OK;
}

struct morse_place morse_encoder_place(const struct morse_encoder *encoder)
{
	/* The character that is not complete has been read. */
	return (struct morse_place){
		.offset = encoder->offset + encoder->partial.count, .line = encoder->line,
		.column = encoder->column + (encoder->partial.count > 0),
	};
}

size_t morse_encoded_max(size_t bytes)
{
	/* Each byte may be a character of 8 elements, or be replaced by one, with the space before it. */
	return bytes > SIZE_MAX / (MORSE_ELEMENTS_MAX + 1) ? SIZE_MAX : bytes * (MORSE_ELEMENTS_MAX + 1);
}

enum morse_status morse_encode(const struct morse_options *options, uint8_t *output, size_t room, size_t *written,
                               const uint8_t *input, size_t bytes, struct morse_error *error)
{
	struct morse_encoder encoder;
	size_t read = 0, more = 0;
	enum morse_status status;

	if (written == NULL)
		return MORSE_ERROR_ARGUMENT;
	*written = 0;
	status = morse_encoder_init(&encoder, options);
	if (status == MORSE_OK)
		status = morse_encoder_update(&encoder, output, room, written, input, bytes, &read);
	if (status == MORSE_OK && read < bytes)
		status = MORSE_ERROR_ROOM;
	if (status == MORSE_OK) {
		uint8_t *rest = output == NULL ? NULL : output + *written;

		status = morse_encoder_finish(&encoder, rest, room - *written, &more);
		*written += more;
	}
	if (error != NULL)
		*error = encoder.error;
	return status;
}
