/* Kuznyechik with AVX-512, its byte permutations and GFNI: which of the four ways a call takes. */
#include <pthread.h>

#include "avx512.h"

#ifdef KUZMA_X86

/* From so many blocks on, 64 at a time cost less than groups of 16. */
enum { SLICED_FROM = 33 };

typedef void run_blocks(const struct avx512_state *state, uint8_t *output, const uint8_t *input, size_t blocks);
typedef void run_64_blocks(const struct avx512_state *state, uint8_t *output, const uint8_t *input);

static void prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, kuzma_kuznyechik_avx512_make_tables);
}

/* Depends on neither key nor data. */
static const struct avx512_sliced *sliced_form(void)
{
	return &kuzma_kuznyechik_avx512_sliced[__builtin_cpu_is("amd") ? SHORTEST_CHAIN : FEWEST_OPERATIONS];
}

/* wipe_bytes() goes byte by byte, which would cost as much as ciphering. */
ALWAYS_INLINE void wipe_batch(uint8_t batch[16 * SLICED_BLOCKS])
{
	for (unsigned i = 0; i < 16; i++)
		_mm512_storeu_si512(batch + 64 * i, _mm512_setzero_si512());
	__asm__ volatile("" : : "r"(batch) : "memory"); /* the zeros are not dead */
}

ALWAYS_INLINE void run(const struct avx512_state *state, uint8_t *output, const uint8_t *input, size_t blocks,
                       run_64_blocks *sliced, run_blocks *dense, run_blocks *lanes)
{
	for (; blocks >= SLICED_BLOCKS; blocks -= SLICED_BLOCKS) {
		sliced(state, output, input);
		input += 16 * SLICED_BLOCKS;
		output += 16 * SLICED_BLOCKS;
	}
	if (blocks >= SLICED_FROM) {
		_Alignas(64) uint8_t batch[16 * SLICED_BLOCKS];
		memcpy(batch, input, 16 * blocks);
		memset(batch + 16 * blocks, 0, sizeof batch - 16 * blocks);
		sliced(state, batch, batch);
		memcpy(output, batch, 16 * blocks);
		wipe_batch(batch);
		return;
	}
	while (blocks > 4) {
		size_t some = blocks < 2 * DENSE_BLOCKS ? blocks : 2 * DENSE_BLOCKS;
		dense(state, output, input, some);
		input += 16 * some;
		output += 16 * some;
		blocks -= some;
	}
	if (blocks > 0)
		lanes(state, output, input, blocks);
}

static void encrypt_blocks(const void *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	run(state, output, input, blocks, sliced_form()->encrypt, kuzma_kuznyechik_avx512_encrypt_dense,
	    kuzma_kuznyechik_avx512_encrypt_lanes);
}

static void decrypt_blocks(const void *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	run(state, output, input, blocks, sliced_form()->decrypt, kuzma_kuznyechik_avx512_decrypt_dense,
	    kuzma_kuznyechik_avx512_decrypt_lanes);
}

/* output = input ^ mask, 1 to 64 blocks. */
static void add_mask(uint8_t *output, const uint8_t *input, const uint8_t *mask, size_t blocks)
{
	for (; blocks >= 4; blocks -= 4, output += 64, input += 64, mask += 64)
		_mm512_storeu_si512(output, _mm512_xor_si512(_mm512_loadu_si512(input), _mm512_loadu_si512(mask)));
	__mmask8 rest = (__mmask8)((1u << 2 * blocks) - 1u);
	_mm512_mask_storeu_epi64(output, rest,
	                         _mm512_xor_si512(_mm512_maskz_loadu_epi64(rest, input),
	                                          _mm512_maskz_loadu_epi64(rest, mask)));
}

/* Up to SLICED_FROM - 1 counter blocks, made in `batch` and enciphered there. */
static void counter_few(const struct avx512_state *state, uint8_t *batch, const uint8_t *counter,
                        enum counting_half half, size_t blocks)
{
	const __m512i swap = _mm512_broadcast_i32x4(_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
	const __mmask8 counting = half == LEFT_HALF ? 0x55 : 0xAA;
	const __m512i step = _mm512_maskz_set1_epi64(counting, 4);
	__m512i value = _mm512_shuffle_epi8(broadcast_block(counter), swap);

	value = _mm512_mask_add_epi64(value, counting, value, _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0));
	for (size_t n = 0; n < blocks; n += 4) {
		_mm512_storeu_si512(batch + 16 * n, _mm512_shuffle_epi8(value, swap));
		value = _mm512_add_epi64(value, step);
	}
	encrypt_blocks(state, batch, batch, blocks);
}

