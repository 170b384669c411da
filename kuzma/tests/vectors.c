/* Every case of the vector files through every backend; and, where one tests a part, the part itself.
 * Usage: vectors [FILE...], by default the two files in tests/vectors, from the folder of the Makefile. */
#include "vector_file.h"

#include "bytes.h"
#include "harness.h"
#include "kuzma.h"
#include "kuznyechik/transforms.h"
#include "magma/transforms.h"
#include "multiply/multiply.h"

/* The case at hand, and how messages about it begin. */
static struct vector vector;
static char title[256];
static uint8_t output[VECTOR_BYTES_MAX];

#define EXPECT(condition, what) CHECK(condition, "%s: %s", title, what)

/* A value that the case must have. */
static const struct vector_value *need(const char *name)
{
	static const struct vector_value empty;
	const struct vector_value *value = vector_value(&vector, name);

	if (value == NULL) {
		CHECK(0, "%s: no %s", title, name);
		return &empty;
	}
	return value;
}

/* A value of a certain number of bytes. */
static const uint8_t *need_bytes(const char *name, size_t count)
{
	const struct vector_value *value = need(name);

	CHECK(value->count == count, "%s: %s has %zu bytes", title, name, value->count);
	return value->bytes;
}

static int same(const uint8_t *bytes, const struct vector_value *value)
{
	return memcmp(bytes, value->bytes, value->count) == 0;
}

static void make_context(struct kuzma_context *context, const struct kuzma_backend *backend)
{
	EXPECT(kuzma_init(context, backend, need_bytes("key", 32), 32) == KUZMA_OK, "a key");
}

static void run_ecb(const struct kuzma_backend *backend)
{
	static struct kuzma_context context;
	const struct vector_value *plain = need("plain"), *coded = need("coded");

	make_context(&context, backend);
	EXPECT(kuzma_ecb_encrypt(&context, output, plain->bytes, plain->count) == KUZMA_OK && same(output, coded), "encrypts");
	EXPECT(kuzma_ecb_decrypt(&context, output, output, coded->count) == KUZMA_OK && same(output, plain), "decrypts");
}

static void run_cbc(const struct kuzma_backend *backend)
{
	static struct kuzma_context context;
	const struct vector_value *plain = need("plain"), *coded = need("coded"), *start = need("iv");
	uint8_t iv[KUZMA_IV_BYTES_MAX];

	make_context(&context, backend);
	memcpy(iv, start->bytes, sizeof iv);
	EXPECT(kuzma_cbc_encrypt(&context, iv, start->count, output, plain->bytes, plain->count) == KUZMA_OK &&
	       same(output, coded), "encrypts");
	memcpy(iv, start->bytes, sizeof iv);
	EXPECT(kuzma_cbc_decrypt(&context, iv, start->count, output, output, coded->count) == KUZMA_OK &&
	       same(output, plain), "decrypts");
}

static void run_ctr(const struct kuzma_backend *backend)
{
	static struct kuzma_context context;
	const struct vector_value *plain = need("plain"), *coded = need("coded"), *iv = need("iv");

	make_context(&context, backend);
	EXPECT(kuzma_ctr_message(&context, iv->bytes, iv->count, output, plain->bytes, plain->count) == KUZMA_OK &&
	       same(output, coded), "encrypts");
	EXPECT(kuzma_ctr_message(&context, iv->bytes, iv->count, output, output, coded->count) == KUZMA_OK &&
	       same(output, plain), "decrypts");
}

typedef enum kuzma_status feedback_call(struct kuzma_feedback *, uint8_t *, const uint8_t *, size_t);
typedef enum kuzma_status message_call(const struct kuzma_context *, const uint8_t *, size_t, uint8_t *, const uint8_t *,
                                       size_t);

