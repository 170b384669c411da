/* CBC of GOST R 34.13-2015, section 5.4: the register R holds m = z*n bits. Block i is combined with the leading
 * block of R, and the ciphertext block enters R at its end. So the message is z chains, dealt out in turn. */
#include "modes/modes.h"

static enum kuzma_status check(const struct kuzma_context *context, const uint8_t *iv, size_t iv_bytes,
                               const uint8_t *output, const uint8_t *input, size_t bytes)
{
	enum kuzma_status status = kuzma_check_context(context);

	if (status == KUZMA_OK && bytes % block_bytes_of(context) != 0)
		status = KUZMA_ERROR_LENGTH;
	if (status == KUZMA_OK)
		status = kuzma_check_buffers(output, input, bytes);
	return status == KUZMA_OK ? kuzma_check_register(context, iv, iv_bytes) : status;
}

/* Turns the ring back into the register: `at` is where the leading block stands. */
static void rotate_register(uint8_t *iv, size_t iv_bytes, size_t at)
{
	uint8_t ring[KUZMA_IV_BYTES_MAX];

	if (at == 0)
		return;
	memcpy(ring, iv, iv_bytes);
	memcpy(iv, ring + at, iv_bytes - at);
	memcpy(iv + iv_bytes - at, ring, at);
}

enum kuzma_status kuzma_cbc_encrypt(const struct kuzma_context *context, uint8_t *iv, size_t iv_bytes,
                                    uint8_t *output, const uint8_t *input, size_t bytes)
{
	enum kuzma_status status = check(context, iv, iv_bytes, output, input, bytes);
	if (status != KUZMA_OK || bytes == 0)
		return status;

	size_t block = block_bytes_of(context), last = 0;

	if (iv_bytes == block) {
		kuzma_chain(context, iv, output, input, bytes / block);
		return KUZMA_OK;
	}
	/* The chains advance side by side. */
	for (size_t done = 0; done < bytes; done += last) {
		last = bytes - done < iv_bytes ? bytes - done : iv_bytes;
		xor_bytes(iv, iv, input + done, last);
		context->backend->encrypt_blocks(context->state, iv, iv, last / block);
		memcpy(output + done, iv, last);
	}
	rotate_register(iv, iv_bytes, last % iv_bytes);
	return KUZMA_OK;
}

enum kuzma_status kuzma_cbc_decrypt(const struct kuzma_context *context, uint8_t *iv, size_t iv_bytes,
                                    uint8_t *output, const uint8_t *input, size_t bytes)
{
	enum kuzma_status status = check(context, iv, iv_bytes, output, input, bytes);
	if (status != KUZMA_OK || bytes == 0)
		return status;

	const struct kuzma_backend *backend = context->backend;
	size_t block = block_bytes_of(context);
	uint8_t plain[BATCH_BYTES];

	for (size_t done = 0; done < bytes;) {
		size_t batch = bytes - done < BATCH_BYTES ? bytes - done : BATCH_BYTES;
		size_t head = batch < iv_bytes ? batch : iv_bytes;
		const uint8_t *from = input + done;
		uint8_t *to = output + done;

		/* Ciphertext is used up before output, which may be input, overwrites it. */
		backend->decrypt_blocks(context->state, plain, from, batch / block);
		xor_bytes(plain, plain, iv, head);
		xor_bytes(plain + head, plain + head, from, batch - head);
		memmove(iv, iv + head, iv_bytes - head);
		memcpy(iv + iv_bytes - head, from + batch - head, head);
		memcpy(to, plain, batch);
		done += batch;
	}
	wipe_bytes(plain, bytes < sizeof plain ? bytes : sizeof plain);
	return KUZMA_OK;
}
