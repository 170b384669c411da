#include "fuzz.h"

static struct kuzma_mac_acpkm mac;

static void next(void *what, uint8_t *output, const uint8_t *input, size_t bytes)
{
	(void)what;
	(void)output;
	REQUIRE(kuzma_mac_acpkm_update(&mac, input, bytes) == KUZMA_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct setup setup;
	struct input input = { data, bytes };
	struct buffer message;
	uint8_t expected[KUZMA_BLOCK_BYTES_MAX], tag[KUZMA_BLOCK_BYTES_MAX];

	make_setup(&setup, &input);
	size_t tag_bytes = KUZMA_TAG_BYTES_MIN + take_number(&input, setup.block - KUZMA_TAG_BYTES_MIN);
	size_t section = setup.block * (1 + take_number(&input, take_number(&input, 1) == 0 ? 3 : 200));
	size_t key_section = setup.block * (1 + take_number(&input, 20));
	/* Keys cost more than blocks. */
	make_message(&message, &input, 1, 25 * section < 3000 ? 25 * section : 3000);
	REQUIRE(kuzma_mac_acpkm_init(&mac, setup.base.backend, setup.key, 32, section, key_section) == KUZMA_OK);
	next(NULL, NULL, message.bytes, message.count);
	REQUIRE(kuzma_mac_acpkm_final(&mac, expected, tag_bytes) == KUZMA_OK);
	REQUIRE(kuzma_mac_acpkm_init(&mac, setup.tested.backend, setup.key, 32, section, key_section) == KUZMA_OK);
	next(NULL, NULL, message.bytes, message.count);
	REQUIRE(kuzma_mac_acpkm_final(&mac, tag, tag_bytes) == KUZMA_OK);
	REQUIRE(memcmp(tag, expected, tag_bytes) == 0);
	REQUIRE(kuzma_mac_acpkm_update(&mac, message.bytes, message.count) == KUZMA_ERROR_ORDER);

	bool forge = take_number(&input, 1) == 1;
	if (forge)
		tag[take_number(&input, tag_bytes - 1)] ^= (uint8_t)(1u << take_number(&input, 7));
	kuzma_mac_acpkm_init(&mac, setup.tested.backend, setup.key, 32, section, key_section);
	in_pieces(&input, next, NULL, NULL, message.bytes, message.count, 1);
	REQUIRE(kuzma_mac_acpkm_verify(&mac, tag, tag_bytes) == (forge ? KUZMA_ERROR_TAG : KUZMA_OK));
	free_buffer(&message);
	kuzma_wipe_state(&mac, sizeof mac);
	return 0;
}
