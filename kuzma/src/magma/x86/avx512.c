/* Magma with AVX-512 VBMI: one instruction looks up 64 nibbles, each in the S-box of its place. Long messages go to
 * avx512_sliced.c on processors where that is faster. */
#include "backend.h"

#ifdef KUZMA_X86

#include <immintrin.h>
#include <pthread.h>

#include "avx512.h"
#include "bytes.h"
#include "magma/transforms.h"

#define ODD_WORDS ((__mmask16)0xaaaa)
#define EVEN_WORDS ((__mmask16)0x5555)
/* Orders of words for vpshufd: each word of a pair is its even one, or its odd one. */
#define FROM_EVEN ((_MM_PERM_ENUM)0xa0)
#define FROM_ODD ((_MM_PERM_ENUM)0xf5)

/* Entry 16 * place + nibble: what the nibble of byte `place` becomes, at its place in the byte. */
static struct {
	_Alignas(64) uint8_t low[64];
	_Alignas(64) uint8_t high[64];
} tables;

static void make_tables(void)
{
	for (unsigned place = 0; place < 4; place++) {
		for (unsigned nibble = 0; nibble < 16; nibble++) {
			tables.low[16 * place + nibble] = kuzma_magma_pi[2 * place][nibble];
			tables.high[16 * place + nibble] = (uint8_t)(kuzma_magma_pi[2 * place + 1][nibble] << 4);
		}
	}
}

static void prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_tables);
}

static void set_key(void *state, const uint8_t key[KUZMA_KEY_BYTES])
{
	struct magma_avx512 *keys = state;

	kuzma_magma_expand_key(keys->encrypt_keys, key);
	for (unsigned i = 0; i < MAGMA_ROUNDS; i++)
		keys->decrypt_keys[i] = keys->encrypt_keys[MAGMA_ROUNDS - 1 - i];
	kuzma_magma_avx512_sliced_set_key(keys);
}

/* vpermb takes six bits of each index byte: the nibble, and here the place of the byte in the word. */
#define INDEX(bits, words) \
	bits##_ternarylogic_epi32(words, bits##_set1_epi32(0x0f0f0f0f), bits##_set1_epi32(0x30201000), 0xea)

/* 9 operations and a chain of 9 clocks, where vpermb takes 3. */
static inline __m512i round_of_many(__m512i target, __m512i source, __m512i key, __m512i low_table, __m512i high_table)
{
	__m512i sum = _mm512_add_epi32(source, key);
	__m512i low = _mm512_permutexvar_epi8(INDEX(_mm512, sum), low_table);
	__m512i high = _mm512_permutexvar_epi8(INDEX(_mm512, _mm512_srli_epi32(sum, 4)), high_table);

	return _mm512_xor_si512(target, _mm512_rol_epi32(_mm512_xor_si512(low, high), 11));
}

/* The chain is one shorter, for one operation more: the low nibbles are ready early, and are put in place meanwhile. */
static inline __m512i round_of_one(__m512i target, __m512i source, __m512i key, __m512i low_table, __m512i high_table)
{
	__m512i sum = _mm512_add_epi32(source, key);
	__m512i low = _mm512_permutexvar_epi8(INDEX(_mm512, sum), low_table);
	__m512i high = _mm512_permutexvar_epi8(INDEX(_mm512, _mm512_srli_epi32(sum, 4)), high_table);

	target = _mm512_xor_si512(target, _mm512_rol_epi32(low, 11));
	return _mm512_xor_si512(target, _mm512_rol_epi32(high, 11));
}

#define GROUPS 1
#define EACH_GROUP(DO) DO(0)
#include "avx512_groups.h"
#define GROUPS 2
#define EACH_GROUP(DO) DO(0) DO(1)
#include "avx512_groups.h"
#define GROUPS 3
#define EACH_GROUP(DO) DO(0) DO(1) DO(2)
#include "avx512_groups.h"
#define GROUPS 4
#define EACH_GROUP(DO) DO(0) DO(1) DO(2) DO(3)
#include "avx512_groups.h"
#define GROUPS 8
#define EACH_GROUP(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#include "avx512_groups.h"

typedef void crypt_kernel(const uint32_t keys[MAGMA_ROUNDS], uint8_t *output, const uint8_t *input, uint64_t present);
typedef void count_kernel(const uint32_t keys[MAGMA_ROUNDS], uint8_t *output, const uint8_t *input, uint64_t present,
                          enum counting_half half, uint32_t left, uint32_t right);

/* The kernels for up to 64 blocks, by the number of groups less one. */
static crypt_kernel *const crypt_tail[4] = { crypt_1, crypt_2, crypt_3, crypt_4 };
static count_kernel *const count_tail[4] = { count_1, count_2, count_3, count_4 };

/* How many of `blocks` the next kernel takes: eight groups (with more, registers run short), and at last 64
 * blocks or less. */
static inline size_t next_part(size_t blocks)
{
	return blocks >= 128 ? 128 : blocks >= 64 ? 64 : blocks;
}

static inline uint64_t first_bits(size_t count)
{
	return count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
}

/* Short messages go to the groups either way, and do not ask. */
static inline enum magma_long_kernel long_kernel(size_t blocks)
{
	return blocks < MAGMA_SLICED_BLOCKS ? MAGMA_GROUPS : kuzma_magma_avx512_long_kernel();
}

