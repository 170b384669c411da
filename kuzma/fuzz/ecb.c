#include "fuzz.h"

static const struct kuzma_context *context;

static void begin(const struct side *side, bool encrypt)
{
	(void)encrypt;
	context = &side->context;
}

static void next(bool encrypt, uint8_t *output, const uint8_t *input, size_t bytes)
{
	REQUIRE((encrypt ? kuzma_ecb_encrypt : kuzma_ecb_decrypt)(context, output, input, bytes) == KUZMA_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct setup setup;
	struct input input = { data, bytes };
	struct buffer message;

	make_setup(&setup, &input);
	make_message(&message, &input, setup.block, 12000 / setup.block);
	check_stream(&(struct stream){ begin, next, setup.block }, &setup, &input, &message);
	free_buffer(&message);
	return 0;
}
