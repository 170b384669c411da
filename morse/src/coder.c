#include "coder.h"

#include "utf8.h"

enum morse_status morse_options_check(const struct morse_options *options, const struct morse_backend **backend)
{
	if (options == NULL || options->alphabet == NULL)
		return MORSE_ERROR_ARGUMENT;
	*backend = options->backend == NULL ? morse_backend_default() : options->backend;
	return morse_backend_supported(*backend) ? MORSE_OK : MORSE_ERROR_BACKEND;
}

enum morse_status morse_call_check(const struct morse_call *call, const struct morse_error *error,
                                   const struct morse_alphabet *alphabet, bool finished)
{
	if (call->written != NULL)
		*call->written = 0;
	if (call->read != NULL)
		*call->read = 0;
	if (alphabet == NULL || call->written == NULL || call->read == NULL)
		return MORSE_ERROR_ARGUMENT;
	if ((call->output == NULL && call->room > 0) || (call->input == NULL && call->bytes > 0))
		return MORSE_ERROR_ARGUMENT;
	if (error->status != MORSE_OK)
		return error->status;
	return finished ? MORSE_ERROR_ORDER : MORSE_OK;
}

bool morse_one_character(const char *text, struct morse_partial *partial)
{
	partial->count = partial->wanted = 0;
	for (; *text != '\0'; text++) {
		if (partial->count > 0 && partial->count == partial->wanted)
			return false;
		enum morse_utf8 result = morse_utf8_take(partial, (uint8_t)*text);
		if (result == MORSE_UTF8_BAD || result == MORSE_UTF8_CUT)
			return false;
	}
	return partial->count == partial->wanted;
}

/* ---- Counting. In pieces of a fixed length with sums of one byte: so compilers use vectors also without being asked
 * to do all they can. */
enum { PIECE = 240 };

size_t morse_count_byte(const uint8_t *bytes, size_t count, uint8_t byte)
{
	size_t sum = 0;

	for (; count >= PIECE; bytes += PIECE, count -= PIECE) {
		uint8_t piece = 0;

		for (unsigned i = 0; i < PIECE; i++)
			piece = (uint8_t)(piece + (bytes[i] == byte));
		sum += piece;
	}
	for (size_t i = 0; i < count; i++)
		sum += bytes[i] == byte;
	return sum;
}

size_t morse_count_characters(const uint8_t *bytes, size_t count)
{
	size_t sum = 0;

	for (; count >= PIECE; bytes += PIECE, count -= PIECE) {
		uint8_t piece = 0;

		for (unsigned i = 0; i < PIECE; i++)
			piece = (uint8_t)(piece + ((bytes[i] & 0xC0) != 0x80));
		sum += piece;
	}
	for (size_t i = 0; i < count; i++)
		sum += (bytes[i] & 0xC0) != 0x80;
	return sum;
}

size_t morse_after_last(const uint8_t *bytes, size_t count, uint8_t byte)
{
	size_t after = 0;

	/* Pieces without one first, then to the place. */
	while (count - after >= PIECE && morse_count_byte(bytes + count - after - PIECE, PIECE, byte) == 0)
		after += PIECE;
	while (after < count && bytes[count - after - 1] != byte)
		after++;
	return after;
}
