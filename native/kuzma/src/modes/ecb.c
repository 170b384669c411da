#include "backend.h"

enum kuzma_status kuzma_ecb_encrypt(const struct kuzma_context *context, uint8_t *output, const uint8_t *input,
                                    size_t bytes)
{
	enum kuzma_status status = kuzma_check_call(context, output, input, bytes);

	if (status == KUZMA_OK && bytes > 0)
		context->backend->encrypt_blocks(context->state, output, input,
		                                 bytes / kuzma_block_bytes(context->backend->cipher));
	return status;
}

enum kuzma_status kuzma_ecb_decrypt(const struct kuzma_context *context, uint8_t *output, const uint8_t *input,
                                    size_t bytes)
{
	enum kuzma_status status = kuzma_check_call(context, output, input, bytes);

	if (status == KUZMA_OK && bytes > 0)
		context->backend->decrypt_blocks(context->state, output, input,
		                                 bytes / kuzma_block_bytes(context->backend->cipher));
	return status;
}
