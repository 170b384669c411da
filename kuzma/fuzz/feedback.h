/* CFB and OFB differ in one call. */
#ifndef FEEDBACK_H
#define FEEDBACK_H

#include "fuzz.h"

typedef enum kuzma_status feedback_call(struct kuzma_feedback *, uint8_t *, const uint8_t *, size_t);

static feedback_call *feedback_calls[2]; /* decrypts, encrypts */
static struct kuzma_feedback feedback_state;
static uint8_t feedback_iv[KUZMA_IV_BYTES_MAX];
static size_t feedback_iv_bytes;

static inline void feedback_begin(const struct side *side, bool encrypt)
{
	(void)encrypt;
	REQUIRE(kuzma_feedback_init(&feedback_state, &side->context, feedback_iv, feedback_iv_bytes) == KUZMA_OK);
}

static inline void feedback_next(bool encrypt, uint8_t *output, const uint8_t *input, size_t bytes)
{
	REQUIRE(feedback_calls[encrypt](&feedback_state, output, input, bytes) == KUZMA_OK);
}

static inline int feedback_case(feedback_call *decrypt, feedback_call *encrypt, const uint8_t *data, size_t bytes)
{
	static struct setup setup;
	struct input input = { data, bytes };
	struct buffer message;

	feedback_calls[0] = decrypt;
	feedback_calls[1] = encrypt;
	make_setup(&setup, &input);
	feedback_iv_bytes = setup.block * (1 + take_number(&input, 15));
	take(&input, feedback_iv, sizeof feedback_iv);
	make_message(&message, &input, 1, 12000);
	check_stream(&(struct stream){ feedback_begin, feedback_next, 1 }, &setup, &input, &message);
	free_buffer(&message);
	return 0;
}

#endif
