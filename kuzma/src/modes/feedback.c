/* CFB and OFB of GOST R 34.13-2015, sections 5.5 and 5.3, with s = n: the register R holds z blocks; the leading one is
 * encrypted to the next keystream block, and what enters R at its end is the ciphertext block (CFB) or the keystream
 * block (OFB). R is kept as a ring: what enters overwrites the block that was just used. */
#include "modes/modes.h"

enum feedback { ENCRYPTED_TEXT, PLAIN_TEXT, KEYSTREAM };

enum kuzma_status kuzma_feedback_init(struct kuzma_feedback *state, const struct kuzma_context *context,
                                      const uint8_t *iv, size_t iv_bytes)
{
	enum kuzma_status status = kuzma_check_context(context);

	if (state == NULL)
		return KUZMA_ERROR_ARGUMENT;
	memset(state, 0, sizeof *state);
	if (status == KUZMA_OK)
		status = kuzma_check_register(context, iv, iv_bytes);
	if (status != KUZMA_OK)
		return status;
	memcpy(state->iv, iv, iv_bytes);
	state->iv_bytes = (uint32_t)iv_bytes;
	state->block_bytes = state->keystream_used = (uint32_t)block_bytes_of(context);
	state->context = context;
	return KUZMA_OK;
}

static enum kuzma_status check(const struct kuzma_feedback *state, const uint8_t *output, const uint8_t *input,
                               size_t bytes)
{
	if (state == NULL)
		return KUZMA_ERROR_ARGUMENT;
	enum kuzma_status status = kuzma_check_state(state->context, state->block_bytes);
	return status == KUZMA_OK ? kuzma_check_buffers(output, input, bytes) : status;
}

/* Part of one block. The keystream block has been made; its place in the ring fills up byte by byte. */
static void part_of_block(struct kuzma_feedback *state, enum feedback feedback, uint8_t *output, const uint8_t *input,
                          size_t bytes)
{
	size_t block = block_bytes_of(state->context), used = state->keystream_used;
	uint8_t *entering = state->iv + state->at + used;

	if (feedback == KEYSTREAM)
		memcpy(entering, state->keystream + used, bytes);
	else if (feedback == PLAIN_TEXT)
		memcpy(entering, input, bytes);
	xor_bytes(output, input, state->keystream + used, bytes);
	if (feedback == ENCRYPTED_TEXT)
		memcpy(entering, output, bytes);
	state->keystream_used += (uint32_t)bytes;
	if (state->keystream_used == block)
		state->at = (state->at + (uint32_t)block) % state->iv_bytes;
}

static void next_keystream(struct kuzma_feedback *state)
{
	state->context->backend->encrypt_blocks(state->context->state, state->keystream, state->iv + state->at, 1);
	state->keystream_used = 0;
}

/* Whole blocks with a register of one block: one chain, which stays in the backend's registers. */
static void one_chain(struct kuzma_feedback *state, enum feedback feedback, uint8_t *output, const uint8_t *input,
                      size_t blocks)
{
	const struct kuzma_context *context = state->context;
	size_t block = block_bytes_of(context);
	size_t used = blocks < BATCH_BYTES / block ? blocks * block : BATCH_BYTES;
	uint8_t keystream[BATCH_BYTES], nothing[BATCH_BYTES];

	if (feedback == KEYSTREAM)
		memset(nothing, 0, used);
	while (blocks > 0) {
		size_t batch = blocks < BATCH_BYTES / block ? blocks : BATCH_BYTES / block;
		uint8_t *chain = state->keystream;

		/* The first from the register, the others each from the one before. */
		context->backend->encrypt_blocks(context->state, chain, state->iv, 1);
		memcpy(keystream, chain, block);
		kuzma_chain(context, chain, keystream + block, feedback == KEYSTREAM ? nothing : input, batch - 1);
		xor_bytes(output, input, keystream, batch * block);
		memcpy(state->iv, feedback == KEYSTREAM ? chain : output + (batch - 1) * block, block);
		output += batch * block;
		input += batch * block;
		blocks -= batch;
	}
	wipe_bytes(keystream, used);
}

/* Whole blocks with a wider register: its chains advance side by side, as many at a time as the ring has blocks. */
static void many_chains(struct kuzma_feedback *state, enum feedback feedback, uint8_t *output, const uint8_t *input,
                        size_t blocks)
{
	const struct kuzma_context *context = state->context;
	size_t block = block_bytes_of(context);
	uint8_t keystream[KUZMA_IV_BYTES_MAX];

	for (size_t left = blocks * block, bytes; left > 0; left -= bytes) {
		uint8_t *leading = state->iv + state->at;

		bytes = state->iv_bytes - state->at < left ? state->iv_bytes - state->at : left;
		context->backend->encrypt_blocks(context->state, keystream, leading, bytes / block);
		xor_bytes(output, input, keystream, bytes);
		memcpy(leading, feedback == KEYSTREAM ? keystream : output, bytes);
		state->at = (state->at + (uint32_t)bytes) % state->iv_bytes;
		output += bytes;
		input += bytes;
	}
	wipe_bytes(keystream, sizeof keystream);
}

