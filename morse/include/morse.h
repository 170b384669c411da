/* morse: text to Morse code and back.
 *
 * Text is UTF-8. Code is ASCII: '.' and '-', a ' ' between letters, '/' for the space between words, '\n' kept as it is:
 * "Hi, you\n" is ".... .. --..-- / -.-- --- ..-\n".
 *
 * Encoding: small letters count as capitals; every ' ' becomes a "/", also several in a row; there is no ' ' before '\n'
 * nor at the end. Decoding: any number of ' ' separates; '/' is a letter by itself and needs no ' ' beside it; it gives
 * capitals. What was encoded decodes to the text in capitals, byte for byte, but for the characters that share a code
 * with another (see morse_alphabet_at). A carriage return is no character of any alphabet: text whose lines end in
 * "\r\n" has to lose it first.
 *
 * All sizes are in bytes. No function allocates memory or does I/O (one reads an environment variable). Output does not
 * overlap input; no alignment is needed. NULL is allowed where the size is 0. A coder belongs to one thread at a time;
 * it may be copied by memcpy. All else may be used by several threads at once. */
#ifndef MORSE_H
#define MORSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library itself is compiled with all other symbols hidden. */
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define MORSE_VERSION "0.1.0"
/* The longest code: elements of one character. */
#define MORSE_ELEMENTS_MAX 8u
/* With this much room every call of update reads something, and finish never lacks room. */
#define MORSE_ROOM_MIN 16u

enum morse_status {
	MORSE_OK = 0,
	MORSE_ERROR_ARGUMENT = 1,    /* a null pointer, or no alphabet */
	MORSE_ERROR_BACKEND = 2,     /* the backend cannot run on this processor */
	MORSE_ERROR_REPLACEMENT = 3, /* not one character, or, for encoding, none of the alphabet */
	MORSE_ERROR_ORDER = 4,       /* update or finish after finish */
	MORSE_ERROR_ROOM = 5,        /* the output does not fit */
	MORSE_ERROR_CHARACTER = 6,   /* encoding: the alphabet does not have this character */
	MORSE_ERROR_UTF8 = 7,        /* encoding: the input is not UTF-8 */
	MORSE_ERROR_CODE = 8,        /* decoding: the alphabet has no character with this code */
	MORSE_ERROR_BYTE = 9         /* decoding: neither '.', '-', '/', ' ' nor '\n' */
};

/* An English phrase for a status; never NULL. */
const char *morse_status_text(enum morse_status status);

/* What a strict coder found, and where. The place does not depend on how the input was cut. */
struct morse_error {
	enum morse_status status; /* MORSE_OK: none yet */
	uint64_t offset;          /* of the first offending byte, from 0 */
	uint64_t line, column;    /* the same place, from 1; columns are characters */
	uint64_t length;          /* of what offends: a character, bytes that are not UTF-8, or a code */
	uint8_t bytes[16];        /* the beginning of it */
};

/* A place in the input, counted as in struct morse_error. */
struct morse_place {
	uint64_t offset, line, column;
};

/* ---- Alphabets. */
struct morse_alphabet;

/* The alphabets: "itu" (Recommendation ITU-R M.1677-1), "ru" (Russian), and both with "-extended" at their names: more
 * marks, which the sources do not have. Returns the element at `index`, NULL past the end.
 *
 * Some characters share a code, and decoding gives the first: X and × in "itu"; Е and Ё in "ru". */
const struct morse_alphabet *morse_alphabet_at(size_t index);
/* NULL if there is none of that name. */
const struct morse_alphabet *morse_alphabet_by_name(const char *name);
const char *morse_alphabet_name(const struct morse_alphabet *alphabet);

/* The code of a character, as in ".-", and its length; small letters like capitals. 0, and an empty string, if the
 * alphabet does not have it; so also for ' ' and '\n', which have no code. */
size_t morse_alphabet_code(const struct morse_alphabet *alphabet, uint32_t code_point,
                           char code[MORSE_ELEMENTS_MAX + 1]);
/* The capital letter or mark that `code` stands for; 0 if none. */
uint32_t morse_alphabet_character(const struct morse_alphabet *alphabet, const char *code);

/* ---- Backends: implementations of the same for different processors. Their output is the same. */
struct morse_backend;

