#include "fuzz.h"

static void next(void *mac, uint8_t *output, const uint8_t *input, size_t bytes)
{
	(void)output;
	REQUIRE(kuzma_mac_update(mac, input, bytes) == KUZMA_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct setup setup;
	struct input input = { data, bytes };
	struct buffer message;
	struct kuzma_mac mac;
	uint8_t expected[KUZMA_BLOCK_BYTES_MAX], tag[KUZMA_BLOCK_BYTES_MAX];

	make_setup(&setup, &input);
	size_t tag_bytes = KUZMA_TAG_BYTES_MIN + take_number(&input, setup.block - KUZMA_TAG_BYTES_MIN);
	make_message(&message, &input, 1, 12000);
	REQUIRE(kuzma_mac_message(&setup.base.context, expected, tag_bytes, message.bytes, message.count) == KUZMA_OK);
	REQUIRE(kuzma_mac_message(&setup.tested.context, tag, tag_bytes, message.bytes, message.count) == KUZMA_OK);
	REQUIRE(memcmp(tag, expected, tag_bytes) == 0);

	REQUIRE(kuzma_mac_init(&mac, &setup.tested.context) == KUZMA_OK);
	in_pieces(&input, next, &mac, NULL, message.bytes, message.count, 1);
	REQUIRE(kuzma_mac_final(&mac, tag, tag_bytes) == KUZMA_OK);
	REQUIRE(memcmp(tag, expected, tag_bytes) == 0);
	REQUIRE(kuzma_mac_update(&mac, message.bytes, message.count) == KUZMA_ERROR_ORDER);
	REQUIRE(kuzma_mac_final(&mac, tag, tag_bytes) == KUZMA_ERROR_ORDER);

	/* A wrong bit in the tag. */
	bool forge = take_number(&input, 1) == 1;
	if (forge)
		tag[take_number(&input, tag_bytes - 1)] ^= (uint8_t)(1u << take_number(&input, 7));
	kuzma_mac_init(&mac, &setup.tested.context);
	in_pieces(&input, next, &mac, NULL, message.bytes, message.count, 1);
	REQUIRE(kuzma_mac_verify(&mac, tag, tag_bytes) == (forge ? KUZMA_ERROR_TAG : KUZMA_OK));
	free_buffer(&message);
	return 0;
}
