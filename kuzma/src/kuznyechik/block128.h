/* A block of 128 bits as two 64-bit words: word 0 holds bytes 0..7, byte 0 lowest. Compilers with vector types
 * keep it in one register; the plain form is for all others, and for Elbrus, where vector types are slow. */
#ifndef KUZMA_BLOCK128_H
#define KUZMA_BLOCK128_H

#include "bytes.h"

#if defined(__GNUC__) && !defined(__e2k__) && (defined(__SSE2__) || defined(__ARM_NEON) || defined(__VSX__))
#define BLOCK128_VECTOR 1
typedef uint64_t block128 __attribute__((vector_size(16)));

static inline block128 block128_make(uint64_t low, uint64_t high)
{
	return (block128){ low, high };
}
static inline uint64_t block128_low(block128 block)
{
	return block[0];
}
static inline uint64_t block128_high(block128 block)
{
	return block[1];
}
static inline block128 block128_xor(block128 left, block128 right)
{
	return left ^ right;
}
static inline block128 block128_and(block128 left, block128 right)
{
	return left & right;
}
/* Each word to the left, by less than 64 bits. */
static inline block128 block128_rotate_words(block128 block, unsigned bits)
{
	return block << bits | block >> (63 - bits) >> 1;
}
#else
typedef struct {
	uint64_t low, high;
} block128;

static inline block128 block128_make(uint64_t low, uint64_t high)
{
	return (block128){ low, high };
}
static inline uint64_t block128_low(block128 block)
{
	return block.low;
}
static inline uint64_t block128_high(block128 block)
{
	return block.high;
}
static inline block128 block128_xor(block128 left, block128 right)
{
	return (block128){ left.low ^ right.low, left.high ^ right.high };
}
static inline block128 block128_and(block128 left, block128 right)
{
	return (block128){ left.low & right.low, left.high & right.high };
}
static inline block128 block128_rotate_words(block128 block, unsigned bits)
{
	return (block128){ block.low << bits | block.low >> (63 - bits) >> 1,
		           block.high << bits | block.high >> (63 - bits) >> 1 };
}
#endif

static inline block128 block128_load(const uint8_t *from)
{
#if defined(BLOCK128_VECTOR) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	block128 block;
	memcpy(&block, from, sizeof block);
	return block;
#else
	return block128_make(load_le64(from), load_le64(from + 8));
#endif
}

static inline void block128_store(uint8_t *to, block128 block)
{
#if defined(BLOCK128_VECTOR) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(to, &block, sizeof block);
#else
	store_le64(to, block128_low(block));
	store_le64(to + 8, block128_high(block));
#endif
}

#endif