void kuzma_magma_avx512_crypt(const struct magma_avx512 *state, enum magma_long_kernel kernel, enum magma_order order,
                              uint8_t *output, const uint8_t *input, size_t blocks)
{
	const uint32_t *keys = order == MAGMA_ENCRYPT ? state->encrypt_keys : state->decrypt_keys;
	size_t batches = kernel == MAGMA_SLICED ? blocks / MAGMA_SLICED_BLOCKS : 0;

	if (batches > 0) {
		kuzma_magma_avx512_sliced_crypt(state, order, output, input, batches);
		output += 8 * MAGMA_SLICED_BLOCKS * batches;
		input += 8 * MAGMA_SLICED_BLOCKS * batches;
		blocks -= MAGMA_SLICED_BLOCKS * batches;
	}
	while (blocks > 0) {
		size_t part = next_part(blocks);

		if (part == 128)
			crypt_8(keys, output, input, 0);
		else
			crypt_tail[(part - 1) / 16](keys, output, input, first_bits(part));
		output += 8 * part;
		input += 8 * part;
		blocks -= part;
	}
}

static void encrypt_blocks(const void *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	kuzma_magma_avx512_crypt(state, long_kernel(blocks), MAGMA_ENCRYPT, output, input, blocks);
}

static void decrypt_blocks(const void *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	kuzma_magma_avx512_crypt(state, long_kernel(blocks), MAGMA_DECRYPT, output, input, blocks);
}

/* Takes the same time for all counters. */
static void hidden_counters(const void *state, uint8_t *counter, enum counting_half half, uint8_t *output,
                            const uint8_t *input, size_t blocks)
{
	const uint32_t *keys = ((const struct magma_avx512 *)state)->encrypt_keys;
	uint32_t left = load_be32(counter), right = load_be32(counter + 4);
	uint32_t *counting = half == LEFT_HALF ? &left : &right;
	enum magma_long_kernel kernel = long_kernel(blocks);

	while (blocks > 0) {
		size_t batches = kernel == MAGMA_SLICED ? blocks / MAGMA_SLICED_BLOCKS : 0;
		size_t part = batches > 0 ? batches * MAGMA_SLICED_BLOCKS : next_part(blocks);

		if (batches > 0)
			kuzma_magma_avx512_sliced_count(state, half, output, input, batches, left, right);
		else if (part == 128)
			count_8(keys, output, input, 0, half, left, right);
		else
			count_tail[(part - 1) / 16](keys, output, input, first_bits(part), half, left, right);
		*counting += (uint32_t)part;
		output += 8 * part;
		input = input == NULL ? NULL : input + 8 * part;
		blocks -= part;
	}
	store_be32(counter, left);
	store_be32(counter + 4, right);
}

static void ctr_xor(const void *state, uint8_t *counter, uint8_t *output, const uint8_t *input, size_t blocks)
{
	hidden_counters(state, counter, RIGHT_HALF, output, input, blocks);
}

/* As round_of_one, with one block: only the first word of each register counts. */
static inline __m128i round_of_word(__m128i target, __m128i source, __m128i key, __m512i low_table, __m512i high_table)
{
	__m128i sum = _mm_add_epi32(source, key);
	__m512i low_index = _mm512_castsi128_si512(INDEX(_mm, sum));
	__m512i high_index = _mm512_castsi128_si512(INDEX(_mm, _mm_srli_epi32(sum, 4)));
	__m128i low = _mm512_castsi512_si128(_mm512_permutexvar_epi8(low_index, low_table));
	__m128i high = _mm512_castsi512_si128(_mm512_permutexvar_epi8(high_index, high_table));

	target = _mm_xor_si128(target, _mm_rol_epi32(low, 11));
	return _mm_xor_si128(target, _mm_rol_epi32(high, 11));
}

static void cbc_encrypt(const void *state, uint8_t *iv, uint8_t *output, const uint8_t *input, size_t blocks)
{
	const uint32_t *keys = ((const struct magma_avx512 *)state)->encrypt_keys;
	const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
	const __m512i low_table = _mm512_load_si512(tables.low), high_table = _mm512_load_si512(tables.high);
	__m128i left = _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i *)iv), swap);
	__m128i right = _mm_srli_epi64(left, 32);

	for (size_t n = 0; n < blocks; n++) {
		__m128i block = _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i *)(input + 8 * n)), swap);
		__m128i swapped;

		left = _mm_xor_si128(left, block);
		right = _mm_xor_si128(right, _mm_srli_epi64(block, 32));
		for (unsigned i = 0; i < MAGMA_ROUNDS; i += 2) {
			left = round_of_word(left, right, _mm_set1_epi32((int)keys[i]), low_table, high_table);
			right = round_of_word(right, left, _mm_set1_epi32((int)keys[i + 1]), low_table, high_table);
		}
		/* The last round does not swap. */
		swapped = left;
		left = right;
		right = swapped;
		if (output != NULL)
			_mm_storel_epi64((__m128i *)(output + 8 * n),
			                 _mm_shuffle_epi8(_mm_unpacklo_epi32(left, right), swap));
	}
	_mm_storel_epi64((__m128i *)iv, _mm_shuffle_epi8(_mm_unpacklo_epi32(left, right), swap));
}

const struct kuzma_backend kuzma_magma_avx512 = {
	.name = "avx512",
	.cipher = KUZMA_MAGMA,
	.constant_time = true,
	.state_bytes = sizeof(struct magma_avx512),
	.supported = kuzma_cpu_avx512,
	.prepare = prepare,
	.set_key = set_key,
	.encrypt_blocks = encrypt_blocks,
	.decrypt_blocks = decrypt_blocks,
	.ctr_xor = ctr_xor,
	.hidden_counters = hidden_counters,
	.cbc_encrypt = cbc_encrypt,
};

#endif
