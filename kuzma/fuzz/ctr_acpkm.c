#include "fuzz.h"

static uint8_t key[KUZMA_KEY_BYTES], iv[KUZMA_BLOCK_BYTES_MAX];
static size_t section;
static struct kuzma_ctr_acpkm ctr;

static void begin(const struct side *side, bool encrypt)
{
	size_t half = kuzma_block_bytes(kuzma_backend_cipher(side->backend)) / 2;

	(void)encrypt;
	REQUIRE(kuzma_ctr_acpkm_init(&ctr, side->backend, key, sizeof key, iv, half, section) == KUZMA_OK);
}

static void next(bool encrypt, uint8_t *output, const uint8_t *input, size_t bytes)
{
	(void)encrypt;
	REQUIRE(kuzma_ctr_acpkm_xor(&ctr, output, input, bytes) == KUZMA_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct setup setup;
	struct input input = { data, bytes };
	struct buffer message, first, output;

	make_setup(&setup, &input);
	memcpy(key, setup.key, sizeof key);
	take(&input, iv, sizeof iv);
	section = setup.block * (1 + take_number(&input, take_number(&input, 1) == 0 ? 3 : 200));
	/* Keys cost more than blocks. */
	make_message(&message, &input, 1, 25 * section < 5000 ? 25 * section : 5000);
	check_stream(&(struct stream){ begin, next, 1 }, &setup, &input, &message);

	/* The first section is CTR. */
	size_t part = section < message.count ? section : message.count;
	make_buffer(&first, &input, part);
	make_buffer(&output, &input, part);
	begin(&setup.tested, true);
	next(true, output.bytes, message.bytes, part);
	REQUIRE(kuzma_ctr_message(&setup.base.context, iv, setup.block / 2, first.bytes, message.bytes, part) == KUZMA_OK);
	REQUIRE(same(&first, &output));
	free_buffer(&first);
	free_buffer(&output);
	free_buffer(&message);
	kuzma_wipe_state(&ctr, sizeof ctr);
	return 0;
}
