/* kuzma: the block ciphers Kuznyechik and Magma (GOST R 34.12-2015) and their modes.
 *
 * Sources: RFC 7801 (Kuznyechik), RFC 8891 (Magma), GOST R 34.13-2015 (ECB, CTR, OFB, CBC, CFB, MAC),
 * R 1323565.1.017-2018 and RFC 8645 (CTR-ACPKM, OMAC-ACPKM), RFC 9058 (MGM).
 *
 * All lengths are in bytes. No function allocates memory, does I/O or reads the environment. `output` is
 * `input` itself or does not overlap it; no alignment is needed. A call that gives an error has written nothing and
 * changed no state, with two exceptions: a failed init leaves a state that every later call refuses with
 * KUZMA_ERROR_CONTEXT, and a call that gives KUZMA_ERROR_TAG has ended the message, and may have filled the output with zeros. NULL is allowed where the length
 * is 0. Initial values, tags and states lie apart from input and output, and nobody else writes to the output meanwhile. Nor
 * to the input, or the result is of no use; plaintext that was not verified comes of it in no case.
 * A thread needs 64 KiB of stack.
 *
 * A kuzma_context that is not being initialised or wiped may be used by several threads at once. The state of a mode
 * (kuzma_ctr and so on) belongs to one thread at a time; it points to its kuzma_context, which must outlive it, keep
 * its key and stay where it is. States may be copied by memcpy. Wipe both when done: they hold key material.
 *
 * Who verifies decides how long a tag is. A program that takes the length from the message lets the sender choose four
 * bytes, which one forgery in 2^32 passes. */
#ifndef KUZMA_H
#define KUZMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library itself is compiled with all other symbols hidden. */
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define KUZMA_VERSION "0.1.0"
#define KUZMA_KEY_BYTES 32u
#define KUZMA_KUZNYECHIK_BLOCK_BYTES 16u
#define KUZMA_MAGMA_BLOCK_BYTES 8u
#define KUZMA_BLOCK_BYTES_MAX 16u
/* The widest register of CBC, CFB and OFB (GOST R 34.13-2015, 5.3 to 5.5): m = z * n, at most this many bytes. */
#define KUZMA_IV_BYTES_MAX 256u
/* The shortest tag that a MAC or MGM makes or accepts: RFC 9058 section 3 has 32 bits. */
#define KUZMA_TAG_BYTES_MIN 4u

enum kuzma_status {
	KUZMA_OK = 0,
	KUZMA_ERROR_ARGUMENT = 1, /* a null pointer, or a value out of range */
	KUZMA_ERROR_LENGTH = 2,   /* data or section: not whole blocks, empty where that is not allowed, or not all that was verified */
	KUZMA_ERROR_KEY = 3,      /* key: not 32 bytes */
	KUZMA_ERROR_IV = 4,       /* register, initial value or nonce: wrong length, or a nonce with the first bit set */
	KUZMA_ERROR_OVERLAP = 5,  /* output overlaps input without being the same buffer, or another message's buffers */
	KUZMA_ERROR_BACKEND = 6,  /* the backend cannot run on this processor, or is not constant-time and that is required */
	KUZMA_ERROR_CONTEXT = 7,  /* the context or state was not initialised, or was wiped */
	KUZMA_ERROR_LIMIT = 8,    /* the message would be longer than the mode allows under one key and nonce */
	KUZMA_ERROR_ORDER = 9,    /* the call does not fit what was called before: data after final, for example */
	KUZMA_ERROR_TAG_LENGTH = 10, /* tag: shorter than KUZMA_TAG_BYTES_MIN or longer than a block */
	KUZMA_ERROR_TAG = 11      /* the tag is not the tag of this message: it was forged or damaged */
};

enum kuzma_cipher { KUZMA_KUZNYECHIK = 0, KUZMA_MAGMA = 1 };

/* One implementation of one cipher. */
struct kuzma_backend;

/* A keyed cipher. The content is private; it holds key material: call kuzma_wipe() when done.
 * It may be moved or copied by memcpy; a copy must be wiped as well. */
struct kuzma_context {
	const struct kuzma_backend *backend;
	union {
		uint64_t state[640];
		/* So that a copy of the whole, by =, is one of bytes: what they are is the backend's affair. */
		unsigned char bytes[640 * 8];
	};
};

/* An English sentence for a status; never NULL. */
const char *kuzma_status_text(enum kuzma_status status);

/* 16 for Kuznyechik, 8 for Magma, 0 for a value that is no cipher. */
size_t kuzma_block_bytes(enum kuzma_cipher cipher);

