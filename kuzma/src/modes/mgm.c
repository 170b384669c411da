/* MGM, RFC 9058 (R 1323565.1.026-2019): CTR from one counter, and over the ciphertext a sum of products with the
 * encryptions of another counter, both of which start from the nonce. */
#include "modes/modes.h"
#include "multiply/multiply.h"

/* The text is encrypted and summed up in pieces that stay in L1. */
#define PIECE_BYTES 16384u

enum stage { ASSOCIATING = 1, ENCRYPTING, ABSORBING, FINISHED, DECRYPTING };

static enum kuzma_status check(const struct kuzma_mgm *mgm)
{
	if (mgm == NULL)
		return KUZMA_ERROR_ARGUMENT;
	return kuzma_check_state(mgm->text.context, mgm->text.block_bytes);
}

enum kuzma_status kuzma_mgm_init(struct kuzma_mgm *mgm, const struct kuzma_context *context, const uint8_t *nonce,
                                 size_t nonce_bytes)
{
	enum kuzma_status status = kuzma_check_context(context);

	if (mgm == NULL)
		return KUZMA_ERROR_ARGUMENT;
	memset(mgm, 0, sizeof *mgm);
	if (status != KUZMA_OK)
		return status;
	if (nonce == NULL)
		return KUZMA_ERROR_ARGUMENT;

	size_t block = block_bytes_of(context);
	if (nonce_bytes != block || (nonce[0] & 0x80u) != 0)
		return KUZMA_ERROR_IV;
	uint8_t starts[2 * KUZMA_BLOCK_BYTES_MAX];
	memcpy(starts, nonce, block);
	memcpy(starts + block, nonce, block);
	starts[block] |= 0x80;
	context->backend->encrypt_blocks(context->state, starts, starts, 2);
	memcpy(mgm->text.counter, starts, block);
	memcpy(mgm->hash_counter, starts + block, block);
	wipe_bytes(starts, sizeof starts);
	mgm->text.keystream_used = (uint32_t)block;
	mgm->text.block_bytes = (uint16_t)block;
	mgm->text.context = context;
	mgm->text.counter_is_secret = 1;
	mgm->stage = ASSOCIATING;
	return KUZMA_OK;
}

static void hash_blocks(struct kuzma_mgm *mgm, const uint8_t *data, size_t blocks)
{
	const struct kuzma_context *context = mgm->text.context;
	const struct kuzma_multiplier *multiplier = kuzma_multiplier(context->backend->cipher);
	size_t block = block_bytes_of(context), batch, used = blocks < BATCH_BYTES / block ? blocks * block : BATCH_BYTES;
	uint8_t hashes[BATCH_BYTES];

	for (; blocks > 0; blocks -= batch, data += batch * block) {
		batch = blocks < BATCH_BYTES / block ? blocks : BATCH_BYTES / block;
		kuzma_hidden_counters(context, mgm->hash_counter, LEFT_HALF, hashes, NULL, batch);
		multiplier->accumulate(mgm->sum, hashes, data, batch);
	}
	wipe_bytes(hashes, used);
}

static void hash(struct kuzma_mgm *mgm, const uint8_t *data, size_t bytes)
{
	size_t block = block_bytes_of(mgm->text.context);

	if (mgm->pending_bytes > 0) {
		size_t fill = block - mgm->pending_bytes;

		fill = bytes < fill ? bytes : fill;
		memcpy(mgm->pending + mgm->pending_bytes, data, fill);
		mgm->pending_bytes += (uint32_t)fill;
		data += fill;
		bytes -= fill;
		if (mgm->pending_bytes < block)
			return;
		hash_blocks(mgm, mgm->pending, 1);
		mgm->pending_bytes = 0;
	}
	hash_blocks(mgm, data, bytes / block);
	mgm->pending_bytes = (uint32_t)(bytes % block);
	memcpy(mgm->pending, data + bytes - mgm->pending_bytes, mgm->pending_bytes);
}

/* Associated data and text each end with a block filled up with zeros, if that is needed. The number of blocks, 0 or 1,
 * that go to `last`. */
static size_t take_last(struct kuzma_mgm *mgm, uint8_t last[KUZMA_BLOCK_BYTES_MAX])
{
	if (mgm->pending_bytes == 0)
		return 0;
	memset(last, 0, KUZMA_BLOCK_BYTES_MAX);
	memcpy(last, mgm->pending, mgm->pending_bytes);
	mgm->pending_bytes = 0;
	return 1;
}

/* Both together are counted in bits, in half a block. */
static bool has_room(const struct kuzma_mgm *mgm, size_t bytes)
{
	uint64_t limit = (uint64_t)1 << (block_bytes_of(mgm->text.context) * 4 - 3);
	uint64_t used = mgm->associated_bytes + mgm->text_bytes;

	return bytes < limit - used;
}

/* Checks a call that adds to the message at `stage`. */
static enum kuzma_status check_more(const struct kuzma_mgm *mgm, enum stage stage, const uint8_t *input, size_t bytes)
{
	enum kuzma_status status = check(mgm);

