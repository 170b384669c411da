/* Magma with t and the rotation by 11 joined in tables: 4 positions x 256 values x 4 bytes, 4 KiB. */
#include <pthread.h>

#include "backend.h"
#include "bytes.h"
#include "magma/transforms.h"

/* Blocks in flight: a round is a chain of about 12 clocks, and one block leaves most of the core idle. Six are the
 * most that pay with 16 registers. Spelt out, because loops over arrays stay in memory with some compilers. */
#define LANES 6
#define EACH_LANE(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)

struct table_state {
	uint32_t encrypt_keys[MAGMA_ROUNDS];
	uint32_t decrypt_keys[MAGMA_ROUNDS];
};

static _Alignas(64) uint32_t table[4][256];

static void make_table(void)
{
	for (unsigned position = 0; position < 4; position++) {
		for (uint32_t value = 0; value < 256; value++) {
			uint32_t pair = (uint32_t)kuzma_magma_pi[2 * position][value & 15u] |
			                (uint32_t)kuzma_magma_pi[2 * position + 1][value >> 4] << 4;
			uint32_t word = pair << (8 * position);
			table[position][value] = word << 11 | word >> 21;
		}
	}
}

static void prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_table);
}

static void set_key(void *state, const uint8_t key[KUZMA_KEY_BYTES])
{
	struct table_state *keys = state;

	kuzma_magma_expand_key(keys->encrypt_keys, key);
	for (unsigned i = 0; i < MAGMA_ROUNDS; i++)
		keys->decrypt_keys[i] = keys->encrypt_keys[MAGMA_ROUNDS - 1 - i];
}

static inline uint32_t g(uint32_t sum)
{
	return (table[0][sum & 255u] ^ table[1][sum >> 8 & 255u]) ^ (table[2][sum >> 16 & 255u] ^ table[3][sum >> 24]);
}

static inline void process_one(const uint32_t keys[MAGMA_ROUNDS], uint32_t *first, uint32_t *second)
{
	uint32_t left = *first, right = *second;

	for (unsigned i = 0; i < MAGMA_ROUNDS; i += 2) {
		left ^= g(right + keys[i]);
		right ^= g(left + keys[i + 1]);
	}
	*first = right;
	*second = left;
}

#define LOAD(lane) uint32_t left##lane = load_be32(from + 8 * lane), right##lane = load_be32(from + 8 * lane + 4);
#define EVEN_ROUND(lane) left##lane ^= g(right##lane + key);
#define ODD_ROUND(lane) right##lane ^= g(left##lane + key);
#define STORE(lane) store_be32(to + 8 * lane, right##lane), store_be32(to + 8 * lane + 4, left##lane);

static void process(const uint32_t keys[MAGMA_ROUNDS], uint8_t *output, const uint8_t *input, size_t blocks)
{
	size_t n = 0;

	for (; n + LANES <= blocks; n += LANES) {
		const uint8_t *from = input + 8 * n;
		uint8_t *to = output + 8 * n;

		EACH_LANE(LOAD)
		for (unsigned i = 0; i < MAGMA_ROUNDS; i += 2) {
			uint32_t key = keys[i];
			EACH_LANE(EVEN_ROUND)
			key = keys[i + 1];
			EACH_LANE(ODD_ROUND)
		}
		EACH_LANE(STORE)
	}
	for (; n < blocks; n++) {
		uint32_t left = load_be32(input + 8 * n), right = load_be32(input + 8 * n + 4);

		process_one(keys, &left, &right);
		store_be32(output + 8 * n, left);
		store_be32(output + 8 * n + 4, right);
	}
}

static void encrypt_blocks(const void *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	process(((const struct table_state *)state)->encrypt_keys, output, input, blocks);
}

static void decrypt_blocks(const void *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	process(((const struct table_state *)state)->decrypt_keys, output, input, blocks);
}

static void cbc_encrypt(const void *state, uint8_t *iv, uint8_t *output, const uint8_t *input, size_t blocks)
{
	const struct table_state *keys = state;
	uint32_t left = load_be32(iv), right = load_be32(iv + 4);

	for (size_t n = 0; n < blocks; n++) {
		left ^= load_be32(input + 8 * n);
		right ^= load_be32(input + 8 * n + 4);
		process_one(keys->encrypt_keys, &left, &right);
		if (output == NULL)
			continue;
		store_be32(output + 8 * n, left);
		store_be32(output + 8 * n + 4, right);
	}
	store_be32(iv, left);
	store_be32(iv + 4, right);
}

const struct kuzma_backend kuzma_magma_table = {
	.name = "table",
	.cipher = KUZMA_MAGMA,
	.constant_time = false,
	.state_bytes = sizeof(struct table_state),
	.prepare = prepare,
	.set_key = set_key,
	.encrypt_blocks = encrypt_blocks,
	.decrypt_blocks = decrypt_blocks,
	.cbc_encrypt = cbc_encrypt,
};
