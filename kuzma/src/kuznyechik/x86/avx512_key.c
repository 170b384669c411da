/* The key schedule of the AVX-512 backend, RFC 7801 section 4.3, in constant time. */
#include "avx512_single.h"

#ifdef KUZMA_X86

/* The 16 bytes of a lane, each eight times over. `reversed`: from the last on. */
ALWAYS_INLINE void spread_key(uint64_t to[16], __m512i keys, unsigned lane, bool reversed)
{
	const __m512i bytes = _mm512_set_epi64(0x0707070707070707, 0x0606060606060606, 0x0505050505050505,
	                                       0x0404040404040404, 0x0303030303030303, 0x0202020202020202,
	                                       0x0101010101010101, 0);
	__m512i first = _mm512_xor_si512(bytes, _mm512_set1_epi8((char)(16 * lane + (reversed ? 15 : 0))));

	_mm512_storeu_si512(to, _mm512_permutexvar_epi8(first, keys));
	_mm512_storeu_si512(to + 8, _mm512_permutexvar_epi8(_mm512_xor_si512(first, _mm512_set1_epi8(8)), keys));
}

/* Two round keys, each in all lanes, to where they belong in all their forms. Apart from the chain through the rounds,
 * in whose waits it finds its place. */
ALWAYS_INLINE void put_pair(struct avx512_state *state, unsigned index, __m512i first, __m512i second)
{
	__m512i pair = _mm512_mask_mov_epi64(first, 0xF0, second);
	__m512i plain = from_aes(pair);
	const struct avx512_tables *tables = &kuzma_kuznyechik_avx512_tables;
	__m512i folded = from_aes(multiply_lanes(pair, tables->fold, _mm512_setzero_si512()));

	_mm_storeu_si128((__m128i *)(void *)state->lanes[index], _mm512_castsi512_si128(first));
	_mm_storeu_si128((__m128i *)(void *)state->lanes[index + 1], _mm512_castsi512_si128(second));
	spread_key(state->plain[index], plain, 0, false);
	spread_key(state->plain[index + 1], plain, 2, false);
	if (index > 0)
		spread_key(state->folded[index - 1], folded, 0, true);
	spread_key(state->folded[index], folded, 2, true);
}

void kuzma_kuznyechik_avx512_set_key(void *to, const uint8_t key[KUZMA_KEY_BYTES])
{
	const struct avx512_tables *tables = &kuzma_kuznyechik_avx512_tables;
	const struct avx512_direction *direction = &tables->encryption;
	struct avx512_state *state = to;
	__m512i left = to_aes(broadcast_block(key)), right = to_aes(broadcast_block(key + 16));
	__m512i constant = broadcast_block(tables->constants[0]);

	put_pair(state, 0, left, right);
	/* `left` holds the constant that is about to be added: it went into the sum at the end of L. */
	left = _mm512_xor_si512(left, constant);
	for (unsigned i = 0; i < 32;) {
		__m512i next = broadcast_block(tables->constants[++i]);
		__m512i mixed = substitute_at_once(left, direction->aes_box);

		mixed = linear_single(mixed, direction, _mm512_xor_si512(right, next));
		right = _mm512_xor_si512(left, constant);
		left = mixed;
		constant = next;
		if (i % 8 == 0)
			put_pair(state, i / 4, _mm512_xor_si512(left, constant), right);
	}
}
#endif
