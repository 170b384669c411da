#include "fuzz.h"

/* One message: its parts, and what they are sealed to. */
struct sealed {
	uint8_t nonce[KUZMA_BLOCK_BYTES_MAX], tag[KUZMA_BLOCK_BYTES_MAX];
	size_t tag_bytes;
	struct buffer associated, plain, coded;
};

static struct kuzma_mgm mgm;

static void associate(void *what, uint8_t *output, const uint8_t *input, size_t bytes)
{
	(void)what;
	(void)output;
	REQUIRE(kuzma_mgm_associate(&mgm, input, bytes) == KUZMA_OK);
}

static void encrypt(void *what, uint8_t *output, const uint8_t *input, size_t bytes)
{
	(void)what;
	REQUIRE(kuzma_mgm_encrypt(&mgm, output, input, bytes) == KUZMA_OK);
}

static void absorb(void *what, uint8_t *output, const uint8_t *input, size_t bytes)
{
	(void)what;
	(void)output;
	REQUIRE(kuzma_mgm_absorb(&mgm, input, bytes) == KUZMA_OK);
}

static void start(const struct setup *setup, const struct sealed *sealed, struct input *input)
{
	REQUIRE(kuzma_mgm_init(&mgm, &setup->tested.context, sealed->nonce, setup->block) == KUZMA_OK);
	in_pieces(input, associate, NULL, NULL, sealed->associated.bytes, sealed->associated.count, 1);
}

/* Any nonce, or one that puts one of the two counters shortly before the end of its half, or of a few bytes of it. */
static void make_nonce(const struct setup *setup, struct input *input, uint8_t *nonce)
{
	size_t half = setup->block / 2, kind = take_number(input, 2), ones, from;

	take(input, nonce, setup->block);
	if (kind > 0) {
		ones = 1 + take_number(input, half - 1);
		from = kind == 1 ? setup->block - ones : half - ones;
		memset(nonce + from, 0xFF, ones);
		nonce[from + ones - 1] = (uint8_t)(0xFF - take_number(input, 150));
		kuzma_ecb_decrypt(&setup->base.context, nonce, nonce, setup->block);
	}
	nonce[0] &= 0x7F;
}

static enum kuzma_status open_whole(const struct setup *setup, const struct sealed *sealed, const struct buffer *output)
{
	return kuzma_mgm_open(&setup->tested.context, sealed->nonce, setup->block, sealed->associated.bytes,
	                      sealed->associated.count, output->bytes, sealed->coded.bytes, sealed->coded.count, sealed->tag,
	                      sealed->tag_bytes);
}

static void check_seal(const struct setup *setup, const struct sealed *sealed, struct input *input)
{
	struct buffer output;
	uint8_t tag[KUZMA_BLOCK_BYTES_MAX];

	make_buffer(&output, input, sealed->plain.count);
	REQUIRE(kuzma_mgm_seal(&setup->tested.context, sealed->nonce, setup->block, sealed->associated.bytes,
	                       sealed->associated.count, output.bytes, sealed->plain.bytes, output.count, tag,
	                       sealed->tag_bytes) == KUZMA_OK);
	REQUIRE(same(&output, &sealed->coded) && memcmp(tag, sealed->tag, sealed->tag_bytes) == 0);
	/* In pieces and in place. */
	memcpy(output.bytes, sealed->plain.bytes, output.count);
	start(setup, sealed, input);
	in_pieces(input, encrypt, NULL, output.bytes, output.bytes, output.count, 1);
	REQUIRE(kuzma_mgm_associate(&mgm, tag, 1) == KUZMA_ERROR_ORDER);
	REQUIRE(kuzma_mgm_final(&mgm, tag, sealed->tag_bytes) == KUZMA_OK);
	REQUIRE(same(&output, &sealed->coded) && memcmp(tag, sealed->tag, sealed->tag_bytes) == 0);
	REQUIRE(kuzma_mgm_final(&mgm, tag, sealed->tag_bytes) == KUZMA_ERROR_ORDER);
	free_buffer(&output);
}

