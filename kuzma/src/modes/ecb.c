/* ECB of GOST R 34.13-2015, section 5.1. */
#include "modes/modes.h"

static enum kuzma_status check(const struct kuzma_context *context, const uint8_t *output, const uint8_t *input,
                               size_t bytes)
{
	enum kuzma_status status = kuzma_check_context(context);

	if (status == KUZMA_OK && bytes % block_bytes_of(context) != 0)
		status = KUZMA_ERROR_LENGTH;
	return status == KUZMA_OK ? kuzma_check_buffers(output, input, bytes) : status;
}

enum kuzma_status kuzma_ecb_encrypt(const struct kuzma_context *context, uint8_t *output, const uint8_t *input,
                                    size_t bytes)
{
	enum kuzma_status status = check(context, output, input, bytes);

	if (status == KUZMA_OK && bytes > 0)
		context->backend->encrypt_blocks(context->state, output, input, bytes / block_bytes_of(context));
	return status;
}

enum kuzma_status kuzma_ecb_decrypt(const struct kuzma_context *context, uint8_t *output, const uint8_t *input,
                                    size_t bytes)
{
	enum kuzma_status status = check(context, output, input, bytes);

	if (status == KUZMA_OK && bytes > 0)
		context->backend->decrypt_blocks(context->state, output, input, bytes / block_bytes_of(context));
	return status;
}
