/* Kuznyechik in plain C without branches or addresses that depend on key or data, in two forms:
 *  - bit-sliced: 64 blocks, one word per bit of a block, S a network of logic, L the recursion of RFC 7801;
 *  - narrow: up to four blocks, for short messages, chains and the key schedule; their 64 bytes go through the same
 *    network, and L is a sum of constants selected by masks. */
#include <pthread.h>

#include "backend.h"
#include "bytes.h"
#include "kuznyechik/block128.h"
#include "kuznyechik/portable/sliced_box.h"
#include "kuznyechik/transforms.h"
#include "transpose64.h"

/* Blocks from which the bit-sliced form is faster than the narrow one. */
#define SLICED_FROM 13

struct sliced_state {
	uint64_t keys[KUZNYECHIK_ROUND_KEYS][2];
};

/* L or its inverse as a sum: [rotation by bytes][source word][bit of the source bytes], both target words; see
 * narrow_linear. */
typedef block128 linear_constants[8][2][8];

static linear_constants forward, backward;
static uint64_t schedule[32][2]; /* C_1 .. C_32 of RFC 7801 section 4.3 */

static void fill_constants(linear_constants constants, void (*linear)(uint8_t *))
{
	for (unsigned position = 0; position < 16; position++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			uint8_t block[16] = { 0 };

			block[position] = (uint8_t)(1u << bit);
			linear(block);
			for (unsigned i = 0; i < 16; i++) {
				block128 *constant = &constants[(i - position) % 8][position / 8][bit];
				uint64_t byte = (uint64_t)block[i] << (8 * (position % 8));

				*constant = block128_xor(*constant, i < 8 ? block128_make(byte, 0) : block128_make(0, byte));
			}
		}
	}
}

static void make_constants(void)
{
	kuzma_kuznyechik_transforms_prepare();
	fill_constants(forward, kuzma_kuznyechik_l);
	fill_constants(backward, kuzma_kuznyechik_l_inverse);
	for (unsigned i = 0; i < 32; i++) {
		uint8_t block[16] = { 0 };

		block[15] = (uint8_t)(i + 1);
		kuzma_kuznyechik_l(block);
		schedule[i][0] = load_le64(block);
		schedule[i][1] = load_le64(block + 8);
	}
}

static void prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_constants);
}

/* ---- the narrow form */

struct narrow {
	uint64_t words[8];    /* 2n and 2n + 1 are block n */
	block128 masks[2][8]; /* of narrow_linear; here so that they are wiped once a call */
};

/* Bit b of word w's bytes becomes bit w of the bytes of word b; its own inverse. */
static inline void exchange(uint64_t words[8], unsigned from, unsigned to, unsigned shift, uint64_t mask)
{
	uint64_t swap = (words[from] >> shift ^ words[to]) & mask;

	words[from] ^= swap << shift;
	words[to] ^= swap;
}

/* Written out, as are the sums of narrow_linear: only so do compilers keep the words in registers. */
static inline void transpose_bytes(uint64_t words[8])
{
	const uint64_t fours = UINT64_C(0x0F0F0F0F0F0F0F0F), twos = UINT64_C(0x3333333333333333);
	const uint64_t ones = UINT64_C(0x5555555555555555);

	exchange(words, 0, 4, 4, fours);
	exchange(words, 1, 5, 4, fours);
	exchange(words, 2, 6, 4, fours);
	exchange(words, 3, 7, 4, fours);
	exchange(words, 0, 2, 2, twos);
	exchange(words, 1, 3, 2, twos);
	exchange(words, 4, 6, 2, twos);
	exchange(words, 5, 7, 2, twos);
	exchange(words, 0, 1, 1, ones);
	exchange(words, 2, 3, 1, ones);
	exchange(words, 4, 5, 1, ones);
	exchange(words, 6, 7, 1, ones);
}

static inline void narrow_box(uint64_t words[8])
{
	transpose_bytes(words);
	sliced_box(words, words);
	transpose_bytes(words);
}

static inline void narrow_box_inverse(uint64_t words[8])
{
	transpose_bytes(words);
	sliced_box_inverse(words, words);
	transpose_bytes(words);
}

/* For each bit of the bytes of a word, a mask has 255 where it is set. What a source byte adds to the target byte that
 * lies `rotation` places above it is a constant selected by that mask; all of one rotation are summed where the source
 * is, and moved together. */
