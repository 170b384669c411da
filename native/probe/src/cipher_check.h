/* What one pass over the buffer is, and whether its output is right. */
#ifndef STEND_CIPHER_CHECK_H
#define STEND_CIPHER_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kuzma.h"

struct cipher_job {
	struct kuzma_context tested, base; /* `base`: the backend compact with the same key */
	bool cbc, decrypt;
	size_t block, bytes;
	uint8_t iv[16];
};

void cipher_job_make(struct cipher_job *job, const struct kuzma_backend *backend, bool cbc, bool decrypt, size_t bytes);
void cipher_job_wipe(struct cipher_job *job);

/* One pass over the whole buffer. */
void cipher_pass(const struct cipher_job *job, uint8_t *output, const uint8_t *input);

/* RFC 7801 section 5.5, RFC 8891 appendix A.3: encryption and decryption. */
bool cipher_known_answer(const struct kuzma_backend *backend);

/* The first, the last and 64 random blocks of `output` against `base`, and a round trip; adds to *blocks. */
bool cipher_check(const struct cipher_job *job, const uint8_t *output, const uint8_t *input, uint64_t *seed,
                  unsigned *blocks);

/* So many bytes go there and back. */
size_t cipher_round_trip_bytes(const struct cipher_job *job);

#endif
