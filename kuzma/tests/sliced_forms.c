/* Kuznyechik's AVX-512 backend has two forms of its kernel, of which a processor uses one: both against `compact`. */
#include "../src/backend.h"
#include "harness.h"

#ifdef KUZMA_X86
#include "../src/kuznyechik/x86/avx512_sliced.h"

enum { BYTES = 64 * 16 };

static uint64_t seed = 3;

static void form(const struct avx512_sliced *sliced, unsigned number)
{
	const struct kuzma_backend *backend = kuzma_backend_by_name(KUZMA_KUZNYECHIK, "avx512");
	struct kuzma_context context, base;
	const struct avx512_state *state = (const void *)context.state;
	uint8_t key[32], input[BYTES + 3], output[BYTES], expected[BYTES], counter[16];
	struct avx512_hidden_counters counters;
	uint64_t constant[16], right;

	random_bytes(&seed, key, sizeof key);
	kuzma_init(&context, backend, key, sizeof key);
	kuzma_init(&base, kuzma_backend_by_name(KUZMA_KUZNYECHIK, "compact"), key, sizeof key);
	random_bytes(&seed, input, sizeof input);
	kuzma_ecb_encrypt(&base, expected, input + 3, BYTES);
	sliced->encrypt(state, output, input + 3);
	CHECK(memcmp(output, expected, BYTES) == 0, "form %u: encryption", number);
	kuzma_ecb_decrypt(&base, expected, input + 3, BYTES);
	sliced->decrypt(state, output, input + 3);
	CHECK(memcmp(output, expected, BYTES) == 0, "form %u: decryption", number);

	random_bytes(&seed, counter, sizeof counter);
	counter[15] &= 0xC0;
	right = 0;
	for (unsigned i = 8; i < 16; i++)
		right = right << 8 | counter[i];
	kuzma_kuznyechik_avx512_first_round(state, constant, counter, RIGHT_HALF);
	for (unsigned i = 0; i < 64; i++) {
		memcpy(expected + 16 * i, counter, 16);
		expected[16 * i + 15] = (uint8_t)(counter[15] + i);
	}
	kuzma_ecb_encrypt(&base, expected, expected, BYTES);
	sliced->counter(state, constant, right, output, NULL);
	CHECK(memcmp(output, expected, BYTES) == 0, "form %u: counters", number);
	sliced->counter(state, constant, right, output, input + 3);
	for (unsigned i = 0; i < BYTES; i++)
		expected[i] ^= input[3 + i];
	CHECK(memcmp(output, expected, BYTES) == 0, "form %u: counters and data", number);

	/* The second 64 of 256 whose left half counts, and wraps before, among or behind them. */
	random_bytes(&seed, counter, sizeof counter);
	counters.half = LEFT_HALF;
	counters.start = counter[7];
	kuzma_kuznyechik_avx512_first_round(state, counters.constant, counter, LEFT_HALF);
	for (unsigned i = 0; i < 256; i++) {
		if (i / 64 == 1)
			memcpy(expected + 16 * (i - 64), counter, 16);
		for (unsigned j = 8; j-- > 0 && ++counter[j] == 0;)
			;
	}
	kuzma_kuznyechik_avx512_first_round(state, constant, counter, LEFT_HALF);
	for (unsigned i = 0; i < 16; i++)
		counters.change[i] = counters.constant[i] ^ constant[i];
	kuzma_ecb_encrypt(&base, expected, expected, BYTES);
	sliced->hidden_counter(state, &counters, 64, output, NULL);
	CHECK(memcmp(output, expected, BYTES) == 0, "form %u: hidden counters from %u", number, counters.start);
	sliced->hidden_counter(state, &counters, 64, output, input + 3);
	for (unsigned i = 0; i < BYTES; i++)
		expected[i] ^= input[3 + i];
	CHECK(memcmp(output, expected, BYTES) == 0, "form %u: hidden counters and data", number);
}

int main(void)
{
	if (kuzma_backend_supported(kuzma_backend_by_name(KUZMA_KUZNYECHIK, "avx512")))
		for (unsigned round = 0; round < 20; round++)
			for (unsigned number = 0; number < 2; number++)
				form(&kuzma_kuznyechik_avx512_sliced[number], number);
	return harness_finish();
}
#else
int main(void)
{
	return harness_finish();
}
#endif
