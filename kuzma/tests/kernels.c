/* The functions of each backend, called as the modes call them, against `compact`: they take another path for nearly
 * every number of blocks. */
#include "backend.h"
#include "bytes.h"
#include "harness.h"

#include <stdlib.h>

/* Past the widest kernel, which takes 512 blocks of Magma, with every tail of it up to MANY. */
enum { MANY = 200, LONG = 1200, STREAM = LONG + 300, GUARD = 64 };

static uint64_t seed = 2018;

struct pair {
	struct kuzma_context tested, base;
	const char *name;
	size_t block;
};

enum operation { ENCRYPT, DECRYPT, CTR, HIDDEN_RIGHT, HIDDEN_LEFT, HIDDEN_ALONE, CBC, MAC, OPERATIONS };

static const char *const operation_names[] = {
	"encryption",      "decryption", "CTR", "hidden counters on the right", "hidden counters on the left",
	"hidden counters", "CBC",        "CBC without output",
};

static bool counts(enum operation operation)
{
	return operation >= CTR && operation <= HIDDEN_ALONE;
}

static bool has(const struct kuzma_backend *backend, enum operation operation)
{
	if (operation == CTR)
		return backend->ctr_xor != NULL;
	if (counts(operation))
		return backend->hidden_counters != NULL;
	return operation < CTR || backend->cbc_encrypt != NULL;
}

/* The first byte behind the half that counts. */
static size_t counting_end(enum operation operation, size_t block)
{
	return operation == HIDDEN_LEFT || operation == HIDDEN_ALONE ? block / 2 : block;
}

static void apply(const struct kuzma_context *context, enum operation operation, uint8_t *iv, uint8_t *output,
                  const uint8_t *input, size_t blocks)
{
	const struct kuzma_backend *backend = context->backend;

	switch (operation) {
	case ENCRYPT: backend->encrypt_blocks(context->state, output, input, blocks); break;
	case DECRYPT: backend->decrypt_blocks(context->state, output, input, blocks); break;
	case CTR: backend->ctr_xor(context->state, iv, output, input, blocks); break;
	case HIDDEN_RIGHT: backend->hidden_counters(context->state, iv, RIGHT_HALF, output, input, blocks); break;
	case HIDDEN_LEFT: backend->hidden_counters(context->state, iv, LEFT_HALF, output, input, blocks); break;
	case HIDDEN_ALONE: backend->hidden_counters(context->state, iv, LEFT_HALF, output, NULL, blocks); break;
	case CBC: backend->cbc_encrypt(context->state, iv, output, input, blocks); break;
	default: backend->cbc_encrypt(context->state, iv, NULL, input, blocks);
	}
}

/* A long message, what comes of it by nothing but encryption and decryption of single blocks, and the register before
 * each of them. So any part of it is a message whose result is there. */
static struct {
	uint8_t input[16 * STREAM], expected[16 * STREAM], iv[STREAM + 1][16];
} stream;

static void expect(const struct pair *pair, enum operation operation, const uint8_t start[16], size_t blocks)
{
	const struct kuzma_context *base = &pair->base;
	size_t block = pair->block, end = counting_end(operation, block);
	const uint8_t *input = stream.input;
	uint8_t *output = stream.expected;

	random_bytes(&seed, stream.input, blocks * block);
	memcpy(stream.iv[0], start, 16);
	for (size_t n = 0; n < blocks; n++, input += block, output += block) {
		uint8_t *iv = memcpy(stream.iv[n + 1], stream.iv[n], 16);

		if (operation <= DECRYPT) {
			apply(base, operation, iv, output, input, 1);
		} else if (counts(operation)) {
			base->backend->encrypt_blocks(base->state, output, iv, 1);
			if (operation != HIDDEN_ALONE)
				xor_bytes(output, output, input, block);
			for (size_t i = end; i-- > end - block / 2 && ++iv[i] == 0;)
				;
		} else {
			xor_bytes(iv, iv, input, block);
			base->backend->encrypt_blocks(base->state, iv, iv, 1);
			memcpy(output, iv, block);
		}
	}
}

