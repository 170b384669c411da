/* Magma with AVX-512, bit-sliced: a register holds one bit of 512 blocks. A round is 143 operations on these registers,
 * which have no shifts or rotations: about half the work per block of the kernel in avx512.c, if there are that many
 * blocks. The state is 64 registers, so it lives in memory. */
#include "cpu.h"

#ifdef KUZMA_X86

#include <stdbool.h>
#include <string.h>

#include "avx512.h"
#include "avx512_sboxes.h"

/* Bit n of a block, counted from the first bit of its first byte, is in words[n]: so bit n of the left word is
 * words[31 - n], and that of the right word is words[63 - n]. Byte g of qword t of each belongs to blocks
 * 64 * g + 8 * t .. + 7, the first of them in the highest bit. */
#define WORDS 64
#define BATCH_BYTES ((size_t)8 * MAGMA_SLICED_BLOCKS)

void kuzma_magma_avx512_sliced_set_key(struct magma_avx512 *keys)
{
	for (unsigned w = 0; w < 8; w++)
		for (unsigned bit = 0; bit < 32; bit++)
			keys->key_bits[w][bit] = 0u - (keys->encrypt_keys[w] >> bit & 1u);
}

#define XOR3 0x96
#define MAJORITY 0xe8
#define KEY(bit) _mm512_set1_epi32((int)key[bit])
/* One bit of the sum of `source` and the key, and the next carry. */
#define SUM(bit)                                                     \
	word = source[31 - (bit)];                                   \
	x##bit = LUT(word, KEY(bit), carry, XOR3);                   \
	carry = LUT(word, KEY(bit), carry, MAJORITY);
#define SUM_4(a, b, c, d) SUM(a) SUM(b) SUM(c) SUM(d)
#define SUBSTITUTE(n, a, b, c, d) substitute_##n(target, x##a, x##b, x##c, x##d);

/* The next round begins with the bits that boxes 5, 6 and 7 give, and goes on with those of box 0: so the first boxes
 * come last, and their work hides the time until the others' results are back from memory.
 * Not inlined: a copy for each of the places it is called from would not fit into the cache of decoded instructions. */
static __attribute__((noinline)) void one_round(__m512i *restrict target, const __m512i *restrict source,
                                                const uint32_t key[32])
{
	__m512i word, carry = _mm512_setzero_si512();
	__m512i x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15;
	__m512i x16, x17, x18, x19, x20, x21, x22, x23, x24, x25, x26, x27, x28, x29, x30, x31;

	SUM_4(0, 1, 2, 3)
	SUM_4(4, 5, 6, 7)
	SUM_4(8, 9, 10, 11)
	SUM_4(12, 13, 14, 15)
	SUBSTITUTE(3, 12, 13, 14, 15)
	SUM_4(16, 17, 18, 19)
	SUBSTITUTE(4, 16, 17, 18, 19)
	SUM_4(20, 21, 22, 23)
	SUBSTITUTE(5, 20, 21, 22, 23)
	SUM_4(24, 25, 26, 27)
	SUBSTITUTE(6, 24, 25, 26, 27)
	SUM_4(28, 29, 30, 31)
	SUBSTITUTE(7, 28, 29, 30, 31)
	SUBSTITUTE(0, 0, 1, 2, 3)
	SUBSTITUTE(1, 4, 5, 6, 7)
	SUBSTITUTE(2, 8, 9, 10, 11)
}

#define SUM_TWICE(bit, x, y)                                         \
	key_bit = KEY(bit);                                          \
	word = source[31 - (bit)];                                   \
	x = LUT(word, key_bit, carry, XOR3);                         \
	carry = LUT(word, key_bit, carry, MAJORITY);                 \
	word = source[WORDS + 31 - (bit)];                           \
	y = LUT(word, key_bit, other_carry, XOR3);                   \
	other_carry = LUT(word, key_bit, other_carry, MAJORITY);
#define NIBBLE_TWICE(n)                                              \
	SUM_TWICE(4 * n, x0, y0)                                     \
	SUM_TWICE(4 * n + 1, x1, y1)                                 \
	SUM_TWICE(4 * n + 2, x2, y2)                                 \
	SUM_TWICE(4 * n + 3, x3, y3)                                 \
	substitute_##n(target, x0, x1, x2, x3);                      \
	substitute_##n(target + WORDS, y0, y1, y2, y3);

/* Two batches at once, the second in the next WORDS: the carries of one batch are a chain of 32 operations, which takes
 * longer than all the others of the round need. */