static void narrow_linear(struct narrow *narrow, unsigned n, linear_constants constants)
{
	const uint64_t lowest = UINT64_C(0x0101010101010101);
	uint64_t *block = narrow->words + 2 * n;
	block128 (*masks)[8] = narrow->masks, sum = block128_make(0, 0);

#define MASK(source, bit)                                                                                    \
	do {                                                                                                 \
		uint64_t set = block[source] >> (bit) & lowest;                                              \
		set = (set << 8) - set;                                                                      \
		masks[source][bit] = block128_make(set, set);                                                \
	} while (0);
#define MASKS(bit) MASK(0, bit) MASK(1, bit)
	MASKS(0) MASKS(1) MASKS(2) MASKS(3) MASKS(4) MASKS(5) MASKS(6) MASKS(7)
#undef MASK
#undef MASKS
#define TERM(n, source, bit) block128_and(masks[source][bit], constants[n][source][bit])
#define TERMS(n, source, bit) block128_xor(TERM(n, source, bit), TERM(n, source, (bit) + 1))
#define SOURCE(n, source)                                                                                    \
	block128_xor(block128_xor(TERMS(n, source, 0), TERMS(n, source, 2)),                                 \
	             block128_xor(TERMS(n, source, 4), TERMS(n, source, 6)))
#define ROTATION(n) \
	sum = block128_xor(sum, block128_rotate_words(block128_xor(SOURCE(n, 0), SOURCE(n, 1)), 8 * (n)));
	ROTATION(0)
	ROTATION(1)
	ROTATION(2)
	ROTATION(3)
	ROTATION(4)
	ROTATION(5)
	ROTATION(6)
	ROTATION(7)
#undef TERM
#undef TERMS
#undef SOURCE
#undef ROTATION
	block[0] = block128_low(sum);
	block[1] = block128_high(sum);
}

static inline void narrow_add_key(struct narrow *narrow, unsigned blocks, const uint64_t key[2])
{
	for (unsigned n = 0; n < blocks; n++) {
		narrow->words[2 * n] ^= key[0];
		narrow->words[2 * n + 1] ^= key[1];
	}
}

static void narrow_encrypt(const struct sliced_state *sliced, struct narrow *narrow, unsigned blocks)
{
	for (unsigned i = 0; i < KUZNYECHIK_ROUND_KEYS - 1; i++) {
		narrow_add_key(narrow, blocks, sliced->keys[i]);
		narrow_box(narrow->words);
		for (unsigned n = 0; n < blocks; n++)
			narrow_linear(narrow, n, forward);
	}
	narrow_add_key(narrow, blocks, sliced->keys[KUZNYECHIK_ROUND_KEYS - 1]);
}

static void narrow_decrypt(const struct sliced_state *sliced, struct narrow *narrow, unsigned blocks)
{
	for (unsigned i = KUZNYECHIK_ROUND_KEYS - 1; i > 0; i--) {
		narrow_add_key(narrow, blocks, sliced->keys[i]);
		for (unsigned n = 0; n < blocks; n++)
			narrow_linear(narrow, n, backward);
		narrow_box_inverse(narrow->words);
	}
	narrow_add_key(narrow, blocks, sliced->keys[0]);
}

/* ---- the bit-sliced form: [byte of the block][bit of the byte], bit n of a word is block n's. A line of 32 bytes: L
 * goes from its right half to the left, or back. */

typedef uint64_t sliced_planes[32][8];

union sliced_line {
	sliced_planes planes;
	uint64_t words[32 * 8];
};

static void sliced_load(union sliced_line *line, const uint8_t *from, unsigned blocks)
{
	uint64_t *left = line->words, *right = line->words + 64;

	for (unsigned n = 0; n < 64; n++) {
		left[n] = n < blocks ? load_le64(from + 16 * n) : 0;
		right[n] = n < blocks ? load_le64(from + 16 * n + 8) : 0;
	}
	transpose64(left);
	transpose64(right);
}

static void sliced_store(uint8_t *to, union sliced_line *line, unsigned blocks)
{
	uint64_t *left = line->words, *right = line->words + 64;

	transpose64(left);
	transpose64(right);
	for (unsigned n = 0; n < blocks; n++) {
		store_le64(to + 16 * n, left[n]);
		store_le64(to + 16 * n + 8, right[n]);
	}
}

