/* The kernel of avx512.c for GROUPS groups of 16 blocks, each in two registers: `left` and `right` hold 16 words. This
 * file is included once for each number of groups; EACH_GROUP(DO) is DO(0) DO(1) ... The groups are spelt out, because
 * compilers leave an array of registers in memory. */

#define JOIN_NAME(name, groups) name##groups
#define NAME_WITH(name, groups) JOIN_NAME(name, groups)
#define NAME(name) NAME_WITH(name, GROUPS)

/* Which of eight blocks are there: the kernels for up to 64 blocks may end with a part of a group. */
#if GROUPS <= 4
#define MASK(at) (__mmask8)(present >> (at))
#else
#define MASK(at) ((void)present, (__mmask8)0xff)
#endif

#define DECLARE(n) __m512i left##n, right##n;
#define LOAD(n)                                                                               \
	low = _mm512_maskz_loadu_epi64(MASK(16 * n), input + 128 * n);             \
	high = _mm512_maskz_loadu_epi64(MASK(16 * n + 8), input + 128 * n + 64);   \
	low = _mm512_shuffle_epi8(low, swap);                                                 \
	high = _mm512_shuffle_epi8(high, swap);                                               \
	left##n = _mm512_mask_shuffle_epi32(low, ODD_WORDS, high, FROM_EVEN);                           \
	right##n = _mm512_mask_shuffle_epi32(high, EVEN_WORDS, low, FROM_ODD);
#define COUNT(n)                                                                              \
	left##n = _mm512_add_epi32(_mm512_set1_epi32((int)left), left_numbers);               \
	right##n = _mm512_add_epi32(_mm512_set1_epi32((int)right), right_numbers);            \
	left_numbers = _mm512_mask_add_epi32(left_numbers, left_counts, left_numbers, _mm512_set1_epi32(16)); \
	right_numbers = _mm512_mask_add_epi32(right_numbers, right_counts, right_numbers, _mm512_set1_epi32(16));
#if GROUPS == 1
#define EVEN_ROUND(n) left##n = round_of_one(left##n, right##n, key, low_table, high_table);
#define ODD_ROUND(n) right##n = round_of_one(right##n, left##n, key, low_table, high_table);
#else
#define EVEN_ROUND(n) left##n = round_of_many(left##n, right##n, key, low_table, high_table);
#define ODD_ROUND(n) right##n = round_of_many(right##n, left##n, key, low_table, high_table);
#endif
/* The last round does not swap: `right` comes first in memory. */
#define STORE(n)                                                                              \
	low = _mm512_mask_shuffle_epi32(right##n, ODD_WORDS, left##n, FROM_EVEN);                       \
	high = _mm512_mask_shuffle_epi32(left##n, EVEN_WORDS, right##n, FROM_ODD);                     \
	low = _mm512_shuffle_epi8(low, swap);                                                 \
	high = _mm512_shuffle_epi8(high, swap);                                               \
	if (counting && input != NULL) {                                                      \
		low = _mm512_xor_si512(                                                       \
			low, _mm512_maskz_loadu_epi64(MASK(16 * n), input + 128 * n)); \
		high = _mm512_xor_si512(                                                      \
			high, _mm512_maskz_loadu_epi64(MASK(16 * n + 8), input + 128 * n + 64)); \
	}                                                                                     \
	_mm512_mask_storeu_epi64(output + 128 * n, MASK(16 * n), low);             \
	_mm512_mask_storeu_epi64(output + 128 * n + 64, MASK(16 * n + 8), high);

/* With `counting`, the blocks are (left, right), and so on with the `half` that counts; their encryption is added to the
 * input, or NULL. Bit n of `present`: block n is there, if GROUPS <= 4; else all are. */
static inline __attribute__((always_inline)) void NAME(groups_)(const uint32_t keys[MAGMA_ROUNDS], uint8_t *output,
                                                                const uint8_t *input, uint64_t present, bool counting,
                                                                enum counting_half half, uint32_t left, uint32_t right)
{
	const __m512i swap = _mm512_broadcast_i32x4(_mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3));
	const __m512i low_table = _mm512_load_si512(tables.low), high_table = _mm512_load_si512(tables.high);
	__m512i low, high;
	EACH_GROUP(DECLARE)

	if (counting) {
		const __m512i numbers = _mm512_set_epi32(15, 7, 14, 6, 13, 5, 12, 4, 11, 3, 10, 2, 9, 1, 8, 0);
		const __mmask16 left_counts = half == LEFT_HALF ? 0xffff : 0, right_counts = (__mmask16)~left_counts;
		__m512i left_numbers = _mm512_maskz_mov_epi32(left_counts, numbers);
		__m512i right_numbers = _mm512_maskz_mov_epi32(right_counts, numbers);

		EACH_GROUP(COUNT)
	} else {
		EACH_GROUP(LOAD)
	}
	for (unsigned i = 0; i < MAGMA_ROUNDS; i += 2) {
		__m512i key = _mm512_set1_epi32((int)keys[i]);
		EACH_GROUP(EVEN_ROUND)
		key = _mm512_set1_epi32((int)keys[i + 1]);
		EACH_GROUP(ODD_ROUND)
	}
	EACH_GROUP(STORE)
}

static __attribute__((noinline)) void NAME(crypt_)(const uint32_t keys[MAGMA_ROUNDS], uint8_t *output,
                                                   const uint8_t *input, uint64_t present)
{
	NAME(groups_)(keys, output, input, present, false, RIGHT_HALF, 0, 0);
}

static __attribute__((noinline)) void NAME(count_)(const uint32_t keys[MAGMA_ROUNDS], uint8_t *output,
                                                   const uint8_t *input, uint64_t present, enum counting_half half,
                                                   uint32_t left, uint32_t right)
{
	NAME(groups_)(keys, output, input, present, true, half, left, right);
}

#undef GROUPS
#undef EACH_GROUP
#undef MASK
#undef JOIN_NAME
#undef NAME_WITH
#undef NAME
#undef DECLARE
#undef LOAD
#undef COUNT
#undef EVEN_ROUND
#undef ODD_ROUND
#undef STORE
