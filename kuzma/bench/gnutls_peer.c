/* Kuznyechik and Magma of GnuTLS as an instrument of stend: CTR-ACPKM, with the sections of TLS (RFC 9189), and the MAC.
 * Usage: gnutls_peer kuznyechik|magma ctr-acpkm|mac BYTES SECONDS */
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kuzma.h"

/* Small messages are gone over so many bytes at a time between two looks at the clock. */
enum { BYTES_MAX = 1 << 28, BYTES_BETWEEN_LOOKS = 65536 };

static const struct peer {
	const char *name;
	enum kuzma_cipher cipher;
	gnutls_cipher_algorithm_t ctr_acpkm;
	gnutls_mac_algorithm_t mac;
	size_t section_bytes;
} peers[] = {
	{ "kuznyechik", KUZMA_KUZNYECHIK, GNUTLS_CIPHER_KUZNYECHIK_CTR_ACPKM, GNUTLS_MAC_KUZNYECHIK_OMAC, 4096 },
	{ "magma", KUZMA_MAGMA, GNUTLS_CIPHER_MAGMA_CTR_ACPKM, GNUTLS_MAC_MAGMA_OMAC, 1024 },
};

static uint8_t key[KUZMA_KEY_BYTES], iv[KUZMA_BLOCK_BYTES_MAX];
static uint8_t *input, *output;
static size_t bytes;

static void fail(const char *what)
{
	fprintf(stderr, "gnutls_peer: %s\n", what);
	exit(2);
}

static void must(int status, const char *what)
{
	if (status < 0) {
		fprintf(stderr, "gnutls_peer: %s: %s\n", what, gnutls_strerror(status));
		exit(1);
	}
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static gnutls_cipher_hd_t new_cipher(const struct peer *peer)
{
	gnutls_datum_t key_datum = { key, sizeof key }, iv_datum = { iv, (unsigned)kuzma_block_bytes(peer->cipher) };
	gnutls_cipher_hd_t handle;

	must(gnutls_cipher_init(&handle, peer->ctr_acpkm, &key_datum, &iv_datum), "a key");
	return handle;
}

/* The whole message under GnuTLS and under kuzma, whose vectors are tested: the key changes many times on the way. */
static bool check(const struct peer *peer, bool mac)
{
	const struct kuzma_backend *backend = kuzma_backend_default(peer->cipher);
	size_t block = kuzma_block_bytes(peer->cipher);
	struct kuzma_context context;
	uint8_t tag[KUZMA_BLOCK_BYTES_MAX], expected[KUZMA_BLOCK_BYTES_MAX];

	if (mac) {
		must(gnutls_hmac_fast(peer->mac, key, sizeof key, input, bytes, tag), "a tag");
		return kuzma_init(&context, backend, key, sizeof key) == KUZMA_OK &&
		       kuzma_mac_message(&context, expected, block, input, bytes) == KUZMA_OK &&
		       memcmp(tag, expected, block) == 0;
	}
	gnutls_cipher_hd_t handle = new_cipher(peer);

	must(gnutls_cipher_encrypt2(handle, input, bytes, output, bytes), "encryption");
	gnutls_cipher_deinit(handle);
	return kuzma_ctr_acpkm_message(backend, key, sizeof key, iv, block / 2, peer->section_bytes, output, output, bytes) ==
	               KUZMA_OK &&
	       memcmp(output, input, bytes) == 0;
}

static void measure(const struct peer *peer, bool mac, double seconds)
{
	gnutls_cipher_hd_t cipher = mac ? NULL : new_cipher(peer);
	gnutls_hmac_hd_t tagger = NULL;
	uint8_t tag[KUZMA_BLOCK_BYTES_MAX];
	uint64_t passes = 0, until = (uint64_t)(seconds * 1e9), wall, cpu;

	if (mac)
		must(gnutls_hmac_init(&tagger, peer->mac, key, sizeof key), "a key");
	cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
	wall = now_ns(CLOCK_MONOTONIC);
	do {
		for (size_t done = 0; done < BYTES_BETWEEN_LOOKS; done += bytes, passes++) {
			if (mac) {
				must(gnutls_hmac(tagger, input, bytes), "a message");
				gnutls_hmac_output(tagger, tag);
			} else {
				must(gnutls_cipher_encrypt2(cipher, input, bytes, output, bytes), "encryption");
			}
		}
	} while (now_ns(CLOCK_MONOTONIC) - wall < until);
	wall = now_ns(CLOCK_MONOTONIC) - wall;
	cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	printf("{\"event\":\"repeat\",\"n\":0,\"wall_ns\":%" PRIu64 ",\"cpu_ns\":%" PRIu64
	       ",\"work\":{\"bytes\":%" PRIu64 ",\"operations\":%" PRIu64 "},\"check\":\"%s\","
	       "\"evidence\":\"a whole message against kuzma\"}\n",
	       wall, cpu, passes * bytes, passes, check(peer, mac) ? "passed" : "failed");
	if (mac)
		gnutls_hmac_deinit(tagger, NULL);
	else
		gnutls_cipher_deinit(cipher);
}

int main(int count, char **words)
{
	const struct peer *peer = NULL;

	if (count != 5)
		fail("wants four words: CIPHER MODE BYTES SECONDS");
	for (size_t i = 0; i < sizeof peers / sizeof *peers; i++)
		if (strcmp(words[1], peers[i].name) == 0)
			peer = &peers[i];
	bool mac = strcmp(words[2], "mac") == 0;
	double seconds = strtod(words[4], NULL);

	bytes = strtoul(words[3], NULL, 10);
	if (peer == NULL)
		fail("the cipher is kuznyechik or magma");
	if (!mac && strcmp(words[2], "ctr-acpkm") != 0)
		fail("the mode is ctr-acpkm or mac");
	if (bytes == 0 || bytes > BYTES_MAX)
		fail("BYTES is from 1 to 2^28");
	if (!(seconds > 0))
		fail("SECONDS is more than 0");
	input = malloc(bytes);
	output = calloc(bytes, 1);
	if (input == NULL || output == NULL)
		fail("out of memory");
	for (size_t i = 0; i < bytes; i++)
		input[i] = (uint8_t)(i * 37 >> 3);
	for (size_t i = 0; i < sizeof key; i++)
		key[i] = (uint8_t)(i * 101 + 7);
	/* Half a block; the other half counts from 0. */
	memset(iv, 0x5a, kuzma_block_bytes(peer->cipher) / 2);
	printf("{\"event\":\"begin\",\"wire\":1,\"instrument\":\"GnuTLS\",\"version\":\"%s\",\"parameters\":"
	       "{\"cipher\":\"%s\",\"mode\":\"%s\",\"size\":%zu,\"section\":%zu}}\n",
	       gnutls_check_version(NULL), peer->name, words[2], bytes, peer->section_bytes);
	measure(peer, mac, seconds);
	puts("{\"event\":\"end\",\"repeats\":1}");
	free(input);
	free(output);
	return 0;
}
