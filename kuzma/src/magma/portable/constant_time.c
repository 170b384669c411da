/* Magma in plain C without branches or addresses that depend on key or data, in two forms:
 *  - bit-sliced: 64 blocks, one word per bit of a block, the S-boxes networks of logic, the addition of the key a
 *    carry from word to word, the rotation by 11 a choice of words;
 *  - narrow: two blocks, for short messages and chains; the S-boxes as polynomials over GF(2) in the bits of their
 *    input, all 16 nibbles at once. */
#include <pthread.h>

#include "backend.h"
#include "bytes.h"
#include "magma/portable/sliced_boxes.h"
#include "magma/transforms.h"
#include "transpose64.h"

/* Blocks from which the bit-sliced form is faster than the narrow one. */
#define SLICED_FROM 10

struct sliced_state {
	uint64_t words[8];     /* the key's words, each twice */
	uint64_t masks[8][32]; /* all ones where a bit of a word is set */
};

/* Nibble i of word m: which output bits of S-box i the product of the input bits in m is part of. In both halves. */
static uint64_t polynomial[16];

static void make_polynomial(void)
{
	for (unsigned product = 0; product < 16; product++) {
		uint64_t word = 0;

		/* A coefficient is the sum of the values at all inputs within the product's bits. */
		for (unsigned input = 0; input < 16; input++)
			if ((input & ~product) == 0)
				for (unsigned box = 0; box < 8; box++)
					word ^= (uint64_t)kuzma_magma_pi[box][input] << (4 * box);
		polynomial[product] = word | word << 32;
	}
}

static void prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_polynomial);
}

static void set_key(void *state, const uint8_t key[KUZMA_KEY_BYTES])
{
	struct sliced_state *sliced = state;

	for (unsigned i = 0; i < 8; i++) {
		uint64_t word = load_be32(key + 4 * i);

		sliced->words[i] = word | word << 32;
		for (unsigned bit = 0; bit < 32; bit++)
			sliced->masks[i][bit] = 0 - (word >> bit & 1u);
	}
}

/* RFC 8891 section 4.3: the words three times in order, then once backwards. */
static inline unsigned key_index(unsigned round)
{
	return round < 24 ? round % 8 : 31 - round;
}

/* ---- the narrow form: a word holds the same half of two blocks */

static inline uint64_t narrow_g(uint64_t word, uint64_t key)
{
	const uint64_t top = UINT64_C(0x8000000080000000), lowest = UINT64_C(0x1111111111111111);
	uint64_t sum = ((word & ~top) + (key & ~top)) ^ ((word ^ key) & top);
	uint64_t a = sum & lowest, b = sum >> 1 & lowest, c = sum >> 2 & lowest, d = sum >> 3 & lowest;

	/* All four bits of each nibble where the input bit is 1. */
	a = (a << 4) - a, b = (b << 4) - b, c = (c << 4) - c, d = (d << 4) - d;
/* The coefficients from `index` on as polynomials in a; in a and b; in a, b and c. */
#define IN_A(index) (polynomial[index] ^ (a & polynomial[(index) + 1]))
#define IN_AB(index) (IN_A(index) ^ (b & IN_A((index) + 2)))
#define IN_ABC(index) (IN_AB(index) ^ (c & IN_AB((index) + 4)))
	uint64_t result = IN_ABC(0) ^ (d & IN_ABC(8));
#undef IN_A
#undef IN_AB
#undef IN_ABC
	return (result << 11 & UINT64_C(0xFFFFF800FFFFF800)) | (result >> 21 & UINT64_C(0x000007FF000007FF));
}

/* `first` and `step` give the order of the round keys: 0 and +1, or 31 and -1. */
static inline void narrow_rounds(const struct sliced_state *sliced, uint64_t halves[2], unsigned first, unsigned step)
{
	uint64_t left = halves[0], right = halves[1];

	for (unsigned i = 0; i < MAGMA_ROUNDS; i += 2) {
		left ^= narrow_g(right, sliced->words[key_index(first + step * i)]);
		right ^= narrow_g(left, sliced->words[key_index(first + step * (i + 1))]);
	}
	/* The last round does not swap. */
	halves[0] = right;
	halves[1] = left;
}

static inline void narrow_load(uint64_t halves[2], const uint8_t *low, const uint8_t *high)
{
	halves[0] = load_be32(low) | (uint64_t)load_be32(high) << 32;
	halves[1] = load_be32(low + 4) | (uint64_t)load_be32(high + 4) << 32;
}

static inline void narrow_store(uint8_t *low, uint8_t *high, const uint64_t halves[2])
{
	store_be32(high, (uint32_t)(halves[0] >> 32));
	store_be32(high + 4, (uint32_t)(halves[1] >> 32));
	store_be32(low, (uint32_t)halves[0]);
	store_be32(low + 4, (uint32_t)halves[1]);
}

