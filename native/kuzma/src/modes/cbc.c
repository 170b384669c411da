/* CBC of GOST R 34.13-2015, section 5.4: the register R holds m = z*n bits. Block i is combined with the leading
 * block of R, and the ciphertext block enters R at its end. */
#include "backend.h"
#include "bytes.h"

#define BLOCK_MAX KUZMA_KUZNYECHIK_BLOCK_BYTES
/* Decryption is parallel: so many bytes of ciphertext are kept at a time, for output may be input. */
#define BATCH_BYTES 2048u

static enum kuzma_status check(const struct kuzma_context *context, const uint8_t *iv, size_t iv_bytes,
                               const uint8_t *output, const uint8_t *input, size_t bytes)
{
	enum kuzma_status status = kuzma_check_call(context, output, input, bytes);

	if (status != KUZMA_OK)
		return status;
	if (iv == NULL)
		return KUZMA_ERROR_ARGUMENT;
	if (iv_bytes == 0 || iv_bytes > KUZMA_IV_BYTES_MAX ||
	    iv_bytes % kuzma_block_bytes(context->backend->cipher) != 0)
		return KUZMA_ERROR_IV;
	return KUZMA_OK;
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

	const struct kuzma_backend *backend = context->backend;
	size_t block = kuzma_block_bytes(backend->cipher), at = 0;

	if (iv_bytes == block && backend->cbc_encrypt != NULL) {
		backend->cbc_encrypt(context->state, iv, output, input, bytes / block);
		return KUZMA_OK;
	}
	uint8_t mixed[BLOCK_MAX];
	for (size_t done = 0; done < bytes; done += block) {
		xor_bytes(mixed, input + done, iv + at, block);
		backend->encrypt_blocks(context->state, iv + at, mixed, 1);
		memcpy(output + done, iv + at, block);
		at = (at + block) % iv_bytes;
	}
	rotate_register(iv, iv_bytes, at);
	wipe_bytes(mixed, sizeof mixed);
	return KUZMA_OK;
}

enum kuzma_status kuzma_cbc_decrypt(const struct kuzma_context *context, uint8_t *iv, size_t iv_bytes,
                                    uint8_t *output, const uint8_t *input, size_t bytes)
{
	enum kuzma_status status = check(context, iv, iv_bytes, output, input, bytes);
	if (status != KUZMA_OK || bytes == 0)
		return status;

	const struct kuzma_backend *backend = context->backend;
	size_t block = kuzma_block_bytes(backend->cipher), at = 0;
	uint8_t kept[BATCH_BYTES];

	for (size_t done = 0; done < bytes;) {
		size_t batch = bytes - done < BATCH_BYTES ? bytes - done : BATCH_BYTES;

		memcpy(kept, input + done, batch);
		backend->decrypt_blocks(context->state, output + done, kept, batch / block);
		for (size_t i = 0; i < batch; i += block) {
			xor_bytes(output + done + i, output + done + i, iv + at, block);
			memcpy(iv + at, kept + i, block);
			at = (at + block) % iv_bytes;
		}
		done += batch;
	}
	rotate_register(iv, iv_bytes, at);
	return KUZMA_OK;
}