/* Those that were compiled in, fastest first; those that this processor cannot run are in the list as well. Returns the
 * element at `index`, NULL past the end. */
const struct morse_backend *morse_backend_at(size_t index);
/* NULL if there is none of that name. It may be unsupported here. */
const struct morse_backend *morse_backend_by_name(const char *name);
/* The one that the environment variable MORSE_BACKEND names, if it exists and runs here; else the first in the list
 * that runs here. Never NULL. */
const struct morse_backend *morse_backend_default(void);
const char *morse_backend_name(const struct morse_backend *backend);
bool morse_backend_supported(const struct morse_backend *backend);

/* ---- Coders. */
struct morse_options {
	const struct morse_alphabet *alphabet;
	/* NULL: morse_backend_default(). */
	const struct morse_backend *backend;
	/* NULL: strict, the first thing that cannot be coded is an error and ends the coder. Else lenient: this stands
	 * for each such thing. One character in UTF-8, for encoding one that has a code, or ' '; or "": nothing. */
	const char *replacement;
};

/* A character that is not complete yet; private. */
struct morse_partial {
	uint8_t bytes[4];
	uint8_t count, wanted;
};

struct morse_encoder {
	struct morse_error error;
	uint64_t replaced; /* how often the replacement stood in; all below is private */
	const struct morse_alphabet *alphabet;
	const struct morse_backend *backend;
	uint64_t offset, line, column;
	struct morse_partial partial;
	uint16_t replacement;
	bool lenient, space_due, finished;
};

struct morse_decoder {
	struct morse_error error;
	uint64_t replaced; /* how often the replacement stood in; all below is private */
	const struct morse_alphabet *alphabet;
	const struct morse_backend *backend;
	uint64_t offset, line, line_start, token_bytes;
	struct morse_partial partial;
	uint16_t code;
	uint8_t token[16];
	uint8_t replacement[4];
	uint8_t replacement_bytes;
	bool lenient, finished;
};

/* Errors of both: ARGUMENT, BACKEND, REPLACEMENT; the coder is then unusable. */
enum morse_status morse_encoder_init(struct morse_encoder *encoder, const struct morse_options *options);
enum morse_status morse_decoder_init(struct morse_decoder *decoder, const struct morse_options *options);

/* The next `bytes` of the input, cut anywhere, also within a character or a code. Reads until the input or the room ends:
 * with MORSE_OK, `*read` < `bytes` says that there was no more room, and the call is to be repeated with the rest.
 * What stands before an error has been written. Errors: ARGUMENT; ORDER; encoding: CHARACTER, UTF8; decoding: CODE, BYTE;
 * `error` of the coder has more. After an error every call gives it again. */
enum morse_status morse_encoder_update(struct morse_encoder *encoder, uint8_t *output, size_t room, size_t *written,
                                       const uint8_t *input, size_t bytes, size_t *read);
enum morse_status morse_decoder_update(struct morse_decoder *decoder, uint8_t *output, size_t room, size_t *written,
                                       const uint8_t *input, size_t bytes, size_t *read);

/* The input is complete: writes what was held back. Errors: ARGUMENT, ORDER, ROOM (repeat it with more); encoding: UTF8;
 * decoding: CODE, BYTE. */
enum morse_status morse_encoder_finish(struct morse_encoder *encoder, uint8_t *output, size_t room, size_t *written);
enum morse_status morse_decoder_finish(struct morse_decoder *decoder, uint8_t *output, size_t room, size_t *written);

/* The place behind what was read, for who wants to count from there. Only strict coders count. */
struct morse_place morse_encoder_place(const struct morse_encoder *encoder);
struct morse_place morse_decoder_place(const struct morse_decoder *decoder);

/* The most that all output of `bytes` of input takes; SIZE_MAX if that is more than can be counted. */
size_t morse_encoded_max(size_t bytes);
size_t morse_decoded_max(size_t bytes);

/* A whole text in one call. `error` may be NULL. Errors: all of init, update and finish. */
enum morse_status morse_encode(const struct morse_options *options, uint8_t *output, size_t room, size_t *written,
                               const uint8_t *input, size_t bytes, struct morse_error *error);
enum morse_status morse_decode(const struct morse_options *options, uint8_t *output, size_t room, size_t *written,
                               const uint8_t *input, size_t bytes, struct morse_error *error);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
