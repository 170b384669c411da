#include "cipher_check.h"

#include <string.h>

#include "fail.h"
#include "random.h"

enum { RANDOM_BLOCKS = 64, ROUND_TRIP_BYTES = 65536 };

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

static void must(enum kuzma_status status)
{
	if (status != KUZMA_OK)
		fail(EXIT_BROKEN, "kuzma: %s", kuzma_status_text(status));
}

void cipher_job_make(struct cipher_job *job, const struct kuzma_backend *backend, bool cbc, bool decrypt, size_t bytes)
{
	enum kuzma_cipher cipher = kuzma_backend_cipher(backend);
	const uint8_t *key = cipher == KUZMA_MAGMA ? magma_key : kuznyechik_key;
	uint64_t seed = 34;

	*job = (struct cipher_job){ .cbc = cbc, .decrypt = decrypt, .bytes = bytes };
	job->block = kuzma_block_bytes(cipher);
	random_fill(&seed, job->iv, sizeof job->iv);
	must(kuzma_init(&job->tested, backend, key, 32));
	must(kuzma_init(&job->base, kuzma_backend_by_name(cipher, "compact"), key, 32));
}

void cipher_job_wipe(struct cipher_job *job)
{
	kuzma_wipe(&job->tested);
	kuzma_wipe(&job->base);
}

static void run(const struct kuzma_context *context, const struct cipher_job *job, bool decrypt, uint8_t *output,
                const uint8_t *input, size_t bytes)
{
	uint8_t iv[16];

	memcpy(iv, job->iv, sizeof iv);
	if (job->cbc && decrypt)
		must(kuzma_cbc_decrypt(context, iv, job->block, output, input, bytes));
	else if (job->cbc)
		must(kuzma_cbc_encrypt(context, iv, job->block, output, input, bytes));
	else if (decrypt)
		must(kuzma_ecb_decrypt(context, output, input, bytes));
	else
		must(kuzma_ecb_encrypt(context, output, input, bytes));
}

void cipher_pass(const struct cipher_job *job, uint8_t *output, const uint8_t *input)
{
	run(&job->tested, job, job->decrypt, output, input, job->bytes);
}

bool cipher_known_answer(const struct kuzma_backend *backend)
{
	bool magma = kuzma_backend_cipher(backend) == KUZMA_MAGMA;
	const uint8_t *plain = magma ? magma_plain : kuznyechik_plain, *coded = magma ? magma_coded : kuznyechik_coded;
	size_t block = kuzma_block_bytes(kuzma_backend_cipher(backend));
	/* Nine copies: so that the code for several blocks at once is checked as well as that for one. */
	uint8_t data[9 * 16];
	struct kuzma_context context;
	bool right = true;

	must(kuzma_init(&context, backend, magma ? magma_key : kuznyechik_key, 32));
	for (size_t i = 0; i < 9; i++)
		memcpy(data + i * block, plain, block);
	must(kuzma_ecb_encrypt(&context, data, data, 9 * block));
	for (size_t i = 0; i < 9; i++)
		right &= memcmp(data + i * block, coded, block) == 0;
	must(kuzma_ecb_decrypt(&context, data, data, 9 * block));
	for (size_t i = 0; i < 9; i++)
		right &= memcmp(data + i * block, plain, block) == 0;
	kuzma_wipe(&context);
	return right;
}

/* Block `index` alone: in CBC the ciphertext before it is in the buffers. */
static bool check_block(const struct cipher_job *job, const uint8_t *output, const uint8_t *input, size_t index)
{
	size_t block = job->block, at = index * block;
	const uint8_t *coded = job->decrypt ? input : output;
	uint8_t iv[16], expected[16];

	if (!job->cbc) {
		run(&job->base, job, job->decrypt, expected, input + at, block);
	} else {
		memcpy(iv, index == 0 ? job->iv : coded + at - block, block);
		if (job->decrypt)
			must(kuzma_cbc_decrypt(&job->base, iv, block, expected, input + at, block));
		else
			must(kuzma_cbc_encrypt(&job->base, iv, block, expected, input + at, block));
	}
	return memcmp(expected, output + at, block) == 0;
}

size_t cipher_round_trip_bytes(const struct cipher_job *job)
{
	return job->bytes < ROUND_TRIP_BYTES ? job->bytes : ROUND_TRIP_BYTES;
}

bool cipher_check(const struct cipher_job *job, const uint8_t *output, const uint8_t *input, uint64_t *seed,
                  unsigned *blocks)
{
	static uint8_t back[ROUND_TRIP_BYTES];
	size_t count = job->bytes / job->block, trip = cipher_round_trip_bytes(job);
	bool right = check_block(job, output, input, 0) && check_block(job, output, input, count - 1);

	*blocks += 2;
	for (unsigned i = 0; i < RANDOM_BLOCKS; i++)
		right &= check_block(job, output, input, (size_t)(random_word(seed) % count));
	*blocks += RANDOM_BLOCKS;
	/* A prefix decrypts by itself in both modes; a prefix encrypts to a prefix. */
	run(&job->tested, job, !job->decrypt, back, output, trip);
	return right && memcmp(back, input, trip) == 0;
}