static void run_feedback(const struct kuzma_backend *backend, feedback_call *encrypt, feedback_call *decrypt,
                         message_call *encrypt_message, message_call *decrypt_message)
{
	static struct kuzma_context context;
	const struct vector_value *plain = need("plain"), *coded = need("coded"), *iv = need("iv");
	struct kuzma_feedback state;

	make_context(&context, backend);
	EXPECT(kuzma_feedback_init(&state, &context, iv->bytes, iv->count) == KUZMA_OK, "a register");
	EXPECT(encrypt(&state, output, plain->bytes, plain->count) == KUZMA_OK && same(output, coded), "encrypts");
	EXPECT(kuzma_feedback_init(&state, &context, iv->bytes, iv->count) == KUZMA_OK, "a register");
	EXPECT(decrypt(&state, output, output, coded->count) == KUZMA_OK && same(output, plain), "decrypts");
	EXPECT(encrypt_message(&context, iv->bytes, iv->count, output, plain->bytes, plain->count) == KUZMA_OK &&
	       same(output, coded), "encrypts at once");
	EXPECT(decrypt_message(&context, iv->bytes, iv->count, output, output, coded->count) == KUZMA_OK &&
	       same(output, plain), "decrypts at once");
}

static void run_cfb(const struct kuzma_backend *backend)
{
	run_feedback(backend, kuzma_cfb_encrypt, kuzma_cfb_decrypt, kuzma_cfb_encrypt_message, kuzma_cfb_decrypt_message);
}

static void run_ofb(const struct kuzma_backend *backend)
{
	run_feedback(backend, kuzma_ofb_xor, kuzma_ofb_xor, kuzma_ofb_message, kuzma_ofb_message);
}

static void run_mac(const struct kuzma_backend *backend)
{
	static struct kuzma_context context;
	const struct vector_value *plain = need("plain"), *tag = need("tag");
	struct kuzma_mac mac;

	make_context(&context, backend);
	EXPECT(kuzma_mac_message(&context, output, tag->count, plain->bytes, plain->count) == KUZMA_OK && same(output, tag),
	       "MAC");
	kuzma_mac_init(&mac, &context);
	kuzma_mac_update(&mac, plain->bytes, plain->count);
	EXPECT(kuzma_mac_verify(&mac, tag->bytes, tag->count) == KUZMA_OK, "verifies");
}

static void run_ctr_acpkm(const struct kuzma_backend *backend)
{
	static struct kuzma_ctr_acpkm ctr;
	const struct vector_value *plain = need("plain"), *coded = need("coded"), *iv = need("iv");
	const uint8_t *key = need_bytes("key", 32);
	size_t section = need("section")->number;

	EXPECT(kuzma_ctr_acpkm_init(&ctr, backend, key, 32, iv->bytes, iv->count, section) == KUZMA_OK, "a start");
	EXPECT(kuzma_ctr_acpkm_xor(&ctr, output, plain->bytes, plain->count) == KUZMA_OK && same(output, coded), "encrypts");
	kuzma_ctr_acpkm_init(&ctr, backend, key, 32, iv->bytes, iv->count, section);
	EXPECT(kuzma_ctr_acpkm_xor(&ctr, output, output, coded->count) == KUZMA_OK && same(output, plain), "decrypts");
	EXPECT(kuzma_ctr_acpkm_message(backend, key, 32, iv->bytes, iv->count, section, output, plain->bytes, plain->count) ==
	       KUZMA_OK && same(output, coded), "encrypts at once");
}

static void run_mac_acpkm(const struct kuzma_backend *backend)
{
	static struct kuzma_mac_acpkm mac;
	const struct vector_value *plain = need("plain"), *tag = need("tag");
	size_t section = need("section")->number, key_section = need("key-section")->number;

	EXPECT(kuzma_mac_acpkm_init(&mac, backend, need_bytes("key", 32), 32, section, key_section) == KUZMA_OK, "a start");
	EXPECT(kuzma_mac_acpkm_update(&mac, plain->bytes, plain->count) == KUZMA_OK &&
	       kuzma_mac_acpkm_final(&mac, output, tag->count) == KUZMA_OK && same(output, tag), "MAC");
	EXPECT(kuzma_mac_acpkm_message(backend, need_bytes("key", 32), 32, section, key_section, output, tag->count,
	                               plain->bytes, plain->count) == KUZMA_OK && same(output, tag), "MAC at once");
}

