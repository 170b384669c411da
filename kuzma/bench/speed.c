/* How fast each backend is in each mode, in memory and on one core: the best of several rounds, in MB per second of processor time.
 * Usage: speed [BYTES]; a message has so many, 16384 if not given, in whole blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kuzma.h"

enum { ROUNDS = 7, ROUND_NS = 20000000 };

static const uint8_t key[KUZMA_KEY_BYTES] = { 1, 2, 3 }, nonce[KUZMA_BLOCK_BYTES_MAX] = { 1 };
static uint8_t *text, iv[KUZMA_BLOCK_BYTES_MAX], tag[KUZMA_BLOCK_BYTES_MAX];
static size_t bytes, block;

static enum kuzma_status ecb(const struct kuzma_context *context) { return kuzma_ecb_encrypt(context, text, text, bytes); }
static enum kuzma_status ctr(const struct kuzma_context *context) { return kuzma_ctr_message(context, nonce, block / 2, text, text, bytes); }
static enum kuzma_status cbc(const struct kuzma_context *context) { return kuzma_cbc_encrypt(context, iv, block, text, text, bytes); }
static enum kuzma_status cbc_decrypt(const struct kuzma_context *context) { return kuzma_cbc_decrypt(context, iv, block, text, text, bytes); }
static enum kuzma_status mac(const struct kuzma_context *context) { return kuzma_mac_message(context, tag, block, text, bytes); }
static enum kuzma_status mgm(const struct kuzma_context *context)
{
	return kuzma_mgm_seal(context, nonce, block, NULL, 0, text, text, bytes, tag, block);
}

static const struct {
	const char *name;
	enum kuzma_status (*run)(const struct kuzma_context *context);
} modes[] = { { "ecb", ecb }, { "ctr", ctr }, { "cbc", cbc }, { "cbc-decrypt", cbc_decrypt }, { "mac", mac }, { "mgm", mgm } };

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* 0 if a call fails. */
static double megabytes_a_second(unsigned mode, const struct kuzma_context *context)
{
	double best = 0;

	for (int round = 0; round < ROUNDS; round++) {
		double begin = now_ns(), spent, done = 0;

		do {
			if (modes[mode].run(context) != KUZMA_OK)
				return 0;
			done += (double)bytes;
		} while ((spent = now_ns() - begin) < ROUND_NS);
		if (done / spent * 1e3 > best)
			best = done / spent * 1e3;
	}
	return best;
}

int main(int argc, char **argv)
{
	const struct kuzma_backend *backend;
	struct kuzma_context context;

	bytes = argc > 1 ? strtoull(argv[1], NULL, 10) / KUZMA_BLOCK_BYTES_MAX * KUZMA_BLOCK_BYTES_MAX : 16384;
	if (bytes == 0 || (text = (uint8_t *)calloc(bytes, 1)) == NULL) {
		fprintf(stderr, "speed: no message of that size\n");
		return 2;
	}
	printf("%-11s%-15s", "cipher", "backend");
	for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
		printf(" %11s", modes[i].name);
	printf("  MB/s\n");
	for (int cipher = KUZMA_KUZNYECHIK; cipher <= KUZMA_MAGMA; cipher++) {
		for (size_t at = 0; (backend = kuzma_backend_at((enum kuzma_cipher)cipher, at)) != NULL; at++) {
			if (kuzma_init(&context, backend, key, sizeof key) != KUZMA_OK)
				continue;
			block = kuzma_block_bytes((enum kuzma_cipher)cipher);
			printf("%-11s%-15s", kuzma_cipher_name((enum kuzma_cipher)cipher), kuzma_backend_name(backend));
			for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
				printf(" %11.0f", megabytes_a_second(i, &context));
			printf("\n");
			kuzma_wipe(&context);
		}
	}
	free(text);
	return 0;
}