/* Of so many blocks from one on. Buffers of the exact size, so that a sanitizer sees each byte too many. */
static void check(const struct pair *pair, enum operation operation, size_t from, size_t blocks, size_t skew)
{
	const uint8_t *expected = stream.expected + from * pair->block, *iv_expected = stream.iv[from + blocks];
	size_t bytes = blocks * pair->block;
	uint8_t *input = malloc(skew + bytes + 1);
	uint8_t *room = malloc(GUARD + skew + bytes), *output = room + GUARD - 1;
	uint8_t iv[16], iv_in_place[16];
	bool kept = true;

	memcpy(input + skew, stream.input + from * pair->block, bytes);
	memset(room, 0xA5, GUARD + skew + bytes);
	memcpy(iv, stream.iv[from], sizeof iv);
	memcpy(iv_in_place, stream.iv[from], sizeof iv);
	apply(&pair->tested, operation, iv, output, input + skew, blocks);
	for (size_t i = 0; i < GUARD + skew + bytes; i++)
		if (operation == MAC || i + 1 < GUARD || i + 1 >= GUARD + bytes)
			kept = kept && room[i] == 0xA5;
	CHECK(kept, "%s: %s of %zu blocks writes elsewhere", pair->name, operation_names[operation], blocks);
	CHECK(memcmp(iv, iv_expected, sizeof iv) == 0, "%s: %s of %zu blocks, register", pair->name,
	      operation_names[operation], blocks);
	if (operation != MAC) {
		CHECK(memcmp(output, expected, bytes) == 0, "%s: %s of %zu blocks", pair->name, operation_names[operation],
		      blocks);
		apply(&pair->tested, operation, iv_in_place, input + skew, input + skew, blocks);
		CHECK(memcmp(input + skew, expected, bytes) == 0 && memcmp(iv_in_place, iv_expected, sizeof iv) == 0,
		      "%s: %s of %zu blocks in place", pair->name, operation_names[operation], blocks);
	}
	free(input);
	free(room);
}

/* The same of blocks from somewhere on. */
static void check_some(const struct pair *pair, enum operation operation, size_t blocks, size_t skew)
{
	check(pair, operation, (size_t)(random_next(&seed) % (STREAM - blocks + 1)), blocks, skew);
}

/* The counter carries into each of its bytes, at each place in a batch, and wraps without touching the other half. */
static void counters(const struct pair *pair, enum operation operation)
{
	size_t end = counting_end(operation, pair->block);
	uint8_t start[16];

	for (size_t bytes = 1; bytes <= pair->block / 2; bytes++) {
		/* It carries after 256 blocks. */
		random_bytes(&seed, start, sizeof start);
		memset(start + end - bytes, 0xff, bytes);
		start[end - 1] = 0;
		expect(pair, operation, start, 256 + 530);
		for (size_t before = 1; before <= 256; before += before < 20 ? 1 : 59) {
			check(pair, operation, 256 - before, 270, 1);
			check(pair, operation, 256 - before, 530, 0);
		}
	}
}

