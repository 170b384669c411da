#include "cipher/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/random.h"

/* `table` checks more than 100 MB a second; `compact`, which checks `table` alone, 9 MB. */
#define WHOLE_BYTES ((size_t)4 << 20)
#define START_BYTES ((size_t)1 << 20)

enum {
	RANDOM_BLOCKS = 64,         /* of a message */
	RANDOM_BLOCKS_ALL = 1 << 16 /* of all, but at least one of each */
};

static const uint8_t kuznyechik_key[32] = {
	0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
	0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
};
static const uint8_t kuznyechik_plain[16] = {
	0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x00, 0xff, 0xee, 0xdd, 0xcc, 0xbb, 0xaa, 0x99, 0x88,
};
static const uint8_t kuznyechik_coded[16] = {
	0x7f, 0x67, 0x9d, 0x90, 0xbe, 0xbc, 0x24, 0x30, 0x5a, 0x46, 0x8d, 0x42, 0xb9, 0xd4, 0xed, 0xcd,
};
static const uint8_t magma_key[32] = {
	0xff, 0xee, 0xdd, 0xcc, 0xbb, 0xaa, 0x99, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x00,
	0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff,
};
static const uint8_t magma_plain[8] = { 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10 };
static const uint8_t magma_coded[8] = { 0x4e, 0xe9, 0x01, 0xe5, 0xc2, 0xd8, 0xca, 0x3d };

static void *memory(size_t bytes)
{
	void *at = malloc(bytes);

	if (at == NULL)
		fail(EXIT_UNSUPPORTED, "no memory for %zu bytes", bytes);
	return at;
}

static void must(enum kuzma_status status)
{
	if (status != KUZMA_OK)
		fail(EXIT_BROKEN, "kuzma: %s", kuzma_status_text(status));
}

void cipher_job_make(struct cipher_job *job, const struct cipher_mode *mode, const struct kuzma_backend *backend,
                     bool decrypt, size_t message_bytes, size_t messages, size_t section_bytes)
{
	enum kuzma_cipher cipher = kuzma_backend_cipher(backend);
	const uint8_t *key = cipher == KUZMA_MAGMA ? magma_key : kuznyechik_key;
	bool is_table = strcmp(kuzma_backend_name(backend), "table") == 0;
	uint64_t seed = 34;

	*job = (struct cipher_job){ .mode = mode,
		                    .decrypt = decrypt,
		                    .message_bytes = message_bytes,
		                    .messages = messages,
		                    .section_bytes = section_bytes };
	job->block = kuzma_block_bytes(cipher);
	random_fill(&seed, job->iv, sizeof job->iv);
	job->iv[0] &= 0x7f; /* as the nonce of MGM must be */
	must(kuzma_init(&job->tested, backend, key, 32));
	must(kuzma_init(&job->base, kuzma_backend_by_name(cipher, is_table ? "compact" : "table"), key, 32));
}

void cipher_job_wipe(struct cipher_job *job)
{
	kuzma_wipe(&job->tested);
	kuzma_wipe(&job->base);
}

static size_t text_bytes(const struct cipher_job *job)
{
	return job->message_bytes * job->messages;
}

size_t cipher_buffer_bytes(const struct cipher_job *job)
{
	return text_bytes(job) + job->messages * CIPHER_TAG_ROOM;
}

/* Message number `n` in a pair of buffers. */
static struct cipher_message message_at(const struct cipher_job *job, size_t n, uint8_t *output, const uint8_t *input)
{
	size_t at = n * job->message_bytes, tag = text_bytes(job) + n * CIPHER_TAG_ROOM;

	return (struct cipher_message){
		.job = job,
		.context = &job->tested,
		.output = output + at,
		.input = input + at,
		.bytes = job->message_bytes,
		.tag = output + tag,
		.tag_given = input + tag,
	};
}

