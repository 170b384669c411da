#include "backend.h"
#include "bytes.h"

const char *kuzma_status_text(enum kuzma_status status)
{
	switch (status) {
	case KUZMA_OK: return "no error";
	case KUZMA_ERROR_ARGUMENT: return "an argument is null or out of range";
	case KUZMA_ERROR_LENGTH: return "the data is not a whole number of blocks";
	case KUZMA_ERROR_KEY: return "the key is not 32 bytes long";
	case KUZMA_ERROR_IV: return "the register of CBC is not a whole number of blocks from 1 to 256 bytes";
	case KUZMA_ERROR_OVERLAP: return "output and input overlap without being the same buffer";
	case KUZMA_ERROR_BACKEND: return "the backend cannot run on this processor";
	case KUZMA_ERROR_CONTEXT: return "the context was not initialised, or was wiped";
	}
	return "unknown status";
}

enum kuzma_status kuzma_init(struct kuzma_context *context, const struct kuzma_backend *backend,
                             const uint8_t *key, size_t key_bytes)
{
	if (context == NULL)
		return KUZMA_ERROR_ARGUMENT;
	context->backend = NULL;
	if (backend == NULL || key == NULL || backend->state_bytes > sizeof context->state)
		return KUZMA_ERROR_ARGUMENT;
	if (key_bytes != KUZMA_KEY_BYTES)
		return KUZMA_ERROR_KEY;
	if (!kuzma_backend_supported(backend))
		return KUZMA_ERROR_BACKEND;
	if (backend->prepare != NULL)
		backend->prepare();
	backend->set_key(context->state, key);
	context->backend = backend;
	return KUZMA_OK;
}

void kuzma_wipe(struct kuzma_context *context)
{
	if (context == NULL)
		return;
	wipe_bytes(context->state, sizeof context->state);
	context->backend = NULL;
}

const struct kuzma_backend *kuzma_context_backend(const struct kuzma_context *context)
{
	return context == NULL ? NULL : context->backend;
}

enum kuzma_status kuzma_check_call(const struct kuzma_context *context, const uint8_t *output,
                                   const uint8_t *input, size_t bytes)
{
	if (context == NULL)
		return KUZMA_ERROR_ARGUMENT;
	if (context->backend == NULL)
		return KUZMA_ERROR_CONTEXT;
	if (bytes % kuzma_block_bytes(context->backend->cipher) != 0)
		return KUZMA_ERROR_LENGTH;
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
