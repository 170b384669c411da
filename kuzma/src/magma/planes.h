/* Magma in byte planes, for any instruction set with a 16-byte table lookup: register j holds byte j of many blocks
 * (16 for each 16 bytes of its width). A file that includes this defines
 *   PLANE           the type of a register, and PLANE_BYTES
 *   PLANE_LOAD, PLANE_STORE, PLANE_SET(byte), PLANE_TABLE(16 bytes): all 16-byte lanes alike, from aligned memory
 *   PLANE_KEY(at)   a register full of the byte that stands four times at `at`
 *   PLANE_ADD, _SUB, _AND, _OR, _XOR, _EQUAL, _GREATER (signed, giving -1 or 0), of bytes
 *   PLANE_HIGH(x)   the high nibble of each byte
 *   PLANE_LOOKUP(table, indices), for indices below 16
 *   PLANE_MIX_LOW, PLANE_MIX_HIGH(a, b): within each 16-byte lane, a0 b0 a1 b1 ... of the low or high halves.
 *
 * A round, for one register of each byte, is 52 operations:
 *   The sum with the key, byte by byte, with carries (16). Bytes are kept with their top bit inverted, so that a signed
 *   comparison tells which is larger: byte + key carries if the result is below the key.
 *   Nibbles (12) and S-boxes (12). The rotation by 11 takes nibbles to other bytes: the low one, shifted by 3, and the
 *   lowest bit of the high one stay together in the next byte; the rest of the high one comes into the byte after it.
 *   So three tables give the rotation as well.
 *   Sums with the other half of the block (12).
 * The chain of a round is about 11 clocks: one group of blocks keeps three or four ports busy. */
#ifndef KUZMA_MAGMA_PLANES_H
#define KUZMA_MAGMA_PLANES_H

#include <pthread.h>

#include "backend.h"
#include "bytes.h"
#include "magma/transforms.h"

#define PLANE_BLOCKS ((size_t)PLANE_BYTES)

struct planes_key {
	uint32_t bytes[4];   /* byte j of the key word, lowest first, four times */
	uint32_t flipped[4]; /* the same with the top bits inverted */
};

enum planes_order { PLANES_ENCRYPT, PLANES_DECRYPT };

struct planes_state {
	struct planes_key keys[8];
	uint32_t words[2][MAGMA_ROUNDS]; /* by planes_order: the keys of all rounds */
};

/* The key words that the rounds take. */
static const uint8_t planes_key_order[2][MAGMA_ROUNDS] = {
	{ 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 7, 6, 5, 4, 3, 2, 1, 0 },
	{ 0, 1, 2, 3, 4, 5, 6, 7, 7, 6, 5, 4, 3, 2, 1, 0, 7, 6, 5, 4, 3, 2, 1, 0, 7, 6, 5, 4, 3, 2, 1, 0 },
};

/* By byte of the word. The index of the high nibble has its top bit inverted. */
static struct {
	_Alignas(16) uint8_t low[4][16];       /* shifted by 3 */
	_Alignas(16) uint8_t high_stays[4][16]; /* the lowest bit, shifted by 7 */
	_Alignas(16) uint8_t high_moves[4][16]; /* the others, shifted by -1 */
} planes_tables;

static void planes_make_tables(void)
{
	for (unsigned j = 0; j < 4; j++) {
		for (unsigned nibble = 0; nibble < 16; nibble++) {
			unsigned high = kuzma_magma_pi[2 * j + 1][nibble ^ 8u];

			planes_tables.low[j][nibble] = (uint8_t)(kuzma_magma_pi[2 * j][nibble] << 3);
			planes_tables.high_stays[j][nibble] = (uint8_t)((high & 1u) << 7);
			planes_tables.high_moves[j][nibble] = (uint8_t)(high >> 1);
		}
	}
}

static void planes_set_key(void *state, const uint8_t key[KUZMA_KEY_BYTES])
{
	struct planes_state *planes = state;

	for (unsigned i = 0; i < 8; i++) {
		uint32_t word = load_be32(key + 4 * i);

		for (unsigned j = 0; j < 4; j++) {
			planes->keys[i].bytes[j] = (word >> 8 * j & 255u) * UINT32_C(0x01010101);
			planes->keys[i].flipped[j] = planes->keys[i].bytes[j] ^ UINT32_C(0x80808080);
		}
	}
	kuzma_magma_expand_key(planes->words[PLANES_ENCRYPT], key);
	for (unsigned i = 0; i < MAGMA_ROUNDS; i++)
		planes->words[PLANES_DECRYPT][i] = planes->words[PLANES_ENCRYPT][MAGMA_ROUNDS - 1 - i];
}

