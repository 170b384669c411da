/* What the modes share. */
#ifndef KUZMA_MODES_H
#define KUZMA_MODES_H

#include "backend.h"
#include "bytes.h"

/* As in backend.h. */
#pragma GCC visibility push(hidden)

/* Bytes that a mode works on at a time where it needs a buffer: whole batches of every backend, and well inside L1. */
#define BATCH_BYTES 8192u

/* NULL pointers and overlap; `bytes` may be any number. KUZMA_OK if the call may go on. */
enum kuzma_status kuzma_check_buffers(const uint8_t *output, const uint8_t *input, size_t bytes);

/* Whether the context has a key. */
enum kuzma_status kuzma_check_context(const struct kuzma_context *context);

/* Whether a state was made, and its context still has a key of the same cipher. */
enum kuzma_status kuzma_check_state(const struct kuzma_context *context, size_t block);

/* A register of one or more whole blocks. */
enum kuzma_status kuzma_check_register(const struct kuzma_context *context, const uint8_t *iv, size_t iv_bytes);

static inline size_t block_bytes_of(const struct kuzma_context *context)
{
	return context->backend->cipher == KUZMA_MAGMA ? KUZMA_MAGMA_BLOCK_BYTES : KUZMA_KUZNYECHIK_BLOCK_BYTES;
}

/* chain = E(chain ^ block) for each block of `input`, each chain to `output` unless that is NULL. CBC as it stands; a MAC
 * without output; and, because the next keystream block of CFB is E(plaintext ^ keystream), CFB as well. */
void kuzma_chain(const struct kuzma_context *context, uint8_t *chain, uint8_t *output, const uint8_t *input,
                 size_t blocks);

/* output = input ^ E(counter), E(counter + 1), ... over whole blocks; see struct kuzma_backend. The counters of CTR are
 * public; those of MGM are not, and the backends' ctr_xor may depend on where they carry. */
void kuzma_counter_xor(const struct kuzma_context *context, uint8_t *counter, bool counter_is_secret, uint8_t *output,
                       const uint8_t *input, size_t blocks);
/* The same for secret counters, of which either half counts; without input it gives them enciphered. */
void kuzma_hidden_counters(const struct kuzma_context *context, uint8_t *counter, enum counting_half half,
                           uint8_t *output, const uint8_t *input, size_t blocks);

/* Whether so many bytes more would stay within the counter. */
bool kuzma_ctr_has_room(const struct kuzma_ctr *ctr, uint64_t bytes);

/* A pointer to, and a length of, a tag. */
enum kuzma_status kuzma_check_tag(const struct kuzma_context *context, const uint8_t *tag, size_t tag_bytes);

/* Whole blocks of a MAC, of which none is the last of the message. */
typedef void kuzma_absorb(void *mac, const uint8_t *data, size_t bytes);
/* How many bytes `bytes` new ones make ready to be absorbed: the last block is treated otherwise, so the newest one
 * waits, even if it is whole. */
size_t kuzma_mac_ready(size_t pending_bytes, size_t bytes, size_t block);
/* Absorbs them, and keeps the rest pending. */
void kuzma_mac_take(uint8_t *pending, uint32_t *pending_bytes, size_t block, const uint8_t *data, size_t bytes,
                    kuzma_absorb *absorb, void *mac);

/* The end of a MAC: the last block of the message, whole or not (it may be empty), with the final key that a whole block
 * takes, goes through the chain, which is then the MAC. */
void kuzma_mac_finish(const struct kuzma_context *context, const uint8_t *final_key, uint8_t *chain,
                      const uint8_t *pending, size_t pending_bytes);
/* What enters the chain then: the block, filled up if need be, and one of the two keys. */
void kuzma_mac_last_block(uint8_t *last, const uint8_t *final_key, const uint8_t *pending, size_t pending_bytes,
                          size_t block);
/* K1 of GOST R 34.13-2015 section 5.6.1. */
void kuzma_mac_final_key(const struct kuzma_context *context, uint8_t *final_key);

/* The two keys that finish a MAC (GOST R 34.13-2015 section 5.6.1): K1 from R = E(0), and K2 from K1. `to` may be
 * `from`. */
void kuzma_mac_double(uint8_t *to, const uint8_t *from, size_t block);

/* OK or TAG: whether the tag that was made, one block of KUZMA_BLOCK_BYTES_MAX bytes, begins as the given one, in a time
 * that does not depend on where they differ. The made one is wiped: of a message that is refused, it helps a forger. */
enum kuzma_status kuzma_compare_tag(uint8_t *made, const uint8_t *given, size_t bytes);

#pragma GCC visibility pop
#endif
