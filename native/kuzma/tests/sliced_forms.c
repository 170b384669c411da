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
	kuzma_kuznyechik_avx512_first_round(state, constant, counter);
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