void cipher_prepare_input(const struct cipher_job *job, uint8_t *input)
{
	if (!(job->decrypt && job->mode->makes_tag))
		return;
	for (size_t n = 0; n < job->messages; n++) {
		struct cipher_message message = message_at(job, n, input, input);

		job->mode->encrypt(&message);
	}
}

struct cipher_lane cipher_lane_make(const struct cipher_job *job, uint8_t *output, const uint8_t *input)
{
	struct cipher_lane lane = { 0 };
	bool sequential = job->mode->many != NULL && (!job->decrypt || job->mode->decrypt == job->mode->encrypt);

	if (job->messages == 1 || !sequential)
		return lane;
	lane.messages = memory(job->messages * sizeof *lane.messages);
	lane.ivs = memory(job->messages * 16);
	for (size_t n = 0; n < job->messages; n++) {
		struct cipher_message message = message_at(job, n, output, input);

		lane.messages[n] = (struct kuzma_message){
			.output = job->mode->makes_text ? message.output : message.tag,
			.input = message.input,
			.bytes = message.bytes,
			.iv = lane.ivs + 16 * n,
		};
	}
	return lane;
}

void cipher_lane_free(struct cipher_lane *lane)
{
	free(lane->messages);
	free(lane->ivs);
}

void cipher_pass(const struct cipher_job *job, struct cipher_lane *lane, uint8_t *output, const uint8_t *input)
{
	if (lane->messages != NULL) {
		for (size_t n = 0; n < job->messages; n++)
			memcpy(lane->ivs + 16 * n, job->iv, 16);
		must(job->mode->many(&job->tested, lane->messages, job->messages));
		return;
	}
	for (size_t n = 0; n < job->messages; n++) {
		struct cipher_message message = message_at(job, n, output, input);

		(job->decrypt ? job->mode->decrypt : job->mode->encrypt)(&message);
	}
}

bool cipher_known_answer(const struct kuzma_backend *backend)
{
	bool magma = kuzma_backend_cipher(backend) == KUZMA_MAGMA;
	const uint8_t *plain = magma ? magma_plain : kuznyechik_plain, *coded = magma ? magma_coded : kuznyechik_coded;
	size_t block = kuzma_block_bytes(kuzma_backend_cipher(backend));
	/* As many copies as the code for many blocks at once takes, and some more for that for few. */
	enum { COPIES = 64 * 3 + 7 };
	uint8_t data[COPIES * 16];
	struct kuzma_context context;
	bool right = true;

	must(kuzma_init(&context, backend, magma ? magma_key : kuznyechik_key, 32));
	for (size_t i = 0; i < COPIES; i++)
		memcpy(data + i * block, plain, block);
	must(kuzma_ecb_encrypt(&context, data, data, COPIES * block));
	for (size_t i = 0; i < COPIES; i++)
		right &= memcmp(data + i * block, coded, block) == 0;
	must(kuzma_ecb_decrypt(&context, data, data, COPIES * block));
	for (size_t i = 0; i < COPIES; i++)
		right &= memcmp(data + i * block, plain, block) == 0;
	kuzma_wipe(&context);
	return right;
}

/* As it came out of a pass; only to be read. */
static struct cipher_message made_message(const struct cipher_job *job, size_t n, const uint8_t *output,
                                          const uint8_t *input)
{
	return message_at(job, n, (uint8_t *)(uintptr_t)output, input);
}

/* The first `bytes` of a message, and the tag, if the mode makes one, of just these. */
static bool check_message(const struct cipher_job *job, size_t n, const uint8_t *output, const uint8_t *input,
                          uint8_t *expected, size_t bytes)
{
	struct cipher_message made = made_message(job, n, output, input), again = made;
	uint8_t tag[16] = { 0 };
	const uint8_t *text = made.output, *tag_made = made.tag;
	bool opening = job->decrypt && job->mode->makes_tag;

	again.context = &job->base;
	again.output = expected;
	again.tag = tag;
	again.bytes = bytes;
	if (opening) {
		/* What was opened, sealed again by the base, is what came in; the tag was checked in opening. */
		again.input = made.output;
		text = made.input;
		tag_made = made.tag_given;
	}
	(job->decrypt && !opening ? job->mode->decrypt : job->mode->encrypt)(&again);
	return (!job->mode->makes_text || memcmp(text, expected, bytes) == 0) &&
	       (!job->mode->makes_tag || memcmp(tag_made, tag, job->block) == 0);
}