/* "kuznyechik" or "magma"; NULL for a value that is no cipher. */
const char *kuzma_cipher_name(enum kuzma_cipher cipher);

/* The backends of `cipher` that were compiled in: the constant-time ones, fastest first, and behind them the others.
 * Those that this processor cannot run are in the list as well (ask kuzma_backend_supported). Returns the element at `index`, NULL past the end. */
const struct kuzma_backend *kuzma_backend_at(enum kuzma_cipher cipher, size_t index);

/* The backend of `cipher` called `name`, or NULL. It may be unsupported here. */
const struct kuzma_backend *kuzma_backend_by_name(enum kuzma_cipher cipher, const char *name);

/* The backend to use: the first in the list that runs here and is constant-time, as one is everywhere. Variable time is
 * had by kuzma_backend_by_name alone. Never NULL for a valid cipher. */
const struct kuzma_backend *kuzma_backend_default(enum kuzma_cipher cipher);

/* From now on, in the whole process and for good, kuzma_init refuses backends that are not constant-time with
 * KUZMA_ERROR_BACKEND, whoever names them. Contexts that exist already are not affected. */
void kuzma_require_constant_time(void);

/* Magma's backend avx512 has two kernels for messages of 4 KiB and more; which is faster depends on the processor. On one that
 * the library has no figures of it times both at the first such message, once in a process, for some 0.1 ms of processor time.
 * From now on it does not, and takes the one that loads less from memory. Both are constant-time. */
void kuzma_forbid_measuring(void);

const char *kuzma_backend_name(const struct kuzma_backend *backend);
/* `backend` is not NULL. */
enum kuzma_cipher kuzma_backend_cipher(const struct kuzma_backend *backend);
bool kuzma_backend_supported(const struct kuzma_backend *backend);

/* Whether neither branches nor addresses depend on key or data, so that time and caches tell nothing. */
bool kuzma_backend_constant_time(const struct kuzma_backend *backend);

/* ---- Keys. Expands `key` (RFC 7801 section 4.3; RFC 8891 section 4.3) for `backend`.
 * Errors: ARGUMENT, KEY, BACKEND; the context is then unusable. */
enum kuzma_status kuzma_init(struct kuzma_context *context, const struct kuzma_backend *backend,
                             const uint8_t *key, size_t key_bytes);

/* Overwrites the whole context; every later use of it gives KUZMA_ERROR_CONTEXT. NULL is allowed. The stack below is
 * overwritten too, where earlier calls may have left round keys or text: 32 KiB of it. */
void kuzma_wipe(struct kuzma_context *context);

/* The same for the state of a mode, as in kuzma_wipe_state(&ctr, sizeof ctr), and for keys and plaintexts: the compiler
 * does not drop it. */
void kuzma_wipe_state(void *state, size_t bytes);

/* The backend of an initialised context, else NULL. */
const struct kuzma_backend *kuzma_context_backend(const struct kuzma_context *context);

/* ---- ECB, GOST R 34.13-2015 section 5.1, without padding: `bytes` is a whole number of blocks.
 * Errors: ARGUMENT, CONTEXT, LENGTH, OVERLAP. */
enum kuzma_status kuzma_ecb_encrypt(const struct kuzma_context *context, uint8_t *output, const uint8_t *input,
                                    size_t bytes);
enum kuzma_status kuzma_ecb_decrypt(const struct kuzma_context *context, uint8_t *output, const uint8_t *input,
                                    size_t bytes);

/* ---- CBC, GOST R 34.13-2015 section 5.4, without padding. `iv` is the register of z blocks, 1 <= z, at most
 * KUZMA_IV_BYTES_MAX bytes; with z = 1 this is the CBC of other standards, and encryption is strictly sequential. `iv` is
 * updated, so that the next call goes on with the same message. Errors as in ECB, and IV. */
enum kuzma_status kuzma_cbc_encrypt(const struct kuzma_context *context, uint8_t *iv, size_t iv_bytes,
                                    uint8_t *output, const uint8_t *input, size_t bytes);
enum kuzma_status kuzma_cbc_decrypt(const struct kuzma_context *context, uint8_t *iv, size_t iv_bytes,
                                    uint8_t *output, const uint8_t *input, size_t bytes);

/* ---- CTR, GOST R 34.13-2015 section 5.2, with whole blocks of keystream (s = n). The content of the state is private. */
struct kuzma_ctr {
	const struct kuzma_context *context;
	uint64_t blocks_used;
	uint32_t keystream_used; /* bytes of `keystream` already spent; a whole block: none left */
	uint16_t counter_is_secret;
	uint16_t block_bytes;
	uint8_t counter[KUZMA_BLOCK_BYTES_MAX];
	uint8_t keystream[KUZMA_BLOCK_BYTES_MAX];
};

