/* Loads and stores that need no alignment and do not depend on the machine's byte order. */
#ifndef KUZMA_BYTES_H
#define KUZMA_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t load_le64(const uint8_t *from)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t value;
	memcpy(&value, from, sizeof value);
	return value;
#else
	uint64_t value = 0;
	for (unsigned i = 0; i < 8; i++)
		value |= (uint64_t)from[i] << (8 * i);
	return value;
#endif
}

static inline void store_le64(uint8_t *to, uint64_t value)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(to, &value, sizeof value);
#else
	for (unsigned i = 0; i < 8; i++)
		to[i] = (uint8_t)(value >> (8 * i));
#endif
}

static inline uint32_t load_be32(const uint8_t *from)
{
	return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | (uint32_t)from[3];
}

static inline void store_be32(uint8_t *to, uint32_t value)
{
	to[0] = (uint8_t)(value >> 24);
	to[1] = (uint8_t)(value >> 16);
	to[2] = (uint8_t)(value >> 8);
	to[3] = (uint8_t)value;
}

/* `to` may be `left` or `right`; otherwise no two overlap. */
static inline void xor_bytes(uint8_t *to, const uint8_t *left, const uint8_t *right, size_t bytes)
{
	size_t i = 0;

	/* Vectors and words, because not every compiler makes them of bytes where the length is not known. One at a time: an
	 * array of them could be left behind on the stack. Not on Elbrus, where vector types are slow. */
#if defined(__GNUC__) && !defined(__e2k__) && (defined(__SSE2__) || defined(__ARM_NEON))
	typedef uint64_t unaligned_vector __attribute__((vector_size(16), aligned(1), may_alias));

	for (; i + 16 <= bytes; i += 16)
		*(unaligned_vector *)(to + i) =
			*(const unaligned_vector *)(left + i) ^ *(const unaligned_vector *)(right + i);
#endif
	for (; i + 8 <= bytes; i += 8) {
		uint64_t a, b;

		memcpy(&a, left + i, sizeof a);
		memcpy(&b, right + i, sizeof b);
		a ^= b;
		memcpy(to + i, &a, sizeof a);
	}
	for (; i < bytes; i++)
		to[i] = (uint8_t)(left[i] ^ right[i]);
}

static inline uint64_t load_be64(const uint8_t *from)
{
	return (uint64_t)load_be32(from) << 32 | load_be32(from + 4);
}

static inline void store_be64(uint8_t *to, uint64_t value)
{
	store_be32(to, (uint32_t)(value >> 32));
	store_be32(to + 4, (uint32_t)value);
}

/* A store that the compiler may not drop as dead. */
static inline void wipe_bytes(void *memory, size_t bytes)
{
#ifdef __GNUC__
	memset(memory, 0, bytes);
	/* As far as the compiler knows, this reads the memory. */
	__asm__ volatile("" : : "r"(memory) : "memory");
#else
	volatile uint8_t *at = memory;
	while (bytes-- > 0)
		*at++ = 0;
#endif
}

#endif
