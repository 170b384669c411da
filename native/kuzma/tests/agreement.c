/* Every backend against `compact`, and the contract of the calls: lengths, alignments, in place, errors. */
#include "harness.h"
#include "kuzma.h"

#include <pthread.h>

enum { BLOCKS = 37, ROOM = 64 + 16 * BLOCKS + 64 };

static uint64_t seed = 7;

struct pair {
	struct kuzma_context tested, base;
	size_t block;
};

static int operation(const struct kuzma_context *context, int kind, uint8_t *iv, size_t iv_bytes, uint8_t *output,
                     const uint8_t *input, size_t bytes)
{
	switch (kind) {
	case 0: return (int)kuzma_ecb_encrypt(context, output, input, bytes);
	case 1: return (int)kuzma_ecb_decrypt(context, output, input, bytes);
	case 2: return (int)kuzma_cbc_encrypt(context, iv, iv_bytes, output, input, bytes);
	default: return (int)kuzma_cbc_decrypt(context, iv, iv_bytes, output, input, bytes);
	}
}

/* One operation at one length and one pair of alignments, from buffer to buffer and in place. */
static int agrees(const struct pair *pair, int kind, size_t bytes, size_t input_offset, size_t output_offset,
                  size_t iv_bytes)
{
	static uint8_t input[ROOM], output[ROOM], expected[ROOM];
	uint8_t iv[64], iv_tested[64], iv_base[64];

	random_bytes(&seed, input, sizeof input);
	memset(output, 0xA5, sizeof output);
	random_bytes(&seed, iv, sizeof iv);
	memcpy(iv_tested, iv, sizeof iv);
	memcpy(iv_base, iv, sizeof iv);
	if (operation(&pair->base, kind, iv_base, iv_bytes, expected, input + input_offset, bytes) != KUZMA_OK ||
	    operation(&pair->tested, kind, iv_tested, iv_bytes, output + output_offset, input + input_offset, bytes) !=
	            KUZMA_OK)
		return 0;
	if (memcmp(output + output_offset, expected, bytes) != 0 || memcmp(iv_tested, iv_base, sizeof iv) != 0)
		return 0;
	for (size_t i = 0; i < sizeof output; i++)
		if ((i < output_offset || i >= output_offset + bytes) && output[i] != 0xA5)
			return 0;
	memcpy(iv_tested, iv, sizeof iv);
	operation(&pair->tested, kind, iv_tested, iv_bytes, input + input_offset, input + input_offset, bytes);
	return memcmp(input + input_offset, expected, bytes) == 0 && memcmp(iv_tested, iv_base, sizeof iv) == 0;
}

static void agreement(const struct pair *pair, const char *name)
{
	static const char *const kinds[] = { "ECB encryption", "ECB decryption", "CBC encryption", "CBC decryption" };

	for (int kind = 0; kind < 4; kind++) {
		for (size_t blocks = 0; blocks <= BLOCKS; blocks++)
			for (size_t z = 1; z <= 3; z++)
				CHECK(agrees(pair, kind, blocks * pair->block, 1, 3, z * pair->block),
				      "%s: %s of %zu blocks, register of %zu", name, kinds[kind], blocks, z);
		for (size_t offset = 0; offset < 64; offset++)
			CHECK(agrees(pair, kind, 19 * pair->block, offset, (offset * 29 + 5) % 64, pair->block),
			      "%s: %s at offset %zu", name, kinds[kind], offset);
	}
}

static void long_messages(const struct pair *pair, const char *name)
{
	enum { BYTES = 5000 * 16 };
	static uint8_t plain[BYTES], coded[BYTES], back[BYTES];
	uint8_t iv[16], start[16];

	random_bytes(&seed, plain, sizeof plain);
	random_bytes(&seed, start, sizeof start);
	kuzma_ecb_encrypt(&pair->tested, coded, plain, sizeof plain);
	kuzma_ecb_decrypt(&pair->base, back, coded, sizeof plain);
	CHECK(memcmp(plain, back, sizeof plain) == 0, "%s: ECB, compact decrypts what it encrypted", name);
	memcpy(iv, start, sizeof iv);
	kuzma_cbc_encrypt(&pair->tested, iv, pair->block, coded, plain, sizeof plain);
	/* In pieces: the register must carry over. */
	memcpy(iv, start, sizeof iv);
	for (size_t done = 0, piece; done < sizeof plain; done += piece) {
		piece = pair->block * (1 + random_next(&seed) % 400);
		if (piece > sizeof plain - done)
			piece = sizeof plain - done;
		kuzma_cbc_decrypt(&pair->tested, iv, pair->block, back + done, coded + done, piece);
	}
	CHECK(memcmp(plain, back, sizeof plain) == 0, "%s: CBC in pieces", name);
}

