/* What a backend is to the rest of the library. A new one is a file that defines such a value, and one line in
 * backend.c. */
#ifndef KUZMA_BACKEND_H
#define KUZMA_BACKEND_H

#include "kuzma.h"

struct kuzma_backend {
	const char *name;
	enum kuzma_cipher cipher;
	bool constant_time;
	size_t state_bytes; /* at most sizeof(kuzma_context.state) */
	/* NULL: runs everywhere. */
	bool (*supported)(void);
	/* Makes shared tables; called before each set_key, must be cheap and thread-safe. NULL: none. */
	void (*prepare)(void);
	void (*set_key)(void *state, const uint8_t key[KUZMA_KEY_BYTES]);
	/* `output` may be `input`. */
	void (*encrypt_blocks)(const void *state, uint8_t *output, const uint8_t *input, size_t blocks);
	void (*decrypt_blocks)(const void *state, uint8_t *output, const uint8_t *input, size_t blocks);
	/* CBC with a register of one block, which is updated. NULL: made of encrypt_blocks. */
	void (*cbc_encrypt)(const void *state, uint8_t *iv, uint8_t *output, const uint8_t *input, size_t blocks);
};

extern const struct kuzma_backend kuzma_kuznyechik_table;
extern const struct kuzma_backend kuzma_kuznyechik_compact;
extern const struct kuzma_backend kuzma_magma_table;
extern const struct kuzma_backend kuzma_magma_compact;

/* The checks that all modes share; KUZMA_OK if the call may go on. */
enum kuzma_status kuzma_check_call(const struct kuzma_context *context, const uint8_t *output,
                                   const uint8_t *input, size_t bytes);

#endif
