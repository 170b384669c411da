#include "fuzz.h"

static uint8_t iv[KUZMA_BLOCK_BYTES_MAX];
static struct kuzma_ctr ctr;

static void begin(const struct side *side, bool encrypt)
{
	(void)encrypt;
	REQUIRE(kuzma_ctr_init(&ctr, &side->context, iv, kuzma_block_bytes(kuzma_backend_cipher(side->backend)) / 2) == KUZMA_OK);
}

static void next(bool encrypt, uint8_t *output, const uint8_t *input, size_t bytes)
{
	(void)encrypt;
	REQUIRE(kuzma_ctr_xor(&ctr, output, input, bytes) == KUZMA_OK);
}

/* From any offset on, near the end of the counter too, both sides do the same; within the message it is a part of it. */
static void check_seek(const struct setup *setup, struct input *input, const struct buffer *message)
{
	struct buffer expected, output;
	uint64_t limit = setup->block == KUZMA_MAGMA_BLOCK_BYTES ? (uint64_t)1 << 35 : UINT64_MAX;
	uint64_t offset = take_number(input, 1) == 0 ? take_number(input, 1u << 20) : limit - take_number(input, 1u << 16);
	enum kuzma_status status;

	make_buffer(&expected, input, message->count);
	make_buffer(&output, input, message->count);
	begin(&setup->base, true);
	status = kuzma_ctr_seek(&ctr, offset);
	if (status == KUZMA_OK)
		status = kuzma_ctr_xor(&ctr, expected.bytes, message->bytes, message->count);
	begin(&setup->tested, true);
	enum kuzma_status tested = kuzma_ctr_seek(&ctr, offset);
	if (tested == KUZMA_OK)
		tested = kuzma_ctr_xor(&ctr, output.bytes, message->bytes, message->count);
	REQUIRE(tested == status && (status == KUZMA_OK || status == KUZMA_ERROR_LIMIT));
	/* After an error nothing was written. */
	REQUIRE(same(&output, &expected));
	if (status != KUZMA_OK)
		REQUIRE(is_untouched(&output));

	size_t from = message->count == 0 ? 0 : take_number(input, message->count - 1);
	begin(&setup->base, true);
	next(true, expected.bytes, message->bytes, message->count);
	REQUIRE(kuzma_ctr_seek(&ctr, from) == KUZMA_OK);
	next(true, output.bytes + from, message->bytes + from, message->count - from);
	REQUIRE(memcmp(output.bytes + from, expected.bytes + from, message->count - from) == 0);
	free_buffer(&expected);
	free_buffer(&output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct setup setup;
	struct input input = { data, bytes };
	struct buffer message;

	make_setup(&setup, &input);
	take(&input, iv, sizeof iv);
	make_message(&message, &input, 1, 12000);
	check_stream(&(struct stream){ begin, next, 1 }, &setup, &input, &message);
	check_seek(&setup, &input, &message);
	free_buffer(&message);
	return 0;
}