static __attribute__((noinline)) void one_round_twice(__m512i *restrict target, const __m512i *restrict source,
                                                      const uint32_t key[32])
{
	__m512i word, key_bit, x0, x1, x2, x3, y0, y1, y2, y3;
	__m512i carry = _mm512_setzero_si512(), other_carry = carry;

	NIBBLE_TWICE(0)
	NIBBLE_TWICE(1)
	NIBBLE_TWICE(2)
	NIBBLE_TWICE(3)
	NIBBLE_TWICE(4)
	NIBBLE_TWICE(5)
	NIBBLE_TWICE(6)
	NIBBLE_TWICE(7)
}

static void all_rounds(__m512i *words, const struct magma_avx512 *keys, enum magma_order order, bool twice)
{
	__m512i *target = words, *source = words + 32;

	for (unsigned i = 0; i < MAGMA_ROUNDS; i++) {
		unsigned n = order == MAGMA_ENCRYPT ? i : MAGMA_ROUNDS - 1 - i;
		const uint32_t *key = keys->key_bits[n < 24 ? n % 8 : 31 - n];
		__m512i *swapped = target;

		if (twice)
			one_round_twice(target, source, key);
		else
			one_round(target, source, key);
		target = source;
		source = swapped;
	}
}

#define EACH_OF_8(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define DECLARE_8(r) __m512i r##0, r##1, r##2, r##3, r##4, r##5, r##6, r##7;

/* Qword i of register j becomes qword j of register i. */
#define LANES(to0, to1, to2, to3, p0, p1, p2, p3)                    \
	s0 = _mm512_shuffle_i64x2(p0, p1, 0x88);                     \
	s1 = _mm512_shuffle_i64x2(p0, p1, 0xdd);                     \
	s2 = _mm512_shuffle_i64x2(p2, p3, 0x88);                     \
	s3 = _mm512_shuffle_i64x2(p2, p3, 0xdd);                     \
	to0 = _mm512_shuffle_i64x2(s0, s2, 0x88);                    \
	to2 = _mm512_shuffle_i64x2(s0, s2, 0xdd);                    \
	to1 = _mm512_shuffle_i64x2(s1, s3, 0x88);                    \
	to3 = _mm512_shuffle_i64x2(s1, s3, 0xdd);