/* Any one change of a word changes it; not meant against those who would try. */
static uint64_t digest(const uint8_t *data, size_t bytes)
{
	uint64_t sum = bytes, word;

	for (; bytes > 0; data += sizeof word) {
		size_t part = bytes < sizeof word ? bytes : sizeof word;

		word = 0;
		memcpy(&word, data, part);
		sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
		sum ^= sum >> 32;
		bytes -= part;
	}
	return sum;
}

/* Every pass has the same input: output that was right once is right as long as it stays the same. */
static bool check_whole(const struct cipher_job *job, struct cipher_lane *lane, const uint8_t *output,
                        const uint8_t *input, struct cipher_checked *checked)
{
	size_t from = job->mode->makes_text ? 0 : text_bytes(job);
	uint64_t made = digest(output + from, cipher_buffer_bytes(job) - from);
	bool right = true;

	if (job->mode->makes_text)
		checked->bytes += text_bytes(job);
	if (job->mode->makes_tag)
		checked->tags += job->messages;
	if (lane->right_known) {
		checked->by_digest = true;
		return made == lane->right_digest;
	}
	uint8_t *expected = job->mode->makes_text ? memory(job->message_bytes) : NULL;
	for (size_t n = 0; n < job->messages; n++)
		right &= check_message(job, n, output, input, expected, job->message_bytes);
	free(expected);
	lane->right_digest = made;
	lane->right_known = right;
	return right;
}

static bool check_blocks(const struct cipher_job *job, size_t n, const uint8_t *output, const uint8_t *input,
                         uint64_t *seed, struct cipher_checked *checked)
{
	struct cipher_message message = made_message(job, n, output, input);
	size_t blocks = (job->message_bytes + job->block - 1) / job->block;
	size_t random = RANDOM_BLOCKS_ALL / job->messages, count;
	bool right = true;

	random = random < 1 ? 1 : random > RANDOM_BLOCKS ? RANDOM_BLOCKS : random;
	count = blocks < random + 2 ? blocks : random + 2;
	message.context = &job->base;
	for (size_t i = 0; i < count; i++) {
		size_t index = i == 0 ? blocks - 1 : count == blocks || i == 1 ? i - 1 : (size_t)(random_word(seed) % blocks);
		right &= job->mode->right_block(&message, job->decrypt, index);
	}
	checked->blocks += count;
	return right;
}

static bool check_parts(const struct cipher_job *job, const uint8_t *output, const uint8_t *input, uint64_t *seed,
                        struct cipher_checked *checked)
{
	size_t left = START_BYTES;
	uint8_t *expected = memory(job->message_bytes < left ? job->message_bytes : left);
	bool right = true;

	for (size_t n = 0; n < job->messages; n++) {
		size_t part = job->message_bytes < left ? job->message_bytes : left;

		if (part > 0)
			right &= check_message(job, n, output, input, expected, part);
		if (part < job->message_bytes)
			right &= check_blocks(job, n, output, input, seed, checked);
		checked->bytes += part;
		left -= part;
	}
	free(expected);
	return right;
}

bool cipher_check(const struct cipher_job *job, struct cipher_lane *lane, const uint8_t *output, const uint8_t *input,
                  uint64_t *seed, struct cipher_checked *checked)
{
	if (job->mode->right_block == NULL || text_bytes(job) <= WHOLE_BYTES)
		return check_whole(job, lane, output, input, checked);
	return check_parts(job, output, input, seed, checked);
}