static void ctr_xor(const void *from, uint8_t *counter, uint8_t *output, const uint8_t *input, size_t blocks)
{
	const struct avx512_state *state = from;
	_Alignas(64) uint8_t batch[16 * SLICED_BLOCKS];
	uint64_t constant[16], right = load_be64(counter + 8);
	bool have_constant = false, used_batch = false;

	while (blocks > 0) {
		/* To the next multiple of 64; few blocks need no alignment. */
		size_t offset = right % SLICED_BLOCKS, some = SLICED_BLOCKS - offset;

		if (some > blocks || blocks < SLICED_FROM)
			some = blocks;
		store_be64(counter + 8, right);
		if (some < SLICED_FROM) {
			counter_few(state, batch, counter, RIGHT_HALF, some);
			add_mask(output, input, batch, some);
			used_batch = true;
		} else {
			if (!have_constant || right % 256 == 0) {
				kuzma_kuznyechik_avx512_first_round(state, constant, counter, RIGHT_HALF);
				have_constant = true;
			}
			if (some == SLICED_BLOCKS) {
				sliced_form()->counter(state, constant, right, output, input);
			} else {
				sliced_form()->counter(state, constant, right - offset, batch, NULL);
				add_mask(output, input, batch + 16 * offset, some);
				used_batch = true;
			}
		}
		right += some;
		input += 16 * some;
		output += 16 * some;
		blocks -= some;
	}
	store_be64(counter + 8, right);
	if (have_constant) {
		_mm512_storeu_si512(constant, _mm512_setzero_si512());
		_mm512_storeu_si512(constant + 8, _mm512_setzero_si512());
		__asm__ volatile("" : : "r"(constant) : "memory");
	}
	if (used_batch)
		wipe_batch(batch);
}

/* The 256 counters from `counter` on. `next` is the constant that they begin with, and becomes that of the 256 after
 * them, which is theirs after the wrap. */
static void take_256(const struct avx512_state *state, struct avx512_hidden_counters *counters, uint64_t next[16],
                     const uint8_t *counter)
{
	uint8_t later[16];
	uint8_t *counting = later + (counters->half == LEFT_HALF ? 0 : 8);

	memcpy(later, counter, sizeof later);
	store_be64(counting, load_be64(counting) + 256);
	memcpy(counters->constant, next, sizeof counters->constant);
	kuzma_kuznyechik_avx512_first_round(state, next, later, counters->half);
	for (unsigned i = 0; i < 16; i += 8)
		_mm512_storeu_si512(counters->change + i, _mm512_xor_si512(_mm512_loadu_si512(counters->constant + i),
		                                                           _mm512_loadu_si512(next + i)));
	wipe_bytes(later, sizeof later);
}

/* input NULL: zeros. */
static void take_from(const uint8_t *batch, uint8_t *output, const uint8_t *input, size_t blocks)
{
	if (input == NULL)
		memcpy(output, batch, 16 * blocks);
	else
		add_mask(output, input, batch, blocks);
}

static void hidden_counters(const void *from, uint8_t *counter, enum counting_half half, uint8_t *output,
                            const uint8_t *input, size_t blocks)
{
	const struct avx512_state *state = from;
	_Alignas(64) uint8_t batch[16 * SLICED_BLOCKS];
	uint8_t *counting = counter + (half == LEFT_HALF ? 0 : 8);
	uint64_t value = load_be64(counting);

	if (blocks >= SLICED_FROM) {
		struct avx512_hidden_counters counters;
		uint64_t next[16];

		counters.half = half;
		counters.start = (uint8_t)value;
		kuzma_kuznyechik_avx512_first_round(state, next, counter, half);
		for (size_t done = 0; blocks >= SLICED_FROM; done += SLICED_BLOCKS) {
			size_t some = blocks < SLICED_BLOCKS ? blocks : SLICED_BLOCKS;

			if (done % 256 == 0)
				take_256(state, &counters, next, counter);
			if (some == SLICED_BLOCKS) {
				sliced_form()->hidden_counter(state, &counters, (uint8_t)done, output, input);
			} else {
				sliced_form()->hidden_counter(state, &counters, (uint8_t)done, batch, NULL);
				take_from(batch, output, input, some);
				wipe_batch(batch);
			}
			value += some;
			store_be64(counting, value);
			blocks -= some;
			output += 16 * some;
			input = input == NULL ? NULL : input + 16 * some;
		}
		wipe_bytes(&counters, sizeof counters);
		wipe_bytes(next, sizeof next);
	}
	if (blocks > 0) {
		counter_few(state, batch, counter, half, blocks);
		take_from(batch, output, input, blocks);
		wipe_batch(batch);
		store_be64(counting, value + blocks);
	}
}

const struct kuzma_backend kuzma_kuznyechik_avx512 = {
	.name = "avx512",
	.cipher = KUZMA_KUZNYECHIK,
	.constant_time = true,
	.state_bytes = sizeof(struct avx512_state),
	.supported = kuzma_cpu_avx512,
	.prepare = prepare,
	.set_key = kuzma_kuznyechik_avx512_set_key,
	.encrypt_blocks = encrypt_blocks,
	.decrypt_blocks = decrypt_blocks,
	.ctr_xor = ctr_xor,
	.hidden_counters = hidden_counters,
	.cbc_encrypt = kuzma_kuznyechik_avx512_cbc_encrypt,
};
#endif
