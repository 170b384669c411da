#include "modes/modes.h"

#include "kuznyechik/block128.h"

enum kuzma_status kuzma_check_buffers(const uint8_t *output, const uint8_t *input, size_t bytes)
{
	if (bytes == 0)
		return KUZMA_OK;
	if (output == NULL || input == NULL)
		return KUZMA_ERROR_ARGUMENT;
	if (output != input) {
		/* As integers: the order of pointers into different objects is undefined. */
		uintptr_t to = (uintptr_t)output, from = (uintptr_t)input;
		if (to < from ? from - to < bytes : to - from < bytes)
			return KUZMA_ERROR_OVERLAP;
	}
	return KUZMA_OK;
}

enum kuzma_status kuzma_check_context(const struct kuzma_context *context)
{
	if (context == NULL)
		return KUZMA_ERROR_ARGUMENT;
	return context->backend == NULL ? KUZMA_ERROR_CONTEXT : KUZMA_OK;
}

enum kuzma_status kuzma_check_state(const struct kuzma_context *context, size_t block)
{
	if (context == NULL || context->backend == NULL || block_bytes_of(context) != block)
		return KUZMA_ERROR_CONTEXT;
	return KUZMA_OK;
}

enum kuzma_status kuzma_check_register(const struct kuzma_context *context, const uint8_t *iv, size_t iv_bytes)
{
	if (iv == NULL)
		return KUZMA_ERROR_ARGUMENT;
	if (iv_bytes == 0 || iv_bytes > KUZMA_IV_BYTES_MAX || iv_bytes % block_bytes_of(context) != 0)
		return KUZMA_ERROR_IV;
	return KUZMA_OK;
}

enum kuzma_status kuzma_check_tag(const struct kuzma_context *context, const uint8_t *tag, size_t tag_bytes)
{
	if (tag == NULL)
		return KUZMA_ERROR_ARGUMENT;
	return tag_bytes < KUZMA_TAG_BYTES_MIN || tag_bytes > block_bytes_of(context) ? KUZMA_ERROR_TAG_LENGTH : KUZMA_OK;
}

void kuzma_chain(const struct kuzma_context *context, uint8_t *chain, uint8_t *output, const uint8_t *input,
                 size_t blocks)
{
	const struct kuzma_backend *backend = context->backend;
	size_t block = block_bytes_of(context);

	if (backend->cbc_encrypt != NULL) {
		backend->cbc_encrypt(context->state, chain, output, input, blocks);
		return;
	}
	for (size_t n = 0; n < blocks; n++) {
		xor_bytes(chain, chain, input + block * n, block);
		backend->encrypt_blocks(context->state, chain, chain, 1);
		if (output != NULL)
			memcpy(output + block * n, chain, block);
	}
}

/* Words, so that no carry is a branch. And no compiler may count the loop by the value instead of by n. */
#ifdef __GNUC__
#define OPAQUE(value) __asm__("" : "+r"(value))
#else
#define OPAQUE(value) ((void)(value))
#endif

/* Writes `blocks` counter blocks from `counter` on and moves that on, in a time that does not depend on it. */
static void make_counters(uint8_t *to, uint8_t *counter, size_t blocks, size_t block, enum counting_half half)
{
	if (block == KUZMA_MAGMA_BLOCK_BYTES) {
		uint32_t left = load_be32(counter), right = load_be32(counter + 4);
		for (size_t n = 0; n < blocks; n++, to += 8) {
			store_be64(to, (uint64_t)left << 32 | right);
			half == LEFT_HALF ? left++ : right++;
			OPAQUE(left);
			OPAQUE(right);
		}
		store_be32(counter, left);
		store_be32(counter + 4, right);
	} else {
		uint64_t value = load_be64(half == LEFT_HALF ? counter : counter + 8);
		uint64_t fixed = load_le64(half == LEFT_HALF ? counter + 8 : counter);
		for (size_t n = 0; n < blocks; n++, to += 16) {
			uint8_t bytes[8];

			store_be64(bytes, value++);
			OPAQUE(value);
			uint64_t counted = load_le64(bytes);
			block128_store(to, half == LEFT_HALF ? block128_make(counted, fixed) : block128_make(fixed, counted));
		}
		store_be64(half == LEFT_HALF ? counter : counter + 8, value);
	}
}

void kuzma_counter_xor(const struct kuzma_context *context, uint8_t *counter, bool counter_is_secret, uint8_t *output,
                       const uint8_t *input, size_t blocks)
{
	if (context->backend->ctr_xor != NULL && !counter_is_secret)
		context->backend->ctr_xor(context->state, counter, output, input, blocks);
	else
		kuzma_hidden_counters(context, counter, RIGHT_HALF, output, input, blocks);
}

void kuzma_hidden_counters(const struct kuzma_context *context, uint8_t *counter, enum counting_half half,
                           uint8_t *output, const uint8_t *input, size_t blocks)
{
	const struct kuzma_backend *backend = context->backend;
	size_t block = block_bytes_of(context);
	uint8_t keystream[BATCH_BYTES];

	if (backend->hidden_counters != NULL) {
		backend->hidden_counters(context->state, counter, half, output, input, blocks);
		return;
	}
	if (input == NULL) {
		make_counters(output, counter, blocks, block, half);
		backend->encrypt_blocks(context->state, output, output, blocks);
		return;
	}
	for (size_t bytes = blocks * block; bytes > 0;) {
		size_t batch = bytes < BATCH_BYTES ? bytes : BATCH_BYTES;

		make_counters(keystream, counter, batch / block, block, half);
		backend->encrypt_blocks(context->state, keystream, keystream, batch / block);
		xor_bytes(output, input, keystream, batch);
		output += batch;
		input += batch;
		bytes -= batch;
	}
	wipe_bytes(keystream, blocks * block < sizeof keystream ? blocks * block : sizeof keystream);
}

void kuzma_mac_double(uint8_t *to, const uint8_t *from, size_t block)
{
	/* x^128 = x^7 + x^2 + x + 1, x^64 = x^4 + x^3 + x + 1; a mask and no branch, as the bit is secret. */
	uint8_t feedback = (uint8_t)((0u - (from[0] >> 7)) & (block == 16 ? 0x87u : 0x1bu));

	for (size_t i = 0; i + 1 < block; i++)
		to[i] = (uint8_t)(from[i] << 1 | from[i + 1] >> 7);
	to[block - 1] = (uint8_t)(from[block - 1] << 1 ^ feedback);
}

enum kuzma_status kuzma_compare_tag(uint8_t *made, const uint8_t *given, size_t bytes)
{
	/* Volatile: a compiler that sees the result used as a truth value could stop at the first difference. */
	volatile uint8_t difference = 0;

	for (size_t i = 0; i < bytes; i++)
		difference = (uint8_t)(difference | (made[i] ^ given[i]));
	wipe_bytes(made, KUZMA_BLOCK_BYTES_MAX);
	return difference == 0 ? KUZMA_OK : KUZMA_ERROR_TAG;
}