static void errors(const struct pair *pair, const struct kuzma_backend *backend)
{
	struct kuzma_context context = { 0 };
	uint8_t key[32] = { 0 }, iv[KUZMA_IV_BYTES_MAX + 16] = { 0 }, input[64] = { 0 }, output[64], before[64];
	size_t block = pair->block;

	memset(output, 0x5A, sizeof output);
	memcpy(before, output, sizeof before);
	CHECK(kuzma_ecb_encrypt(&context, output, input, block) == KUZMA_ERROR_CONTEXT, "context without a key");
	CHECK(kuzma_init(NULL, backend, key, 32) == KUZMA_ERROR_ARGUMENT, "no context");
	CHECK(kuzma_init(&context, NULL, key, 32) == KUZMA_ERROR_ARGUMENT, "no backend");
	CHECK(kuzma_init(&context, backend, NULL, 32) == KUZMA_ERROR_ARGUMENT, "no key");
	for (size_t bytes = 0; bytes < 40; bytes++)
		if (bytes != 32)
			CHECK(kuzma_init(&context, backend, key, bytes) == KUZMA_ERROR_KEY, "key of %zu bytes", bytes);
	CHECK(kuzma_init(&context, backend, key, 32) == KUZMA_OK, "good key");
	for (size_t bytes = 1; bytes < 64; bytes++) {
		if (bytes % block == 0)
			continue;
		for (int kind = 0; kind < 4; kind++)
			CHECK(operation(&context, kind, iv, block, output, input, bytes) == KUZMA_ERROR_LENGTH,
			      "operation %d on %zu bytes", kind, bytes);
	}
	for (int kind = 0; kind < 4; kind++) {
		CHECK(operation(&context, kind, iv, block, NULL, input, 32) == KUZMA_ERROR_ARGUMENT, "no output");
		CHECK(operation(&context, kind, iv, block, output, NULL, 32) == KUZMA_ERROR_ARGUMENT, "no input");
		CHECK(operation(&context, kind, iv, block, output + 1, output, 32) == KUZMA_ERROR_OVERLAP, "overlap");
		CHECK(operation(&context, kind, iv, block, output, output + 31, 32) == KUZMA_ERROR_OVERLAP, "overlap");
		CHECK(operation(NULL, kind, iv, block, output, input, 32) == KUZMA_ERROR_ARGUMENT, "no context");
		CHECK(operation(&context, kind, iv, block, NULL, NULL, 0) == KUZMA_OK, "nothing to do");
	}
	for (int kind = 2; kind < 4; kind++) {
		CHECK(operation(&context, kind, NULL, block, output, input, 32) == KUZMA_ERROR_ARGUMENT, "no register");
		CHECK(operation(&context, kind, iv, 0, output, input, 32) == KUZMA_ERROR_IV, "empty register");
		CHECK(operation(&context, kind, iv, block + 1, output, input, 32) == KUZMA_ERROR_IV, "odd register");
		CHECK(operation(&context, kind, iv, KUZMA_IV_BYTES_MAX + block, output, input, 32) == KUZMA_ERROR_IV,
		      "register too wide");
	}
	CHECK(memcmp(output, before, sizeof output) == 0, "an error writes nothing");
	kuzma_wipe(&context);
	int left = 0;
	for (size_t i = 0; i < sizeof context.state / sizeof *context.state; i++)
		left |= context.state[i] != 0;
	CHECK(!left && kuzma_context_backend(&context) == NULL, "wiped");
	CHECK(kuzma_ecb_encrypt(&context, output, input, block) == KUZMA_ERROR_CONTEXT, "wiped context");
}

/* The tables are made at first use: several threads at once must all see them whole. */
static void *first_use(void *result)
{
	struct kuzma_context context;
	uint8_t key[32], block[16];

	from_hex(key, "8899aabbccddeeff0011223344556677fedcba98765432100123456789abcdef");
	from_hex(block, "1122334455667700ffeeddccbbaa9988");
	kuzma_init(&context, kuzma_backend_default(KUZMA_KUZNYECHIK), key, 32);
	kuzma_ecb_encrypt(&context, block, block, 16);
	*(int *)result = equals_hex(block, "7f679d90bebc24305a468d42b9d4edcd");
	kuzma_wipe(&context);
	return NULL;
}

int main(void)
{
	pthread_t threads[8];
	int right[8] = { 0 };

	for (unsigned i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, first_use, &right[i]);
	for (unsigned i = 0; i < 8; i++) {
		pthread_join(threads[i], NULL);
		CHECK(right[i], "thread %u of 8 at first use", i);
	}
	for (int cipher = 0; cipher < 2; cipher++) {
		enum kuzma_cipher which = (enum kuzma_cipher)cipher;
		const struct kuzma_backend *backend, *compact = kuzma_backend_by_name(which, "compact");

		CHECK(kuzma_backend_by_name(which, "none") == NULL && kuzma_backend_by_name(which, NULL) == NULL, "no such");
		CHECK(kuzma_backend_supported(kuzma_backend_default(which)), "a default");
		for (size_t i = 0; (backend = kuzma_backend_at(which, i)) != NULL; i++) {
			static struct pair pair;
			uint8_t key[32];
			char name[64];

			if (!kuzma_backend_supported(backend))
				continue;
			snprintf(name, sizeof name, "%s/%s", kuzma_cipher_name(which), kuzma_backend_name(backend));
			random_bytes(&seed, key, sizeof key);
			pair.block = kuzma_block_bytes(which);
			kuzma_init(&pair.tested, backend, key, sizeof key);
			kuzma_init(&pair.base, compact, key, sizeof key);
			agreement(&pair, name);
			long_messages(&pair, name);
			errors(&pair, backend);
		}
	}
	return harness_finish();
}
