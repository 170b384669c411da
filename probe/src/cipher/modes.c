/* The modes of kuzma behind one shape. */
#include <string.h>

#include "base/fail.h"
#include "cipher/job.h"

#define MASTER_SECTION_BYTES ((uint64_t)1 << 20)

static void must(enum kuzma_status status)
{
	if (status != KUZMA_OK)
		fail(EXIT_BROKEN, "kuzma: %s", kuzma_status_text(status));
}

static void ecb_encrypt(const struct cipher_message *m)
{
	must(kuzma_ecb_encrypt(m->context, m->output, m->input, m->bytes));
}

static void ecb_decrypt(const struct cipher_message *m)
{
	must(kuzma_ecb_decrypt(m->context, m->output, m->input, m->bytes));
}

static void cbc_encrypt(const struct cipher_message *m)
{
	uint8_t iv[16];

	memcpy(iv, m->job->iv, sizeof iv);
	must(kuzma_cbc_encrypt(m->context, iv, m->job->block, m->output, m->input, m->bytes));
}

static void cbc_decrypt(const struct cipher_message *m)
{
	uint8_t iv[16];

	memcpy(iv, m->job->iv, sizeof iv);
	must(kuzma_cbc_decrypt(m->context, iv, m->job->block, m->output, m->input, m->bytes));
}

static void ctr(const struct cipher_message *m)
{
	must(kuzma_ctr_message(m->context, m->job->iv, m->job->block / 2, m->output, m->input, m->bytes));
}

static void cfb_encrypt(const struct cipher_message *m)
{
	struct kuzma_feedback state;

	must(kuzma_feedback_init(&state, m->context, m->job->iv, m->job->block));
	must(kuzma_cfb_encrypt(&state, m->output, m->input, m->bytes));
}

static void cfb_decrypt(const struct cipher_message *m)
{
	struct kuzma_feedback state;

	must(kuzma_feedback_init(&state, m->context, m->job->iv, m->job->block));
	must(kuzma_cfb_decrypt(&state, m->output, m->input, m->bytes));
}

static void ofb(const struct cipher_message *m)
{
	struct kuzma_feedback state;

	must(kuzma_feedback_init(&state, m->context, m->job->iv, m->job->block));
	must(kuzma_ofb_xor(&state, m->output, m->input, m->bytes));
}

static void mac(const struct cipher_message *m)
{
	must(kuzma_mac_message(m->context, m->tag, m->job->block, m->input, m->bytes));
}

static enum kuzma_status mac_many(const struct kuzma_context *context, const struct kuzma_message *messages, size_t count)
{
	return kuzma_mac_many(context, messages, count, kuzma_block_bytes(kuzma_backend_cipher(kuzma_context_backend(context))));
}

static void mgm_seal(const struct cipher_message *m)
{
	must(kuzma_mgm_seal(m->context, m->job->iv, m->job->block, NULL, 0, m->output, m->input, m->bytes, m->tag,
	                    m->job->block));
}

static void mgm_open(const struct cipher_message *m)
{
	must(kuzma_mgm_open(m->context, m->job->iv, m->job->block, NULL, 0, m->output, m->input, m->bytes, m->tag_given,
	                    m->job->block));
}

static const struct kuzma_backend *backend_of(const struct cipher_message *m)
{
	return kuzma_context_backend(m->context);
}

/* Both ACPKM modes begin with a key of their own: here the initial value twice, as many bytes as a key has. */
static void key_of(const struct cipher_message *m, uint8_t key[32])
{
	memcpy(key, m->job->iv, 16);
	memcpy(key + 16, m->job->iv, 16);
}

static void ctr_acpkm(const struct cipher_message *m)
{
	struct kuzma_ctr_acpkm state;
	uint8_t key[32];

	key_of(m, key);
	must(kuzma_ctr_acpkm_init(&state, backend_of(m), key, sizeof key, m->job->iv, m->job->block / 2,
	                          m->job->section_bytes));
	must(kuzma_ctr_acpkm_xor(&state, m->output, m->input, m->bytes));
}

static void mac_acpkm(const struct cipher_message *m)
{
	struct kuzma_mac_acpkm state;
	uint8_t key[32];

	key_of(m, key);
	must(kuzma_mac_acpkm_init(&state, backend_of(m), key, sizeof key, m->job->section_bytes, MASTER_SECTION_BYTES));
	must(kuzma_mac_acpkm_update(&state, m->input, m->bytes));
	must(kuzma_mac_acpkm_final(&state, m->tag, m->job->block));
}

