/* 64 blocks at a time: register y[n] holds byte 15 - n of all of them, which RFC 7801 calls a_n.
 *
 * L is 16 steps of R (RFC 7801 section 4.2), and a step only makes one new byte, so that it can be written over the one
 * that drops out: y[n] = sum of p_k * y[(n + k) mod 16], k = 0..15, for n = 0, 1, .. 15, with
 *     p = 1, 148, 32, 133, 16, 194, 192, 1, 251, 1, 192, 194, 16, 133, 32, 148.
 * With p_16 = 1 it is a palindrome. So L's inverse is the same sum, taken for n = 15, 14, .. 0; and y[n+k] and y[n+16-k]
 * are added before they are multiplied. Moreover 133 = 148 + 16 + 1: with u_k = y[n+k] + y[n+16-k],
 *     148 u_1 + 133 u_3 + 16 u_4 = 148 (u_1 + u_3) + 16 (u_3 + u_4) + u_3,
 * which leaves six products.
 *
 * Round keys cost nothing: each step adds one more term, a constant. Encryption leaves y[n] + k_n in place of y[n], and
 * the constant makes up for the keys within what is read. Decryption reads y[n] + k_n where y[n] is stored. For both it
 * is c_n = sum of p_(n-m) * k_m, m = 0..n. */
#include "avx512.h"

#ifdef KUZMA_X86

#define EACH16(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)
#define EACH16_DOWN(F) F(15) F(14) F(13) F(12) F(11) F(10) F(9) F(8) F(7) F(6) F(5) F(4) F(3) F(2) F(1) F(0)

ALWAYS_INLINE __m512i product(__m512i x, enum avx512_factor factor)
{
	return affine(x, broadcast_word(kuzma_kuznyechik_avx512_tables.factors[factor]));
}

/* One step: the new y[n]. `newest` is the k of the byte that the step before made. */
ALWAYS_INLINE __m512i step(const __m512i y[16], unsigned n, unsigned newest, uint64_t constant, enum avx512_form form)
{
#define Y(k) y[(n + (k)) % 16]
	__m512i u3 = _mm512_xor_si512(Y(3), Y(13));
	__m512i a = xor3(Y(0), Y(7), Y(9));
	__m512i b = xor3(u3, broadcast_word(constant), product(Y(8), FACTOR_251));

	a = xor3(a, product(_mm512_xor_si512(Y(2), Y(14)), FACTOR_32),
	         product(_mm512_xor_si512(Y(5), Y(11)), FACTOR_194));
	b = xor3(b, product(_mm512_xor_si512(Y(6), Y(10)), FACTOR_192), product(xor3(u3, Y(4), Y(12)), FACTOR_16));
	if (form == FEWEST_OPERATIONS)
		return xor3(a, b, product(xor3(u3, Y(1), Y(15)), FACTOR_148));
	a = xor3(a, b, product(_mm512_xor_si512(u3, Y(16 - newest)), FACTOR_148));
	return _mm512_xor_si512(a, product(Y(newest), FACTOR_148));
#undef Y
}

/* Slot j, or its mirror image: with it, the steps of L's inverse are those of L. */
#define Y(j) y[inverse ? 15 - (j) : (j)]
#define STEP(n) \
	Y(n) = step(y, inverse ? 15 - (n) : (n), inverse ? 1 : 15, constants[inverse ? 15 - (n) : (n)], form);

/* L or its inverse. */
ALWAYS_INLINE void linear(__m512i y[16], const uint64_t constants[16], bool inverse, enum avx512_form form)
{
	EACH16(STEP)
}

ALWAYS_INLINE void substitute_all(__m512i y[16], const uint8_t box[256], bool inverse, enum avx512_form form)
{
#define SUBSTITUTE(n) Y(n) = form == FEWEST_OPERATIONS ? substitute(Y(n), box) : substitute_by_pairs(Y(n), box);
	EACH16(SUBSTITUTE)
#undef SUBSTITUTE
}

/* S, then L; or the inverse of both in this order. On Intel, S keeps one of the two ports busy and leaves half of the
 * other's time: the first steps of L go between, as soon as S has made what they need, from y[8] outwards. a_n and b_n
 * are the sums of step n; the names of the products are those of the bytes they start at. */
