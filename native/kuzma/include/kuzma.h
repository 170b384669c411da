/* kuzma: the block ciphers Kuznyechik and Magma (GOST R 34.12-2015).
 *
 * Sources: RFC 7801 (Kuznyechik), RFC 8891 (Magma), GOST R 34.13-2015 (the modes ECB and CBC).
 * All lengths are in bytes. No function allocates memory or does I/O. A context that is not being
 * initialised or wiped may be used by several threads at once. */
#ifndef KUZMA_H
#define KUZMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KUZMA_VERSION "0.1.0"
#define KUZMA_KEY_BYTES 32u
#define KUZMA_KUZNYECHIK_BLOCK_BYTES 16u
#define KUZMA_MAGMA_BLOCK_BYTES 8u
/* The widest register of CBC (GOST R 34.13-2015, 5.4): m = z * n, at most this many bytes. */
#define KUZMA_IV_BYTES_MAX 256u

enum kuzma_status {
	KUZMA_OK = 0,
	KUZMA_ERROR_ARGUMENT = 1, /* a null pointer, or a value out of range */
	KUZMA_ERROR_LENGTH = 2,   /* data: not a whole number of blocks */
	KUZMA_ERROR_KEY = 3,      /* key: not 32 bytes */
	KUZMA_ERROR_IV = 4,       /* register: not 1 or more whole blocks, or more than KUZMA_IV_BYTES_MAX */
	KUZMA_ERROR_OVERLAP = 5,  /* output overlaps input without being the same buffer */
	KUZMA_ERROR_BACKEND = 6,  /* the backend cannot run on this processor */
	KUZMA_ERROR_CONTEXT = 7   /* the context was not initialised, or was wiped */
};

enum kuzma_cipher { KUZMA_KUZNYECHIK = 0, KUZMA_MAGMA = 1 };

/* One implementation of one cipher. */
struct kuzma_backend;

/* A keyed cipher. The content is private; it holds key material: call kuzma_wipe() when done.
 * It may be moved or copied by memcpy; a copy must be wiped as well. */
struct kuzma_context {
	const struct kuzma_backend *backend;
	uint64_t state[640];
};

/* An English sentence for a status; never NULL. */
const char *kuzma_status_text(enum kuzma_status status);

/* 16 for Kuznyechik, 8 for Magma, 0 for a value that is no cipher. */
size_t kuzma_block_bytes(enum kuzma_cipher cipher);

/* "kuznyechik" or "magma"; NULL for a value that is no cipher. */
const char *kuzma_cipher_name(enum kuzma_cipher cipher);

/* The backends of `cipher` that were compiled in, fastest first; those that this processor cannot run are
 * in the list as well (ask kuzma_backend_supported). Returns the element at `index`, NULL past the end. */
const struct kuzma_backend *kuzma_backend_at(enum kuzma_cipher cipher, size_t index);

/* The backend of `cipher` called `name`, or NULL. It may be unsupported here. */
const struct kuzma_backend *kuzma_backend_by_name(enum kuzma_cipher cipher, const char *name);

/* The fastest backend that this processor can run; never NULL for a valid cipher. */
const struct kuzma_backend *kuzma_backend_default(enum kuzma_cipher cipher);

const char *kuzma_backend_name(const struct kuzma_backend *backend);
enum kuzma_cipher kuzma_backend_cipher(const struct kuzma_backend *backend);
bool kuzma_backend_supported(const struct kuzma_backend *backend);

/* Whether neither branches nor addresses depend on key or data, so that time and caches tell nothing. */
bool kuzma_backend_constant_time(const struct kuzma_backend *backend);

/* Expands `key` (RFC 7801 section 4.3; RFC 8891 section 4.3) for `backend`.
 * Errors: ARGUMENT, KEY, BACKEND; the context is then unusable. */
enum kuzma_status kuzma_init(struct kuzma_context *context, const struct kuzma_backend *backend,
                             const uint8_t *key, size_t key_bytes);

/* Overwrites the whole context; every later use of it gives KUZMA_ERROR_CONTEXT. NULL is allowed. */
void kuzma_wipe(struct kuzma_context *context);

/* The backend of an initialised context, else NULL. */
const struct kuzma_backend *kuzma_context_backend(const struct kuzma_context *context);

/* ECB, GOST R 34.13-2015 section 5.1, without padding: `bytes` is a whole number of blocks, 0 allowed.
 * `output` is `input` itself, or does not overlap it; no alignment is needed.
 * Errors: ARGUMENT, CONTEXT, LENGTH, OVERLAP; nothing is then written. */
enum kuzma_status kuzma_ecb_encrypt(const struct kuzma_context *context, uint8_t *output, const uint8_t *input,
                                    size_t bytes);
enum kuzma_status kuzma_ecb_decrypt(const struct kuzma_context *context, uint8_t *output, const uint8_t *input,
                                    size_t bytes);

/* CBC, GOST R 34.13-2015 section 5.4, without padding. `iv` is the register of z blocks, 1 <= z; with z = 1
 * this is the CBC of other standards, and encryption is strictly sequential. `iv` is updated, so that the next
 * call goes on with the same message. Errors as in ECB, and IV; nothing is then written. */
enum kuzma_status kuzma_cbc_encrypt(const struct kuzma_context *context, uint8_t *iv, size_t iv_bytes,
                                    uint8_t *output, const uint8_t *input, size_t bytes);
enum kuzma_status kuzma_cbc_decrypt(const struct kuzma_context *context, uint8_t *iv, size_t iv_bytes,
                                    uint8_t *output, const uint8_t *input, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
