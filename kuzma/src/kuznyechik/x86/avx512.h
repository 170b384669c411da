/* What the files of the AVX-512 backend share: the keyed state, the tables and the S-box.
 *
 * Four ways through the cipher, by the number of blocks in flight:
 *   avx512_sliced.c  64 blocks, one byte position per register
 *   avx512_dense.c   8 or 16 blocks, one byte position per 64-bit element
 *   avx512_lanes.c   2 to 4 blocks, one block per 128-bit lane; or one block, in all four lanes
 *
 * Two of them multiply in the field of AES, for which there is an instruction. It is isomorphic to that of Kuznyechik:
 * "in AES's field" below means that each byte went through the isomorphism. */
#ifndef KUZMA_KUZNYECHIK_AVX512_H
#define KUZMA_KUZNYECHIK_AVX512_H

#include "avx512_sliced.h"
#include "backend.h"
#include "bytes.h"
#include "kuznyechik/transforms.h"

#ifdef KUZMA_X86
#include <immintrin.h>

/* As in backend.h. */
#pragma GCC visibility push(hidden)

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum { SLICED_BLOCKS = 64, DENSE_BLOCKS = 8 };

struct avx512_state {
	/* [key][byte], each byte eight times over. */
	uint64_t plain[KUZNYECHIK_ROUND_KEYS][16];
	/* K_2 .. K_10 as the recursion of L in avx512_sliced.c wants them, in its order of bytes. */
	uint64_t folded[KUZNYECHIK_ROUND_KEYS - 1][16];
	/* In AES's field. */
	uint8_t lanes[KUZNYECHIK_ROUND_KEYS][16];
};

/* One direction of the cipher: S and L, or their inverses. */
struct avx512_direction {
	_Alignas(64) uint8_t box[256];
	_Alignas(64) uint8_t aes_box[256];
	/* [half of the output][half of the input][rotation]: one matrix for each byte position of the output. */
	_Alignas(64) uint64_t dense[2][2][8][8];
	/* [d]: the factors of byte (i + d) mod 16 in byte i, the same in each lane; in AES's field. */
	_Alignas(64) uint8_t diagonals[16][64];
	/* [m], lane q: the factors of byte 4m + q in each byte; in AES's field. */
	_Alignas(64) uint8_t columns[4][64];
};

struct avx512_tables {
	struct avx512_direction encryption, decryption;
	/* The factors that make folded keys, for multiply_lanes(). */
	_Alignas(64) uint8_t fold[16][64];
	/* The constants C_1 .. C_32 of the key schedule, and 0; in AES's field. */
	_Alignas(64) uint8_t constants[33][16];
	/* Matrices of the products by the factors of L: enum avx512_factor. */
	uint64_t factors[6];
	/* What byte 7 and what byte 15 contribute to each byte of L, in the order of avx512_sliced.c: by enum
	 * counting_half, as these are the bytes that change from one counter to the next. */
	uint64_t counting_columns[2][16];
	uint64_t to_aes, from_aes;
};

enum avx512_factor { FACTOR_148, FACTOR_32, FACTOR_16, FACTOR_194, FACTOR_192, FACTOR_251 };

extern struct avx512_tables kuzma_kuznyechik_avx512_tables;

void kuzma_kuznyechik_avx512_make_tables(void);
void kuzma_kuznyechik_avx512_set_key(void *state, const uint8_t key[KUZMA_KEY_BYTES]);

/* 1 to 16 blocks. */
void kuzma_kuznyechik_avx512_encrypt_dense(const struct avx512_state *state, uint8_t *output, const uint8_t *input,
                                     size_t blocks);
void kuzma_kuznyechik_avx512_decrypt_dense(const struct avx512_state *state, uint8_t *output, const uint8_t *input,
                                     size_t blocks);
/* 1 to 4 blocks. */
void kuzma_kuznyechik_avx512_encrypt_lanes(const struct avx512_state *state, uint8_t *output, const uint8_t *input,
                                     size_t blocks);
void kuzma_kuznyechik_avx512_decrypt_lanes(const struct avx512_state *state, uint8_t *output, const uint8_t *input,
                                     size_t blocks);
void kuzma_kuznyechik_avx512_cbc_encrypt(const void *state, uint8_t *iv, uint8_t *output, const uint8_t *input,
                                   size_t blocks);

/* The same pointer, unknown to the compiler: tables stay in memory, where instructions take them at no cost, instead of
 * in registers, of which there are too few, or in copies on the stack. */
ALWAYS_INLINE const void *anew(const void *table)
{
	__asm__("" : "+r"(table));
	return table;
}

ALWAYS_INLINE __m512i xor3(__m512i a, __m512i b, __m512i c)
{
	return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

ALWAYS_INLINE __m512i broadcast_word(uint64_t word)
{
	return _mm512_set1_epi64((long long)word);
}

ALWAYS_INLINE __m512i broadcast_block(const uint8_t *block)
{
	return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)block));
}

ALWAYS_INLINE __m512i affine(__m512i x, __m512i matrices)
{
	return _mm512_gf2p8affine_epi64_epi8(x, matrices, 0);
}

/* 256 entries as four tables of 64, chosen by the two upper bits. On Intel 7 operations: its permutation over two
 * tables is three. */
ALWAYS_INLINE __m512i substitute(__m512i x, const uint8_t box[256])
{
	__mmask64 bit7 = _mm512_movepi8_mask(x);
	__mmask64 bit6 = _mm512_test_epi8_mask(x, _mm512_set1_epi8(0x40));
	__m512i low = _mm512_permutexvar_epi8(x, _mm512_load_si512(box));
	__m512i high = _mm512_permutexvar_epi8(x, _mm512_load_si512(box + 128));

	low = _mm512_mask_permutexvar_epi8(low, bit6, x, _mm512_load_si512(box + 64));
	high = _mm512_mask_permutexvar_epi8(high, bit6, x, _mm512_load_si512(box + 192));
	return _mm512_mask_mov_epi8(low, bit7, high);
}

/* The same in the 4 operations that are best on AMD. */
ALWAYS_INLINE __m512i substitute_by_pairs(__m512i x, const uint8_t box[256])
{
	__mmask64 bit7 = _mm512_movepi8_mask(x);
	__m512i low = _mm512_permutex2var_epi8(_mm512_load_si512(box), x, _mm512_load_si512(box + 64));
	__m512i high = _mm512_permutex2var_epi8(_mm512_load_si512(box + 128), x, _mm512_load_si512(box + 192));

	return _mm512_mask_mov_epi8(low, bit7, high);
}

/* The same with the shortest chain on Intel, where it takes some cycles until a mask can be used. */
ALWAYS_INLINE __m512i substitute_at_once(__m512i x, const uint8_t box[256])
{
	__m512i bit7 = _mm512_movm_epi8(_mm512_movepi8_mask(x));
	__m512i low = _mm512_permutex2var_epi8(_mm512_load_si512(box), x, _mm512_load_si512(box + 64));
	__m512i high = _mm512_permutex2var_epi8(_mm512_load_si512(box + 128), x, _mm512_load_si512(box + 192));

	return _mm512_ternarylogic_epi64(bit7, high, low, 0xCA); /* bit7 ? high : low */
}

#pragma GCC visibility pop
#endif
#endif