ALWAYS_INLINE void joint_round(__m512i y[16], const uint8_t box[256], const uint64_t constants[16], bool inverse)
{
	const enum avx512_form form = FEWEST_OPERATIONS;
	__m512i a0, a1, a2, a3, p8, p9, p10, p11, p5, p6, p7, q8, r0, r1, r2, t0, u0, u1, u2, u3;

#define S(j) Y(j) = substitute(Y(j), anew(box));
#define CONSTANT(n) broadcast_word(constants[inverse ? 15 - (n) : (n)])
#define SUM(i, j) _mm512_xor_si512(Y(i), Y(j))
	S(8) S(7) S(9)
	a0 = xor3(CONSTANT(0), Y(7), Y(9));
	p8 = product(Y(8), FACTOR_251);
	S(6) S(10)
	a0 = xor3(a0, p8, product(SUM(6, 10), FACTOR_192));
	a1 = xor3(CONSTANT(1), Y(8), Y(10));
	p9 = product(Y(9), FACTOR_251);
	S(5) S(11)
	p5 = product(SUM(5, 11), FACTOR_194);
	a1 = xor3(a1, p9, product(SUM(7, 11), FACTOR_192));
	a2 = xor3(CONSTANT(2), Y(9), Y(11));
	p10 = product(Y(10), FACTOR_251);
	S(4) S(12)
	p6 = product(SUM(6, 12), FACTOR_194);
	a2 = xor3(a2, p10, product(SUM(8, 12), FACTOR_192));
	a3 = xor3(CONSTANT(3), Y(10), Y(12));
	p11 = product(Y(11), FACTOR_251);
	S(3) S(13)
	u0 = SUM(3, 13);
	a0 = xor3(a0, u0, p5);
	r0 = product(xor3(u0, Y(4), Y(12)), FACTOR_16);
	p7 = product(SUM(7, 13), FACTOR_194);
	a3 = xor3(a3, p11, product(SUM(9, 13), FACTOR_192));
	S(2) S(14)
	a0 = xor3(a0, r0, product(SUM(2, 14), FACTOR_32));
	u1 = SUM(4, 14);
	a1 = xor3(a1, p6, u1);
	r1 = product(xor3(u1, Y(5), Y(13)), FACTOR_16);
	q8 = product(SUM(8, 14), FACTOR_194);
	S(15) S(1)
	t0 = product(xor3(u0, Y(1), Y(15)), FACTOR_148);
	a1 = xor3(a1, r1, product(SUM(3, 15), FACTOR_32));
	u2 = SUM(5, 15);
	a2 = xor3(a2, p7, u2);
	r2 = product(xor3(u2, Y(6), Y(14)), FACTOR_16);
	S(0)
	a2 = xor3(a2, r2, Y(2));
	Y(0) = xor3(a0, t0, Y(0));
	Y(1) = xor3(a1, Y(1), product(xor3(u1, Y(2), Y(0)), FACTOR_148));
	Y(2) = xor3(a2, product(SUM(4, 0), FACTOR_32), product(xor3(u2, Y(3), Y(1)), FACTOR_148));
	u3 = SUM(6, 0);
	a3 = xor3(a3, q8, u3);
	a3 = xor3(a3, Y(3), product(xor3(u3, Y(7), Y(15)), FACTOR_16));
	Y(3) = xor3(a3, product(SUM(5, 1), FACTOR_32), product(xor3(u3, Y(4), Y(2)), FACTOR_148));
	STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10) STEP(11) STEP(12) STEP(13) STEP(14) STEP(15)
#undef SUM
#undef CONSTANT
#undef S
}

ALWAYS_INLINE void one_round(__m512i y[16], const uint8_t box[256], const uint64_t constants[16], bool inverse,
                             enum avx512_form form)
{
	if (form == FEWEST_OPERATIONS) {
		joint_round(y, box, constants, inverse);
	} else {
		substitute_all(y, box, inverse, form);
		linear(y, constants, inverse, form);
	}
}
#undef STEP
#undef Y

/* Each 128-bit lane of 16 registers is a matrix of 16 by 16 bytes: transposes the four of them. With 4 bits for the
 * register and 4 for the byte in a lane, one pass rotates the index by a bit. */
ALWAYS_INLINE void transpose_pass(__m512i to[16], const __m512i from[16])
{
#define PAIR(r)                                                        \
	to[2 * (r)] = _mm512_unpacklo_epi8(from[r], from[(r) + 8]);    \
	to[2 * (r) + 1] = _mm512_unpackhi_epi8(from[r], from[(r) + 8]);
	PAIR(0) PAIR(1) PAIR(2) PAIR(3) PAIR(4) PAIR(5) PAIR(6) PAIR(7)
#undef PAIR
}

