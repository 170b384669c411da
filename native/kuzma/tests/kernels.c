/* The functions of each backend against `compact`, below the modes: every number of blocks up to a few batches, from
 * buffer to buffer and in place, counters that wrap, and CBC of which only the register is wanted. */
#include "../src/backend.h"
#include "harness.h"

enum { BLOCKS = 200, ROOM = 16 * BLOCKS + 192 };

static uint64_t seed = 11;
static struct kuzma_context tested, base;
static size_t block;

/* Adds one to the right half of a block, modulo its own size. */
static void count(uint8_t *counter)
{
	for (size_t i = block; i-- > block / 2;)
		if (++counter[i] != 0)
			break;
}

static void reference(int kind, uint8_t *register_block, uint8_t *output, const uint8_t *input, size_t blocks)
{
	uint8_t one[16];

	for (size_t n = 0; n < blocks; n++, input += block, output += block) {
		switch (kind) {
		case 0: base.backend->encrypt_blocks(base.state, output, input, 1); break;
		case 1: base.backend->decrypt_blocks(base.state, output, input, 1); break;
		case 2:
			base.backend->encrypt_blocks(base.state, one, register_block, 1);
			for (size_t i = 0; i < block; i++)
				output[i] = (uint8_t)(input[i] ^ one[i]);
			count(register_block);
			break;
		default:
			for (size_t i = 0; i < block; i++)
				register_block[i] = (uint8_t)(register_block[i] ^ input[i]);
			base.backend->encrypt_blocks(base.state, register_block, register_block, 1);
			memcpy(output, register_block, block);
			break;
		}
	}
}

/* False: the backend leaves it to the modes. */
static bool call(int kind, uint8_t *register_block, uint8_t *output, const uint8_t *input, size_t blocks)
{
	const struct kuzma_backend *backend = tested.backend;

	switch (kind) {
	case 0: backend->encrypt_blocks(tested.state, output, input, blocks); return true;
	case 1: backend->decrypt_blocks(tested.state, output, input, blocks); return true;
	case 2:
		if (backend->ctr_xor == NULL)
			return false;
		backend->ctr_xor(tested.state, register_block, output, input, blocks);
		return true;
	default:
		if (backend->cbc_encrypt == NULL)
			return false;
		backend->cbc_encrypt(tested.state, register_block, output, input, blocks);
		return true;
	}
}

static bool agrees(int kind, size_t blocks, const uint8_t *start, size_t from, size_t to)
{
	static uint8_t input[ROOM], output[ROOM], expected[ROOM];
	uint8_t register_block[16], left[16];
	size_t bytes = blocks * block;

	random_bytes(&seed, input, from + bytes);
	memset(output, 0xA5, sizeof output);
	memcpy(left, start, 16);
	reference(kind, left, expected, input + from, blocks);
	memcpy(register_block, start, 16);
	if (!call(kind, register_block, output + to, input + from, blocks))
		return true;
	if (memcmp(output + to, expected, bytes) != 0 || memcmp(register_block, left, 16) != 0)
		return false;
	for (size_t i = 0; i < sizeof output; i++)
		if ((i < to || i >= to + bytes) && output[i] != 0xA5)
			return false;
	memcpy(register_block, start, 16);
	if (kind == 3) {
		call(kind, register_block, NULL, input + from, blocks);
		if (memcmp(register_block, left, 16) != 0)
			return false;
		memcpy(register_block, start, 16);
	}
	call(kind, register_block, input + from, input + from, blocks);
	return memcmp(input + from, expected, bytes) == 0 && memcmp(register_block, left, 16) == 0;
}

static void kernels(const char *name)
{
	static const char *const kinds[] = { "encryption", "decryption", "counter mode", "chaining" };
	uint8_t start[16];

	for (int kind = 0; kind < 4; kind++)
		for (size_t blocks = 0; blocks <= BLOCKS; blocks++) {
			random_bytes(&seed, start, sizeof start);
			CHECK(agrees(kind, blocks, start, blocks % 64, blocks * 29 % 64), "%s: %s of %zu blocks", name,
			      kinds[kind], blocks);
		}
	for (size_t blocks = 0; blocks <= BLOCKS; blocks++) {
		memset(start, 0, sizeof start);
		CHECK(agrees(2, blocks, start, 0, 0), "%s: counter 0, %zu blocks", name, blocks);
	}
	/* The right half ends in so many bytes of 255 and a last one just below the wrap. */
	for (size_t bytes = 1; bytes <= block / 2; bytes++)
		for (unsigned before = 0; before <= 132; before += before < 4 ? 1 : 16)
			for (size_t blocks = 1; blocks <= BLOCKS; blocks += 1 + random_next(&seed) % 40) {
				random_bytes(&seed, start, sizeof start);
				memset(start + block - bytes, 255, bytes);
				start[block - 1] = (uint8_t)(255 - before);
				CHECK(agrees(2, blocks, start, 3, 5), "%s: wrap of %zu bytes after %u, %zu blocks", name, bytes,
				      before, blocks);
			}
}

int main(void)
{
	for (int cipher = 0; cipher < 2; cipher++) {
		enum kuzma_cipher which = (enum kuzma_cipher)cipher;
		const struct kuzma_backend *backend, *compact = kuzma_backend_by_name(which, "compact");

		block = kuzma_block_bytes(which);
		for (size_t i = 0; (backend = kuzma_backend_at(which, i)) != NULL; i++) {
			uint8_t key[32];
			char name[64];

			if (!kuzma_backend_supported(backend))
				continue;
			snprintf(name, sizeof name, "%s/%s", kuzma_cipher_name(which), kuzma_backend_name(backend));
			for (unsigned keys = 0; keys < 3; keys++) {
				random_bytes(&seed, key, sizeof key);
				kuzma_init(&tested, backend, key, sizeof key);
				kuzma_init(&base, compact, key, sizeof key);
				kernels(name);
			}
		}
	}
	kuzma_wipe(&tested);
	kuzma_wipe(&base);
	return harness_finish();
}
