/* CTR of GOST R 34.13-2015, section 5.2, with s = n. */
#include "modes/modes.h"

/* The counter has 32 bits for Magma. 2^64 blocks of Kuznyechik cannot be counted in bytes; 2^60 can. */
static uint64_t blocks_max(size_t block)
{
	return (uint64_t)1 << (block == KUZMA_MAGMA_BLOCK_BYTES ? 32 : 60);
}

static enum kuzma_status check(const struct kuzma_ctr *ctr)
{
	if (ctr == NULL)
		return KUZMA_ERROR_ARGUMENT;
	return kuzma_check_state(ctr->context, ctr->block_bytes);
}

enum kuzma_status kuzma_ctr_init(struct kuzma_ctr *ctr, const struct kuzma_context *context, const uint8_t *iv,
                                 size_t iv_bytes)
{
	enum kuzma_status status = kuzma_check_context(context);

	if (ctr == NULL)
		return KUZMA_ERROR_ARGUMENT;
	memset(ctr, 0, sizeof *ctr);
	if (status != KUZMA_OK)
		return status;
	size_t block = block_bytes_of(context);
	if (iv == NULL)
		return KUZMA_ERROR_ARGUMENT;
	if (iv_bytes != block / 2)
		return KUZMA_ERROR_IV;
	memcpy(ctr->counter, iv, iv_bytes);
	ctr->keystream_used = (uint32_t)block;
	ctr->block_bytes = (uint16_t)block;
	ctr->context = context;
	return KUZMA_OK;
}

bool kuzma_ctr_has_room(const struct kuzma_ctr *ctr, uint64_t bytes)
{
	uint64_t block = block_bytes_of(ctr->context), left = block - ctr->keystream_used;
	uint64_t more = bytes > left ? bytes - left : 0;

	return more / block + (more % block > 0) <= blocks_max((size_t)block) - ctr->blocks_used;
}

enum kuzma_status kuzma_ctr_xor(struct kuzma_ctr *ctr, uint8_t *output, const uint8_t *input, size_t bytes)
{
	enum kuzma_status status = check(ctr);

	if (status == KUZMA_OK)
		status = kuzma_check_buffers(output, input, bytes);
	if (status != KUZMA_OK || bytes == 0)
		return status;

	if (!kuzma_ctr_has_room(ctr, bytes))
		return KUZMA_ERROR_LIMIT;

	size_t block = block_bytes_of(ctr->context), left = block - ctr->keystream_used;
	size_t leading = bytes < left ? bytes : left, whole = (bytes - leading) / block;
	size_t trailing = (bytes - leading) % block;

	xor_bytes(output, input, ctr->keystream + ctr->keystream_used, leading);
	ctr->keystream_used += (uint32_t)leading;
	if (whole > 0)
		kuzma_counter_xor(ctr->context, ctr->counter, ctr->counter_is_secret, output + leading, input + leading, whole);
	if (trailing > 0) {
		memset(ctr->keystream, 0, block);
		kuzma_counter_xor(ctr->context, ctr->counter, ctr->counter_is_secret, ctr->keystream, ctr->keystream, 1);
		xor_bytes(output + bytes - trailing, input + bytes - trailing, ctr->keystream, trailing);
		ctr->keystream_used = (uint32_t)trailing;
	}
	ctr->blocks_used += whole + (trailing > 0);
	return KUZMA_OK;
}

enum kuzma_status kuzma_ctr_seek(struct kuzma_ctr *ctr, uint64_t offset)
{
	enum kuzma_status status = check(ctr);

	if (status != KUZMA_OK)
		return status;

	size_t block = block_bytes_of(ctr->context), part = (size_t)(offset % block);
	uint64_t index = offset / block;

	if (index > blocks_max(block) || (index == blocks_max(block) && part > 0))
		return KUZMA_ERROR_LIMIT;
	for (size_t i = 0; i < block / 2; i++)
		ctr->counter[block - 1 - i] = (uint8_t)(index >> 8 * i);
	ctr->blocks_used = index;
	ctr->keystream_used = (uint32_t)block;
	if (part > 0) {
		uint8_t skipped[KUZMA_BLOCK_BYTES_MAX] = { 0 };

		status = kuzma_ctr_xor(ctr, skipped, skipped, part);
		wipe_bytes(skipped, sizeof skipped);
	}
	return status;
}

enum kuzma_status kuzma_ctr_message(const struct kuzma_context *context, const uint8_t *iv, size_t iv_bytes,
                                    uint8_t *output, const uint8_t *input, size_t bytes)
{
	struct kuzma_ctr ctr;
	enum kuzma_status status = kuzma_ctr_init(&ctr, context, iv, iv_bytes);

	if (status == KUZMA_OK)
		status = kuzma_ctr_xor(&ctr, output, input, bytes);
	wipe_bytes(&ctr, sizeof ctr);
	return status;
}