static void check_backend(const struct kuzma_backend *backend)
{
	static struct pair pair;
	uint8_t key[KUZMA_KEY_BYTES], start[16];
	char name[64];

	snprintf(name, sizeof name, "%s/%s", kuzma_cipher_name(backend->cipher), backend->name);
	pair.name = name;
	pair.block = kuzma_block_bytes(backend->cipher);
	random_bytes(&seed, key, sizeof key);
	kuzma_init(&pair.tested, backend, key, sizeof key);
	kuzma_init(&pair.base, kuzma_backend_by_name(backend->cipher, "compact"), key, sizeof key);
	for (enum operation operation = ENCRYPT; operation < OPERATIONS; operation++) {
		if (!has(backend, operation))
			continue;
		random_bytes(&seed, start, sizeof start);
		expect(&pair, operation, start, STREAM);
		for (size_t blocks = 0; blocks <= MANY; blocks++)
			check_some(&pair, operation, blocks, blocks % 3);
		for (size_t blocks = MANY; blocks <= LONG; blocks += operation < CBC ? 29 : 331)
			check_some(&pair, operation, blocks, blocks % 64);
		for (size_t blocks = 511; blocks <= 514; blocks++)
			check_some(&pair, operation, blocks, 7);
		if (counts(operation))
			counters(&pair, operation);
	}
}

#ifdef KUZMA_X86
#include "magma/x86/avx512.h"

static unsigned measured;

static enum magma_long_kernel measure_sliced(void)
{
	measured++;
	return MAGMA_SLICED;
}

/* Both kernels for long messages, whichever this processor is given, and how the choice is made. */
static void choices(void)
{
	static const struct kuzma_cpu_model zen4 = { "AuthenticAMD", 0x19, 0x11 }, zen5 = { "AuthenticAMD", 0x1a, 0x02 },
	                                    sapphire_rapids = { "GenuineIntel", 6, 0x8f },
	                                    unknown[] = { { "GenuineIntel", 6, 0xff }, { "AuthenticAMD", 0x1a, 0x24 }, { "", 0, 0 } };

	CHECK(kuzma_magma_avx512_decide(&zen4, measure_sliced) == MAGMA_GROUPS, "Zen 4");
	CHECK(kuzma_magma_avx512_decide(&zen5, measure_sliced) == MAGMA_GROUPS, "Zen 5");
	CHECK(kuzma_magma_avx512_decide(&sapphire_rapids, NULL) == MAGMA_SLICED && measured == 0, "Sapphire Rapids");
	for (unsigned i = 0; i < 3; i++)
		CHECK(kuzma_magma_avx512_decide(&unknown[i], measure_sliced) == MAGMA_SLICED && measured == i + 1, "unknown, %u", i);
	if (kuzma_backend_supported(&kuzma_magma_avx512)) {
		enum magma_long_kernel found = kuzma_magma_avx512_measure();

		CHECK(found == MAGMA_GROUPS || found == MAGMA_SLICED, "one is found to be faster");
		for (enum magma_long_kernel kernel = MAGMA_GROUPS; kernel <= MAGMA_SLICED; kernel++) {
			kuzma_magma_avx512_choose(kernel);
			check_backend(&kuzma_magma_avx512);
			CHECK(kuzma_magma_avx512_long_kernel() == kernel, "the choice stays");
		}
		kuzma_magma_avx512_choose(MAGMA_UNDECIDED);
		CHECK(kuzma_magma_avx512_long_kernel() != MAGMA_UNDECIDED, "decided at the first use");
	}
	measured = 0;
	kuzma_forbid_measuring();
	for (unsigned i = 0; i < 3; i++)
		CHECK(kuzma_magma_avx512_decide(&unknown[i], measure_sliced) == MAGMA_GROUPS && measured == 0, "nothing is measured");
	CHECK(kuzma_magma_avx512_decide(&zen5, measure_sliced) == MAGMA_GROUPS, "Zen 5");
	CHECK(kuzma_magma_avx512_decide(&sapphire_rapids, NULL) == MAGMA_SLICED, "Sapphire Rapids is known all the same");
}
#endif

int main(void)
{
	const struct kuzma_backend *backend;

	for (int cipher = 0; cipher < 2; cipher++)
		for (size_t i = 0; (backend = kuzma_backend_at((enum kuzma_cipher)cipher, i)) != NULL; i++)
			if (kuzma_backend_supported(backend))
				check_backend(backend);
#ifdef KUZMA_X86
	choices();
#endif
	return harness_finish();
}