static inline void sliced_add_key(uint64_t planes[16][8], const uint64_t key[2])
{
	for (unsigned i = 0; i < 16; i++)
		for (unsigned bit = 0; bit < 8; bit++)
			planes[i][bit] ^= 0 - (key[i / 8] >> (8 * (i % 8) + bit) & 1u);
}

/* One step of R: the sum of `last` and of coefficient k times planes[k] for k < 15. The coefficients are
 * a palindrome, 148 32 133 16 194 192 1 251 1 192 194 16 133 32 148, so bytes k and 14 - k are added first. The sum is
 * sorted by the coefficients' bits: sums of bytes times 1, x, .. x^7. Plane b of the one for x^c goes to plane b + c
 * of a product of degree 14, which is reduced at the end. */
#define PLANE(b, p0, p1, p2, p3, p4, p5, p6, p7)                                               \
	do {                                                                                   \
		uint64_t u1 = planes[0][b] ^ planes[14][b], u2 = planes[1][b] ^ planes[13][b]; \
		uint64_t u3 = planes[2][b] ^ planes[12][b], u4 = planes[3][b] ^ planes[11][b]; \
		uint64_t u5 = planes[4][b] ^ planes[10][b], u6 = planes[5][b] ^ planes[9][b];  \
		uint64_t u7 = planes[6][b] ^ planes[8][b], u8 = planes[7][b];                  \
		uint64_t u1_3 = u1 ^ u3, u5_8 = u5 ^ u8, u5_6_8 = u5_8 ^ u6;                   \
		p0 ^= u7 ^ u3 ^ u8, p1 ^= u5_8, p2 ^= u1_3, p3 ^= u8;                          \
		p4 ^= u1 ^ u4 ^ u8, p5 ^= u2 ^ u8, p6 ^= u5_6_8, p7 ^= u1_3 ^ u5_6_8;          \
	} while (0)

static inline void sliced_step(uint64_t to[8], uint64_t planes[15][8], const uint64_t last[8])
{
	uint64_t p0 = last[0], p1 = last[1], p2 = last[2], p3 = last[3];
	uint64_t p4 = last[4], p5 = last[5], p6 = last[6], p7 = last[7];
	uint64_t p8 = 0, p9 = 0, p10 = 0, p11 = 0, p12 = 0, p13 = 0, p14 = 0;

	PLANE(0, p0, p1, p2, p3, p4, p5, p6, p7);
	PLANE(1, p1, p2, p3, p4, p5, p6, p7, p8);
	PLANE(2, p2, p3, p4, p5, p6, p7, p8, p9);
	PLANE(3, p3, p4, p5, p6, p7, p8, p9, p10);
	PLANE(4, p4, p5, p6, p7, p8, p9, p10, p11);
	PLANE(5, p5, p6, p7, p8, p9, p10, p11, p12);
	PLANE(6, p6, p7, p8, p9, p10, p11, p12, p13);
	PLANE(7, p7, p8, p9, p10, p11, p12, p13, p14);
	/* x^8 = x^7 + x^6 + x + 1. */
	p13 ^= p14, p12 ^= p14, p7 ^= p14, p6 ^= p14;
	p12 ^= p13, p11 ^= p13, p6 ^= p13, p5 ^= p13;
	p11 ^= p12, p10 ^= p12, p5 ^= p12, p4 ^= p12;
	p10 ^= p11, p9 ^= p11, p4 ^= p11, p3 ^= p11;
	p9 ^= p10, p8 ^= p10, p3 ^= p10, p2 ^= p10;
	p8 ^= p9, p7 ^= p9, p2 ^= p9, p1 ^= p9;
	p7 ^= p8, p6 ^= p8, p1 ^= p8, p0 ^= p8;
	to[0] = p0, to[1] = p1, to[2] = p2, to[3] = p3, to[4] = p4, to[5] = p5, to[6] = p6, to[7] = p7;
}

/* From the left half to the left half. */
static void sliced_encrypt(const struct sliced_state *sliced, sliced_planes line)
{
	for (unsigned i = 0; i < KUZNYECHIK_ROUND_KEYS - 1; i++) {
		sliced_add_key(line, sliced->keys[i]);
		for (unsigned n = 0; n < 16; n++)
			sliced_box(line[n + 16], line[n]);
		for (unsigned n = 16; n-- > 0;)
			sliced_step(line[n], line + n + 1, line[n + 16]);
	}
	sliced_add_key(line, sliced->keys[KUZNYECHIK_ROUND_KEYS - 1]);
}

