/* What one pass over a buffer of messages is, in each mode, and whether its output is right. */
#ifndef STEND_CIPHER_JOB_H
#define STEND_CIPHER_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kuzma.h"

enum {
	CIPHER_TAG_ROOM = 16, /* input and output have so many bytes a message behind all messages, for tags */
	CIPHER_UNIT_KEY = 32
};

struct cipher_job;

/* One message through one context: `tag` is written by what makes tags, and read by what opens. */
struct cipher_message {
	const struct cipher_job *job;
	const struct kuzma_context *context;
	uint8_t *output;
	const uint8_t *input;
	size_t bytes;
	uint8_t *tag;
	const uint8_t *tag_given;
};

struct cipher_mode {
	const char *name;
	void (*encrypt)(const struct cipher_message *message);
	void (*decrypt)(const struct cipher_message *message); /* NULL: nothing of that kind */
	/* Many messages side by side, in the direction in which one message cannot use more than one block at a time. */
	enum kuzma_status (*many)(const struct kuzma_context *context, const struct kuzma_message *messages, size_t count);
	/* Whether block `index` of a long message, given whole in input and output, is right: without all the blocks before
	 * it. The last one may be cut short. NULL: no such way; no mode that makes a tag has one. */
	bool (*right_block)(const struct cipher_message *message, bool decrypt, size_t index);
	enum { UNIT_BYTE, UNIT_BLOCK, UNIT_KEY } unit; /* of the length of a message */
	bool makes_text, makes_tag;
};

/* NULL: no such mode. */
const struct cipher_mode *cipher_mode_by_name(const char *name);
/* Bytes that a message is a multiple of. */
size_t cipher_unit(const struct cipher_mode *mode, enum kuzma_cipher cipher);

struct cipher_job {
	const struct cipher_mode *mode;
	struct kuzma_context tested, base; /* `base`: the backend table, or compact if that is what is tested; same key */
	bool decrypt;
	size_t block, message_bytes, messages, section_bytes;
	uint8_t iv[16];
};

/* What a thread needs beside its buffers. */
struct cipher_lane {
	struct kuzma_message *messages; /* NULL: one after the other */
	uint8_t *ivs;
	uint64_t right_digest; /* of output that was compared whole with what `base` makes, and agreed */
	bool right_known;
};

/* What cipher_check has compared. */
struct cipher_checked {
	size_t bytes, tags;
	size_t blocks;  /* beside those bytes; 0: they are all that there is */
	bool by_digest; /* with output that was compared in an earlier repeat */
};

void cipher_job_make(struct cipher_job *job, const struct cipher_mode *mode, const struct kuzma_backend *backend,
                     bool decrypt, size_t message_bytes, size_t messages, size_t section_bytes);
void cipher_job_wipe(struct cipher_job *job);

/* Bytes of a buffer: the messages and their tags. */
size_t cipher_buffer_bytes(const struct cipher_job *job);
/* Makes `input` what the job can take: to open a message there must be a right tag. */
void cipher_prepare_input(const struct cipher_job *job, uint8_t *input);
struct cipher_lane cipher_lane_make(const struct cipher_job *job, uint8_t *output, const uint8_t *input);
void cipher_lane_free(struct cipher_lane *lane);

/* One pass over all messages. */
void cipher_pass(const struct cipher_job *job, struct cipher_lane *lane, uint8_t *output, const uint8_t *input);

/* RFC 7801 section 5.5, RFC 8891 appendix A.3: encryption and decryption. */
bool cipher_known_answer(const struct kuzma_backend *backend);

/* Output and tags against `base`. All of it, if it is at most 4 MiB or the mode has no other way; that is done once a lane,
 * and from then on a digest is compared. Else 1 MiB from the start, and of every message behind it the first block, the
 * last, and random ones, up to 64. Adds what was compared to *checked. */
bool cipher_check(const struct cipher_job *job, struct cipher_lane *lane, const uint8_t *output, const uint8_t *input,
                  uint64_t *seed, struct cipher_checked *checked);

#endif