/* The next key by itself: one that CTR-ACPKM, with sections of one block, uses for its second block. */
static void run_acpkm(const struct kuzma_backend *backend)
{
	static struct kuzma_ctr_acpkm ctr;
	static struct kuzma_context next;
	size_t block = kuzma_block_bytes(kuzma_backend_cipher(backend));
	const uint8_t iv[KUZMA_BLOCK_BYTES_MAX] = { 0 }, zeros[2 * KUZMA_BLOCK_BYTES_MAX] = { 0 };
	uint8_t counter[KUZMA_BLOCK_BYTES_MAX] = { 0 };

	kuzma_ctr_acpkm_init(&ctr, backend, need_bytes("key", 32), 32, iv, block / 2, block);
	kuzma_ctr_acpkm_xor(&ctr, output, zeros, 2 * block);
	kuzma_init(&next, backend, need_bytes("output", 32), 32);
	counter[block - 1] = 1;
	kuzma_ecb_encrypt(&next, counter, counter, block);
	EXPECT(memcmp(output + block, counter, block) == 0, "the next key");
}

static void run_mgm(const struct kuzma_backend *backend)
{
	static struct kuzma_context context;
	const struct vector_value *plain = need("plain"), *coded = need("coded"), *tag = need("tag"), *ad = need("ad"),
	                          *nonce = need("iv");
	uint8_t made[KUZMA_BLOCK_BYTES_MAX], forged[KUZMA_BLOCK_BYTES_MAX];
	size_t bytes = plain->count, wrong = 0;

	make_context(&context, backend);
	EXPECT(kuzma_mgm_seal(&context, nonce->bytes, nonce->count, ad->bytes, ad->count, output, plain->bytes, bytes, made,
	                      tag->count) == KUZMA_OK && same(output, coded) && same(made, tag), "seals");
	EXPECT(kuzma_mgm_open(&context, nonce->bytes, nonce->count, ad->bytes, ad->count, output, output, bytes, tag->bytes,
	                      tag->count) == KUZMA_OK && same(output, plain), "opens");
	memcpy(forged, tag->bytes, tag->count);
	forged[tag->count - 1] ^= 1;
	memset(output, 0xA5, sizeof output);
	EXPECT(kuzma_mgm_open(&context, nonce->bytes, nonce->count, ad->bytes, ad->count, output, coded->bytes, bytes, forged,
	                      tag->count) == KUZMA_ERROR_TAG, "refuses another tag");
	for (size_t i = 0; i < sizeof output; i++)
		wrong += output[i] != (i < bytes ? 0 : 0xA5);
	EXPECT(wrong == 0, "leaves zeros if the tag is wrong");
}

/* Parts of the ciphers and of MGM, which no backend stands for. */
static void run_multilinear(void)
{
	enum kuzma_cipher cipher = strcmp(vector.cipher, "magma") == 0 ? KUZMA_MAGMA : KUZMA_KUZNYECHIK;
	size_t block = kuzma_block_bytes(cipher), count = need("input")->count;
	const struct vector_value *hashes = need("h"), *input = need("input"), *sum = need("output");
	const struct kuzma_multiplier *multiplier;

	EXPECT(hashes->count == count && sum->count == block, "lengths");
	for (size_t i = 0; (multiplier = kuzma_multiplier_at(cipher, i)) != NULL; i++) {
		if (multiplier->supported != NULL && !multiplier->supported())
			continue;
		memset(output, 0, block);
		multiplier->accumulate(output, hashes->bytes, input->bytes, count / block);
		EXPECT(same(output, sum), multiplier->name);
	}
}

static void run_round_keys(void)
{
	const uint8_t *key = need_bytes("key", 32);

	if (strcmp(vector.cipher, "magma") == 0) {
		uint32_t words[MAGMA_ROUNDS];
		kuzma_magma_expand_key(words, key);
		for (size_t i = 0; i < MAGMA_ROUNDS; i++)
			store_be32(output + 4 * i, words[i]);
		EXPECT(memcmp(output, need_bytes("output", 4 * MAGMA_ROUNDS), 4 * MAGMA_ROUNDS) == 0, "round keys");
	} else {
		uint8_t keys[KUZNYECHIK_ROUND_KEYS][16];
		kuzma_kuznyechik_expand_key(keys, key);
		EXPECT(memcmp(keys, need_bytes("output", sizeof keys), sizeof keys) == 0, "round keys");
	}
}

static void run_transform(void (*transform)(uint8_t *), void (*inverse)(uint8_t *))
{
	uint8_t block[16];

	memcpy(block, need_bytes("input", 16), 16);
	transform(block);
	EXPECT(memcmp(block, need_bytes("output", 16), 16) == 0, "the transformation");
	if (inverse == NULL)
		return;
	inverse(block);
	EXPECT(memcmp(block, need_bytes("input", 16), 16) == 0, "its inverse");
}

