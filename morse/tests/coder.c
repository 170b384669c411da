/* The coders through their public face: known texts, round trips, errors and their places, every cut, every room. All of
 * it with every backend that runs here. */
#include "morse.h"
#include "harness.h"

#include <stdlib.h>

static const struct morse_backend *backend;
static uint64_t seed = 1;

static struct morse_options options_of(const char *alphabet, const char *replacement)
{
	return (struct morse_options){ morse_alphabet_by_name(alphabet), backend, replacement };
}

/* ---- Either direction. */
struct result {
	enum morse_status status;
	struct morse_error error;
	uint8_t *bytes;
	size_t count;
	uint64_t replaced;
};

static void drop(struct result *result)
{
	free(result->bytes);
}

/* The place after `count` more bytes. */
static void go_on(struct morse_place *place, const uint8_t *text, size_t count)
{
	place->offset += count;
	for (size_t i = 0; i < count; i++) {
		place->column += (text[i] & 0xC0) != 0x80;
		if (text[i] == '\n') {
			place->line++;
			place->column = 1;
		}
	}
}

/* In pieces of `piece` bytes into rooms of `room` bytes, or both random where 0. The room ends where the heap's guard
 * begins. */
static struct result run_cut(bool encode, const struct morse_options *options, const uint8_t *text, size_t bytes, size_t piece,
                             size_t room)
{
	size_t most = (encode ? morse_encoded_max(bytes) : morse_decoded_max(bytes)) + MORSE_ROOM_MIN, at = 0, written = 0;
	struct result result = { .bytes = malloc(most) };
	struct morse_encoder encoder;
	struct morse_decoder decoder;
	struct morse_place wanted = { 0, 1, 1 }, place;
	bool done = false;

	result.status = encode ? morse_encoder_init(&encoder, options) : morse_decoder_init(&decoder, options);
	while (result.status == MORSE_OK && !done) {
		size_t part = piece > 0 ? piece : random_next(&seed) % 90, read = 0;
		size_t space = room > 0 ? room : MORSE_ROOM_MIN + random_next(&seed) % 400;
		uint8_t *input, *output = malloc(space);

		part = part < bytes - at ? part : bytes - at;
		input = malloc(part + (part == 0));
		memcpy(input, text + at, part);
		if (at == bytes) {
			result.status = encode ? morse_encoder_finish(&encoder, output, space, &written)
			                       : morse_decoder_finish(&decoder, output, space, &written);
			done = true;
		} else {
			result.status = encode ? morse_encoder_update(&encoder, output, space, &written, input, part, &read)
			                       : morse_decoder_update(&decoder, output, space, &written, input, part, &read);
			CHECK(part == 0 || read > 0 || result.status != MORSE_OK, "a room of %zu and nothing was read", space);
		}
		CHECK(written <= space && read <= part && result.count + written <= most, "more than there is");
		memcpy(result.bytes + result.count, output, written);
		result.count += written;
		at += read;
		go_on(&wanted, input, read);
		place = encode ? morse_encoder_place(&encoder) : morse_decoder_place(&decoder);
		CHECK(place.offset == at, "the place is %llu after %zu bytes", (unsigned long long)place.offset, at);
		/* What is no character counts as one. */
		if (result.status == MORSE_OK && options->replacement == NULL)
			CHECK(place.line == wanted.line && place.column == wanted.column, "the place is %llu:%llu instead of %llu:%llu",
			      (unsigned long long)place.line, (unsigned long long)place.column, (unsigned long long)wanted.line,
			      (unsigned long long)wanted.column);
		free(input);
		free(output);
	}
	result.error = encode ? encoder.error : decoder.error;
	result.replaced = encode ? encoder.replaced : decoder.replaced;
	return result;
}

static struct result run_whole(bool encode, const struct morse_options *options, const uint8_t *text, size_t bytes)
{
	size_t most = encode ? morse_encoded_max(bytes) : morse_decoded_max(bytes);
	struct result result = { .bytes = malloc(most + (most == 0)) };

	result.status = (encode ? morse_encode : morse_decode)(options, result.bytes, most, &result.count, text, bytes, &result.error);
	return result;
}

