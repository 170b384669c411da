/* A stream of which every byte is known from its place: 64-bit words, each its number times an odd constant. */
#ifndef PIPE_STREAM_H
#define PIPE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define STREAM_STEP UINT64_C(0x9E3779B97F4A7C15)

static inline uint8_t stream_byte(uint64_t offset)
{
	uint64_t word = (offset / 8 + 1) * STREAM_STEP;

	return ((const uint8_t *)&word)[offset % 8];
}

/* The bytes from `offset` on. */
static inline void stream_fill(uint8_t *to, size_t bytes, uint64_t offset)
{
	size_t at = 0;

	for (; at < bytes && (offset + at) % 8 != 0; at++)
		to[at] = stream_byte(offset + at);
	for (uint64_t word = ((offset + at) / 8 + 1) * STREAM_STEP; bytes - at >= 8; at += 8, word += STREAM_STEP)
		memcpy(to + at, &word, 8);
	for (; at < bytes; at++)
		to[at] = stream_byte(offset + at);
}

/* How many of the bytes are not as they were sent; of whole words, all eight count. */
static inline uint64_t stream_wrong(const uint8_t *from, size_t bytes, uint64_t offset)
{
	uint64_t wrong = 0;
	size_t at = 0;

	for (; at < bytes && (offset + at) % 8 != 0; at++)
		wrong += from[at] != stream_byte(offset + at);
	for (uint64_t word = ((offset + at) / 8 + 1) * STREAM_STEP; bytes - at >= 8; at += 8, word += STREAM_STEP) {
		uint64_t got;

		memcpy(&got, from + at, 8);
		wrong += got != word ? 8 : 0;
	}
	for (; at < bytes; at++)
		wrong += from[at] != stream_byte(offset + at);
	return wrong;
}

#endif
