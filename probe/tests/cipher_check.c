/* The check of the ciphers' output: it passes what is right, and finds one wrong bit wherever it says that it looked. */
#include "cipher/job.h"
#include "harness.h"

#include <stdlib.h>

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)
#define TAG SIZE_MAX

static struct {
	const char *mode;
	size_t messages, bytes;
	size_t message, place; /* where a bit is wrong; TAG: in the tag */
	bool decrypt, in_parts; /* in_parts: 1 MiB and blocks are compared, not all */
} const shapes[] = {
	{ "ecb", 64, 64 * KIB, 40, 30000, false, false },
	{ "ecb", 64, 64 * KIB, 63, 65535, true, false },
	{ "ecb", 65, 64 * KIB, 40, 65535, false, true },
	{ "ecb", 65, 64 * KIB, 41, 0, true, true },
	{ "cbc", 70, 1008, 69, 1007, false, false },
	{ "cbc", 2, 3 * MIB, 0, 3 * MIB - 1, false, true },
	{ "cbc", 2, 3 * MIB, 1, 0, true, true },
	{ "ctr", 1, 4 * MIB, 0, 2 * MIB, false, false },
	{ "ctr", 1, 6 * MIB + 5, 0, 6 * MIB + 4, false, true },
	{ "ctr", 1, 6 * MIB + 5, 0, MIB - 1, false, true },
	{ "cfb", 2, 3 * MIB + 7, 0, 3 * MIB + 6, false, true },
	{ "cfb", 1, 6 * MIB + 7, 0, 6 * MIB + 6, true, true },
	{ "ofb", 2, 3 * MIB + 1, 1, 3 * MIB, false, true },
	{ "ofb", 1, 3, 0, 2, false, false },
	{ "mac", 1, 5, 0, TAG, false, false },
	{ "mac", 3, 2 * MIB, 1, TAG, false, false },
	{ "mac", 2, MIB + 1, 1, TAG, false, false },
	{ "mac", 64, 64 * KIB, 30, TAG, false, false },
	{ "mgm", 3, 2 * MIB, 1, 1 * MIB, false, false },
	{ "mgm", 3, 1001, 2, TAG, false, false },
	{ "mgm", 3, 1001, 2, 1000, true, false },
	{ "ctr-acpkm", 1, 4 * MIB, 0, 2 * MIB, false, false },
	{ "ctr-acpkm", 2, 20 * KIB, 1, 20 * KIB - 1, true, false },
	{ "mac-acpkm", 3, 20 * KIB, 2, TAG, false, false },
	{ "key", 40, 1 * KIB, 39, TAG, false, false },
};

static uint8_t *buffer(const struct cipher_job *job)
{
	uint8_t *bytes = calloc(1, cipher_buffer_bytes(job));

	if (bytes == NULL)
		abort();
	return bytes;
}

static void finds_one_bit(enum kuzma_cipher cipher, size_t i)
{
	static struct cipher_job job;
	bool whole = !shapes[i].in_parts;
	size_t all = shapes[i].messages * shapes[i].bytes;
	uint64_t seed = 7;

	cipher_job_make(&job, cipher_mode_by_name(shapes[i].mode), kuzma_backend_default(cipher), shapes[i].decrypt,
	                shapes[i].bytes, shapes[i].messages, 8 * KIB);
	uint8_t *input = buffer(&job), *output = buffer(&job);
	uint8_t *place = output + (shapes[i].place == TAG ? all + shapes[i].message * CIPHER_TAG_ROOM :
	                                                     shapes[i].message * shapes[i].bytes + shapes[i].place);
	random_bytes(&seed, input, all);
	cipher_prepare_input(&job, input);
	struct cipher_lane lane = cipher_lane_make(&job, output, input);
	cipher_pass(&job, &lane, output, input);

	/* Before anything was found right, and then. */
	for (int known = 0; known < 2; known++) {
		struct cipher_checked wrong = { 0 }, right = { 0 };

		*place ^= 0x10;
		CHECK(!cipher_check(&job, &lane, output, input, &seed, &wrong), "%s %s, %zu x %zu: message %zu at %zu",
		      kuzma_cipher_name(cipher), shapes[i].mode, shapes[i].messages, shapes[i].bytes, shapes[i].message,
		      shapes[i].place);
		*place ^= 0x10;
		CHECK(cipher_check(&job, &lane, output, input, &seed, &right), "%s %s, %zu x %zu: is right",
		      kuzma_cipher_name(cipher), shapes[i].mode, shapes[i].messages, shapes[i].bytes);
		CHECK(right.bytes == (job.mode->makes_text ? whole ? all : MIB : 0) && right.tags == (job.mode->makes_tag ? job.messages : 0) &&
		              (right.blocks > 0) == !whole && right.by_digest == (whole && known),
		      "%s %s, %zu x %zu: %zu bytes, %zu blocks, %zu tags", kuzma_cipher_name(cipher), shapes[i].mode,
		      shapes[i].messages, shapes[i].bytes, right.bytes, right.blocks, right.tags);
	}
	cipher_lane_free(&lane);
	cipher_job_wipe(&job);
	free(input);
	free(output);
}

int main(void)
{
	const char *step = getenv("AGREEMENT_STEP");
	/* So is told that an emulator runs this: the short ones, then. */
	bool slow = step != NULL && strtol(step, NULL, 10) > 100;

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		if (slow && shapes[i].messages * shapes[i].bytes > 256 * KIB)
			continue;
		finds_one_bit(KUZMA_KUZNYECHIK, i);
		finds_one_bit(KUZMA_MAGMA, i);
	}
	return harness_finish();
}
