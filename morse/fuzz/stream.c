/* Either direction, the input cut anywhere and the room as small as it may be: the same bytes and the same error as in
 * one call. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz_case made = make_case(data, bytes);
	bool encode = made.choice % 2 == 0, finished = false;
	size_t at = 0, next = 0, last = 1;
	struct output whole, cut = { .status = MORSE_OK };
	struct morse_encoder encoder;
	struct morse_decoder decoder;

	if (!encode && made.choice % 16 != 1)
		make_code(&made);
	if (made.choice / 2 % 2 == 1)
		made.options.replacement = made.choice / 4 % 2 == 1 ? "-" : "";
	if (bytes == 0)
		data = (const uint8_t *)"1", bytes = 1;
	whole = run(encode, &made.options, made.bytes, made.count);
	cut.bytes = malloc(whole.count + MORSE_ROOM_MIN);
	REQUIRE(cut.bytes != NULL);
	REQUIRE((encode ? morse_encoder_init(&encoder, &made.options) : morse_decoder_init(&decoder, &made.options)) == MORSE_OK);
	while (cut.status == MORSE_OK && !finished) {
		/* The case itself says where it is cut; not nothing twice. */
		size_t piece = data[next % bytes] % (made.choice < 128 ? 5u : 150u), written = 0, read = 0;
		size_t room = MORSE_ROOM_MIN + data[(next + 1) % bytes] % 100u;
		uint8_t *output;

		next++;
		piece += piece + last == 0;
		piece = piece < made.count - at ? piece : made.count - at;
		output = malloc(room);
		REQUIRE(output != NULL);
		finished = at == made.count;
		if (finished)
			cut.status = encode ? morse_encoder_finish(&encoder, output, room, &written)
			                    : morse_decoder_finish(&decoder, output, room, &written);
		else
			cut.status = encode ? morse_encoder_update(&encoder, output, room, &written, made.bytes + at, piece, &read)
			                    : morse_decoder_update(&decoder, output, room, &written, made.bytes + at, piece, &read);
		REQUIRE(written <= room && read <= piece && cut.count + written <= whole.count);
		REQUIRE(piece == 0 || read > 0 || cut.status != MORSE_OK);
		memcpy(cut.bytes + cut.count, output, written);
		cut.count += written;
		at += read;
		free(output);
		last = piece;
	}
	cut.error = encode ? encoder.error : decoder.error;
	REQUIRE(same(&cut, &whole));
	free(whole.bytes);
	free(cut.bytes);
	free(made.bytes);
	return 0;
}