static bool same(const struct result *left, const struct result *right)
{
	return left->status == right->status && left->count == right->count &&
	       memcmp(left->bytes, right->bytes, left->count) == 0 &&
	       memcmp(&left->error.bytes, &right->error.bytes, sizeof left->error.bytes) == 0 &&
	       left->error.status == right->error.status && left->error.offset == right->error.offset &&
	       left->error.line == right->error.line && left->error.column == right->error.column &&
	       left->error.length == right->error.length;
}

/* ---- Known texts. */
static void check_pair(const char *alphabet, const char *text, const char *code, const char *back)
{
	struct morse_options options = options_of(alphabet, NULL);
	struct result encoded = run_whole(true, &options, (const uint8_t *)text, strlen(text));
	struct result decoded = run_whole(false, &options, (const uint8_t *)code, strlen(code));

	CHECK(encoded.status == MORSE_OK && encoded.count == strlen(code) && memcmp(encoded.bytes, code, encoded.count) == 0,
	      "%s: '%s' became '%.*s'", alphabet, text, (int)encoded.count, (char *)encoded.bytes);
	CHECK(decoded.status == MORSE_OK && decoded.count == strlen(back) && memcmp(decoded.bytes, back, decoded.count) == 0,
	      "%s: '%s' became '%.*s'", alphabet, code, (int)decoded.count, (char *)decoded.bytes);
	drop(&encoded);
	drop(&decoded);
}

static void check_decoded(const char *alphabet, const char *code, const char *text)
{
	struct morse_options options = options_of(alphabet, NULL);
	struct result decoded = run_whole(false, &options, (const uint8_t *)code, strlen(code));

	CHECK(decoded.status == MORSE_OK && decoded.count == strlen(text) && memcmp(decoded.bytes, text, decoded.count) == 0,
	      "%s: '%s' became '%.*s'", alphabet, code, (int)decoded.count, (char *)decoded.bytes);
	drop(&decoded);
}

static void known_texts(void)
{
	check_pair("itu", "", "", "");
	check_pair("itu", "Paris", ".--. .- .-. .. ...", "PARIS");
	check_pair("itu", "sos", "... --- ...", "SOS");
	check_pair("itu", "e", ".", "E");
	check_pair("itu", "What hath God wrought?\n",
	           ".-- .... .- - / .... .- - .... / --. --- -.. / .-- .-. --- ..- --. .... - ..--..\n", "WHAT HATH GOD WROUGHT?\n");
	check_pair("itu", "The quick brown fox jumps over the lazy dog",
	           "- .... . / --.- ..- .. -.-. -.- / -... .-. --- .-- -. / ..-. --- -..- / .--- ..- -- .--. ... / --- ...- . .-. "
	           "/ - .... . / .-.. .- --.. -.-- / -.. --- --.",
	           "THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG");
	check_pair("itu", "café 3×4=12", "-.-. .- ..-. ..-.. / ...-- -..- ....- -...- .---- ..---", "CAFÉ 3X4=12");
	check_pair("itu", "a\nb", ".-\n-...", "A\nB");
	check_pair("itu", "\n\na \n\n b", "\n\n.- /\n\n/ -...", "\n\nA \n\n B");
	check_pair("itu", "  ", "/ /", "  ");
	check_pair("itu", " ", "/", " ");
	check_pair("itu", "\n", "\n", "\n");
	check_pair("itu-extended", "a_b; $5 & up!", ".- ..--.- -... -.-.-. / ...-..- ..... / .-... / ..- .--. -.-.--", "A_B; $5 & UP!");
	check_pair("ru", "Съешь ещё этих мягких французских булок, да выпей чаю.",
	           "... --.-- . ---- -..- / . --.- . / ..-.. - .. .... / -- .-.- --. -.- .. .... / ..-. .-. .- -. -.-. ..- --.. ... "
	           "-.- .. .... / -... ..- .-.. --- -.- .-.-.- / -.. .- / .-- -.-- .--. . .--- / ---. .- ..-- ......",
	           "СЪЕШЬ ЕЩЕ ЭТИХ МЯГКИХ ФРАНЦУЗСКИХ БУЛОК, ДА ВЫПЕЙ ЧАЮ.");
	check_pair("ru", "Привет, мир!\n", ".--. .-. .. .-- . - .-.-.- / -- .. .-. --..--\n", "ПРИВЕТ, МИР!\n");
	/* What other people may write. */
	check_decoded("itu", "  .-   -...  ", "AB");
	check_decoded("itu", ".-/-...", "A B");
	check_decoded("itu", "//", "  ");
	check_decoded("itu", "/.-\n/\n", " A\n \n");
	check_decoded("itu", ".- \n -...", "A\nB");
}

