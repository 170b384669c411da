/* Kuznyechik byte by byte, straight from RFC 7801 sections 4.4 and 4.5: small and slow. The other backends are
 * checked against it. Not constant-time: its tables are indexed by state. */
#include "backend.h"
#include "bytes.h"
#include "kuznyechik/transforms.h"

struct compact_state {
	uint8_t round_keys[KUZNYECHIK_ROUND_KEYS][16];
};

static void set_key(void *state, const uint8_t key[KUZMA_KEY_BYTES])
{
	struct compact_state *compact = state;

	kuzma_kuznyechik_expand_key(compact->round_keys, key);
}

static void encrypt_blocks(const void *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	const struct compact_state *compact = state;
	uint8_t block[16];

	for (size_t n = 0; n < blocks; n++) {
		memcpy(block, input + 16 * n, 16);
		for (unsigned i = 0; i < KUZNYECHIK_ROUND_KEYS - 1; i++) {
			xor_bytes(block, block, compact->round_keys[i], 16);
			kuzma_kuznyechik_s(block);
			kuzma_kuznyechik_l(block);
		}
		xor_bytes(output + 16 * n, block, compact->round_keys[KUZNYECHIK_ROUND_KEYS - 1], 16);
	}
	wipe_bytes(block, sizeof block);
}

static void decrypt_blocks(const void *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	const struct compact_state *compact = state;
	uint8_t block[16];

	for (size_t n = 0; n < blocks; n++) {
		memcpy(block, input + 16 * n, 16);
		for (unsigned i = KUZNYECHIK_ROUND_KEYS - 1; i > 0; i--) {
			xor_bytes(block, block, compact->round_keys[i], 16);
			kuzma_kuznyechik_l_inverse(block);
			kuzma_kuznyechik_s_inverse(block);
		}
		xor_bytes(output + 16 * n, block, compact->round_keys[0], 16);
	}
	wipe_bytes(block, sizeof block);
}

const struct kuzma_backend kuzma_kuznyechik_compact = {
	.name = "compact",
	.cipher = KUZMA_KUZNYECHIK,
	.constant_time = false,
	.state_bytes = sizeof(struct compact_state),
	.prepare = kuzma_kuznyechik_transforms_prepare,
	.set_key = set_key,
	.encrypt_blocks = encrypt_blocks,
	.decrypt_blocks = decrypt_blocks,
};
