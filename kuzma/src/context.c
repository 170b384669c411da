#include "backend.h"
#include "bytes.h"

const char *kuzma_status_text(enum kuzma_status status)
{
	switch (status) {
	case KUZMA_OK: return "no error";
	case KUZMA_ERROR_ARGUMENT: return "an argument is null or out of range";
	case KUZMA_ERROR_LENGTH: return "data or section is not a whole number of blocks, is empty where that is not allowed, or is not all that was verified";
	case KUZMA_ERROR_KEY: return "the key is not 32 bytes long";
	case KUZMA_ERROR_IV: return "the register, initial value or nonce has the wrong length, or a nonce has its first bit set";
	case KUZMA_ERROR_OVERLAP: return "buffers overlap that must lie apart";
	case KUZMA_ERROR_BACKEND: return "the backend cannot run on this processor, or is not constant-time and that is required";
	case KUZMA_ERROR_CONTEXT: return "the context or state was not initialised, or was wiped";
	case KUZMA_ERROR_LIMIT: return "the message would be longer than the mode allows under one key and nonce";
	case KUZMA_ERROR_ORDER: return "the call does not fit what was called before";
	case KUZMA_ERROR_TAG_LENGTH: return "the tag is shorter than 4 bytes or longer than a block";
	case KUZMA_ERROR_TAG: return "the tag is not the tag of this message";
	}
	return "unknown status";
}

/* Never inlined, so that its frame lies where those of earlier calls lay. */
#ifdef __GNUC__
#define OWN_FRAME __attribute__((noinline))
#else
#define OWN_FRAME
#endif

static OWN_FRAME void wipe_stack_of_a_key_schedule(void)
{
	uint8_t below[4096];

	wipe_bytes(below, sizeof below);
}

/* Without memset: at the first call of that the system may store registers that hold text, below what is wiped. */
static OWN_FRAME void wipe_stack(void)
{
	volatile uint64_t below[4096];

	for (size_t i = 0; i < sizeof below / sizeof *below; i++)
		below[i] = 0;
}

void kuzma_set_key(struct kuzma_context *context, const struct kuzma_backend *backend,
                   const uint8_t key[KUZMA_KEY_BYTES])
{
	if (backend->prepare != NULL)
		backend->prepare();
	backend->set_key(context->state, key);
	context->backend = backend;
	/* Compilers keep round keys on the stack between their making and their storing; two of them give the key. */
	wipe_stack_of_a_key_schedule();
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
	if (!kuzma_backend_supported(backend) || !kuzma_backend_allowed(backend))
		return KUZMA_ERROR_BACKEND;
	kuzma_set_key(context, backend, key);
	return KUZMA_OK;
}

void kuzma_wipe(struct kuzma_context *context)
{
	if (context == NULL)
		return;
	wipe_bytes(context->state, sizeof context->state);
	context->backend = NULL;
	wipe_stack();
}

void kuzma_wipe_state(void *state, size_t bytes)
{
	if (state != NULL)
		wipe_bytes(state, bytes);
}

const struct kuzma_backend *kuzma_context_backend(const struct kuzma_context *context)
{
	return context == NULL ? NULL : context->backend;
}