ALWAYS_INLINE void transpose(__m512i x[16])
{
	__m512i t[16];

	transpose_pass(t, x);
	transpose_pass(x, t);
	transpose_pass(t, x);
	transpose_pass(x, t);
}

ALWAYS_INLINE void load_sliced(__m512i y[16], const uint8_t *input, const uint64_t key[16])
{
	__m512i x[16];

#define LOAD(i) x[i] = _mm512_loadu_si512(input + 64 * (i));
	EACH16(LOAD)
#undef LOAD
	transpose(x);
#define TURN(n) y[n] = key == NULL ? x[15 - (n)] : _mm512_xor_si512(x[15 - (n)], broadcast_word(key[15 - (n)]));
	EACH16(TURN)
#undef TURN
}

/* `key` and `mask` may be NULL: nothing is added. */
ALWAYS_INLINE void store_sliced(uint8_t *output, const __m512i y[16], const uint64_t key[16], const uint8_t *mask)
{
	__m512i x[16];

#define TURN(n) x[15 - (n)] = key == NULL ? y[n] : _mm512_xor_si512(y[n], broadcast_word(key[15 - (n)]));
	EACH16(TURN)
#undef TURN
	transpose(x);
#define STORE(i)                                                                                 \
	_mm512_storeu_si512(output + 64 * (i),                                                   \
	                    mask == NULL ? x[i] : _mm512_xor_si512(x[i], _mm512_loadu_si512(mask + 64 * (i))));
	EACH16(STORE)
#undef STORE
}

ALWAYS_INLINE void rounds(__m512i y[16], const struct avx512_state *state, unsigned first, enum avx512_form form)
{
	for (unsigned i = first; i < KUZNYECHIK_ROUND_KEYS - 1; i++)
		one_round(y, kuzma_kuznyechik_avx512_tables.encryption.box, state->folded[i], false, form);
}

ALWAYS_INLINE void encrypt(const struct avx512_state *state, uint8_t *output, const uint8_t *input, enum avx512_form form)
{
	__m512i y[16];

	load_sliced(y, input, state->plain[0]);
	rounds(y, state, 0, form);
	store_sliced(output, y, NULL, NULL);
}

ALWAYS_INLINE void decrypt(const struct avx512_state *state, uint8_t *output, const uint8_t *input, enum avx512_form form)
{
	const uint8_t *box = kuzma_kuznyechik_avx512_tables.decryption.box;
	__m512i y[16];

	load_sliced(y, input, NULL);
	linear(y, state->folded[KUZNYECHIK_ROUND_KEYS - 2], true, form);
	for (unsigned i = KUZNYECHIK_ROUND_KEYS - 2; i-- > 0;)
		one_round(y, box, state->folded[i], true, form);
	substitute_all(y, box, true, form);
	store_sliced(output, y, state->plain[0], NULL);
}

/* 0 .. 63. Lane l, byte j: block 4j + l. */
ALWAYS_INLINE __m512i block_numbers(void)
{
	const __m128i fours = _mm_set_epi8(60, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0);
	const __m512i lanes = _mm512_set_epi32(0x03030303, 0x03030303, 0x03030303, 0x03030303, 0x02020202, 0x02020202,
	                                       0x02020202, 0x02020202, 0x01010101, 0x01010101, 0x01010101, 0x01010101,
	                                       0, 0, 0, 0);

	return _mm512_or_si512(_mm512_broadcast_i32x4(fours), lanes);
}

/* Only byte 15 differs between the 64 counters: it alone goes through the first round, the rest is `constant`. */
ALWAYS_INLINE void counter(const struct avx512_state *state, const uint64_t constant[16], uint64_t right,
                           uint8_t *output, const uint8_t *input, enum avx512_form form)
{
	const uint64_t *columns = kuzma_kuznyechik_avx512_tables.counting_columns[RIGHT_HALF];
	__m512i y[16], s = _mm512_xor_si512(block_numbers(), _mm512_set1_epi8((char)right));

	s = _mm512_xor_si512(s, broadcast_word(state->plain[0][15]));
	s = substitute(s, kuzma_kuznyechik_avx512_tables.encryption.box);
#define COLUMN(n) y[n] = _mm512_xor_si512(affine(s, broadcast_word(columns[n])), broadcast_word(constant[n]));
	EACH16(COLUMN)
#undef COLUMN
	rounds(y, state, 1, form);
	store_sliced(output, y, NULL, input);
}

