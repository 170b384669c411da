#include "fuzz.h"

static const struct kuzma_context *context;
static uint8_t start[KUZMA_IV_BYTES_MAX], iv[KUZMA_IV_BYTES_MAX];
static size_t iv_bytes;

static void begin(const struct side *side, bool encrypt)
{
	(void)encrypt;
	context = &side->context;
	memcpy(iv, start, sizeof iv);
}

static void next(bool encrypt, uint8_t *output, const uint8_t *input, size_t bytes)
{
	REQUIRE((encrypt ? kuzma_cbc_encrypt : kuzma_cbc_decrypt)(context, iv, iv_bytes, output, input, bytes) == KUZMA_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct setup setup;
	struct input input = { data, bytes };
	struct buffer message;

	make_setup(&setup, &input);
	iv_bytes = setup.block * (1 + take_number(&input, 15));
	take(&input, start, sizeof start);
	make_message(&message, &input, setup.block, 12000 / setup.block);
	check_stream(&(struct stream){ begin, next, setup.block }, &setup, &input, &message);
	free_buffer(&message);
	return 0;
}