/* ---- the bit-sliced form: words 0 to 31 are the right half's bits, 32 to 63 the left half's */

/* One bit of the sum: `carry` comes in and goes out. */
static inline uint64_t add_bit(uint64_t word, uint64_t key, uint64_t *carry)
{
	uint64_t differ = word ^ key, sum = differ ^ *carry;

	*carry = word ^ (differ & (word ^ *carry));
	return sum;
}

static inline void sliced_round(uint64_t left[32], const uint64_t right[32], const uint64_t key[32])
{
	uint64_t carry = 0;

#define BOX(n)                                                                                         \
	do {                                                                                           \
		uint64_t a = add_bit(right[4 * n], key[4 * n], &carry);                                \
		uint64_t b = add_bit(right[4 * n + 1], key[4 * n + 1], &carry);                        \
		uint64_t c = add_bit(right[4 * n + 2], key[4 * n + 2], &carry);                        \
		uint64_t d = add_bit(right[4 * n + 3], key[4 * n + 3], &carry);                        \
		sliced_box##n(&left[(4 * n + 11) % 32], &left[(4 * n + 12) % 32],                      \
		              &left[(4 * n + 13) % 32], &left[(4 * n + 14) % 32], a, b, c, d);         \
	} while (0)
	BOX(0);
	BOX(1);
	BOX(2);
	BOX(3);
	BOX(4);
	BOX(5);
	BOX(6);
	BOX(7);
#undef BOX
}

static void sliced_process(const struct sliced_state *sliced, uint64_t planes[64], uint8_t *output,
                           const uint8_t *input, unsigned blocks, unsigned first, unsigned step)
{
	for (unsigned n = 0; n < 64; n++)
		planes[n] = n < blocks ? load_be64(input + 8 * n) : 0;
	transpose64(planes);
	for (unsigned i = 0; i < MAGMA_ROUNDS; i += 2) {
		sliced_round(planes + 32, planes, sliced->masks[key_index(first + step * i)]);
		sliced_round(planes, planes + 32, sliced->masks[key_index(first + step * (i + 1))]);
	}
	transpose64(planes);
	/* The last round does not swap. */
	for (unsigned n = 0; n < blocks; n++)
		store_be64(output + 8 * n, planes[n] << 32 | planes[n] >> 32);
}

/* ---- both */

static void process(const struct sliced_state *sliced, uint8_t *output, const uint8_t *input, size_t blocks,
                    unsigned first, unsigned step)
{
	if (blocks >= SLICED_FROM) {
		uint64_t planes[64];

		while (blocks >= SLICED_FROM) {
			unsigned some = blocks < 64 ? (unsigned)blocks : 64;

			sliced_process(sliced, planes, output, input, some, first, step);
			input += 8 * some, output += 8 * some, blocks -= some;
		}
		wipe_bytes(planes, sizeof planes);
	}
	for (; blocks >= 2; blocks -= 2, input += 16, output += 16) {
		uint64_t halves[2];

		narrow_load(halves, input, input + 8);
		narrow_rounds(sliced, halves, first, step);
		narrow_store(output, output + 8, halves);
	}
	if (blocks > 0) {
		uint64_t halves[2];

		narrow_load(halves, input, input);
		narrow_rounds(sliced, halves, first, step);
		narrow_store(output, output, halves);
	}
}

static void encrypt_blocks(const void *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	process(state, output, input, blocks, 0, 1);
}

static void decrypt_blocks(const void *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	process(state, output, input, blocks, MAGMA_ROUNDS - 1, 0u - 1);
}

static void cbc_encrypt(const void *state, uint8_t *iv, uint8_t *output, const uint8_t *input, size_t blocks)
{
	uint64_t chain[2], data[2];

	narrow_load(chain, iv, iv);
	for (size_t n = 0; n < blocks; n++) {
		narrow_load(data, input + 8 * n, input + 8 * n);
		chain[0] ^= data[0];
		chain[1] ^= data[1];
		narrow_rounds(state, chain, 0, 1);
		if (output != NULL)
			narrow_store(output + 8 * n, output + 8 * n, chain);
	}
	narrow_store(iv, iv, chain);
}

const struct kuzma_backend kuzma_magma_constant_time = {
	.name = "constant-time",
	.cipher = KUZMA_MAGMA,
	.constant_time = true,
	.state_bytes = sizeof(struct sliced_state),
	.prepare = prepare,
	.set_key = set_key,
	.encrypt_blocks = encrypt_blocks,
	.decrypt_blocks = decrypt_blocks,
	.cbc_encrypt = cbc_encrypt,
};