/* Bytes of the left and the right word, lowest first. */
struct planes {
	PLANE left0, left1, left2, left3, right0, right1, right2, right3;
};

#define PLANES_CARRY(j) PLANE_GREATER(PLANE_KEY(&key->flipped[j]), sum##j)
#define PLANES_LOW(j) PLANE_LOOKUP(PLANE_TABLE(planes_tables.low[j]), PLANE_AND(sum##j, low_nibbles))
#define PLANES_STAY(j) PLANE_LOOKUP(PLANE_TABLE(planes_tables.high_stays[j]), high)
#define PLANES_MOVE(j) PLANE_LOOKUP(PLANE_TABLE(planes_tables.high_moves[j]), high)
/* Byte j of the sum goes into byte `next`, and into `after` that. */
#define PLANES_BOX(j, next, after)                                          \
	high = PLANE_HIGH(sum##j);                                          \
	next = PLANE_XOR(PLANE_XOR(next, PLANES_LOW(j)), PLANES_STAY(j));   \
	after = PLANE_XOR(after, PLANES_MOVE(j));

static inline __attribute__((always_inline)) void planes_round(PLANE *target0, PLANE *target1, PLANE *target2,
                                                               PLANE *target3, PLANE source0, PLANE source1,
                                                               PLANE source2, PLANE source3,
                                                               const struct planes_key *key)
{
	const PLANE low_nibbles = PLANE_SET(0x0f), all_ones = PLANE_SET(0x7f);
	PLANE sum0 = PLANE_ADD(source0, PLANE_KEY(&key->bytes[0]));
	PLANE sum1 = PLANE_ADD(source1, PLANE_KEY(&key->bytes[1]));
	PLANE sum2 = PLANE_ADD(source2, PLANE_KEY(&key->bytes[2]));
	PLANE sum3 = PLANE_ADD(source3, PLANE_KEY(&key->bytes[3]));
	PLANE carry, passed, high;

	/* A carry also passes through a byte of ones. */
	carry = PLANES_CARRY(0);
	passed = PLANE_AND(carry, PLANE_EQUAL(sum1, all_ones));
	high = PLANES_CARRY(1);
	sum1 = PLANE_SUB(sum1, carry);
	carry = PLANE_OR(high, passed);
	passed = PLANE_AND(carry, PLANE_EQUAL(sum2, all_ones));
	high = PLANES_CARRY(2);
	sum2 = PLANE_SUB(sum2, carry);
	carry = PLANE_OR(high, passed);
	sum3 = PLANE_SUB(sum3, carry);

	PLANES_BOX(0, *target1, *target2)
	PLANES_BOX(1, *target2, *target3)
	PLANES_BOX(2, *target3, *target0)
	PLANES_BOX(3, *target0, *target1)
}

static inline __attribute__((always_inline)) void planes_rounds(struct planes *p, const struct planes_state *state,
                                                                enum planes_order order)
{
	PLANE l0 = p->left0, l1 = p->left1, l2 = p->left2, l3 = p->left3;
	PLANE r0 = p->right0, r1 = p->right1, r2 = p->right2, r3 = p->right3;

	for (unsigned i = 0; i < MAGMA_ROUNDS; i += 2) {
		planes_round(&l0, &l1, &l2, &l3, r0, r1, r2, r3, &state->keys[planes_key_order[order][i]]);
		planes_round(&r0, &r1, &r2, &r3, l0, l1, l2, l3, &state->keys[planes_key_order[order][i + 1]]);
	}
	/* The last round does not swap. */
	*p = (struct planes){ r0, r1, r2, r3, l0, l1, l2, l3 };
}

#define PLANES_MIX(a, b)                     \
	mixed = PLANE_MIX_LOW(a, b);         \
	b = PLANE_MIX_HIGH(a, b);            \
	a = mixed;

/* Each mixing brings one bit of a register's number to the end of the place of a byte in its lane, and the first bit of
 * the place into the number. Place: block of two, then byte of the block; four mixings move the latter out. */
static inline __attribute__((always_inline)) void planes_load(struct planes *p, const uint8_t *input)
{
	const PLANE flip = PLANE_SET(0x80);
	PLANE a0 = PLANE_LOAD(input), a1 = PLANE_LOAD(input + PLANE_BYTES);
	PLANE a2 = PLANE_LOAD(input + 2 * PLANE_BYTES), a3 = PLANE_LOAD(input + 3 * PLANE_BYTES);
	PLANE a4 = PLANE_LOAD(input + 4 * PLANE_BYTES), a5 = PLANE_LOAD(input + 5 * PLANE_BYTES);
	PLANE a6 = PLANE_LOAD(input + 6 * PLANE_BYTES), a7 = PLANE_LOAD(input + 7 * PLANE_BYTES);
	PLANE mixed;

	PLANES_MIX(a0, a1) PLANES_MIX(a2, a3) PLANES_MIX(a4, a5) PLANES_MIX(a6, a7)
	PLANES_MIX(a0, a2) PLANES_MIX(a1, a3) PLANES_MIX(a4, a6) PLANES_MIX(a5, a7)
	PLANES_MIX(a0, a4) PLANES_MIX(a1, a5) PLANES_MIX(a2, a6) PLANES_MIX(a3, a7)
	PLANES_MIX(a0, a1) PLANES_MIX(a2, a3) PLANES_MIX(a4, a5) PLANES_MIX(a6, a7)
	/* The number of a register is now: bit 2 of the byte's number in bit 1, bit 1 in bit 2, bit 0 in bit 0. The
	 * first byte of a word in memory is its highest. */
	p->left3 = PLANE_XOR(a0, flip);
	p->left2 = PLANE_XOR(a1, flip);
	p->left1 = PLANE_XOR(a4, flip);
	p->left0 = PLANE_XOR(a5, flip);
	p->right3 = PLANE_XOR(a2, flip);
	p->right2 = PLANE_XOR(a3, flip);
	p->right1 = PLANE_XOR(a6, flip);
	p->right0 = PLANE_XOR(a7, flip);
}

/* `addend` may be NULL. */
static inline __attribute__((always_inline)) void planes_store(uint8_t *output, const struct planes *p,
                                                               const uint8_t *addend)
{
	const PLANE flip = PLANE_SET(0x80);
	PLANE b0 = PLANE_XOR(p->left3, flip), b1 = PLANE_XOR(p->left2, flip);
	PLANE b2 = PLANE_XOR(p->left1, flip), b3 = PLANE_XOR(p->left0, flip);
	PLANE b4 = PLANE_XOR(p->right3, flip), b5 = PLANE_XOR(p->right2, flip);
	PLANE b6 = PLANE_XOR(p->right1, flip), b7 = PLANE_XOR(p->right0, flip);
	PLANE mixed;

	PLANES_MIX(b0, b4) PLANES_MIX(b1, b5) PLANES_MIX(b2, b6) PLANES_MIX(b3, b7)
	PLANES_MIX(b0, b2) PLANES_MIX(b1, b3) PLANES_MIX(b4, b6) PLANES_MIX(b5, b7)
	PLANES_MIX(b0, b1) PLANES_MIX(b2, b3) PLANES_MIX(b4, b5) PLANES_MIX(b6, b7)
	/* The first mixing of planes_load was by bit 0 of the number, and the first one here gives bit 2. */
#define PLANES_PUT(n, plane)                                                                                  \
	PLANE_STORE(output + n * PLANE_BYTES,                                                                 \
	            addend == NULL ? plane : PLANE_XOR(plane, PLANE_LOAD(addend + n * PLANE_BYTES)));
	PLANES_PUT(0, b0)
	PLANES_PUT(1, b4)
	PLANES_PUT(2, b2)
	PLANES_PUT(3, b6)
	PLANES_PUT(4, b1)
	PLANES_PUT(5, b5)
	PLANES_PUT(6, b3)
	PLANES_PUT(7, b7)
#undef PLANES_PUT
}

/* The numbers of the blocks in a plane: byte 8 * a + 4 * b + 2 * c + x of lane l is block x of lane l of register
 * a + 2 * b + 4 * c of planes_load. */
static void planes_make_numbers(uint8_t numbers[PLANE_BYTES])
{
	for (unsigned at = 0; at < PLANE_BYTES; at++) {
		unsigned number = (at >> 3 & 1) + 2 * (at >> 2 & 1) + 4 * (at >> 1 & 1);

		numbers[at] = (uint8_t)(number * (PLANE_BYTES / 8) + at / 16 * 2 + (at & 1));
	}
}

static _Alignas(64) uint8_t planes_numbers[PLANE_BYTES];

static void planes_make(void)
{
	planes_make_tables();
	planes_make_numbers(planes_numbers);
}


/* The blocks (fixed, first), (fixed, first + 1), ... */
static inline __attribute__((always_inline)) void planes_count(struct planes *p, uint32_t fixed, uint32_t first)
{
#define PLANES_BYTE(word, j) PLANE_SET((word) >> (8 * (j)) ^ 0x80)
	const PLANE all_ones = PLANE_SET(0x7f);
	PLANE start = PLANES_BYTE(first, 0), carry;

	p->left0 = PLANES_BYTE(fixed, 0);
	p->left1 = PLANES_BYTE(fixed, 1);
	p->left2 = PLANES_BYTE(fixed, 2);
	p->left3 = PLANES_BYTE(fixed, 3);
	p->right0 = PLANE_ADD(start, PLANE_LOAD(planes_numbers));
	carry = PLANE_GREATER(start, p->right0);
	p->right1 = PLANE_SUB(PLANES_BYTE(first, 1), carry);
	carry = PLANE_AND(carry, PLANE_EQUAL(PLANES_BYTE(first, 1), all_ones));
	p->right2 = PLANE_SUB(PLANES_BYTE(first, 2), carry);
	carry = PLANE_AND(carry, PLANE_EQUAL(PLANES_BYTE(first, 2), all_ones));
	p->right3 = PLANE_SUB(PLANES_BYTE(first, 3), carry);
#undef PLANES_BYTE
}

/* memset, kept by what follows: a byte at a time would cost half as much as the cipher. */
static inline void planes_wipe(uint8_t rest[8 * PLANE_BLOCKS])
{
	memset(rest, 0, 8 * PLANE_BLOCKS);
	__asm__ volatile("" : : "r"(rest) : "memory");
}

/* One block at a time, which the including file has. */
static inline void planes_crypt_word(const struct planes_state *state, enum planes_order order, uint8_t *block);

static inline __attribute__((always_inline)) void planes_crypt(const void *state, uint8_t *output, const uint8_t *input,
                                                               size_t blocks, enum planes_order order)
{
	const struct planes_state *planes = state;
	struct planes p;
	size_t n = 0;

	for (; n + PLANE_BLOCKS <= blocks; n += PLANE_BLOCKS) {
		planes_load(&p, input + 8 * n);
		planes_rounds(&p, planes, order);
		planes_store(output + 8 * n, &p, NULL);
	}
	if (blocks - n == 1) {
		memmove(output + 8 * n, input + 8 * n, 8);
		planes_crypt_word(planes, order, output + 8 * n);
	} else if (n < blocks) {
		uint8_t rest[8 * PLANE_BLOCKS];

		memcpy(rest, input + 8 * n, 8 * (blocks - n));
		memset(rest + 8 * (blocks - n), 0, sizeof rest - 8 * (blocks - n));
		planes_load(&p, rest);
		planes_rounds(&p, planes, order);
		planes_store(rest, &p, NULL);
		memcpy(output + 8 * n, rest, 8 * (blocks - n));
		planes_wipe(rest);
	}
}

static void planes_encrypt_blocks(const void *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	planes_crypt(state, output, input, blocks, PLANES_ENCRYPT);
}

static void planes_decrypt_blocks(const void *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	planes_crypt(state, output, input, blocks, PLANES_DECRYPT);
}

static void planes_ctr_xor(const void *state, uint8_t *counter, uint8_t *output, const uint8_t *input, size_t blocks)
{
	uint32_t fixed = load_be32(counter), first = load_be32(counter + 4);
	struct planes p;
	size_t n = 0;

	for (; n + PLANE_BLOCKS <= blocks; n += PLANE_BLOCKS) {
		planes_count(&p, fixed, first + (uint32_t)n);
		planes_rounds(&p, state, PLANES_ENCRYPT);
		planes_store(output + 8 * n, &p, input + 8 * n);
	}
	if (blocks - n == 1) {
		uint8_t block[8];

		store_be32(block, fixed);
		store_be32(block + 4, first + (uint32_t)n);
		planes_crypt_word(state, PLANES_ENCRYPT, block);
		xor_bytes(output + 8 * n, block, input + 8 * n, 8);
		wipe_bytes(block, sizeof block);
	} else if (n < blocks) {
		uint8_t rest[8 * PLANE_BLOCKS];

		planes_count(&p, fixed, first + (uint32_t)n);
		planes_rounds(&p, state, PLANES_ENCRYPT);
		planes_store(rest, &p, NULL);
		xor_bytes(output + 8 * n, rest, input + 8 * n, 8 * (blocks - n));
		planes_wipe(rest);
	}
	store_be32(counter + 4, first + (uint32_t)blocks);
}

#endif
