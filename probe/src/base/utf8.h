#ifndef STEND_UTF8_H
#define STEND_UTF8_H

#include <stddef.h>

/* The length of the UTF-8 sequence at `at`, of which `left` bytes may be looked at; 0 if it is none (RFC 3629 section 4). */
static inline size_t utf8_length(const unsigned char *at, size_t left)
{
	size_t length = at[0] < 0x80 ? 1 : at[0] >= 0xC2 && at[0] <= 0xDF ? 2 : (at[0] & 0xF0) == 0xE0 ? 3 :
	                at[0] >= 0xF0 && at[0] <= 0xF4 ? 4 : 0;

	if (length == 0 || length > left)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((at[i] & 0xC0) != 0x80)
			return 0;
	if ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F) || (at[0] == 0xF0 && at[1] < 0x90) ||
	    (at[0] == 0xF4 && at[1] > 0x8F))
		return 0;
	return length;
}

#endif