/* Whole blocks of CFB decryption: every block of ciphertext is there already, so all of them go at once. */
static void all_at_once(struct kuzma_feedback *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	const struct kuzma_context *context = state->context;
	size_t block = block_bytes_of(context), ring = state->iv_bytes;
	uint8_t keystream[BATCH_BYTES], used[KUZMA_IV_BYTES_MAX];

	for (size_t left = blocks * block, batch; left > 0; left -= batch) {
		batch = left < BATCH_BYTES ? left : BATCH_BYTES;
		size_t head = batch < ring ? batch : ring;

		memcpy(used, state->iv + state->at, ring - state->at);
		memcpy(used + ring - state->at, state->iv, state->at);
		memcpy(keystream, used, head);
		memcpy(keystream + head, input, batch - head);
		/* The register after this batch, with its leading block first. */
		memcpy(state->iv, used + head, ring - head);
		memcpy(state->iv + ring - head, input + batch - head, head);
		state->at = 0;
		context->backend->encrypt_blocks(context->state, keystream, keystream, batch / block);
		xor_bytes(output, input, keystream, batch);
		output += batch;
		input += batch;
	}
	wipe_bytes(keystream, blocks * block < sizeof keystream ? blocks * block : sizeof keystream);
}

static enum kuzma_status run(struct kuzma_feedback *state, enum feedback feedback, uint8_t *output,
                             const uint8_t *input, size_t bytes)
{
	enum kuzma_status status = check(state, output, input, bytes);

	if (status != KUZMA_OK || bytes == 0)
		return status;

	size_t block = block_bytes_of(state->context), left = block - state->keystream_used;
	size_t leading = bytes < left ? bytes : left, whole = (bytes - leading) / block;
	size_t trailing = (bytes - leading) % block;

	if (leading > 0)
		part_of_block(state, feedback, output, input, leading);
	output += leading;
	input += leading;
	if (whole > 0) {
		if (feedback == PLAIN_TEXT)
			all_at_once(state, output, input, whole);
		else if (state->iv_bytes == block)
			one_chain(state, feedback, output, input, whole);
		else
			many_chains(state, feedback, output, input, whole);
	}
	if (trailing > 0) {
		next_keystream(state);
		part_of_block(state, feedback, output + whole * block, input + whole * block, trailing);
	}
	return KUZMA_OK;
}

enum kuzma_status kuzma_cfb_encrypt(struct kuzma_feedback *state, uint8_t *output, const uint8_t *input, size_t bytes)
{
	return run(state, ENCRYPTED_TEXT, output, input, bytes);
}

enum kuzma_status kuzma_cfb_decrypt(struct kuzma_feedback *state, uint8_t *output, const uint8_t *input, size_t bytes)
{
	return run(state, PLAIN_TEXT, output, input, bytes);
}

enum kuzma_status kuzma_ofb_xor(struct kuzma_feedback *state, uint8_t *output, const uint8_t *input, size_t bytes)
{
	return run(state, KEYSTREAM, output, input, bytes);
}

static enum kuzma_status message(const struct kuzma_context *context, enum feedback feedback, const uint8_t *iv,
                                 size_t iv_bytes, uint8_t *output, const uint8_t *input, size_t bytes)
{
	struct kuzma_feedback state;
	enum kuzma_status status = kuzma_feedback_init(&state, context, iv, iv_bytes);

	if (status == KUZMA_OK)
		status = run(&state, feedback, output, input, bytes);
	wipe_bytes(&state, sizeof state);
	return status;
}

enum kuzma_status kuzma_cfb_encrypt_message(const struct kuzma_context *context, const uint8_t *iv, size_t iv_bytes,
                                            uint8_t *output, const uint8_t *input, size_t bytes)
{
	return message(context, ENCRYPTED_TEXT, iv, iv_bytes, output, input, bytes);
}

enum kuzma_status kuzma_cfb_decrypt_message(const struct kuzma_context *context, const uint8_t *iv, size_t iv_bytes,
                                            uint8_t *output, const uint8_t *input, size_t bytes)
{
	return message(context, PLAIN_TEXT, iv, iv_bytes, output, input, bytes);
}

enum kuzma_status kuzma_ofb_message(const struct kuzma_context *context, const uint8_t *iv, size_t iv_bytes,
                                    uint8_t *output, const uint8_t *input, size_t bytes)
{
	return message(context, KEYSTREAM, iv, iv_bytes, output, input, bytes);
}