/* The input is keys. What the last of them makes of a block of zeros is the tag. */
static void set_keys(const struct cipher_message *m)
{
	static _Thread_local struct kuzma_context context;
	const struct kuzma_backend *backend = backend_of(m);

	for (size_t at = 0; at < m->bytes; at += CIPHER_UNIT_KEY)
		must(kuzma_init(&context, backend, m->input + at, CIPHER_UNIT_KEY));
	memset(m->tag, 0, m->job->block);
	must(kuzma_ecb_encrypt(&context, m->tag, m->tag, m->job->block));
}

static bool ecb_block(const struct cipher_message *m, bool decrypt, size_t index)
{
	uint8_t expected[16];
	size_t block = m->job->block, at = index * block;

	must((decrypt ? kuzma_ecb_decrypt : kuzma_ecb_encrypt)(m->context, expected, m->input + at, block));
	return memcmp(expected, m->output + at, block) == 0;
}

static bool cbc_block(const struct cipher_message *m, bool decrypt, size_t index)
{
	uint8_t expected[16], iv[16];
	size_t block = m->job->block, at = index * block;

	memcpy(iv, index == 0 ? m->job->iv : (decrypt ? m->input : m->output) + at - block, block);
	must((decrypt ? kuzma_cbc_decrypt : kuzma_cbc_encrypt)(m->context, iv, block, expected, m->input + at, block));
	return memcmp(expected, m->output + at, block) == 0;
}

static size_t block_bytes(const struct cipher_message *m, size_t index)
{
	size_t block = m->job->block, left = m->bytes - index * block;

	return left < block ? left : block;
}

static bool ctr_block(const struct cipher_message *m, bool decrypt, size_t index)
{
	struct kuzma_ctr state;
	uint8_t expected[16];
	size_t block = m->job->block, at = index * block, bytes = block_bytes(m, index);

	(void)decrypt;
	must(kuzma_ctr_init(&state, m->context, m->job->iv, block / 2));
	must(kuzma_ctr_seek(&state, at));
	must(kuzma_ctr_xor(&state, expected, m->input + at, bytes));
	return memcmp(expected, m->output + at, bytes) == 0;
}

/* CFB encrypts the ciphertext block before, OFB the keystream block before; both give this one's keystream. */
static bool feedback_block(const struct cipher_message *m, const uint8_t *coded, size_t index)
{
	uint8_t keystream[16];
	size_t block = m->job->block, at = index * block, bytes = block_bytes(m, index);

	memcpy(keystream, m->job->iv, block);
	for (size_t i = 0; index > 0 && i < block; i++)
		keystream[i] = coded != NULL ? coded[at - block + i] : m->input[at - block + i] ^ m->output[at - block + i];
	must(kuzma_ecb_encrypt(m->context, keystream, keystream, block));
	for (size_t i = 0; i < bytes; i++)
		if (keystream[i] != (m->input[at + i] ^ m->output[at + i]))
			return false;
	return true;
}

static bool cfb_block(const struct cipher_message *m, bool decrypt, size_t index)
{
	return feedback_block(m, decrypt ? m->input : m->output, index);
}

static bool ofb_block(const struct cipher_message *m, bool decrypt, size_t index)
{
	(void)decrypt;
	return feedback_block(m, NULL, index);
}

static const struct cipher_mode modes[] = {
	{ "ecb", ecb_encrypt, ecb_decrypt, NULL, ecb_block, UNIT_BLOCK, true, false },
	{ "cbc", cbc_encrypt, cbc_decrypt, kuzma_cbc_encrypt_many, cbc_block, UNIT_BLOCK, true, false },
	{ "ctr", ctr, ctr, NULL, ctr_block, UNIT_BYTE, true, false },
	{ "cfb", cfb_encrypt, cfb_decrypt, kuzma_cfb_encrypt_many, cfb_block, UNIT_BYTE, true, false },
	{ "ofb", ofb, ofb, kuzma_ofb_xor_many, ofb_block, UNIT_BYTE, true, false },
	{ "mac", mac, NULL, mac_many, NULL, UNIT_BYTE, false, true },
	{ "mgm", mgm_seal, mgm_open, NULL, NULL, UNIT_BYTE, true, true },
	{ "ctr-acpkm", ctr_acpkm, ctr_acpkm, NULL, NULL, UNIT_BYTE, true, false },
	{ "mac-acpkm", mac_acpkm, NULL, NULL, NULL, UNIT_BYTE, false, true },
	{ "key", set_keys, NULL, NULL, NULL, UNIT_KEY, false, true },
};

const struct cipher_mode *cipher_mode_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (strcmp(modes[i].name, name) == 0)
			return &modes[i];
	return NULL;
}

size_t cipher_unit(const struct cipher_mode *mode, enum kuzma_cipher cipher)
{
	return mode->unit == UNIT_BYTE ? 1 : mode->unit == UNIT_KEY ? CIPHER_UNIT_KEY : kuzma_block_bytes(cipher);
}