/* ---- Errors. */
static void check_error(bool encode, const char *alphabet, const char *text, size_t bytes, const char *before,
                        struct morse_error expected, const char *offending)
{
	struct morse_options options = options_of(alphabet, NULL);
	const uint8_t *input = (const uint8_t *)text;
	struct result whole = run_whole(encode, &options, input, bytes);

	CHECK(whole.status == expected.status && whole.error.status == expected.status, "'%s': status %d", text, whole.status);
	CHECK(whole.error.offset == expected.offset && whole.error.line == expected.line && whole.error.column == expected.column,
	      "'%s': at %llu, %llu:%llu", text, (unsigned long long)whole.error.offset, (unsigned long long)whole.error.line,
	      (unsigned long long)whole.error.column);
	CHECK(whole.error.length == expected.length && memcmp(whole.error.bytes, offending, strlen(offending)) == 0,
	      "'%s': %llu bytes", text, (unsigned long long)whole.error.length);
	CHECK(whole.count == strlen(before) && memcmp(whole.bytes, before, whole.count) == 0, "'%s': before it '%.*s'", text,
	      (int)whole.count, (char *)whole.bytes);
	for (size_t piece = 1; piece <= bytes; piece++) {
		struct result cut = run_cut(encode, &options, input, bytes, piece, MORSE_ROOM_MIN);

		CHECK(same(&cut, &whole), "'%s': otherwise in pieces of %zu", text, piece);
		drop(&cut);
	}
	drop(&whole);
}