static void sliced_decrypt(const struct sliced_state *sliced, sliced_planes line)
{
	for (unsigned i = KUZNYECHIK_ROUND_KEYS - 1; i > 0; i--) {
		sliced_add_key(line, sliced->keys[i]);
		for (unsigned n = 0; n < 16; n++)
			sliced_step(line[n + 16], line + n + 1, line[n]);
		for (unsigned n = 0; n < 16; n++)
			sliced_box_inverse(line[n], line[n + 16]);
	}
	sliced_add_key(line, sliced->keys[0]);
}

/* ---- both */

static void set_key(void *state, const uint8_t key[KUZMA_KEY_BYTES])
{
	struct sliced_state *sliced = state;
	struct narrow narrow = { 0 };
	uint64_t *words = narrow.words, (*keys)[2] = sliced->keys;

	for (unsigned i = 0; i < 4; i++)
		keys[i / 2][i % 2] = load_le64(key + 8 * i);
	for (unsigned pair = 0; pair < 4; pair++, keys += 2) {
		uint64_t *left = keys[2], *right = keys[3];

		memcpy(keys + 2, keys, 2 * sizeof *keys);
		for (unsigned i = 0; i < 8; i++) {
			words[0] = left[0] ^ schedule[8 * pair + i][0];
			words[1] = left[1] ^ schedule[8 * pair + i][1];
			narrow_box(words);
			narrow_linear(&narrow, 0, forward);
			words[0] ^= right[0];
			words[1] ^= right[1];
			right[0] = left[0], right[1] = left[1];
			left[0] = words[0], left[1] = words[1];
		}
	}
	wipe_bytes(&narrow, sizeof narrow);
}

static void process(const struct sliced_state *sliced, uint8_t *output, const uint8_t *input, size_t blocks,
                    void (*many)(const struct sliced_state *, sliced_planes),
                    void (*few)(const struct sliced_state *, struct narrow *, unsigned))
{
	if (blocks >= SLICED_FROM) {
		union sliced_line line;

		while (blocks >= SLICED_FROM) {
			unsigned some = blocks < 64 ? (unsigned)blocks : 64;

			sliced_load(&line, input, some);
			many(sliced, line.planes);
			sliced_store(output, &line, some);
			input += 16 * some, output += 16 * some, blocks -= some;
		}
		wipe_bytes(&line, sizeof line);
	}
	if (blocks > 0) {
		struct narrow narrow;

		while (blocks > 0) {
			unsigned some = blocks < 4 ? (unsigned)blocks : 4;

			for (unsigned i = 0; i < 8; i++)
				narrow.words[i] = i < 2 * some ? load_le64(input + 8 * i) : 0;
			few(sliced, &narrow, some);
			for (unsigned i = 0; i < 2 * some; i++)
				store_le64(output + 8 * i, narrow.words[i]);
			input += 16 * some, output += 16 * some, blocks -= some;
		}
		wipe_bytes(&narrow, sizeof narrow);
	}
}

static void encrypt_blocks(const void *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	process(state, output, input, blocks, sliced_encrypt, narrow_encrypt);
}

static void decrypt_blocks(const void *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	process(state, output, input, blocks, sliced_decrypt, narrow_decrypt);
}

static void cbc_encrypt(const void *state, uint8_t *iv, uint8_t *output, const uint8_t *input, size_t blocks)
{
	struct narrow narrow = { .words = { load_le64(iv), load_le64(iv + 8) } };
	uint64_t *words = narrow.words;

	for (size_t n = 0; n < blocks; n++) {
		words[0] ^= load_le64(input + 16 * n);
		words[1] ^= load_le64(input + 16 * n + 8);
		narrow_encrypt(state, &narrow, 1);
		if (output == NULL)
			continue;
		store_le64(output + 16 * n, words[0]);
		store_le64(output + 16 * n + 8, words[1]);
	}
	store_le64(iv, words[0]);
	store_le64(iv + 8, words[1]);
	wipe_bytes(&narrow, sizeof narrow);
}

const struct kuzma_backend kuzma_kuznyechik_constant_time = {
	.name = "constant-time",
	.cipher = KUZMA_KUZNYECHIK,
	.constant_time = true,
	.state_bytes = sizeof(struct sliced_state),
	.prepare = prepare,
	.set_key = set_key,
	.encrypt_blocks = encrypt_blocks,
	.decrypt_blocks = decrypt_blocks,
	.cbc_encrypt = cbc_encrypt,
};
