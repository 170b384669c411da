/* Sizes, places and numbers of morse.h as the C compiler has them, for the test in ffi.rs. */
#include <morse.h>

#define TYPE(type) \
	{ "sizeof " #type, sizeof(struct type) }, { "_Alignof " #type, _Alignof(struct type) }
#define FIELD(type, field) { #type "." #field, offsetof(struct type, field) }
#define NUMBER(name) { #name, (size_t)(name) }

extern const struct morse_layout {
	const char *name;
	size_t value;
} morse_layout[];

const struct morse_layout morse_layout[] = {
	TYPE(morse_error),
	FIELD(morse_error, status),
	FIELD(morse_error, offset),
	FIELD(morse_error, line),
	FIELD(morse_error, column),
	FIELD(morse_error, length),
	FIELD(morse_error, bytes),
	TYPE(morse_options),
	FIELD(morse_options, alphabet),
	FIELD(morse_options, backend),
	FIELD(morse_options, replacement),
	TYPE(morse_encoder),
	FIELD(morse_encoder, error),
	FIELD(morse_encoder, replaced),
	TYPE(morse_decoder),
	FIELD(morse_decoder, error),
	FIELD(morse_decoder, replaced),
	{ "sizeof enum morse_status", sizeof(enum morse_status) },
	NUMBER(MORSE_ELEMENTS_MAX),
	NUMBER(MORSE_ROOM_MIN),
	NUMBER(MORSE_OK),
	NUMBER(MORSE_ERROR_REPLACEMENT),
	NUMBER(MORSE_ERROR_ORDER),
	NUMBER(MORSE_ERROR_ROOM),
	NUMBER(MORSE_ERROR_CHARACTER),
	NUMBER(MORSE_ERROR_UTF8),
	NUMBER(MORSE_ERROR_CODE),
	NUMBER(MORSE_ERROR_BYTE),
	{ NULL, 0 },
};