#define ERROR(code, at, row, position, count) \
	(struct morse_error){ .status = MORSE_ERROR_##code, .offset = (at), .line = (row), .column = (position), .length = (count) }

static void errors(void)
{
	check_error(true, "itu", "ab!c", 4, ".- -...", ERROR(CHARACTER, 2, 1, 3, 1), "!");
	check_error(true, "itu", "é\na éß", 9, "..-..\n.- / ..-..", ERROR(CHARACTER, 7, 2, 4, 2), "ß");
	check_error(true, "itu", "a\r\n", 3, ".-", ERROR(CHARACTER, 1, 1, 2, 1), "\r");
	check_error(true, "itu", "a\tb", 3, ".-", ERROR(CHARACTER, 1, 1, 2, 1), "\t");
	check_error(true, "itu", "\xF0\x9F\x93\xBB", 4, "", ERROR(CHARACTER, 0, 1, 1, 4), "\xF0\x9F\x93\xBB");
	check_error(true, "itu", "Привет", 12, "", ERROR(CHARACTER, 0, 1, 1, 2), "П");
	check_error(true, "ru", "приvет", 11, ".--. .-. ..", ERROR(CHARACTER, 6, 1, 4, 1), "v");
	check_error(true, "itu", "a\0b", 3, ".-", ERROR(CHARACTER, 1, 1, 2, 1), "");
	check_error(true, "itu", "a\nb\xFF", 4, ".-\n-...", ERROR(UTF8, 3, 2, 2, 1), "\xFF");
	/* Cut short, by another character and by the end. */
	check_error(true, "itu", "ab\xC3z", 4, ".- -...", ERROR(UTF8, 2, 1, 3, 1), "\xC3");
	check_error(true, "itu", "ab\xE2\x82", 4, ".- -...", ERROR(UTF8, 2, 1, 3, 2), "\xE2\x82");
	check_error(true, "itu", "\xF0\x9F\x93 ", 4, "", ERROR(UTF8, 0, 1, 1, 3), "\xF0\x9F\x93");
	check_error(true, "itu", "ab\nlong enough for words \xD0\n5 and on and on and on and on", 56,
	            ".- -...\n.-.. --- -. --. / . -. --- ..- --. .... / ..-. --- .-. / .-- --- .-. -.. ... /",
	            ERROR(UTF8, 25, 2, 23, 1), "\xD0");
	/* Overlong, a surrogate, beyond the last. */
	check_error(true, "itu", "\xC1\x81", 2, "", ERROR(UTF8, 0, 1, 1, 1), "\xC1");
	check_error(true, "itu", "\xE0\x81\x81", 3, "", ERROR(UTF8, 0, 1, 1, 1), "\xE0");
	check_error(true, "itu", "\xED\xA0\x80", 3, "", ERROR(UTF8, 0, 1, 1, 1), "\xED");
	check_error(true, "itu", "\xF4\x90\x80\x80", 4, "", ERROR(UTF8, 0, 1, 1, 1), "\xF4");

	check_error(false, "itu", ".- -.-.-- .", 11, "A", ERROR(CODE, 3, 1, 4, 6), "-.-.--");
	check_error(false, "itu", ".-\n\n. ........", 14, "A\n\nE", ERROR(CODE, 6, 3, 3, 8), "........");
	check_error(false, "itu", "-.-.-", 5, "", ERROR(CODE, 0, 1, 1, 5), "-.-.-");
	check_error(false, "itu", ". .................. .", 22, "E", ERROR(CODE, 2, 1, 3, 18), "................");
	check_error(false, "itu", "./-\n.x", 6, "E T\nE", ERROR(BYTE, 5, 2, 2, 1), "x");
	check_error(false, "itu", ". ..\r\n", 6, "EI", ERROR(BYTE, 4, 1, 5, 1), "\r");
	check_error(false, "itu", "- \xC2\xB7", 4, "T", ERROR(BYTE, 2, 1, 3, 2), "\xC2\xB7");
	check_error(false, "itu", "-\xE2\x88", 3, "T", ERROR(BYTE, 1, 1, 2, 2), "\xE2\x88");
	check_error(false, "itu", "-\xE2\x88.", 4, "T", ERROR(BYTE, 1, 1, 2, 2), "\xE2\x88");
	check_error(false, "itu", "-\xFF", 2, "T", ERROR(BYTE, 1, 1, 2, 1), "\xFF");
	check_error(false, "ru", ".-.-. ", 6, "", ERROR(CODE, 0, 1, 1, 5), ".-.-.");
}

/* An error far into a long text: lines and columns are counted through all of it. */
static void far_error(bool encode)
{
	struct morse_options options = options_of("ru", NULL);
	size_t bytes = 0, most = 300000;
	uint8_t *text = malloc(most);
	uint64_t line = 1, column = 1;

	while (bytes < most - 20) {
		const char *part = encode ? (random_next(&seed) % 4 == 0 ? "?" : "ж") : "...- ";
		size_t length = strlen(part);

		/* Long lines toward the end. */
		if (random_next(&seed) % (bytes < most / 2 ? 60 : 50000) == 0) {
			part = "\n";
			length = 1;
		}
		memcpy(text + bytes, part, length);
		bytes += length;
		column += encode ? 1 : length;
		if (*part == '\n') {
			line++;
			column = 1;
		}
	}
	memcpy(text + bytes, "%%", 2);
	for (unsigned i = 0; i < 3; i++) {
		struct result result = i == 0 ? run_whole(encode, &options, text, bytes + 2)
		                              : run_cut(encode, &options, text, bytes + 2, i == 1 ? 30011 : 0, i == 1 ? 4096 : 0);

		CHECK(result.status == (encode ? MORSE_ERROR_CHARACTER : MORSE_ERROR_BYTE), "status %d", result.status);
		CHECK(result.error.offset == bytes && result.error.line == line && result.error.column == column,
		      "at %llu:%llu instead of %llu:%llu", (unsigned long long)result.error.line,
		      (unsigned long long)result.error.column, (unsigned long long)line, (unsigned long long)column);
		drop(&result);
	}
	free(text);
}

/* After an error, and after the end. */
static void order(void)
{
	struct morse_options options = options_of("itu", NULL);
	struct morse_encoder encoder;
	struct morse_decoder decoder;
	uint8_t output[64];
	size_t written, read;

	CHECK(morse_encoder_init(&encoder, &options) == MORSE_OK, "init");
	CHECK(morse_encoder_update(&encoder, output, sizeof output, &written, (const uint8_t *)"e!", 2, &read) == MORSE_ERROR_CHARACTER,
	      "an error");
	CHECK(morse_encoder_update(&encoder, output, sizeof output, &written, (const uint8_t *)"e", 1, &read) == MORSE_ERROR_CHARACTER &&
	      written == 0 && read == 0, "again");
	CHECK(morse_encoder_finish(&encoder, output, sizeof output, &written) == MORSE_ERROR_CHARACTER, "again");
	CHECK(morse_decoder_init(&decoder, &options) == MORSE_OK, "init");
	CHECK(morse_decoder_update(&decoder, output, sizeof output, &written, (const uint8_t *)".", 1, &read) == MORSE_OK && written == 0 &&
	      read == 1, "held back");
	CHECK(morse_decoder_finish(&decoder, output, 0, &written) == MORSE_ERROR_ROOM && written == 0, "no room");
	CHECK(morse_decoder_finish(&decoder, output, 1, &written) == MORSE_OK && written == 1 && *output == 'E', "room");
	CHECK(morse_decoder_finish(&decoder, output, 1, &written) == MORSE_ERROR_ORDER, "twice");
	CHECK(morse_decoder_update(&decoder, output, 1, &written, output, 1, &read) == MORSE_ERROR_ORDER, "after the end");
	CHECK(morse_encoder_init(NULL, &options) == MORSE_ERROR_ARGUMENT, "no encoder");
	CHECK(morse_encoder_init(&encoder, NULL) == MORSE_ERROR_ARGUMENT, "no options");
	CHECK(morse_encoder_update(&encoder, output, 1, &written, output, 1, &read) == MORSE_ERROR_ARGUMENT, "not initialised");
	options.alphabet = NULL;
	CHECK(morse_decoder_init(&decoder, &options) == MORSE_ERROR_ARGUMENT, "no alphabet");
	options = options_of("itu", NULL);
	CHECK(morse_encode(&options, output, 3, &written, (const uint8_t *)"sos", 3, NULL) == MORSE_ERROR_ROOM, "too little room");
	CHECK(morse_encode(&options, NULL, 0, &written, NULL, 0, NULL) == MORSE_OK && written == 0, "nothing");
	CHECK(morse_encode(&options, NULL, 9, &written, output, 1, NULL) == MORSE_ERROR_ARGUMENT, "room nowhere");
	CHECK(morse_decode(&options, output, 9, NULL, output, 1, NULL) == MORSE_ERROR_ARGUMENT, "written nowhere");
	CHECK(morse_encoded_max(SIZE_MAX) == SIZE_MAX && morse_decoded_max(SIZE_MAX) == SIZE_MAX, "more than can be counted");
	for (int status = 0; status < 12; status++)
		CHECK(strlen(morse_status_text((enum morse_status)status)) > 5, "text %d", status);
}

/* ---- Lenient. */
static void check_lossy(bool encode, const char *replacement, const char *text, const char *expected, uint64_t replaced)
{
	struct morse_options options = options_of("itu", replacement);

	for (size_t piece = 1; piece < 8; piece++) {
		struct result result = run_cut(encode, &options, (const uint8_t *)text, strlen(text), piece, MORSE_ROOM_MIN);

		CHECK(result.status == MORSE_OK && result.count == strlen(expected) && memcmp(result.bytes, expected, result.count) == 0,
		      "'%s' with '%s' became '%.*s'", text, replacement, (int)result.count, (char *)result.bytes);
		CHECK(result.replaced == replaced, "'%s': %llu replaced", text, (unsigned long long)result.replaced);
		drop(&result);
	}
}

static void lossy(void)
{
	struct morse_encoder encoder;
	struct morse_decoder decoder;
	struct morse_options options;
	static const char *const no_characters[] = { "ab", "\xC3", "\xFF", "a\xCC\x81" };

	check_lossy(true, "?", "a!b", ".- ..--.. -...", 1);
	check_lossy(true, "", "a!b", ".- -...", 1);
	check_lossy(true, "", "a!\n!b!", ".-\n-...", 3);
	check_lossy(true, " ", "a\tb", ".- / -...", 1);
	check_lossy(true, "x", "\xFF\xE2\x82\xE2\x82\xACz\xC3", "-..- -..- -..- --.. -..-", 4);
	check_lossy(true, "é", "Ж", "..-..", 1);
	check_lossy(false, "?", ".- ........ x.ж-", "A??E?T", 3);
	check_lossy(false, "\xEF\xBF\xBD", "-\xE2\x88.", "T\xEF\xBF\xBD" "E", 1);
	check_lossy(false, "", "--..-.\r\n.", "\nE", 2);
	check_lossy(false, "\xF0\x9F\x93\xBB", "........", "\xF0\x9F\x93\xBB", 1);
	check_lossy(false, "?", ".\xC3", "E?", 1);
	for (size_t i = 0; i < sizeof no_characters / sizeof *no_characters; i++) {
		options = options_of("itu", no_characters[i]);
		CHECK(morse_encoder_init(&encoder, &options) == MORSE_ERROR_REPLACEMENT, "replacement %zu", i);
		CHECK(morse_decoder_init(&decoder, &options) == MORSE_ERROR_REPLACEMENT, "replacement %zu", i);
	}
	options = options_of("itu", "!");
	CHECK(morse_encoder_init(&encoder, &options) == MORSE_ERROR_REPLACEMENT, "a replacement without a code");
	options = options_of("itu", "\n");
	CHECK(morse_encoder_init(&encoder, &options) == MORSE_ERROR_REPLACEMENT, "a line's end as replacement");
}

/* ---- Random texts: round trips, cuts and rooms. */
static size_t put(uint8_t *to, uint32_t character)
{
	if (character < 0x80) {
		*to = (uint8_t)character;
		return 1;
	}
	to[0] = (uint8_t)(0xC0 | character >> 6);
	to[1] = (uint8_t)(0x80 | (character & 0x3F));
	return 2;
}

/* A text that the alphabet has all of, of capitals; mostly letters. */
static size_t random_text(const struct morse_alphabet *alphabet, uint8_t *to, size_t characters)
{
	bool russian = strncmp(morse_alphabet_name(alphabet), "ru", 2) == 0;
	char code[MORSE_ELEMENTS_MAX + 1];
	size_t bytes = 0;

	while (characters > 0) {
		uint64_t kind = random_next(&seed) % 16;
		uint32_t character = kind == 0   ? '\n'
		                     : kind < 3 ? ' '
		                     : kind < 5 ? (uint32_t)(random_next(&seed) % 0x500)
		                                : (uint32_t)((russian ? 0x410 : 'A') + random_next(&seed) % (russian ? 32 : 26));

		if (character != '\n' && character != ' ') {
			if (morse_alphabet_code(alphabet, character, code) == 0 || morse_alphabet_character(alphabet, code) != character)
				continue;
		}
		bytes += put(to + bytes, character);
		characters--;
	}
	return bytes;
}

static void round_trips(const struct morse_alphabet *alphabet)
{
	struct morse_options options = { alphabet, backend, NULL };
	uint8_t *text = malloc(2 * 3000);
	unsigned wrong = 0, otherwise = 0;

	for (size_t i = 0; i < 300; i++) {
		size_t bytes = random_text(alphabet, text, i < 200 ? i : random_next(&seed) % 3000);
		struct result encoded = run_whole(true, &options, text, bytes);
		struct result decoded = run_whole(false, &options, encoded.bytes, encoded.count);
		struct result encoded_cut = run_cut(true, &options, text, bytes, 0, 0);
		struct result decoded_cut = run_cut(false, &options, encoded.bytes, encoded.count, 0, 0);

		wrong += encoded.status != MORSE_OK || decoded.status != MORSE_OK || decoded.count != bytes ||
		         memcmp(decoded.bytes, text, bytes) != 0;
		otherwise += !same(&encoded, &encoded_cut) || !same(&decoded, &decoded_cut);
		drop(&encoded);
		drop(&decoded);
		drop(&encoded_cut);
		drop(&decoded_cut);
	}
	CHECK(wrong == 0, "%s: %u texts came back otherwise", morse_alphabet_name(alphabet), wrong);
	CHECK(otherwise == 0, "%s: %u texts became something else in pieces", morse_alphabet_name(alphabet), otherwise);
	free(text);
}

/* Bytes of all kinds, mostly those that mean something; strict and lenient, every cut of short ones. */
static void random_input(bool encode, const char *replacement)
{
	static const uint8_t likely[] = { '.', '-', '.', '-', ' ', '/', '\n', 'A', 'e', '?', 0xC3, 0x89, 0xD0, 0x96, 0xD1, 0x81, 0xE2, 0x82 };
	uint8_t input[200];
	unsigned otherwise = 0;

	for (unsigned i = 0; i < 400; i++) {
		struct morse_options options = options_of(i % 2 == 0 ? "itu" : "ru-extended", replacement);
		size_t bytes = i < 200 ? i % 20 : random_next(&seed) % sizeof input;

		for (size_t j = 0; j < bytes; j++) {
			uint64_t choice = random_next(&seed);

			input[j] = choice % 30 == 0 ? (uint8_t)(choice >> 24) : likely[(choice >> 8) % (encode ? sizeof likely : 7 + (choice >> 40) % 3)];
		}
		struct result whole = run_whole(encode, &options, input, bytes);
		for (size_t piece = 0; piece <= 3; piece++) {
			struct result cut = run_cut(encode, &options, input, bytes, piece, piece == 0 ? 0 : MORSE_ROOM_MIN - 1 + piece);

			otherwise += !same(&cut, &whole);
			drop(&cut);
		}
		if (bytes < 20) {
			for (size_t piece = 4; piece < bytes; piece++) {
				struct result cut = run_cut(encode, &options, input, bytes, piece, MORSE_ROOM_MIN);

				otherwise += !same(&cut, &whole);
				drop(&cut);
			}
		}
		drop(&whole);
	}
	CHECK(otherwise == 0, "%s: %u inputs became something else in pieces", encode ? "encode" : "decode", otherwise);
}

static void backends(void)
{
	const struct morse_backend *last = NULL;
	size_t count = 0;

	for (; morse_backend_at(count) != NULL; count++) {
		last = morse_backend_at(count);
		CHECK(morse_backend_by_name(morse_backend_name(last)) == last, "%s", morse_backend_name(last));
	}
	CHECK(count > 0 && strcmp(morse_backend_name(last), "portable") == 0 && morse_backend_supported(last), "portable is the last");
	CHECK(morse_backend_supported(morse_backend_default()), "the default runs");
	CHECK(setenv("MORSE_BACKEND", "portable", 1) == 0 && morse_backend_default() == last, "MORSE_BACKEND=portable");
	CHECK(setenv("MORSE_BACKEND", "none", 1) == 0 && morse_backend_supported(morse_backend_default()), "MORSE_BACKEND=none");
	unsetenv("MORSE_BACKEND");
	CHECK(morse_backend_by_name("none") == NULL && morse_backend_by_name(NULL) == NULL && !morse_backend_supported(NULL), "no backend");
}

int main(void)
{
	backends();
	for (size_t i = 0; (backend = morse_backend_at(i)) != NULL; i++) {
		const struct morse_alphabet *alphabet;

		if (!morse_backend_supported(backend)) {
			struct morse_options options = options_of("itu", NULL);
			struct morse_encoder encoder;

			CHECK(morse_encoder_init(&encoder, &options) == MORSE_ERROR_BACKEND, "%s", morse_backend_name(backend));
			continue;
		}
		known_texts();
		errors();
		far_error(true);
		far_error(false);
		order();
		lossy();
		for (size_t j = 0; (alphabet = morse_alphabet_at(j)) != NULL; j++)
			round_trips(alphabet);
		random_input(true, NULL);
		random_input(true, "?");
		random_input(true, "");
		random_input(false, NULL);
		random_input(false, "\xEF\xBF\xBD");
		random_input(false, "");
	}
	return harness_finish();
}
