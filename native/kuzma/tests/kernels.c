/* The functions of each backend by themselves: counters and chains against encrypt_blocks of `compact`, at all lengths
 * around the batches, in place, and at each carry of the counter. */
#include "../src/backend.h"
#include "harness.h"

enum { BLOCKS_MAX = 200, LONG = 1100, ROOM = 16 * LONG };

static uint64_t seed = 11;

struct pair {
	const struct kuzma_backend *tested, *base;
	struct kuzma_context tested_context, base_context;
	size_t block;
	char name[64];
};

/* Big-endian, the right half of the block only. */
static void count_up(uint8_t *counter, size_t block)
{
	for (size_t i = block; i-- > block / 2;)
		if (++counter[i] != 0)
			break;
}

static int blocks_agree(const struct pair *pair, size_t blocks, int in_place, int decrypt)
{
	static uint8_t input[ROOM], output[ROOM], expected[ROOM];
	size_t bytes = blocks * pair->block;
	uint8_t *to = in_place ? input : output;

	random_bytes(&seed, input, bytes);
	memset(output, 0xA5, sizeof output);
	(decrypt ? pair->base->decrypt_blocks : pair->base->encrypt_blocks)(pair->base_context.state, expected, input,
	                                                                    blocks);
	(decrypt ? pair->tested->decrypt_blocks : pair->tested->encrypt_blocks)(pair->tested_context.state, to, input,
	                                                                        blocks);
	return memcmp(to, expected, bytes) == 0 && (in_place || bytes == ROOM || output[bytes] == 0xA5);
}

static int ctr_agrees(const struct pair *pair, const uint8_t *start, size_t blocks, int in_place)
{
	static uint8_t input[ROOM], output[ROOM], expected[ROOM];
	uint8_t counter[16], tested_counter[16], gamma[16];
	size_t bytes = blocks * pair->block;
	uint8_t *to = in_place ? input : output;

	random_bytes(&seed, input, bytes);
	memset(output, 0xA5, sizeof output);
	memcpy(counter, start, sizeof counter);
	memcpy(tested_counter, start, sizeof counter);
	for (size_t i = 0; i < blocks; i++) {
		pair->base->encrypt_blocks(pair->base_context.state, gamma, counter, 1);
		for (size_t j = 0; j < pair->block; j++)
			expected[i * pair->block + j] = input[i * pair->block + j] ^ gamma[j];
		count_up(counter, pair->block);
	}
	pair->tested->ctr_xor(pair->tested_context.state, tested_counter, to, input, blocks);
	return memcmp(to, expected, bytes) == 0 && memcmp(counter, tested_counter, sizeof counter) == 0 &&
	       (in_place || bytes == ROOM || output[bytes] == 0xA5);
}

static int chain_agrees(const struct pair *pair, size_t blocks, int how)
{
	static uint8_t input[ROOM], output[ROOM], expected[ROOM];
	uint8_t chain[16], tested_chain[16];
	size_t bytes = blocks * pair->block;
	uint8_t *to = how == 0 ? output : how == 1 ? input : NULL;

	random_bytes(&seed, input, bytes);
	random_bytes(&seed, chain, sizeof chain);
	memcpy(tested_chain, chain, sizeof chain);
	for (size_t i = 0; i < blocks; i++) {
		for (size_t j = 0; j < pair->block; j++)
			chain[j] ^= input[i * pair->block + j];
		pair->base->encrypt_blocks(pair->base_context.state, chain, chain, 1);
		memcpy(expected + i * pair->block, chain, pair->block);
	}
	pair->tested->cbc_encrypt(pair->tested_context.state, tested_chain, to, input, blocks);
	return (to == NULL || memcmp(to, expected, bytes) == 0) && memcmp(chain, tested_chain, sizeof chain) == 0;
}

static void counters(const struct pair *pair)
{
	uint8_t start[16];

	for (size_t blocks = 0; blocks <= BLOCKS_MAX; blocks++) {
		random_bytes(&seed, start, sizeof start);
		CHECK(ctr_agrees(pair, start, blocks, (int)(blocks & 1)), "%s: %zu counters", pair->name, blocks);
		start[pair->block - 1] = 0;
		CHECK(ctr_agrees(pair, start, blocks, (int)(~blocks & 1)), "%s: %zu even counters", pair->name, blocks);
	}
	CHECK(ctr_agrees(pair, start, LONG, 0), "%s: many counters", pair->name);
	/* Each carry, with the change at each place in a batch; the last one leaves the counter. */
	for (size_t ones = 1; ones <= pair->block / 2; ones++)
		for (unsigned before = 0; before <= 200; before += 1 + before / 8) {
			random_bytes(&seed, start, sizeof start);
			memset(start + pair->block - ones, 0xFF, ones);
			start[pair->block - 1] = (uint8_t)(255 - before);
			CHECK(ctr_agrees(pair, start, 300, (int)(before & 1)), "%s: carry over %zu bytes after %u", pair->name,
			      ones, before);
		}
}

static void run(const struct pair *pair)
{
	for (size_t blocks = 0; blocks <= BLOCKS_MAX; blocks++)
		for (int how = 0; how < 4; how++)
			CHECK(blocks_agree(pair, blocks, how & 1, how >> 1), "%s: %zu blocks, %s", pair->name, blocks,
			      how >> 1 ? "decryption" : "encryption");
	for (int how = 0; how < 4; how++)
		CHECK(blocks_agree(pair, LONG, how & 1, how >> 1), "%s: many blocks", pair->name);
	if (pair->tested->ctr_xor != NULL)
		counters(pair);
	if (pair->tested->cbc_encrypt != NULL)
		for (size_t blocks = 0; blocks <= BLOCKS_MAX; blocks += 1 + blocks / 8)
			for (int how = 0; how < 3; how++)
				CHECK(chain_agrees(pair, blocks, how), "%s: chain of %zu", pair->name, blocks);
}

int main(void)
{
	for (int cipher = 0; cipher < 2; cipher++) {
		enum kuzma_cipher which = (enum kuzma_cipher)cipher;
		static struct pair pair;

		for (size_t i = 0; (pair.tested = kuzma_backend_at(which, i)) != NULL; i++) {
			uint8_t key[32];

			if (!kuzma_backend_supported(pair.tested))
				continue;
			pair.base = kuzma_backend_by_name(which, "compact");
			pair.block = kuzma_block_bytes(which);
			snprintf(pair.name, sizeof pair.name, "%s/%s", kuzma_cipher_name(which),
			         kuzma_backend_name(pair.tested));
			random_bytes(&seed, key, sizeof key);
			kuzma_init(&pair.tested_context, pair.tested, key, sizeof key);
			kuzma_init(&pair.base_context, pair.base, key, sizeof key);
			run(&pair);
		}
	}
	return harness_finish();
}
