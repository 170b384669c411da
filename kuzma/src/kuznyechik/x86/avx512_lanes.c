/* Few blocks. Up to four: one in each 128-bit lane, L as a sum over 16 rotations of the block, each multiplied byte by
 * byte. One block, and the chains of CBC and of a MAC: avx512_single.h. All in AES's field. */
#include "avx512_single.h"

#ifdef KUZMA_X86

ALWAYS_INLINE __m512i encrypt_single(const struct avx512_state *state, __m512i x)
{
	const struct avx512_direction *direction = &kuzma_kuznyechik_avx512_tables.encryption;

	for (unsigned i = 1; i < KUZNYECHIK_ROUND_KEYS; i++)
		x = linear_single(substitute_at_once(x, direction->aes_box), direction, broadcast_block(state->lanes[i]));
	return x;
}

ALWAYS_INLINE void store_block(uint8_t *output, __m512i x)
{
	_mm_storeu_si128((__m128i *)(void *)output, _mm512_castsi512_si128(x));
}

void kuzma_kuznyechik_avx512_encrypt_lanes(const struct avx512_state *state, uint8_t *output, const uint8_t *input,
                                     size_t blocks)
{
	const struct avx512_direction *direction = &kuzma_kuznyechik_avx512_tables.encryption;

	if (blocks == 1) {
		__m512i x = _mm512_xor_si512(to_aes(broadcast_block(input)), broadcast_block(state->lanes[0]));
		store_block(output, from_aes(encrypt_single(state, x)));
		return;
	}
	__mmask8 mask = (__mmask8)((1u << 2 * blocks) - 1u);
	__m512i x = to_aes(_mm512_maskz_loadu_epi64(mask, input));

	x = _mm512_xor_si512(x, broadcast_block(state->lanes[0]));
	for (unsigned i = 1; i < KUZNYECHIK_ROUND_KEYS; i++) {
		direction = anew(direction);
		x = multiply_lanes(substitute_at_once(x, direction->aes_box), direction->diagonals,
		                   broadcast_block(state->lanes[i]));
	}
	_mm512_mask_storeu_epi64(output, mask, from_aes(x));
}

void kuzma_kuznyechik_avx512_decrypt_lanes(const struct avx512_state *state, uint8_t *output, const uint8_t *input,
                                     size_t blocks)
{
	const struct avx512_direction *direction = &kuzma_kuznyechik_avx512_tables.decryption;
	const __m512i zero = _mm512_setzero_si512();

	if (blocks == 1) {
		__m512i x = to_aes(broadcast_block(input));
		for (unsigned i = KUZNYECHIK_ROUND_KEYS - 1; i > 0; i--) {
			x = _mm512_xor_si512(x, broadcast_block(state->lanes[i]));
			x = substitute_at_once(linear_single(x, direction, zero), direction->aes_box);
		}
		store_block(output, from_aes(_mm512_xor_si512(x, broadcast_block(state->lanes[0]))));
		return;
	}
	__mmask8 mask = (__mmask8)((1u << 2 * blocks) - 1u);
	__m512i x = to_aes(_mm512_maskz_loadu_epi64(mask, input));

	for (unsigned i = KUZNYECHIK_ROUND_KEYS - 1; i > 0; i--) {
		direction = anew(direction);
		x = _mm512_xor_si512(x, broadcast_block(state->lanes[i]));
		x = substitute_at_once(multiply_lanes(x, direction->diagonals, zero), direction->aes_box);
	}
	x = _mm512_xor_si512(x, broadcast_block(state->lanes[0]));
	_mm512_mask_storeu_epi64(output, mask, from_aes(x));
}

void kuzma_kuznyechik_avx512_cbc_encrypt(const void *from, uint8_t *iv, uint8_t *output, const uint8_t *input, size_t blocks)
{
	const struct avx512_state *state = from;
	const struct avx512_direction *direction = &kuzma_kuznyechik_avx512_tables.encryption;
	const __m512i first = broadcast_block(state->lanes[0]), last = broadcast_block(state->lanes[9]);
	__m512i chain = to_aes(broadcast_block(iv));

	if (blocks == 0)
		return;
	/* `chain` is what the first S of the block takes: the first key is in it, and so is the next block, which goes into
	 * the sum at the end of L and so does not lengthen the chain. */
	chain = xor3(chain, first, to_aes(broadcast_block(input)));
	for (size_t n = 0; n < blocks; n++) {
		__m512i x = chain, next = first;

		if (n + 1 < blocks)
			next = _mm512_xor_si512(first, to_aes(broadcast_block(input + 16 * (n + 1))));
		for (unsigned i = 1; i < KUZNYECHIK_ROUND_KEYS - 1; i++)
			x = linear_single(substitute_at_once(x, direction->aes_box), direction, broadcast_block(state->lanes[i]));
		chain = linear_single(substitute_at_once(x, direction->aes_box), direction, _mm512_xor_si512(last, next));
		if (output != NULL)
			store_block(output + 16 * n, from_aes(_mm512_xor_si512(chain, next)));
	}
	store_block(iv, from_aes(_mm512_xor_si512(chain, first)));
}

void kuzma_kuznyechik_avx512_first_round(const struct avx512_state *state, uint64_t constant[16],
                                         const uint8_t counter[16], enum counting_half half)
{
	const struct avx512_direction *direction = &kuzma_kuznyechik_avx512_tables.encryption;
	const __m512i lane_bytes = _mm512_set_epi64(0x0808080808080808, 0x0909090909090909, 0x0A0A0A0A0A0A0A0A,
	                                            0x0B0B0B0B0B0B0B0B, 0x0C0C0C0C0C0C0C0C, 0x0D0D0D0D0D0D0D0D,
	                                            0x0E0E0E0E0E0E0E0E, 0x0F0F0F0F0F0F0F0F);
	__m512i x = _mm512_xor_si512(to_aes(broadcast_block(counter)), broadcast_block(state->lanes[0]));

	x = substitute_at_once(x, direction->aes_box);
	x = _mm512_and_si512(x, _mm512_broadcast_i32x4(half == LEFT_HALF ? _mm_set_epi32(-1, -1, 0x00FFFFFF, -1)
	                                                                 : _mm_set_epi32(0x00FFFFFF, -1, -1, -1)));
	x = from_aes(linear_single(x, direction, broadcast_block(state->lanes[1])));
	/* y[n] is byte 15 - n. */
	_mm512_storeu_si512(constant, _mm512_shuffle_epi8(x, lane_bytes));
	_mm512_storeu_si512(constant + 8, _mm512_shuffle_epi8(x, _mm512_sub_epi8(lane_bytes, _mm512_set1_epi8(8))));
}
#endif
