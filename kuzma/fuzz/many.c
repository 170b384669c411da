/* Many messages at once do what they do one by one. */
#include "fuzz.h"

enum { MESSAGES_MAX = 80 };

enum mode { CBC, CFB, OFB, MAC, MODES };

struct one {
	struct buffer message, output;
	uint8_t iv[KUZMA_BLOCK_BYTES_MAX], expected_iv[KUZMA_BLOCK_BYTES_MAX];
};

static struct one ones[MESSAGES_MAX];
static struct kuzma_message messages[MESSAGES_MAX];

/* The message by itself, with `compact`, into `to`. */
static void alone(const struct setup *setup, enum mode mode, struct one *one, const struct buffer *to, size_t tag_bytes)
{
	const struct kuzma_context *context = &setup->base.context;
	struct kuzma_feedback state;

	memcpy(one->expected_iv, one->iv, sizeof one->iv);
	switch (mode) {
	case CBC:
		REQUIRE(kuzma_cbc_encrypt(context, one->expected_iv, setup->block, to->bytes, one->message.bytes,
		                          to->count) == KUZMA_OK);
		break;
	case CFB:
		kuzma_feedback_init(&state, context, one->iv, setup->block);
		REQUIRE(kuzma_cfb_encrypt(&state, to->bytes, one->message.bytes, to->count) == KUZMA_OK);
		break;
	case OFB:
		kuzma_feedback_init(&state, context, one->iv, setup->block);
		REQUIRE(kuzma_ofb_xor(&state, to->bytes, one->message.bytes, to->count) == KUZMA_OK);
		break;
	default:
		REQUIRE(kuzma_mac_message(context, to->bytes, tag_bytes, one->message.bytes, one->message.count) == KUZMA_OK);
	}
}

static enum kuzma_status together(const struct setup *setup, enum mode mode, size_t count, size_t tag_bytes)
{
	const struct kuzma_context *context = &setup->tested.context;

	switch (mode) {
	case CBC: return kuzma_cbc_encrypt_many(context, messages, count);
	case CFB: return kuzma_cfb_encrypt_many(context, messages, count);
	case OFB: return kuzma_ofb_xor_many(context, messages, count);
	default: return kuzma_mac_many(context, messages, count, tag_bytes);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct setup setup;
	struct input input = { data, bytes };

	make_setup(&setup, &input);
	enum mode mode = (enum mode)take_number(&input, MODES - 1);
	size_t unit = mode == CBC ? setup.block : 1, most = (take_number(&input, 1) == 0 ? 64 : 900) / unit;
	size_t tag_bytes = KUZMA_TAG_BYTES_MIN + take_number(&input, setup.block - KUZMA_TAG_BYTES_MIN);
	size_t count = take_number(&input, MESSAGES_MAX);
	struct buffer expected[MESSAGES_MAX];

	for (size_t i = 0; i < count; i++) {
		struct one *one = &ones[i];
		/* Lengths and places differ; once the input is used up they are all empty, so add some. */
		struct input more = { data, bytes };
		size_t skip = bytes == 0 ? 0 : (i * 7) % bytes;
		more.at += skip;
		more.left -= skip;
		struct input *source = input.left > 0 ? &input : &more;

		make_message(&one->message, source, unit, most);
		take(source, one->iv, sizeof one->iv);
		size_t size = mode == MAC ? tag_bytes : one->message.count;
		make_buffer(&expected[i], source, size);
		make_buffer(&one->output, source, size);
		alone(&setup, mode, one, &expected[i], tag_bytes);
		bool in_place = mode != MAC && take_number(source, 1) == 1;
		if (in_place)
			memcpy(one->output.bytes, one->message.bytes, size);
		messages[i].output = one->output.bytes;
		messages[i].input = in_place ? one->output.bytes : one->message.bytes;
		messages[i].bytes = one->message.count;
		messages[i].iv = mode == MAC ? NULL : one->iv;
	}
	REQUIRE(together(&setup, mode, count, tag_bytes) == KUZMA_OK);
	for (size_t i = 0; i < count; i++) {
		REQUIRE(same(&ones[i].output, &expected[i]));
		if (mode != MAC)
			REQUIRE(memcmp(ones[i].iv, ones[i].expected_iv, setup.block) == 0);
		free_buffer(&ones[i].message);
		free_buffer(&ones[i].output);
		free_buffer(&expected[i]);
	}
	return 0;
}
