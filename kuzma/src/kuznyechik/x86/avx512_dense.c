/* 8 blocks at a time, in two registers: 64-bit element p of register h holds byte 8h + p of all of them. The
 * multiplication by a matrix takes one matrix for each 64-bit element; so L is 16 rotations by whole elements, each
 * multiplied by two registers of matrices, one for each half of the result. 16 blocks are two such groups, whose waits
 * fill each other. */
#include "avx512.h"

#ifdef KUZMA_X86

struct group {
	__m512i low, high;
};

ALWAYS_INLINE __m512i gather_index(void)
{
	/* Element p takes byte p of 8 blocks of 16. */
	const __m512i first = _mm512_set1_epi64(0x7060504030201000);

	return _mm512_add_epi8(first, _mm512_set_epi64(0x0707070707070707, 0x0606060606060606, 0x0505050505050505,
	                                               0x0404040404040404, 0x0303030303030303, 0x0202020202020202,
	                                               0x0101010101010101, 0));
}

ALWAYS_INLINE __m512i scatter_index(void)
{
	/* Block b takes byte b of each element of both halves: byte p is at 8p + b. */
	const __m512i first = _mm512_broadcast_i32x4(
	        _mm_set_epi8(120, 112, 104, 96, 88, 80, 72, 64, 56, 48, 40, 32, 24, 16, 8, 0));

	return _mm512_add_epi8(first, _mm512_set_epi64(0x0303030303030303, 0x0303030303030303, 0x0202020202020202,
	                                               0x0202020202020202, 0x0101010101010101, 0x0101010101010101, 0,
	                                               0));
}

/* Two 64-bit elements to a block. */
ALWAYS_INLINE __mmask8 element_mask(size_t blocks)
{
	return (__mmask8)(blocks >= 4 ? 255u : (1u << 2 * blocks) - 1u);
}

ALWAYS_INLINE struct group load_group(const uint8_t *input, size_t blocks)
{
	__m512i first = _mm512_maskz_loadu_epi64(element_mask(blocks), input);
	__m512i second = blocks <= 4 ? _mm512_setzero_si512()
	                             : _mm512_maskz_loadu_epi64(element_mask(blocks - 4), input + 64);
	struct group group = {
		.low = _mm512_permutex2var_epi8(first, gather_index(), second),
		.high = _mm512_permutex2var_epi8(first, _mm512_add_epi8(gather_index(), _mm512_set1_epi8(8)), second),
	};

	return group;
}

ALWAYS_INLINE void store_group(uint8_t *output, struct group group, size_t blocks)
{
	__m512i first = _mm512_permutex2var_epi8(group.low, scatter_index(), group.high);
	__m512i second = _mm512_permutex2var_epi8(group.low, _mm512_add_epi8(scatter_index(), _mm512_set1_epi8(4)),
	                                          group.high);

	_mm512_mask_storeu_epi64(output, element_mask(blocks), first);
	if (blocks > 4)
		_mm512_mask_storeu_epi64(output + 64, element_mask(blocks - 4), second);
}

ALWAYS_INLINE struct group add_key(struct group group, const uint64_t key[16])
{
	group.low = _mm512_xor_si512(group.low, _mm512_loadu_si512(key));
	group.high = _mm512_xor_si512(group.high, _mm512_loadu_si512(key + 8));
	return group;
}

ALWAYS_INLINE struct group substitute_group(struct group group, const uint8_t box[256])
{
	group.low = substitute(group.low, box);
	group.high = substitute(group.high, box);
	return group;
}

/* L and, if not NULL, a key. */
ALWAYS_INLINE struct group linear(struct group x, const struct avx512_direction *direction, const uint64_t *key)
{
	__m512i zero = _mm512_setzero_si512();
	struct group sum = { key == NULL ? zero : _mm512_loadu_si512(key),
		             key == NULL ? zero : _mm512_loadu_si512(key + 8) };

#define ROTATION(r)                                                                            \
	{                                                                                      \
		__m512i low = r == 0 ? x.low : _mm512_alignr_epi64(x.low, x.low, r);           \
		__m512i high = r == 0 ? x.high : _mm512_alignr_epi64(x.high, x.high, r);       \
		const uint64_t(*m)[2][8][8] = direction->dense;                                \
		sum.low = xor3(sum.low, affine(low, _mm512_load_si512(m[0][0][r])),            \
		               affine(high, _mm512_load_si512(m[0][1][r])));                   \
		sum.high = xor3(sum.high, affine(low, _mm512_load_si512(m[1][0][r])),          \
		                affine(high, _mm512_load_si512(m[1][1][r])));                  \
	}
	ROTATION(0) ROTATION(1) ROTATION(2) ROTATION(3) ROTATION(4) ROTATION(5) ROTATION(6) ROTATION(7)
#undef ROTATION
	return sum;
}

ALWAYS_INLINE struct group encrypt_round(struct group x, const uint64_t key[16])
{
	const struct avx512_direction *direction = anew(&kuzma_kuznyechik_avx512_tables.encryption);

	return linear(substitute_group(x, direction->box), direction, key);
}

ALWAYS_INLINE struct group decrypt_round(struct group x, const uint64_t key[16])
{
	const struct avx512_direction *direction = anew(&kuzma_kuznyechik_avx512_tables.decryption);

	return substitute_group(linear(add_key(x, key), direction, NULL), direction->box);
}

/* One group, or two whose waits fill each other. */
ALWAYS_INLINE void run_groups(const struct avx512_state *state, uint8_t *output, const uint8_t *input, size_t blocks,
                              bool two, bool inverse)
{
	struct group a = load_group(input, blocks), b = a;

	if (two)
		b = load_group(input + 16 * DENSE_BLOCKS, blocks - DENSE_BLOCKS);
	if (!inverse) {
		a = add_key(a, state->plain[0]);
		if (two)
			b = add_key(b, state->plain[0]);
	}
	for (unsigned i = 1; i < KUZNYECHIK_ROUND_KEYS; i++) {
		const uint64_t *key = state->plain[inverse ? KUZNYECHIK_ROUND_KEYS - i : i];

		a = inverse ? decrypt_round(a, key) : encrypt_round(a, key);
		if (two)
			b = inverse ? decrypt_round(b, key) : encrypt_round(b, key);
	}
	if (inverse) {
		a = add_key(a, state->plain[0]);
		if (two)
			b = add_key(b, state->plain[0]);
	}
	store_group(output, a, blocks);
	if (two)
		store_group(output + 16 * DENSE_BLOCKS, b, blocks - DENSE_BLOCKS);
}

void kuzma_kuznyechik_avx512_encrypt_dense(const struct avx512_state *state, uint8_t *output, const uint8_t *input,
                                     size_t blocks)
{
	if (blocks <= DENSE_BLOCKS)
		run_groups(state, output, input, blocks, false, false);
	else
		run_groups(state, output, input, blocks, true, false);
}

void kuzma_kuznyechik_avx512_decrypt_dense(const struct avx512_state *state, uint8_t *output, const uint8_t *input,
                                     size_t blocks)
{
	if (blocks <= DENSE_BLOCKS)
		run_groups(state, output, input, blocks, false, true);
	else
		run_groups(state, output, input, blocks, true, true);
}
#endif