/* `iv` is half a block: 8 bytes for Kuznyechik, 4 for Magma. Never use one twice with a key.
 * Errors: ARGUMENT, CONTEXT, IV. */
enum kuzma_status kuzma_ctr_init(struct kuzma_ctr *ctr, const struct kuzma_context *context, const uint8_t *iv,
                                 size_t iv_bytes);
/* Encrypts or decrypts the next `bytes` of the message. Errors: ARGUMENT, CONTEXT, OVERLAP, LIMIT (past 2^32 blocks of
 * Magma, 32 GiB, or 2^60 blocks of Kuznyechik). */
enum kuzma_status kuzma_ctr_xor(struct kuzma_ctr *ctr, uint8_t *output, const uint8_t *input, size_t bytes);
/* Goes on at byte `offset` of the message. Errors: ARGUMENT, CONTEXT, LIMIT. */
enum kuzma_status kuzma_ctr_seek(struct kuzma_ctr *ctr, uint64_t offset);
/* A whole message in one call. Errors as above. */
enum kuzma_status kuzma_ctr_message(const struct kuzma_context *context, const uint8_t *iv, size_t iv_bytes,
                                    uint8_t *output, const uint8_t *input, size_t bytes);

/* ---- CFB, GOST R 34.13-2015 section 5.5, and OFB, section 5.3, with s = n and a register of z blocks as in CBC. */
struct kuzma_feedback {
	const struct kuzma_context *context;
	uint32_t iv_bytes, at;   /* the register, and where its leading block stands */
	uint32_t keystream_used; /* as in kuzma_ctr */
	uint32_t block_bytes;
	uint8_t keystream[KUZMA_BLOCK_BYTES_MAX];
	uint8_t iv[KUZMA_IV_BYTES_MAX];
};

/* For both modes; a state serves one mode and one direction. Errors: ARGUMENT, CONTEXT, IV. */
enum kuzma_status kuzma_feedback_init(struct kuzma_feedback *state, const struct kuzma_context *context,
                                      const uint8_t *iv, size_t iv_bytes);
/* The next `bytes` of the message, any number. Errors: ARGUMENT, CONTEXT, OVERLAP. */
enum kuzma_status kuzma_cfb_encrypt(struct kuzma_feedback *state, uint8_t *output, const uint8_t *input, size_t bytes);
enum kuzma_status kuzma_cfb_decrypt(struct kuzma_feedback *state, uint8_t *output, const uint8_t *input, size_t bytes);
enum kuzma_status kuzma_ofb_xor(struct kuzma_feedback *state, uint8_t *output, const uint8_t *input, size_t bytes);
/* A whole message in one call; `iv` stays as it is. Errors as above. */
enum kuzma_status kuzma_cfb_encrypt_message(const struct kuzma_context *context, const uint8_t *iv, size_t iv_bytes,
                                            uint8_t *output, const uint8_t *input, size_t bytes);
enum kuzma_status kuzma_cfb_decrypt_message(const struct kuzma_context *context, const uint8_t *iv, size_t iv_bytes,
                                            uint8_t *output, const uint8_t *input, size_t bytes);
enum kuzma_status kuzma_ofb_message(const struct kuzma_context *context, const uint8_t *iv, size_t iv_bytes,
                                    uint8_t *output, const uint8_t *input, size_t bytes);

/* ---- MAC (OMAC1, CMAC), GOST R 34.13-2015 section 5.6. */
struct kuzma_mac {
	const struct kuzma_context *context;
	uint32_t pending_bytes;
	uint16_t finished;
	uint16_t block_bytes;
	uint8_t chain[KUZMA_BLOCK_BYTES_MAX];
	uint8_t pending[KUZMA_BLOCK_BYTES_MAX];
};

/* Errors: ARGUMENT, CONTEXT. */
enum kuzma_status kuzma_mac_init(struct kuzma_mac *mac, const struct kuzma_context *context);
/* The next `bytes` of the message, any number. Errors: ARGUMENT, CONTEXT, ORDER (after final). */
enum kuzma_status kuzma_mac_update(struct kuzma_mac *mac, const uint8_t *data, size_t bytes);
/* The first `tag_bytes` of the MAC. Errors: ARGUMENT, CONTEXT, ORDER, TAG_LENGTH. */
enum kuzma_status kuzma_mac_final(struct kuzma_mac *mac, uint8_t *tag, size_t tag_bytes);
/* Compares in a time that does not depend on the content. Errors as in final, and TAG. */
enum kuzma_status kuzma_mac_verify(struct kuzma_mac *mac, const uint8_t *tag, size_t tag_bytes);
/* A whole message in one call. */
enum kuzma_status kuzma_mac_message(const struct kuzma_context *context, uint8_t *tag, size_t tag_bytes,
                                    const uint8_t *data, size_t bytes);