/* The same wherever the byte wraps: a mask chooses between the two constants. */
ALWAYS_INLINE void hidden_counter(const struct avx512_state *state, const struct avx512_hidden_counters *counters,
                                  uint8_t first, uint8_t *output, const uint8_t *input, enum avx512_form form)
{
	const uint64_t *columns = kuzma_kuznyechik_avx512_tables.counting_columns[counters->half];
	const __m512i start = _mm512_set1_epi8((char)counters->start);
	__m512i y[16], s = _mm512_add_epi8(_mm512_add_epi8(block_numbers(), _mm512_set1_epi8((char)first)), start);
	__m512i wrapped = _mm512_movm_epi8(_mm512_cmplt_epu8_mask(s, start));

	s = _mm512_xor_si512(s, broadcast_word(state->plain[0][counters->half == LEFT_HALF ? 7 : 15]));
	s = substitute(s, kuzma_kuznyechik_avx512_tables.encryption.box);
#define COLUMN(n)                                                                                            \
	y[n] = _mm512_xor_si512(affine(s, broadcast_word(columns[n])), broadcast_word(counters->constant[n])); \
	y[n] = _mm512_ternarylogic_epi64(y[n], wrapped, broadcast_word(counters->change[n]), 0x78); /* a ^ (b & c) */
	EACH16(COLUMN)
#undef COLUMN
	rounds(y, state, 1, form);
	store_sliced(output, y, NULL, input);
}

#define NO_INLINE static __attribute__((noinline))
/* Makes clang align the stack, without which the registers it keeps there lie across cache lines. */
#define ALIGN_SPILLS()                 \
	_Alignas(64) uint8_t line[64]; \
	__asm__ volatile("" : : "r"(line))

NO_INLINE void encrypt_fewest(const struct avx512_state *state, uint8_t *output, const uint8_t *input)
{
	ALIGN_SPILLS();
	encrypt(state, output, input, FEWEST_OPERATIONS);
}

NO_INLINE void encrypt_shortest(const struct avx512_state *state, uint8_t *output, const uint8_t *input)
{
	ALIGN_SPILLS();
	encrypt(state, output, input, SHORTEST_CHAIN);
}

NO_INLINE void decrypt_fewest(const struct avx512_state *state, uint8_t *output, const uint8_t *input)
{
	ALIGN_SPILLS();
	decrypt(state, output, input, FEWEST_OPERATIONS);
}

NO_INLINE void decrypt_shortest(const struct avx512_state *state, uint8_t *output, const uint8_t *input)
{
	ALIGN_SPILLS();
	decrypt(state, output, input, SHORTEST_CHAIN);
}

NO_INLINE void counter_fewest(const struct avx512_state *state, const uint64_t constant[16], uint64_t right,
                              uint8_t *output, const uint8_t *input)
{
	ALIGN_SPILLS();
	counter(state, constant, right, output, input, FEWEST_OPERATIONS);
}

NO_INLINE void counter_shortest(const struct avx512_state *state, const uint64_t constant[16], uint64_t right,
                                uint8_t *output, const uint8_t *input)
{
	ALIGN_SPILLS();
	counter(state, constant, right, output, input, SHORTEST_CHAIN);
}

NO_INLINE void hidden_counter_fewest(const struct avx512_state *state, const struct avx512_hidden_counters *counters,
                                     uint8_t first, uint8_t *output, const uint8_t *input)
{
	ALIGN_SPILLS();
	hidden_counter(state, counters, first, output, input, FEWEST_OPERATIONS);
}

NO_INLINE void hidden_counter_shortest(const struct avx512_state *state, const struct avx512_hidden_counters *counters,
                                       uint8_t first, uint8_t *output, const uint8_t *input)
{
	ALIGN_SPILLS();
	hidden_counter(state, counters, first, output, input, SHORTEST_CHAIN);
}

const struct avx512_sliced kuzma_kuznyechik_avx512_sliced[2] = {
	[FEWEST_OPERATIONS] = { encrypt_fewest, decrypt_fewest, counter_fewest, hidden_counter_fewest },
	[SHORTEST_CHAIN] = { encrypt_shortest, decrypt_shortest, counter_shortest, hidden_counter_shortest },
};
#endif
