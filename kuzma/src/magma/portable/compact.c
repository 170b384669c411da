/* Magma nibble by nibble, straight from RFC 8891 sections 4.4 and 4.5: small and slow. The other backends are
 * checked against it. Not constant-time: its tables are indexed by state. */
#include "backend.h"
#include "bytes.h"
#include "magma/transforms.h"

struct compact_state {
	uint32_t round_keys[MAGMA_ROUNDS];
};

static void set_key(void *state, const uint8_t key[KUZMA_KEY_BYTES])
{
	struct compact_state *compact = state;

	kuzma_magma_expand_key(compact->round_keys, key);
}

/* `first` and `step` give the order of the round keys: 0 and +1, or 31 and -1. */
static void process(const void *state, uint8_t *output, const uint8_t *input, size_t blocks, int first, int step)
{
	const struct compact_state *compact = state;

	for (size_t n = 0; n < blocks; n++) {
		uint32_t left = load_be32(input + 8 * n), right = load_be32(input + 8 * n + 4);

		for (int i = 0; i < MAGMA_ROUNDS; i++) {
			uint32_t mixed = left ^ kuzma_magma_g(compact->round_keys[first + step * i], right);
			left = right;
			right = mixed;
		}
		/* The last round does not swap. */
		store_be32(output + 8 * n, right);
		store_be32(output + 8 * n + 4, left);
	}
}

static void encrypt_blocks(const void *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	process(state, output, input, blocks, 0, 1);
}

static void decrypt_blocks(const void *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	process(state, output, input, blocks, MAGMA_ROUNDS - 1, -1);
}

const struct kuzma_backend kuzma_magma_compact = {
	.name = "compact",
	.cipher = KUZMA_MAGMA,
	.constant_time = false,
	.state_bytes = sizeof(struct compact_state),
	.set_key = set_key,
	.encrypt_blocks = encrypt_blocks,
	.decrypt_blocks = decrypt_blocks,
};
