#include "morse.h"

const char *morse_status_text(enum morse_status status)
{
	switch (status) {
	case MORSE_OK: return "no error";
	case MORSE_ERROR_ARGUMENT: return "a null pointer, or no alphabet";
	case MORSE_ERROR_BACKEND: return "the backend cannot run on this processor";
	case MORSE_ERROR_REPLACEMENT: return "the replacement is not one character that can be written";
	case MORSE_ERROR_ORDER: return "the coder is finished";
	case MORSE_ERROR_ROOM: return "the output does not fit into the room";
	case MORSE_ERROR_CHARACTER: return "the alphabet does not have this character";
	case MORSE_ERROR_UTF8: return "the text is not UTF-8";
	case MORSE_ERROR_CODE: return "the alphabet has no character with this code";
	case MORSE_ERROR_BYTE: return "neither '.', '-', '/', a space nor the end of a line";
	}
	return "not a status";
}