static void check_open(const struct setup *setup, const struct sealed *sealed, struct input *input)
{
	struct buffer output;

	make_buffer(&output, input, sealed->coded.count);
	REQUIRE(open_whole(setup, sealed, &output) == KUZMA_OK && same(&output, &sealed->plain));
	start(setup, sealed, input);
	in_pieces(input, absorb, NULL, NULL, sealed->coded.bytes, sealed->coded.count, 1);
	REQUIRE(kuzma_mgm_decrypt(&mgm, output.bytes, sealed->coded.bytes, output.count) == KUZMA_ERROR_ORDER);
	REQUIRE(kuzma_mgm_verify(&mgm, sealed->tag, sealed->tag_bytes) == KUZMA_OK);
	memcpy(output.bytes, sealed->coded.bytes, output.count);
	REQUIRE(kuzma_mgm_decrypt(&mgm, output.bytes, output.bytes, output.count + 1) == KUZMA_ERROR_LENGTH);
	REQUIRE(kuzma_mgm_decrypt(&mgm, output.bytes, output.bytes, output.count) == KUZMA_OK);
	REQUIRE(same(&output, &sealed->plain));
	REQUIRE(kuzma_mgm_decrypt(&mgm, output.bytes, output.bytes, output.count) == KUZMA_ERROR_ORDER);
	free_buffer(&output);
}

/* Another bit anywhere, and nothing comes out. */
static void check_forgery(const struct setup *setup, struct sealed *sealed, struct input *input)
{
	struct buffer output;
	uint8_t bit = (uint8_t)(1u << take_number(input, 7)), *byte = &sealed->tag[take_number(input, sealed->tag_bytes - 1)];

	switch (take_number(input, 3)) {
	case 0:
		break;
	case 1:
		if (sealed->associated.count > 0)
			byte = &sealed->associated.bytes[take_number(input, sealed->associated.count - 1)];
		break;
	case 2:
		if (sealed->coded.count > 0)
			byte = &sealed->coded.bytes[take_number(input, sealed->coded.count - 1)];
		break;
	default:
		byte = &sealed->nonce[take_number(input, setup->block - 1)];
		if (byte == sealed->nonce)
			bit = 1;
	}
	*byte ^= bit;
	make_buffer(&output, input, sealed->coded.count);
	/* A cut tag may fit by chance: a change of the nonce or of a text alters all of it, at 2^-32 or less to stay. */
	REQUIRE(open_whole(setup, sealed, &output) == KUZMA_ERROR_TAG);
	for (size_t i = 0; i < output.count; i++)
		REQUIRE(output.bytes[i] == 0);
	free_buffer(&output);
	make_buffer(&output, input, sealed->coded.count);
	start(setup, sealed, input);
	in_pieces(input, absorb, NULL, NULL, sealed->coded.bytes, sealed->coded.count, 1);
	REQUIRE(kuzma_mgm_verify(&mgm, sealed->tag, sealed->tag_bytes) == KUZMA_ERROR_TAG);
	REQUIRE(kuzma_mgm_decrypt(&mgm, output.bytes, sealed->coded.bytes, output.count) == KUZMA_ERROR_ORDER);
	REQUIRE(kuzma_mgm_verify(&mgm, sealed->tag, sealed->tag_bytes) == KUZMA_ERROR_ORDER);
	REQUIRE(is_untouched(&output));
	free_buffer(&output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct setup setup;
	static struct sealed sealed;
	struct input input = { data, bytes };
	enum kuzma_status status;

	make_setup(&setup, &input);
	sealed.tag_bytes = KUZMA_TAG_BYTES_MIN + take_number(&input, setup.block - KUZMA_TAG_BYTES_MIN);
	make_nonce(&setup, &input, sealed.nonce);
	make_message(&sealed.associated, &input, 1, take_number(&input, 1) == 0 ? 40 : 9000);
	make_message(&sealed.plain, &input, 1, take_number(&input, 1) == 0 ? 40 : 9000);
	make_buffer(&sealed.coded, &input, sealed.plain.count);
	status = kuzma_mgm_seal(&setup.base.context, sealed.nonce, setup.block, sealed.associated.bytes,
	                        sealed.associated.count, sealed.coded.bytes, sealed.plain.bytes, sealed.plain.count,
	                        sealed.tag, sealed.tag_bytes);
	if (sealed.plain.count + sealed.associated.count == 0) {
		REQUIRE(status == KUZMA_ERROR_LENGTH);
	} else {
		REQUIRE(status == KUZMA_OK);
		check_seal(&setup, &sealed, &input);
		check_open(&setup, &sealed, &input);
		check_forgery(&setup, &sealed, &input);
	}
	free_buffer(&sealed.associated);
	free_buffer(&sealed.plain);
	free_buffer(&sealed.coded);
	return 0;
}
