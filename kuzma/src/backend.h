/* What a backend is to the rest of the library. A new one is a file that defines such a value, and one line in
 * backend.c. All the modes are made of these functions.
 *
 * A backend that says constant_time has no branch and no address that depends on key or data in any function, set_key
 * among them. Functions leave no key or plaintext behind in memory that is not theirs, as far as C allows: buffers on
 * the stack are wiped. Buffers need no alignment; `output` may be `input`, and does not overlap it otherwise. */
#ifndef KUZMA_BACKEND_H
#define KUZMA_BACKEND_H

#include "cpu.h"
#include "kuzma.h"

/* Not to be had from outside, also where it is only declared: code for a shared library then reaches it as directly as other code does.
 * -fvisibility=hidden tells the compiler of definitions alone. */
#pragma GCC visibility push(hidden)

/* Which half of a counter block counts, big-endian and modulo its own size. */
enum counting_half { LEFT_HALF, RIGHT_HALF };

struct kuzma_backend {
	const char *name;
	enum kuzma_cipher cipher;
	bool constant_time;
	size_t state_bytes; /* at most sizeof(kuzma_context.state), which is aligned to 8 bytes only */
	/* NULL: runs everywhere. */
	bool (*supported)(void);
	/* Makes shared tables; called before each set_key, must be cheap and thread-safe. NULL: none. */
	void (*prepare)(void);
	void (*set_key)(void *state, const uint8_t key[KUZMA_KEY_BYTES]);
	/* Any number of blocks, 0 too. */
	void (*encrypt_blocks)(const void *state, uint8_t *output, const uint8_t *input, size_t blocks);
	void (*decrypt_blocks)(const void *state, uint8_t *output, const uint8_t *input, size_t blocks);
	/* output = input ^ E(counter), E(counter + 1), ...: the right half of the block counts, big-endian and modulo its
	 * own size; the left half stays. `counter` (one block) is updated. The counter is public: the time may depend on where it
	 * carries. NULL: made of encrypt_blocks. */
	void (*ctr_xor)(const void *state, uint8_t *counter, uint8_t *output, const uint8_t *input, size_t blocks);
	/* As ctr_xor for the counters of MGM, which are secret: the time does not depend on them. Either half may count;
	 * `input` NULL: the enciphered counters themselves. NULL: made of encrypt_blocks. */
	void (*hidden_counters)(const void *state, uint8_t *counter, enum counting_half half, uint8_t *output,
	                        const uint8_t *input, size_t blocks);
	/* CBC with a register of one block, which is updated; `output` NULL: only the register is wanted, as a MAC does.
	 * NULL: made of encrypt_blocks. */
	void (*cbc_encrypt)(const void *state, uint8_t *iv, uint8_t *output, const uint8_t *input, size_t blocks);
};

#ifdef KUZMA_X86
extern const struct kuzma_backend kuzma_kuznyechik_avx512;
extern const struct kuzma_backend kuzma_kuznyechik_gfni;
extern const struct kuzma_backend kuzma_kuznyechik_avx2;
extern const struct kuzma_backend kuzma_kuznyechik_ssse3;
extern const struct kuzma_backend kuzma_magma_avx512;
extern const struct kuzma_backend kuzma_magma_avx2;
extern const struct kuzma_backend kuzma_magma_ssse3;
#endif
#ifdef KUZMA_ARM
extern const struct kuzma_backend kuzma_kuznyechik_neon;
extern const struct kuzma_backend kuzma_magma_neon;
#endif
extern const struct kuzma_backend kuzma_kuznyechik_table;
extern const struct kuzma_backend kuzma_kuznyechik_constant_time;
extern const struct kuzma_backend kuzma_kuznyechik_compact;
extern const struct kuzma_backend kuzma_magma_table;
extern const struct kuzma_backend kuzma_magma_constant_time;
extern const struct kuzma_backend kuzma_magma_compact;

/* kuzma_require_constant_time() rules out the others. */
bool kuzma_backend_allowed(const struct kuzma_backend *backend);

/* Unless kuzma_forbid_measuring() was called. */
bool kuzma_measuring_allowed(void);

/* What kuzma_init does once all is checked: for a key that follows from another. */
void kuzma_set_key(struct kuzma_context *context, const struct kuzma_backend *backend,
                   const uint8_t key[KUZMA_KEY_BYTES]);

#pragma GCC visibility pop
#endif