static void run_s(void)
{
	run_transform(kuzma_kuznyechik_s, kuzma_kuznyechik_s_inverse);
}

static void run_r(void)
{
	run_transform(kuzma_kuznyechik_r, NULL);
}

static void run_l(void)
{
	run_transform(kuzma_kuznyechik_l, kuzma_kuznyechik_l_inverse);
}

static void run_t(void)
{
	EXPECT(kuzma_magma_t(load_be32(need_bytes("input", 4))) == load_be32(need_bytes("output", 4)), "the transformation");
}

static void run_g(void)
{
	uint32_t key = load_be32(need_bytes("round-key", 4));

	EXPECT(kuzma_magma_g(key, load_be32(need_bytes("input", 4))) == load_be32(need_bytes("output", 4)), "the transformation");
}

static struct mode {
	const char *name;
	void (*run)(const struct kuzma_backend *); /* through every backend, or */
	void (*run_once)(void);
	unsigned cases;
} modes[] = {
	{ "ecb", run_ecb, NULL, 0 },
	{ "cbc", run_cbc, NULL, 0 },
	{ "ctr", run_ctr, NULL, 0 },
	{ "cfb", run_cfb, NULL, 0 },
	{ "ofb", run_ofb, NULL, 0 },
	{ "mac", run_mac, NULL, 0 },
	{ "acpkm", run_acpkm, NULL, 0 },
	{ "ctr-acpkm", run_ctr_acpkm, NULL, 0 },
	{ "mac-acpkm", run_mac_acpkm, NULL, 0 },
	{ "mgm", run_mgm, NULL, 0 },
	{ "multilinear", NULL, run_multilinear, 0 },
	{ "round-keys", NULL, run_round_keys, 0 },
	{ "s", NULL, run_s, 0 },
	{ "r", NULL, run_r, 0 },
	{ "l", NULL, run_l, 0 },
	{ "t", NULL, run_t, 0 },
	{ "g", NULL, run_g, 0 },
};

static struct mode *mode_of_case(void)
{
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (strcmp(modes[i].name, vector.mode) == 0)
			return &modes[i];
	return NULL;
}

static void run_case(const char *path)
{
	struct mode *mode = mode_of_case();
	enum kuzma_cipher cipher = strcmp(vector.cipher, "magma") == 0 ? KUZMA_MAGMA : KUZMA_KUZNYECHIK;
	const struct kuzma_backend *backend;

	snprintf(title, sizeof title, "%s:%u (%s)", path, vector.line, vector.source);
	CHECK(strcmp(vector.cipher, kuzma_cipher_name(cipher)) == 0, "%s: no cipher %s", title, vector.cipher);
	CHECK(mode != NULL, "%s: no mode %s", title, vector.mode);
	if (mode == NULL)
		return;
	mode->cases++;
	if (mode->run_once != NULL)
		mode->run_once();
	for (size_t i = 0; mode->run != NULL && (backend = kuzma_backend_at(cipher, i)) != NULL; i++) {
		if (!kuzma_backend_supported(backend))
			continue;
		snprintf(title, sizeof title, "%s:%u (%s) by %s", path, vector.line, vector.source, kuzma_backend_name(backend));
		mode->run(backend);
	}
}

static void run_file(const char *path)
{
	struct vector_file file;
	unsigned cases = 0;

	if (!vector_file_open(&file, path)) {
		CHECK(0, "%s: cannot be opened", path);
		return;
	}
	for (; vector_next(&file, &vector); cases++)
		run_case(path);
	CHECK(!file.wrong, "%s:%u: not in the format", path, file.line);
	CHECK(cases > 0, "%s: no cases", path);
	vector_file_close(&file);
}

int main(int count, char **arguments)
{
	kuzma_kuznyechik_transforms_prepare();
	for (int i = 1; i < count; i++)
		run_file(arguments[i]);
	if (count == 1) {
		run_file("tests/vectors/published.txt");
		run_file("tests/vectors/generated.txt");
		for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
			CHECK(modes[i].cases > 0, "no cases of %s", modes[i].name);
	}
	return harness_finish();
}