/* ---- CTR-ACPKM, R 1323565.1.017-2018 section 4.1 (RFC 8645 section 6.2.2): CTR whose key changes after each section. */
struct kuzma_ctr_acpkm {
	struct kuzma_context section_key; /* the state owns its key, and may be moved */
	struct kuzma_ctr ctr;
	uint64_t section_bytes, section_left;
};

/* `section_bytes` is a whole number of blocks, at least one. Errors: ARGUMENT, KEY, BACKEND, IV, LENGTH. */
enum kuzma_status kuzma_ctr_acpkm_init(struct kuzma_ctr_acpkm *ctr, const struct kuzma_backend *backend,
                                       const uint8_t *key, size_t key_bytes, const uint8_t *iv, size_t iv_bytes,
                                       uint64_t section_bytes);
/* As kuzma_ctr_xor. */
enum kuzma_status kuzma_ctr_acpkm_xor(struct kuzma_ctr_acpkm *ctr, uint8_t *output, const uint8_t *input,
                                      size_t bytes);
/* A whole message in one call. Errors as above. */
enum kuzma_status kuzma_ctr_acpkm_message(const struct kuzma_backend *backend, const uint8_t *key, size_t key_bytes,
                                          const uint8_t *iv, size_t iv_bytes, uint64_t section_bytes, uint8_t *output,
                                          const uint8_t *input, size_t bytes);

/* ---- OMAC-ACPKM, R 1323565.1.017-2018 section 4.2 (RFC 8645 section 6.3.6): the MAC whose key changes after each
 * section; the keys are a keystream of CTR-ACPKM under the master key, with sections of its own. */
struct kuzma_mac_acpkm {
	struct kuzma_ctr_acpkm master;
	struct kuzma_context section_key;
	uint64_t section_bytes, section_left;
	uint32_t pending_bytes;
	uint32_t finished;
	uint8_t chain[KUZMA_BLOCK_BYTES_MAX];
	uint8_t pending[KUZMA_BLOCK_BYTES_MAX];
	uint8_t final_key[KUZMA_BLOCK_BYTES_MAX];
};

/* `section_bytes` and `master_section_bytes` are whole numbers of blocks, at least one. Errors: ARGUMENT, KEY, BACKEND,
 * LENGTH. */
enum kuzma_status kuzma_mac_acpkm_init(struct kuzma_mac_acpkm *mac, const struct kuzma_backend *backend,
                                       const uint8_t *key, size_t key_bytes, uint64_t section_bytes,
                                       uint64_t master_section_bytes);
/* As kuzma_mac_update, kuzma_mac_final and kuzma_mac_verify; and LIMIT when the master key's counter is used up, for
 * Magma after some 858 million sections. */
enum kuzma_status kuzma_mac_acpkm_update(struct kuzma_mac_acpkm *mac, const uint8_t *data, size_t bytes);
enum kuzma_status kuzma_mac_acpkm_final(struct kuzma_mac_acpkm *mac, uint8_t *tag, size_t tag_bytes);
enum kuzma_status kuzma_mac_acpkm_verify(struct kuzma_mac_acpkm *mac, const uint8_t *tag, size_t tag_bytes);
/* A whole message in one call. */
enum kuzma_status kuzma_mac_acpkm_message(const struct kuzma_backend *backend, const uint8_t *key, size_t key_bytes,
                                          uint64_t section_bytes, uint64_t master_section_bytes, uint8_t *tag,
                                          size_t tag_bytes, const uint8_t *data, size_t bytes);

/* ---- MGM, RFC 9058: authenticated encryption with associated data.
 *
 * Sealing:  init, associate*, encrypt*, final.
 * Opening:  init, associate*, absorb* (the ciphertext), verify, and only if that gave KUZMA_OK: decrypt (the same
 *           ciphertext again, all of it in one call). No plaintext exists before the tag was checked. */