#define TRANSPOSE_QWORDS(r)                                          \
	do {                                                         \
		__m512i s0, s1, s2, s3;                              \
		__m512i l0 = _mm512_unpacklo_epi64(r##0, r##1), h0 = _mm512_unpackhi_epi64(r##0, r##1); \
		__m512i l1 = _mm512_unpacklo_epi64(r##2, r##3), h1 = _mm512_unpackhi_epi64(r##2, r##3); \
		__m512i l2 = _mm512_unpacklo_epi64(r##4, r##5), h2 = _mm512_unpackhi_epi64(r##4, r##5); \
		__m512i l3 = _mm512_unpacklo_epi64(r##6, r##7), h3 = _mm512_unpackhi_epi64(r##6, r##7); \
		LANES(r##0, r##2, r##4, r##6, l0, l1, l2, l3)        \
		LANES(r##1, r##3, r##5, r##7, h0, h1, h2, h3)        \
	} while (0)

/* Byte 8 * i + j of a register becomes byte 8 * j + i. */
static const _Alignas(64) uint8_t transposed_bytes[64] = {
	0, 8,  16, 24, 32, 40, 48, 56, 1, 9,  17, 25, 33, 41, 49, 57, 2, 10, 18, 26, 34, 42,
	50, 58, 3, 11, 19, 27, 35, 43, 51, 59, 4, 12, 20, 28, 36, 44, 52, 60, 5, 13, 21, 29,
	37, 45, 53, 61, 6, 14, 22, 30, 38, 46, 54, 62, 7, 15, 23, 31, 39, 47, 55, 63,
};

/* With the data as the matrix of gf2p8affine, and one bit in each byte as the vector, byte k of a qword becomes bit
 * `bit` of its bytes, where 1 << bit is byte k of the vector; byte 7 of the data comes lowest. This one is bit 7 - k,
 * and its own inverse. */
#define ONE_BIT_EACH UINT64_C(0x0102040810204080)

/* The same with byte k ^ by in place of byte k. */
static inline uint64_t exchanged_bytes(uint64_t value, unsigned by)
{
	if (by & 1)
		value = (value & UINT64_C(0x00ff00ff00ff00ff)) << 8 | (value >> 8 & UINT64_C(0x00ff00ff00ff00ff));
	if (by & 2)
		value = (value & UINT64_C(0x0000ffff0000ffff)) << 16 | (value >> 16 & UINT64_C(0x0000ffff0000ffff));
	if (by & 4)
		value = value << 32 | value >> 32;
	return value;
}

/* Each pair of registers exchanges halves of elements. `b` comes with its halves swapped, so that a blend and a shift
 * over both do, which need no shuffle: that is what exchanged_bytes is for. */
#define EXCHANGE(a, b, mask_blend, mask, shift, bits)                \
	do {                                                         \
		__m512i both = mask_blend(mask, a, b);               \
		b = shift(b, a, bits);                               \
		a = both;                                            \
	} while (0)
#define EXCHANGE_32(a, b) EXCHANGE(a, b, _mm512_mask_blend_epi32, 0xaaaa, _mm512_shldi_epi64, 32)
#define EXCHANGE_16(a, b) EXCHANGE(a, b, _mm512_mask_blend_epi16, 0xaaaaaaaa, _mm512_shldi_epi32, 16)
#define EXCHANGE_8(a, b) EXCHANGE(a, b, _mm512_mask_blend_epi8, UINT64_C(0xaaaaaaaaaaaaaaaa), _mm512_shldi_epi16, 8)

static void slice(__m512i words[WORDS], const uint8_t *input)
{
	const __m512i by_place = _mm512_load_si512(transposed_bytes);

	for (unsigned g = 0; g < 8; g++) {
		const __m512i bits = _mm512_set1_epi64((long long)exchanged_bytes(ONE_BIT_EACH, g));
		DECLARE_8(r)

#define LOAD(t)                                                                                     \
	r##t = _mm512_permutexvar_epi8(by_place, _mm512_loadu_si512(input + 512 * g + 64 * t));     \
	r##t = _mm512_gf2p8affine_epi64_epi8(bits, r##t, 0);
#define STORE(n) words[8 * n + g] = r##n;
		EACH_OF_8(LOAD)
		TRANSPOSE_QWORDS(r);
		EACH_OF_8(STORE)
#undef LOAD
#undef STORE
	}
	for (unsigned j = 0; j < 8; j++) {
		__m512i *at = words + 8 * j;
		DECLARE_8(r)

#define LOAD(n) r##n = at[n];
#define STORE(n) at[n] = r##n;
		EACH_OF_8(LOAD)
		EXCHANGE_32(r0, r4);
		EXCHANGE_32(r1, r5);
		EXCHANGE_32(r2, r6);
		EXCHANGE_32(r3, r7);
		EXCHANGE_16(r0, r2);
		EXCHANGE_16(r1, r3);
		EXCHANGE_16(r4, r6);
		EXCHANGE_16(r5, r7);
		EXCHANGE_8(r0, r1);
		EXCHANGE_8(r2, r3);
		EXCHANGE_8(r4, r5);
		EXCHANGE_8(r6, r7);
		EACH_OF_8(STORE)
#undef LOAD
#undef STORE
	}
}

/* The way back, where nothing comes swapped: the first by shuffles and the others by shifts, which use different
 * ports. */
#define RETURN_32(a, b)                                              \
	do {                                                         \
		__m512i first = _mm512_mask_shuffle_epi32(a, 0xaaaa, b, (_MM_PERM_ENUM)0xa0); \
		b = _mm512_mask_shuffle_epi32(b, 0x5555, a, (_MM_PERM_ENUM)0xf5); \
		a = first;                                           \
	} while (0)
#define RETURN_16(a, b)                                              \
	do {                                                         \
		__m512i first = _mm512_mask_blend_epi16(0xaaaaaaaa, a, _mm512_slli_epi32(b, 16)); \
		b = _mm512_mask_blend_epi16(0xaaaaaaaa, _mm512_srli_epi32(a, 16), b); \
		a = first;                                           \
	} while (0)
#define RETURN_8(a, b)                                               \
	do {                                                         \
		__m512i first = LUT(low_bytes, a, _mm512_slli_epi16(b, 8), 0xca); \
		b = LUT(low_bytes, _mm512_srli_epi16(a, 8), b, 0xca); \
		a = first;                                           \
	} while (0)

/* The last round does not swap: the right word comes first. `addend` may be NULL. */
static void unslice(uint8_t *output, __m512i words[WORDS], const uint8_t *addend)
{
	const __m512i by_block = _mm512_load_si512(transposed_bytes), bits = _mm512_set1_epi64((long long)ONE_BIT_EACH);
	const __m512i low_bytes = _mm512_set1_epi16(0xff);

	for (unsigned j = 0; j < 8; j++) {
		__m512i *at = words + 8 * j;
		DECLARE_8(r)

#define LOAD(n) r##n = at[n];
#define STORE(n) at[n] = r##n;
		EACH_OF_8(LOAD)
		RETURN_32(r0, r4);
		RETURN_32(r1, r5);
		RETURN_32(r2, r6);
		RETURN_32(r3, r7);
		RETURN_16(r0, r2);
		RETURN_16(r1, r3);
		RETURN_16(r4, r6);
		RETURN_16(r5, r7);
		RETURN_8(r0, r1);
		RETURN_8(r2, r3);
		RETURN_8(r4, r5);
		RETURN_8(r6, r7);
		EACH_OF_8(STORE)
#undef LOAD
#undef STORE
	}
	for (unsigned g = 0; g < 8; g++) {
		DECLARE_8(r)

#define LOAD(n) r##n = words[8 * (n ^ 4) + g];
#define STORE(t)                                                                                    \
	r##t = _mm512_permutexvar_epi8(by_block, _mm512_gf2p8affine_epi64_epi8(bits, r##t, 0));     \
	if (addend != NULL)                                                                         \
		r##t = _mm512_xor_si512(r##t, _mm512_loadu_si512(addend + 512 * g + 64 * t));       \
	_mm512_storeu_si512(output + 512 * g + 64 * t, r##t);
		EACH_OF_8(LOAD)
		TRANSPOSE_QWORDS(r);
		EACH_OF_8(STORE)
#undef LOAD
#undef STORE
	}
}

/* memset, kept by what follows: a byte at a time would cost more than it hides. */
static void wipe_words(__m512i words[2 * WORDS])
{
	memset(words, 0, 2 * WORDS * sizeof *words);
	__asm__ volatile("" : : "r"(words) : "memory");
}

void kuzma_magma_avx512_sliced_crypt(const struct magma_avx512 *keys, enum magma_order order, uint8_t *output,
                               const uint8_t *input, size_t batches)
{
	__m512i words[2 * WORDS];

	while (batches > 0) {
		bool twice = batches > 1;

		slice(words, input);
		if (twice)
			slice(words + WORDS, input + BATCH_BYTES);
		all_rounds(words, keys, order, twice);
		unslice(output, words, NULL);
		if (twice)
			unslice(output + BATCH_BYTES, words + WORDS, NULL);
		input += BATCH_BYTES << twice;
		output += BATCH_BYTES << twice;
		batches -= 1u + twice;
	}
	wipe_words(words);
}

/* Bits of the numbers 0 .. 511 of the blocks of a batch. */
static inline __m512i number_bit(unsigned bit)
{
	static const uint8_t low[3] = { 0x55, 0x33, 0x0f };

	if (bit < 3)
		return _mm512_set1_epi8((char)low[bit]);
	if (bit < 6)
		return _mm512_maskz_set1_epi64((__mmask8)(low[bit - 3] ^ 0xff), -1);
	return _mm512_maskz_set1_epi8((uint64_t)(low[bit - 6] ^ 0xff) * UINT64_C(0x0101010101010101), -1);
}

/* `first` of the half that counts, which is `counting`; the other one is all `fixed`. */
static void count_sliced(__m512i counting[WORDS / 2], uint32_t first, __m512i other[WORDS / 2], uint32_t fixed)
{
	__m512i carry = _mm512_setzero_si512();

	for (unsigned bit = 0; bit < 32; bit++)
		other[31 - bit] = _mm512_set1_epi32((int)(0u - (fixed >> bit & 1u)));
	for (unsigned bit = 0; bit < 32; bit++) {
		__m512i of_first = _mm512_set1_epi32((int)(0u - (first >> bit & 1u)));
		__m512i of_number = bit < 9 ? number_bit(bit) : _mm512_setzero_si512();

		counting[31 - bit] = LUT(of_first, of_number, carry, XOR3);
		carry = LUT(of_first, of_number, carry, MAJORITY);
	}
}

void kuzma_magma_avx512_sliced_count(const struct magma_avx512 *keys, enum counting_half half, uint8_t *output,
                                     const uint8_t *input, size_t batches, uint32_t left, uint32_t right)
{
	uint32_t first = half == LEFT_HALF ? left : right, fixed = half == LEFT_HALF ? right : left;
	__m512i words[2 * WORDS];
	__m512i *counting = half == LEFT_HALF ? words : words + WORDS / 2;
	__m512i *other = half == LEFT_HALF ? words + WORDS / 2 : words;

	while (batches > 0) {
		bool twice = batches > 1;

		count_sliced(counting, first, other, fixed);
		if (twice)
			count_sliced(counting + WORDS, first + MAGMA_SLICED_BLOCKS, other + WORDS, fixed);
		all_rounds(words, keys, MAGMA_ENCRYPT, twice);
		unslice(output, words, input);
		if (twice)
			unslice(output + BATCH_BYTES, words + WORDS, input == NULL ? NULL : input + BATCH_BYTES);
		first += MAGMA_SLICED_BLOCKS << twice;
		input = input == NULL ? NULL : input + (BATCH_BYTES << twice);
		output += BATCH_BYTES << twice;
		batches -= 1u + twice;
	}
	wipe_words(words);
}

#endif