	if (status == KUZMA_OK && mgm->stage != ASSOCIATING && mgm->stage != (uint32_t)stage)
		status = KUZMA_ERROR_ORDER;
	if (status == KUZMA_OK && input == NULL && bytes > 0)
		status = KUZMA_ERROR_ARGUMENT;
	if (status == KUZMA_OK && !has_room(mgm, bytes))
		status = KUZMA_ERROR_LIMIT;
	return status;
}

static void enter(struct kuzma_mgm *mgm, enum stage stage)
{
	uint8_t last[KUZMA_BLOCK_BYTES_MAX];

	if (mgm->stage == (uint32_t)stage)
		return;
	hash_blocks(mgm, last, take_last(mgm, last));
	mgm->stage = (uint32_t)stage;
	memcpy(mgm->text_counter, mgm->hash_counter, sizeof mgm->text_counter);
	memcpy(mgm->text_sum, mgm->sum, sizeof mgm->text_sum);
}

enum kuzma_status kuzma_mgm_associate(struct kuzma_mgm *mgm, const uint8_t *data, size_t bytes)
{
	enum kuzma_status status = check_more(mgm, ASSOCIATING, data, bytes);

	if (status != KUZMA_OK || bytes == 0)
		return status;
	hash(mgm, data, bytes);
	mgm->associated_bytes += bytes;
	return KUZMA_OK;
}

enum kuzma_status kuzma_mgm_encrypt(struct kuzma_mgm *mgm, uint8_t *output, const uint8_t *input, size_t bytes)
{
	enum kuzma_status status = check_more(mgm, ENCRYPTING, input, bytes);

	if (status == KUZMA_OK)
		status = kuzma_check_buffers(output, input, bytes);
	if (status != KUZMA_OK)
		return status;
	enter(mgm, ENCRYPTING);
	mgm->text_bytes += bytes;
	while (bytes > 0 && status == KUZMA_OK) {
		size_t piece = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;

		status = kuzma_ctr_xor(&mgm->text, output, input, piece);
		hash(mgm, output, piece);
		output += piece;
		input += piece;
		bytes -= piece;
	}
	return status;
}

enum kuzma_status kuzma_mgm_absorb(struct kuzma_mgm *mgm, const uint8_t *ciphertext, size_t bytes)
{
	enum kuzma_status status = check_more(mgm, ABSORBING, ciphertext, bytes);

	if (status != KUZMA_OK)
		return status;
	enter(mgm, ABSORBING);
	mgm->text_bytes += bytes;
	if (bytes > 0)
		hash(mgm, ciphertext, bytes);
	return KUZMA_OK;
}

/* Leaves the tag in `sum`. */
static void make_tag(struct kuzma_mgm *mgm)
{
	const struct kuzma_context *context = mgm->text.context;
	size_t block = block_bytes_of(context);
	uint8_t last[2 * KUZMA_BLOCK_BYTES_MAX];
	size_t blocks = take_last(mgm, last);
	uint8_t *lengths = last + blocks * block;

	if (block == KUZMA_MAGMA_BLOCK_BYTES) {
		store_be32(lengths, (uint32_t)(8 * mgm->associated_bytes));
		store_be32(lengths + 4, (uint32_t)(8 * mgm->text_bytes));
	} else {
		store_be64(lengths, 8 * mgm->associated_bytes);
		store_be64(lengths + 8, 8 * mgm->text_bytes);
	}
	hash_blocks(mgm, last, blocks + 1);
	context->backend->encrypt_blocks(context->state, mgm->sum, mgm->sum, 1);
	mgm->stage = FINISHED;
}

static enum kuzma_status finish(struct kuzma_mgm *mgm, enum stage not_after, const uint8_t *tag, size_t tag_bytes)
{
	enum kuzma_status status = check(mgm);

	if (status == KUZMA_OK && (mgm->stage >= FINISHED || mgm->stage == (uint32_t)not_after))
		status = KUZMA_ERROR_ORDER;
	if (status == KUZMA_OK)
		status = kuzma_check_tag(mgm->text.context, tag, tag_bytes);
	if (status == KUZMA_OK && mgm->associated_bytes == 0 && mgm->text_bytes == 0)
		status = KUZMA_ERROR_LENGTH;
	if (status == KUZMA_OK)
		make_tag(mgm);
	return status;
}

enum kuzma_status kuzma_mgm_final(struct kuzma_mgm *mgm, uint8_t *tag, size_t tag_bytes)
{
	enum kuzma_status status = finish(mgm, ABSORBING, tag, tag_bytes);

	if (status == KUZMA_OK)
		memcpy(tag, mgm->sum, tag_bytes);
	return status;
}

enum kuzma_status kuzma_mgm_verify(struct kuzma_mgm *mgm, const uint8_t *tag, size_t tag_bytes)
{
	enum kuzma_status status = finish(mgm, ENCRYPTING, tag, tag_bytes);