struct kuzma_mgm {
	struct kuzma_ctr text;
	uint64_t associated_bytes, text_bytes;
	uint32_t stage;
	uint32_t pending_bytes; /* of a block that is not yet whole */
	uint8_t hash_counter[KUZMA_BLOCK_BYTES_MAX];
	uint8_t pending[KUZMA_BLOCK_BYTES_MAX];
	uint8_t sum[KUZMA_BLOCK_BYTES_MAX];
	uint8_t text_counter[KUZMA_BLOCK_BYTES_MAX]; /* hash_counter and sum where the text began */
	uint8_t text_sum[KUZMA_BLOCK_BYTES_MAX];
	uint8_t verified[KUZMA_BLOCK_BYTES_MAX];
};

/* `nonce` is one block whose first bit is 0. Never use one twice with a key. Errors: ARGUMENT, CONTEXT, IV. */
enum kuzma_status kuzma_mgm_init(struct kuzma_mgm *mgm, const struct kuzma_context *context, const uint8_t *nonce,
                                 size_t nonce_bytes);
/* Errors of these: ARGUMENT, CONTEXT, ORDER, OVERLAP, LIMIT. Associated data and text together are shorter than 2^29
 * bytes (512 MiB) for Magma, 2^61 for Kuznyechik (RFC 9058 section 3). */
enum kuzma_status kuzma_mgm_associate(struct kuzma_mgm *mgm, const uint8_t *data, size_t bytes);
enum kuzma_status kuzma_mgm_encrypt(struct kuzma_mgm *mgm, uint8_t *output, const uint8_t *input, size_t bytes);
enum kuzma_status kuzma_mgm_absorb(struct kuzma_mgm *mgm, const uint8_t *ciphertext, size_t bytes);
/* Errors also: LENGTH (not as many bytes as were absorbed), TAG (the ciphertext is no longer what was verified: `output` is
 * then zeros). The tag is made again of what is decrypted, which costs as much as absorbing it: kuzma_mgm_open need not. */
enum kuzma_status kuzma_mgm_decrypt(struct kuzma_mgm *mgm, uint8_t *output, const uint8_t *input, size_t bytes);
/* The first `tag_bytes` of the tag. Errors: ARGUMENT, CONTEXT, ORDER, TAG_LENGTH, LENGTH (neither associated data nor
 * text: RFC 9058 has no such message). */
enum kuzma_status kuzma_mgm_final(struct kuzma_mgm *mgm, uint8_t *tag, size_t tag_bytes);
/* Compares in a time that does not depend on the content. Errors as in final, and TAG; the state is then spent. */
enum kuzma_status kuzma_mgm_verify(struct kuzma_mgm *mgm, const uint8_t *tag, size_t tag_bytes);

/* A whole message in one call. kuzma_mgm_open reads the input once, so that what it verifies is what it decrypts. After
 * KUZMA_ERROR_TAG `output` is zeros; if it is `input`, it is as it was. */
enum kuzma_status kuzma_mgm_seal(const struct kuzma_context *context, const uint8_t *nonce, size_t nonce_bytes,
                                 const uint8_t *associated, size_t associated_bytes, uint8_t *output,
                                 const uint8_t *input, size_t bytes, uint8_t *tag, size_t tag_bytes);
enum kuzma_status kuzma_mgm_open(const struct kuzma_context *context, const uint8_t *nonce, size_t nonce_bytes,
                                 const uint8_t *associated, size_t associated_bytes, uint8_t *output,
                                 const uint8_t *input, size_t bytes, const uint8_t *tag, size_t tag_bytes);

/* ---- Many messages at once, under one key, for the modes in which each block waits for the one before: the messages
 * go through the cipher side by side, as fast as ECB. Lengths may differ; a message that ends makes room for the next.
 * Outputs and initial values lie apart from each other and from all inputs but their own; inputs may overlap. */
struct kuzma_message {
	uint8_t *output;      /* MAC: the tag goes here */
	const uint8_t *input;
	size_t bytes;         /* of `input`; CBC: a whole number of blocks */
	uint8_t *iv;          /* one block for each message: read, and in CBC updated; MAC: not used */
};

/* Errors: as for one message, and OVERLAP of messages with each other; all are checked before any is begun. For some
 * thousands of messages that lie in no order this takes a time that grows as the square of their number. */
enum kuzma_status kuzma_cbc_encrypt_many(const struct kuzma_context *context, const struct kuzma_message *messages,
                                         size_t count);
enum kuzma_status kuzma_cfb_encrypt_many(const struct kuzma_context *context, const struct kuzma_message *messages,
                                         size_t count);
enum kuzma_status kuzma_ofb_xor_many(const struct kuzma_context *context, const struct kuzma_message *messages,
                                     size_t count);
enum kuzma_status kuzma_mac_many(const struct kuzma_context *context, const struct kuzma_message *messages,
                                 size_t count, size_t tag_bytes);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