	if (status != KUZMA_OK)
		return status;
	memcpy(mgm->verified, mgm->sum, sizeof mgm->verified);
	status = kuzma_compare_tag(mgm->sum, tag, tag_bytes);
	if (status == KUZMA_OK)
		mgm->stage = DECRYPTING;
	else
		wipe_bytes(mgm->verified, sizeof mgm->verified);
	return status;
}

/* The next piece of ciphertext, as it comes to lie in `output`, which nobody else writes to. */
static size_t take_piece(struct kuzma_mgm *mgm, uint8_t *output, const uint8_t *input, size_t bytes)
{
	size_t piece = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;

	if (output != input)
		memcpy(output, input, piece);
	hash(mgm, output, piece);
	return piece;
}

enum kuzma_status kuzma_mgm_decrypt(struct kuzma_mgm *mgm, uint8_t *output, const uint8_t *input, size_t bytes)
{
	enum kuzma_status status = check(mgm);

	if (status == KUZMA_OK && mgm->stage != DECRYPTING)
		status = KUZMA_ERROR_ORDER;
	if (status == KUZMA_OK)
		status = kuzma_check_buffers(output, input, bytes);
	if (status == KUZMA_OK && bytes != mgm->text_bytes)
		status = KUZMA_ERROR_LENGTH;
	if (status != KUZMA_OK)
		return status;
	mgm->stage = FINISHED;
	if (bytes == 0)
		return KUZMA_OK;
	/* The tag of what is decrypted, once more: the caller's memory may hold something else by now. */
	memcpy(mgm->hash_counter, mgm->text_counter, sizeof mgm->hash_counter);
	memcpy(mgm->sum, mgm->text_sum, sizeof mgm->sum);
	for (size_t done = 0, piece; done < bytes && status == KUZMA_OK; done += piece) {
		piece = take_piece(mgm, output + done, input + done, bytes - done);
		status = kuzma_ctr_xor(&mgm->text, output + done, output + done, piece);
	}
	make_tag(mgm);
	if (status == KUZMA_OK)
		status = kuzma_compare_tag(mgm->sum, mgm->verified, block_bytes_of(mgm->text.context));
	if (status != KUZMA_OK)
		wipe_bytes(output, bytes);
	return status;
}

enum kuzma_status kuzma_mgm_seal(const struct kuzma_context *context, const uint8_t *nonce, size_t nonce_bytes,
                                 const uint8_t *associated, size_t associated_bytes, uint8_t *output,
                                 const uint8_t *input, size_t bytes, uint8_t *tag, size_t tag_bytes)
{
	struct kuzma_mgm mgm;
	enum kuzma_status status = kuzma_mgm_init(&mgm, context, nonce, nonce_bytes);

	/* Before any output. */
	if (status == KUZMA_OK)
		status = kuzma_check_tag(context, tag, tag_bytes);
	if (status == KUZMA_OK && associated_bytes == 0 && bytes == 0)
		status = KUZMA_ERROR_LENGTH;
	if (status == KUZMA_OK)
		status = kuzma_mgm_associate(&mgm, associated, associated_bytes);
	if (status == KUZMA_OK)
		status = kuzma_mgm_encrypt(&mgm, output, input, bytes);
	if (status == KUZMA_OK)
		status = kuzma_mgm_final(&mgm, tag, tag_bytes);
	wipe_bytes(&mgm, sizeof mgm);
	return status;
}

enum kuzma_status kuzma_mgm_open(const struct kuzma_context *context, const uint8_t *nonce, size_t nonce_bytes,
                                 const uint8_t *associated, size_t associated_bytes, uint8_t *output,
                                 const uint8_t *input, size_t bytes, const uint8_t *tag, size_t tag_bytes)
{
	struct kuzma_mgm mgm;
	enum kuzma_status status = kuzma_mgm_init(&mgm, context, nonce, nonce_bytes);

	/* All that can be wrong but the tag, before any output. */
	if (status == KUZMA_OK)
		status = kuzma_check_buffers(output, input, bytes);
	if (status == KUZMA_OK)
		status = kuzma_check_tag(context, tag, tag_bytes);
	if (status == KUZMA_OK && associated_bytes == 0 && bytes == 0)
		status = KUZMA_ERROR_LENGTH;
	if (status == KUZMA_OK)
		status = kuzma_mgm_associate(&mgm, associated, associated_bytes);
	if (status == KUZMA_OK)
		status = kuzma_mgm_absorb(&mgm, NULL, 0);
	if (status == KUZMA_OK && !has_room(&mgm, bytes))
		status = KUZMA_ERROR_LIMIT;
	if (status == KUZMA_OK) {
		/* The input is read once, so that what is verified is what is decrypted. */
		for (size_t done = 0; done < bytes;)
			done += take_piece(&mgm, output + done, input + done, bytes - done);
		mgm.text_bytes = bytes;
		status = kuzma_mgm_verify(&mgm, tag, tag_bytes);
		if (status == KUZMA_OK)
			status = kuzma_ctr_xor(&mgm.text, output, output, bytes);
		if (status != KUZMA_OK && output != input && bytes > 0)
			wipe_bytes(output, bytes);
	}
	wipe_bytes(&mgm, sizeof mgm);
	return status;
}
