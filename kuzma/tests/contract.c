/* Bad input: each mistake gives its own error, nothing is written and no state changes. And what kuzma promises beside
 * the ciphers: backends by name, constant time on demand, wiping. */
#include "operations.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct kuzma_context context;
static const struct kuzma_backend *backend;
static size_t block;
static const uint8_t key[32] = { 1, 2, 3 };
static uint8_t iv[KUZMA_IV_BYTES_MAX + 16], input[128], output[128], before[128];

static void expect(enum kuzma_status status, enum kuzma_status wanted, const char *what)
{
	CHECK(status == wanted, "%s/%s: %s: \"%s\", not \"%s\"", kuzma_cipher_name(kuzma_backend_cipher(backend)),
	      kuzma_backend_name(backend), what, kuzma_status_text(status), kuzma_status_text(wanted));
	CHECK(memcmp(output, before, sizeof output) == 0, "%s: an error writes nothing", what);
}

/* The same of a call on a state, or on a register, which then is as it was. */
#define REFUSES(state, call, wanted, what)                                                                       \
	do {                                                                                                     \
		static unsigned char kept[sizeof(state)];                                                        \
		memcpy(kept, &(state), sizeof kept);                                                             \
		expect(call, wanted, what);                                                                      \
		CHECK(memcmp(kept, &(state), sizeof kept) == 0, "%s: an error leaves the state as it was", what); \
	} while (0)

static void keys(void)
{
	struct kuzma_context fresh = { 0 };
	int left = 0;

	expect(kuzma_ecb_encrypt(&fresh, output, input, block), KUZMA_ERROR_CONTEXT, "context without a key");
	expect(kuzma_init(NULL, backend, key, 32), KUZMA_ERROR_ARGUMENT, "no context");
	expect(kuzma_init(&fresh, NULL, key, 32), KUZMA_ERROR_ARGUMENT, "no backend");
	expect(kuzma_init(&fresh, backend, NULL, 32), KUZMA_ERROR_ARGUMENT, "no key");
	for (size_t bytes = 0; bytes < 40; bytes++)
		if (bytes != 32)
			expect(kuzma_init(&fresh, backend, key, bytes), KUZMA_ERROR_KEY, "key of another length");
	kuzma_init(&fresh, backend, key, 32);
	kuzma_wipe(&fresh);
	for (size_t i = 0; i < sizeof fresh.state / sizeof *fresh.state; i++)
		left |= fresh.state[i] != 0;
	CHECK(!left && kuzma_context_backend(&fresh) == NULL, "wiped");
	expect(kuzma_ecb_encrypt(&fresh, output, input, block), KUZMA_ERROR_CONTEXT, "wiped context");
	kuzma_wipe(NULL);
	kuzma_wipe_state(NULL, 5);
}

/* What all modes have in common. */
static void one_mode(const struct operation *operation, bool whole)
{
	struct call good = { .context = &context, .key = key, .iv = iv, .iv_blocks = 1, .output = output, .input = input,
		             .bytes = 32, .whole = whole };
	struct call call = good;

	if (operation->whole_blocks)
		for (call.bytes = 1; call.bytes < 64; call.bytes++)
			if (call.bytes % block != 0)
				expect(operation->run(&call), KUZMA_ERROR_LENGTH, operation->name);
	call = good;
	call.bytes = 0;
	call.input = call.output = NULL;
	CHECK(operation->run(&call) == KUZMA_OK, "%s of nothing", operation->name);
	if (operation->run == operations[12].run)
		return; /* MGM opening makes its tag from the input: no bad buffers */
	call = good;
	call.input = NULL;
	expect(operation->run(&call), KUZMA_ERROR_ARGUMENT, operation->name);
	if (operation->no_output)
		return;
	call = good;
	call.output = NULL;
	expect(operation->run(&call), KUZMA_ERROR_ARGUMENT, operation->name);
	call = good;
	call.input = output;
	call.output = output + 1;
	expect(operation->run(&call), KUZMA_ERROR_OVERLAP, operation->name);
	call.input = output + 31;
	call.output = output;
	expect(operation->run(&call), KUZMA_ERROR_OVERLAP, operation->name);
}

static void every_mode(void)
{
	for (const struct operation *operation = operations; operation->name != NULL; operation++)
		for (int whole = 0; whole < 2; whole++)
			one_mode(operation, whole);
}

/* Bad calls in the midst of a message, which then goes on. */
static void errors_midway(void)
{
	static struct kuzma_ctr_acpkm ctr_acpkm;
	static struct kuzma_mac_acpkm mac_acpkm;
	struct kuzma_ctr ctr;
	struct kuzma_feedback feedback;
	struct kuzma_mac mac;
	struct kuzma_mgm mgm;
	uint8_t some[5], tag[16];

#define BAD_BUFFERS(state, call, what)                                                                  \
	REFUSES(state, call(&state, NULL, input, 33), KUZMA_ERROR_ARGUMENT, what ": no output");        \
	REFUSES(state, call(&state, output, NULL, 33), KUZMA_ERROR_ARGUMENT, what ": no input");        \
	REFUSES(state, call(&state, output + 1, output, 33), KUZMA_ERROR_OVERLAP, what ": overlap");    \
	CHECK(call(&state, some, input, sizeof some) == KUZMA_OK, what " goes on")
	kuzma_ctr_init(&ctr, &context, iv, block / 2);
	kuzma_ctr_xor(&ctr, some, input, sizeof some);
	BAD_BUFFERS(ctr, kuzma_ctr_xor, "CTR");
	kuzma_feedback_init(&feedback, &context, iv, 2 * block);
	kuzma_cfb_encrypt(&feedback, some, input, sizeof some);
	BAD_BUFFERS(feedback, kuzma_cfb_encrypt, "CFB encryption");
	BAD_BUFFERS(feedback, kuzma_cfb_decrypt, "CFB decryption");
	BAD_BUFFERS(feedback, kuzma_ofb_xor, "OFB");
	kuzma_ctr_acpkm_init(&ctr_acpkm, backend, key, sizeof key, iv, block / 2, 2 * block);
	kuzma_ctr_acpkm_xor(&ctr_acpkm, some, input, sizeof some);
	BAD_BUFFERS(ctr_acpkm, kuzma_ctr_acpkm_xor, "CTR-ACPKM");

	iv[0] &= 0x7f;
	kuzma_mgm_init(&mgm, &context, iv, block);
	kuzma_mgm_associate(&mgm, input, sizeof some);
	REFUSES(mgm, kuzma_mgm_associate(&mgm, NULL, 33), KUZMA_ERROR_ARGUMENT, "MGM: no associated data");
	kuzma_mgm_encrypt(&mgm, some, input, sizeof some);
	BAD_BUFFERS(mgm, kuzma_mgm_encrypt, "MGM sealing");
	REFUSES(mgm, kuzma_mgm_final(&mgm, output, 3), KUZMA_ERROR_TAG_LENGTH, "MGM: short tag");
	REFUSES(mgm, kuzma_mgm_verify(&mgm, some, 4), KUZMA_ERROR_ORDER, "MGM: opening while sealing");
	kuzma_mgm_init(&mgm, &context, iv, block);
	kuzma_mgm_absorb(&mgm, input, sizeof some);
	REFUSES(mgm, kuzma_mgm_absorb(&mgm, NULL, 33), KUZMA_ERROR_ARGUMENT, "MGM: no ciphertext");
	/* The tag of what was absorbed, by way of the keystream and of the plaintext. */
	memset(some, 0, sizeof some);
	kuzma_mgm_seal(&context, iv, block, NULL, 0, some, some, sizeof some, tag, block);
	for (size_t i = 0; i < sizeof some; i++)
		some[i] ^= input[i];
	kuzma_mgm_seal(&context, iv, block, NULL, 0, some, some, sizeof some, tag, block);
	CHECK(kuzma_mgm_verify(&mgm, tag, block) == KUZMA_OK, "MGM opening goes on");
	REFUSES(mgm, kuzma_mgm_decrypt(&mgm, NULL, input, 5), KUZMA_ERROR_ARGUMENT, "MGM opening: no output");
	REFUSES(mgm, kuzma_mgm_decrypt(&mgm, output + 1, output, 5), KUZMA_ERROR_OVERLAP, "MGM opening: overlap");
	REFUSES(mgm, kuzma_mgm_decrypt(&mgm, output, input, 6), KUZMA_ERROR_LENGTH, "more than was verified");
	REFUSES(mgm, kuzma_mgm_decrypt(&mgm, output, input, 4), KUZMA_ERROR_LENGTH, "less than was verified");
	CHECK(kuzma_mgm_decrypt(&mgm, some, input, 5) == KUZMA_OK, "all of it");
	REFUSES(mgm, kuzma_mgm_decrypt(&mgm, output, input, 5), KUZMA_ERROR_ORDER, "and a second time");
#undef BAD_BUFFERS

	kuzma_mac_init(&mac, &context);
	kuzma_mac_update(&mac, input, sizeof some);
	REFUSES(mac, kuzma_mac_update(&mac, NULL, 33), KUZMA_ERROR_ARGUMENT, "MAC: no data");
	REFUSES(mac, kuzma_mac_verify(&mac, input, 3), KUZMA_ERROR_TAG_LENGTH, "MAC: short tag");
	REFUSES(mac, kuzma_mac_verify(&mac, NULL, block), KUZMA_ERROR_ARGUMENT, "MAC: no tag");
	kuzma_mac_acpkm_init(&mac_acpkm, backend, key, sizeof key, 2 * block, 48);
	kuzma_mac_acpkm_update(&mac_acpkm, input, 3 * block);
	REFUSES(mac_acpkm, kuzma_mac_acpkm_update(&mac_acpkm, NULL, 33), KUZMA_ERROR_ARGUMENT, "OMAC-ACPKM: no data");
	REFUSES(mac_acpkm, kuzma_mac_acpkm_final(&mac_acpkm, output, 3), KUZMA_ERROR_TAG_LENGTH, "OMAC-ACPKM: short tag");
	REFUSES(mac_acpkm, kuzma_mac_acpkm_verify(&mac_acpkm, NULL, block), KUZMA_ERROR_ARGUMENT, "OMAC-ACPKM: no tag");
}

static void registers(void)
{
	static const struct {
		size_t bytes;
		const char *what;
	} wrong[] = { { 0, "empty register" }, { 9, "odd register" }, { KUZMA_IV_BYTES_MAX + 16, "register too wide" } };
	struct kuzma_feedback feedback;
	struct kuzma_ctr ctr;

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		REFUSES(iv, kuzma_cbc_encrypt(&context, iv, wrong[i].bytes, output, input, 32), KUZMA_ERROR_IV, wrong[i].what);
		REFUSES(iv, kuzma_cbc_decrypt(&context, iv, wrong[i].bytes, output, input, 32), KUZMA_ERROR_IV, wrong[i].what);
		expect(kuzma_feedback_init(&feedback, &context, iv, wrong[i].bytes), KUZMA_ERROR_IV, wrong[i].what);
		expect(kuzma_ofb_xor(&feedback, output, input, 32), KUZMA_ERROR_CONTEXT, "state whose making failed");
	}
	expect(kuzma_cbc_encrypt(&context, NULL, block, output, input, 32), KUZMA_ERROR_ARGUMENT, "no register");
	expect(kuzma_feedback_init(&feedback, &context, NULL, block), KUZMA_ERROR_ARGUMENT, "no register");
	expect(kuzma_feedback_init(NULL, &context, iv, block), KUZMA_ERROR_ARGUMENT, "no state");
	for (size_t bytes = 0; bytes < 20; bytes++)
		if (bytes != block / 2)
			expect(kuzma_ctr_init(&ctr, &context, iv, bytes), KUZMA_ERROR_IV, "initial value of CTR");
	expect(kuzma_ctr_xor(&ctr, output, input, 32), KUZMA_ERROR_CONTEXT, "state whose making failed");
	expect(kuzma_ctr_init(NULL, &context, iv, block / 2), KUZMA_ERROR_ARGUMENT, "no state");
	expect(kuzma_ctr_init(&ctr, NULL, iv, block / 2), KUZMA_ERROR_ARGUMENT, "no context");
}

/* Wherever a stream is sought to, its counter is the block's number, every byte of it. */
static void far_away(void)
{
	uint64_t blocks = block == 8 ? (uint64_t)1 << 32 : (uint64_t)1 << 60;

	for (uint64_t number = 1; number < blocks; number = number << 1 | (number >> 7 & 1)) {
		uint8_t counter[16] = { 0 }, expected[16], zeros[16] = { 0 }, found[16];
		struct kuzma_ctr ctr;

		memcpy(counter, iv, block / 2);
		for (size_t byte = 0; byte < block / 2; byte++)
			counter[block - 1 - byte] = (uint8_t)(number >> 8 * byte);
		kuzma_ecb_encrypt(&context, expected, counter, block);
		kuzma_ctr_init(&ctr, &context, iv, block / 2);
		CHECK(kuzma_ctr_seek(&ctr, number * block) == KUZMA_OK && kuzma_ctr_xor(&ctr, found, zeros, block) == KUZMA_OK &&
		              memcmp(found, expected, block) == 0,
		      "CTR at block %llx", (unsigned long long)number);
	}
}

static void limits(void)
{
	struct kuzma_ctr ctr;
	struct kuzma_mgm mgm;
	uint64_t blocks = block == 8 ? (uint64_t)1 << 32 : (uint64_t)1 << 60;
	uint64_t bits = (uint64_t)1 << (block * 4 - 3);

	kuzma_ctr_init(&ctr, &context, iv, block / 2);
	if (block == 8) {
		REFUSES(ctr, kuzma_ctr_seek(&ctr, blocks * block + 1), KUZMA_ERROR_LIMIT, "seek past the last block");
		CHECK(kuzma_ctr_seek(&ctr, blocks * block) == KUZMA_OK, "seek to the end");
		REFUSES(ctr, kuzma_ctr_xor(&ctr, output, input, 1), KUZMA_ERROR_LIMIT, "a byte past the last block");
	}
	CHECK(kuzma_ctr_seek(&ctr, blocks * block - 33) == KUZMA_OK, "seek to near the end");
	REFUSES(ctr, kuzma_ctr_xor(&ctr, output, input, 34), KUZMA_ERROR_LIMIT, "more than is left");
	CHECK(kuzma_ctr_xor(&ctr, output, input, 33) == KUZMA_OK, "all that is left");
	memcpy(output, before, sizeof output);
	REFUSES(ctr, kuzma_ctr_xor(&ctr, output, input, 1), KUZMA_ERROR_LIMIT, "one byte more");

	/* The length of MGM is kept as a number: set near its limit, as nobody can wait for so much data. */
	iv[0] &= 0x7f;
	kuzma_mgm_init(&mgm, &context, iv, block);
	mgm.associated_bytes = bits - 40;
	REFUSES(mgm, kuzma_mgm_associate(&mgm, input, 40), KUZMA_ERROR_LIMIT, "associated data past the limit");
	REFUSES(mgm, kuzma_mgm_encrypt(&mgm, output, input, 40), KUZMA_ERROR_LIMIT, "text past the limit");
	REFUSES(mgm, kuzma_mgm_absorb(&mgm, input, 40), KUZMA_ERROR_LIMIT, "ciphertext past the limit");
	CHECK(kuzma_mgm_encrypt(&mgm, output, input, 39) == KUZMA_OK, "just below the limit");
	memcpy(output, before, sizeof output);
}

static void order(void)
{
	struct kuzma_mac mac;
	struct kuzma_mac_acpkm mac_acpkm;
	struct kuzma_mgm mgm;
	uint8_t tag[16];

	kuzma_mac_init(&mac, &context);
	REFUSES(mac, kuzma_mac_final(&mac, NULL, block), KUZMA_ERROR_ARGUMENT, "no tag");
	REFUSES(mac, kuzma_mac_final(&mac, output, 3), KUZMA_ERROR_TAG_LENGTH, "short tag");
	REFUSES(mac, kuzma_mac_final(&mac, output, block + 1), KUZMA_ERROR_TAG_LENGTH, "long tag");
	CHECK(kuzma_mac_final(&mac, tag, block) == KUZMA_OK, "after errors");
	REFUSES(mac, kuzma_mac_update(&mac, input, 5), KUZMA_ERROR_ORDER, "data after final");
	REFUSES(mac, kuzma_mac_final(&mac, output, block), KUZMA_ERROR_ORDER, "final twice");
	kuzma_mac_init(&mac, &context);
	CHECK(kuzma_mac_verify(&mac, tag, block) == KUZMA_OK, "the tag of nothing");
	kuzma_mac_init(&mac, &context);
	kuzma_mac_update(&mac, input, 1);
	expect(kuzma_mac_verify(&mac, tag, block), KUZMA_ERROR_TAG, "tag of another message");
	expect(kuzma_mac_message(&context, output, 3, input, 5), KUZMA_ERROR_TAG_LENGTH, "short tag");
	expect(kuzma_mac_init(&mac, NULL), KUZMA_ERROR_ARGUMENT, "no context");
	REFUSES(mac, kuzma_mac_update(&mac, input, 5), KUZMA_ERROR_CONTEXT, "state whose making failed");

	expect(kuzma_mac_acpkm_init(&mac_acpkm, backend, key, 32, 0, 48), KUZMA_ERROR_LENGTH, "empty section");
	expect(kuzma_mac_acpkm_init(&mac_acpkm, backend, key, 32, 48, 13), KUZMA_ERROR_LENGTH, "odd section");
	expect(kuzma_mac_acpkm_init(&mac_acpkm, backend, key, 31, 48, 48), KUZMA_ERROR_KEY, "short key");
	REFUSES(mac_acpkm, kuzma_mac_acpkm_update(&mac_acpkm, input, 5), KUZMA_ERROR_CONTEXT, "state whose making failed");
	kuzma_mac_acpkm_init(&mac_acpkm, backend, key, 32, 48, 48);
	CHECK(kuzma_mac_acpkm_final(&mac_acpkm, tag, block) == KUZMA_OK, "OMAC-ACPKM of nothing");
	REFUSES(mac_acpkm, kuzma_mac_acpkm_update(&mac_acpkm, input, 5), KUZMA_ERROR_ORDER, "data after final");
	REFUSES(mac_acpkm, kuzma_mac_acpkm_verify(&mac_acpkm, tag, block), KUZMA_ERROR_ORDER, "final twice");

	iv[0] |= 0x80;
	expect(kuzma_mgm_init(&mgm, &context, iv, block), KUZMA_ERROR_IV, "nonce with the first bit set");
	iv[0] &= 0x7f;
	for (size_t bytes = 0; bytes < 20; bytes++)
		if (bytes != block)
			expect(kuzma_mgm_init(&mgm, &context, iv, bytes), KUZMA_ERROR_IV, "nonce of another length");
	REFUSES(mgm, kuzma_mgm_encrypt(&mgm, output, input, 5), KUZMA_ERROR_CONTEXT, "state whose making failed");
	kuzma_mgm_init(&mgm, &context, iv, block);
	REFUSES(mgm, kuzma_mgm_final(&mgm, output, block), KUZMA_ERROR_LENGTH, "neither associated data nor text");
	REFUSES(mgm, kuzma_mgm_decrypt(&mgm, output, input, 5), KUZMA_ERROR_ORDER, "plaintext before the tag was checked");
	kuzma_mgm_absorb(&mgm, input, 50);
	REFUSES(mgm, kuzma_mgm_decrypt(&mgm, output, input, 5), KUZMA_ERROR_ORDER, "plaintext before the tag was checked");
	REFUSES(mgm, kuzma_mgm_associate(&mgm, input, 5), KUZMA_ERROR_ORDER, "associated data after text");
	REFUSES(mgm, kuzma_mgm_encrypt(&mgm, output, input, 5), KUZMA_ERROR_ORDER, "sealing while opening");
	REFUSES(mgm, kuzma_mgm_final(&mgm, output, block), KUZMA_ERROR_ORDER, "a tag while opening: it would be an oracle");
	REFUSES(mgm, kuzma_mgm_verify(&mgm, tag, 3), KUZMA_ERROR_TAG_LENGTH, "short tag");
	expect(kuzma_mgm_verify(&mgm, tag, block), KUZMA_ERROR_TAG, "wrong tag");
	REFUSES(mgm, kuzma_mgm_decrypt(&mgm, output, input, 5), KUZMA_ERROR_ORDER, "plaintext after a wrong tag");
	expect(kuzma_mgm_verify(&mgm, tag, block), KUZMA_ERROR_ORDER, "a second try");
	expect(kuzma_mgm_seal(&context, iv, block, NULL, 0, output, input, 0, output, block), KUZMA_ERROR_LENGTH,
	       "neither associated data nor text");
	expect(kuzma_mgm_seal(&context, iv, block, NULL, 0, output, input, 20, tag, 3), KUZMA_ERROR_TAG_LENGTH, "short tag");
	expect(kuzma_mgm_seal(&context, iv, block, NULL, 3, output, input, 20, tag, block), KUZMA_ERROR_ARGUMENT,
	       "associated data that is not there");
}

static void sections(void)
{
	struct kuzma_ctr_acpkm ctr, moved;
	uint8_t whole[128], parts[128];

	expect(kuzma_ctr_acpkm_init(&ctr, backend, key, 32, iv, block / 2, 0), KUZMA_ERROR_LENGTH, "empty section");
	expect(kuzma_ctr_acpkm_init(&ctr, backend, key, 32, iv, block / 2, 13), KUZMA_ERROR_LENGTH, "odd section");
	expect(kuzma_ctr_acpkm_init(&ctr, backend, key, 30, iv, block / 2, 32), KUZMA_ERROR_KEY, "short key");
	expect(kuzma_ctr_acpkm_init(&ctr, backend, key, 32, iv, block, 32), KUZMA_ERROR_IV, "long initial value");
	expect(kuzma_ctr_acpkm_init(&ctr, NULL, key, 32, iv, block / 2, 32), KUZMA_ERROR_ARGUMENT, "no backend");
	expect(kuzma_ctr_acpkm_xor(&ctr, output, input, 5), KUZMA_ERROR_CONTEXT, "state whose making failed");
	kuzma_ctr_acpkm_init(&ctr, backend, key, 32, iv, block / 2, 32);
	CHECK(kuzma_ctr_acpkm_xor(&ctr, whole, input, 128) == KUZMA_OK, "whole");
	/* The state owns its key: it goes on after a move, also into another section. */
	kuzma_ctr_acpkm_init(&ctr, backend, key, 32, iv, block / 2, 32);
	kuzma_ctr_acpkm_xor(&ctr, parts, input, 41);
	memcpy(&moved, &ctr, sizeof moved);
	kuzma_wipe_state(&ctr, sizeof ctr);
	CHECK(kuzma_ctr_acpkm_xor(&moved, parts + 41, input + 41, 128 - 41) == KUZMA_OK &&
	              memcmp(whole, parts, sizeof whole) == 0,
	      "a state that was moved");
}

/* Every bit of nonce, associated data, text and tag counts; what was damaged is not released. */
static void forgeries(void)
{
	static const uint8_t nothing[21];
	uint8_t message[3 + 21 + 16 + 16], plain[21], opened[21], untouched[21];
	uint8_t *nonce = message, *associated = message + 16, *text = associated + 3, *tag = text + 21;
	size_t tag_bytes = block, bits = 8 * sizeof message;

	random_bytes(&(uint64_t){ 5 }, plain, sizeof plain);
	memset(message, 0x35, sizeof message);
	memset(untouched, 0xEE, sizeof untouched);
	CHECK(kuzma_mgm_seal(&context, nonce, block, associated, 3, text, plain, 21, tag, tag_bytes) == KUZMA_OK, "seal");
	CHECK(kuzma_mgm_open(&context, nonce, block, associated, 3, opened, text, 21, tag, tag_bytes) == KUZMA_OK &&
	              memcmp(opened, plain, sizeof plain) == 0,
	      "open");
	for (size_t bit = 0; bit < bits; bit++) {
		size_t byte = bit / 8;
		enum kuzma_status status, wanted = bit == 0 ? KUZMA_ERROR_IV : KUZMA_ERROR_TAG;

		if ((byte >= block && byte < 16) || byte >= (size_t)(tag - message) + tag_bytes)
			continue; /* between the nonce of Magma and the rest, and behind its tag */
		message[byte] ^= (uint8_t)(0x80u >> bit % 8);
		memset(opened, 0xEE, sizeof opened);
		status = kuzma_mgm_open(&context, nonce, block, associated, 3, opened, text, 21, tag, tag_bytes);
		CHECK(status == wanted && memcmp(opened, wanted == KUZMA_ERROR_TAG ? nothing : untouched, sizeof opened) == 0,
		      "bit %zu flipped", bit);
		/* In place the ciphertext stays as it is. */
		memcpy(opened, text, sizeof opened);
		status = kuzma_mgm_open(&context, nonce, block, associated, 3, opened, opened, 21, tag, tag_bytes);
		CHECK(status == wanted && memcmp(opened, text, sizeof opened) == 0, "bit %zu flipped, in place", bit);
		message[byte] ^= (uint8_t)(0x80u >> bit % 8);
	}
	CHECK(kuzma_mgm_open(&context, nonce, block, associated, 3, opened, text, 20, tag, tag_bytes) == KUZMA_ERROR_TAG &&
	              kuzma_mgm_open(&context, nonce, block, associated, 2, opened, text, 21, tag, tag_bytes) ==
	                      KUZMA_ERROR_TAG,
	      "shortened");
}

/* Memory that others write to, as a file that is mapped: what is decrypted is what was verified, or there is no plaintext. The
 * last page cannot be read until a signal has changed a byte of the first, which was read before it. */
enum { CHANGING = 1 << 18, PAGE_MAX = 1 << 16 };

static uint8_t *changing_text;

static void change(int number)
{
	(void)number;
	changing_text[5] ^= 1;
	if (mprotect(changing_text, CHANGING, PROT_READ | PROT_WRITE) != 0)
		_exit(1);
}

static void text_that_changes(void)
{
	static uint8_t plain[CHANGING], opened[CHANGING];
	static const uint8_t nothing[CHANGING];
	struct sigaction action = { .sa_handler = change }, others;
	struct kuzma_mgm mgm;
	uint8_t tag[16];

	changing_text = mmap(NULL, CHANGING, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (changing_text == MAP_FAILED)
		abort();
	memset(plain, 7, sizeof plain);
	iv[0] &= 0x7f;
	kuzma_mgm_seal(&context, iv, block, NULL, 0, changing_text, plain, CHANGING, tag, block);
	CHECK(sigaction(SIGSEGV, &action, &others) == 0 &&
	              mprotect(changing_text + CHANGING - PAGE_MAX, PAGE_MAX, PROT_NONE) == 0, "unreadable");
	enum kuzma_status status = kuzma_mgm_open(&context, iv, block, NULL, 0, opened, changing_text, CHANGING, tag, block);
	sigaction(SIGSEGV, &others, NULL);
	CHECK(status == KUZMA_OK && memcmp(opened, plain, sizeof plain) == 0, "%s/%s: opened what was verified",
	      kuzma_cipher_name(kuzma_backend_cipher(backend)), kuzma_backend_name(backend));
	changing_text[5] ^= 1;
	for (int changed = 0; changed < 2; changed++) {
		kuzma_mgm_init(&mgm, &context, iv, block);
		kuzma_mgm_absorb(&mgm, changing_text, 17);
		kuzma_mgm_absorb(&mgm, changing_text + 17, CHANGING - 17);
		CHECK(kuzma_mgm_verify(&mgm, tag, block) == KUZMA_OK, "verified");
		changing_text[CHANGING / 2] ^= (uint8_t)changed;
		status = kuzma_mgm_decrypt(&mgm, opened, changing_text, CHANGING);
		CHECK(changed ? status == KUZMA_ERROR_TAG && memcmp(opened, nothing, sizeof nothing) == 0
		              : status == KUZMA_OK && memcmp(opened, plain, sizeof plain) == 0,
		      "%s/%s: a text that %s after it was verified: %s", kuzma_cipher_name(kuzma_backend_cipher(backend)),
		      kuzma_backend_name(backend), changed ? "changed" : "stayed", kuzma_status_text(status));
		expect(kuzma_mgm_decrypt(&mgm, output, input, CHANGING), KUZMA_ERROR_ORDER, "decrypted already");
	}
	munmap(changing_text, CHANGING);
}

/* A context that has got a key of the other cipher, or none, under a state that was made for this one. */
static void keys_that_change(void)
{
	static struct kuzma_context changing;
	enum kuzma_cipher other = block == 8 ? KUZMA_KUZNYECHIK : KUZMA_MAGMA;
	struct kuzma_ctr ctr;
	struct kuzma_feedback feedback;
	struct kuzma_mac mac;
	struct kuzma_mgm mgm;

	for (int wiped = 0; wiped < 2; wiped++) {
		kuzma_init(&changing, backend, key, sizeof key);
		kuzma_ctr_init(&ctr, &changing, iv, block / 2);
		kuzma_feedback_init(&feedback, &changing, iv, block);
		kuzma_mac_init(&mac, &changing);
		kuzma_mgm_init(&mgm, &changing, iv, block);
		kuzma_ctr_xor(&ctr, (uint8_t[5]){ 0 }, input, 5);
		kuzma_mac_update(&mac, input, block);
		kuzma_mgm_associate(&mgm, input, block - 1);
		if (wiped)
			kuzma_wipe(&changing);
		else
			kuzma_init(&changing, kuzma_backend_default(other), key, sizeof key);
		REFUSES(ctr, kuzma_ctr_xor(&ctr, output, input, 64), KUZMA_ERROR_CONTEXT, "CTR, another key");
		REFUSES(feedback, kuzma_cfb_encrypt(&feedback, output, input, 64), KUZMA_ERROR_CONTEXT, "CFB, another key");
		REFUSES(mac, kuzma_mac_update(&mac, input, 64), KUZMA_ERROR_CONTEXT, "MAC, another key");
		REFUSES(mgm, kuzma_mgm_associate(&mgm, input, 64), KUZMA_ERROR_CONTEXT, "MGM, another key");
	}
}

/* The sections' keys come from a counter under the master key, which ends. */
static void keys_that_end(void)
{
	struct kuzma_mac_acpkm mac;
	uint8_t tag[16];

	kuzma_mac_acpkm_init(&mac, backend, key, 32, block, 48);
	kuzma_mac_acpkm_update(&mac, input, 3);
	/* Nobody can wait for so many sections. */
	mac.master.ctr.blocks_used = (block == 8 ? (uint64_t)1 << 32 : (uint64_t)1 << 60) - 48 / block;
	REFUSES(mac, kuzma_mac_acpkm_update(&mac, input, 3 * block), KUZMA_ERROR_LIMIT, "more sections than keys");
	CHECK(kuzma_mac_acpkm_update(&mac, input, 2) == KUZMA_OK && kuzma_mac_acpkm_final(&mac, tag, block) == KUZMA_OK,
	      "what there is a key for");
}

static void many(void)
{
	struct kuzma_message messages[3];

	for (size_t i = 0; i < 3; i++)
		messages[i] = (struct kuzma_message){ .output = output + 32 * i, .input = input, .bytes = 32, .iv = iv + 16 * i };
	messages[2].bytes = 17;
	REFUSES(iv, kuzma_cbc_encrypt_many(&context, messages, 3), KUZMA_ERROR_LENGTH, "the third of three is odd");
	messages[2].bytes = 32;
	messages[2].input = NULL;
	expect(kuzma_cfb_encrypt_many(&context, messages, 3), KUZMA_ERROR_ARGUMENT, "the third of three is not there");
	expect(kuzma_mac_many(&context, messages, 3, block), KUZMA_ERROR_ARGUMENT, "the third of three is not there");
	messages[2].input = messages[2].output + 1;
	expect(kuzma_ofb_xor_many(&context, messages, 3), KUZMA_ERROR_OVERLAP, "the third of three overlaps");
	messages[2].input = input;
	messages[1].iv = NULL;
	expect(kuzma_ofb_xor_many(&context, messages, 3), KUZMA_ERROR_ARGUMENT, "the second has no register");
	expect(kuzma_mac_many(&context, messages, 3, block + 1), KUZMA_ERROR_TAG_LENGTH, "long tags");
	expect(kuzma_mac_many(&context, NULL, 1, block), KUZMA_ERROR_ARGUMENT, "no messages");
	expect(kuzma_mac_many(NULL, messages, 3, block), KUZMA_ERROR_ARGUMENT, "no context");
	CHECK(kuzma_mac_many(&context, NULL, 0, block) == KUZMA_OK, "none");
}

/* Messages side by side of which one would change another: by each kind of buffer, at each end of it, wherever both stand in a
 * list that is longer than what is looked at together. */
static void many_that_meet(void)
{
	enum { COUNT = 1300, BYTES = 32 };
	typedef enum kuzma_status many(const struct kuzma_context *, const struct kuzma_message *, size_t);
	static many *const modes[] = { kuzma_cbc_encrypt_many, kuzma_cfb_encrypt_many, kuzma_ofb_xor_many };
	static const size_t places[][2] = { { 0, 1 }, { 1, 0 }, { 0, COUNT - 1 }, { COUNT - 1, 0 }, { 511, 512 }, { 700, 1100 } };
	static uint8_t texts[COUNT][BYTES], ivs[COUNT][16], tags[COUNT][16], kept[COUNT][BYTES];
	static struct kuzma_message messages[COUNT];
	static const uint8_t nothing[sizeof tags];

	for (size_t place = 0; place < 2 * sizeof places / sizeof *places; place++) {
		size_t one = places[place / 2][0], other = places[place / 2][1];
		/* In order, and in none, as buffers are that an allocator gave. */
		size_t text_step = place % 2 == 0 ? 1 : 7, iv_step = place % 2 == 0 ? 1 : 11;

		for (size_t i = 0; i < COUNT; i++)
			messages[i] = (struct kuzma_message){ texts[i * text_step % COUNT], texts[i * text_step % COUNT], BYTES,
				                              ivs[i * iv_step % COUNT] };
		memcpy(kept, texts, sizeof kept);
		struct kuzma_message apart = messages[one];
		struct kuzma_message meeting[] = {
			{ messages[other].output, apart.input, BYTES, apart.iv },
			{ messages[other].output + BYTES - 1, messages[other].output + BYTES - 1, 1, apart.iv },
			{ apart.output, messages[other].output, BYTES, apart.iv },
			{ apart.output, apart.input, BYTES, messages[other].iv },
			{ apart.output, apart.input, BYTES, messages[other].iv + block - 1 },
			{ apart.output, apart.input, BYTES, messages[other].output },
			{ apart.output, apart.input, BYTES, apart.output + block },
		};

		for (size_t i = 0; i < sizeof meeting / sizeof *meeting; i++) {
			messages[one] = meeting[i];
			if (messages[one].bytes == 1)
				expect(kuzma_cbc_encrypt_many(&context, messages, COUNT), KUZMA_ERROR_LENGTH, "not whole");
			else
				expect(modes[0](&context, messages, COUNT), KUZMA_ERROR_OVERLAP, "CBC of messages that meet");
			expect(modes[1](&context, messages, COUNT), KUZMA_ERROR_OVERLAP, "CFB of messages that meet");
			expect(modes[2](&context, messages, COUNT), KUZMA_ERROR_OVERLAP, "OFB of messages that meet");
			CHECK(memcmp(kept, texts, sizeof kept) == 0, "nothing is written, way %zu at %zu and %zu", i, one, other);
		}
		for (size_t i = 0; i < COUNT; i++)
			messages[i] = (struct kuzma_message){ tags[i * text_step % COUNT], texts[i], BYTES, NULL };
		apart = messages[one];
		messages[one].output = messages[other].output + block - 1;
		expect(kuzma_mac_many(&context, messages, COUNT, block), KUZMA_ERROR_OVERLAP, "tags that meet");
		messages[one] = apart;
		messages[one].output = texts[other] + BYTES - 1;
		expect(kuzma_mac_many(&context, messages, COUNT, block), KUZMA_ERROR_OVERLAP, "a tag in another message");
		CHECK(memcmp(tags, nothing, sizeof tags) == 0, "no tag is written");
		/* What is only read may be shared, and messages without text have no buffers that could meet. */
		messages[one] = apart;
		messages[one].input = texts[other];
		CHECK(kuzma_mac_many(&context, messages, COUNT, block) == KUZMA_OK, "two tags of one text");
		memset(tags, 0, sizeof tags);
	}
	for (size_t i = 0; i < COUNT; i++)
		messages[i] = (struct kuzma_message){ texts[0], texts[0], 0, ivs[i] };
	CHECK(kuzma_ofb_xor_many(&context, messages, COUNT) == KUZMA_OK, "empty messages");
}

/* Last, as it cannot be undone. */
static void constant_time(void)
{
	for (int cipher = 0; cipher < 2; cipher++) {
		enum kuzma_cipher which = (enum kuzma_cipher)cipher;
		const struct kuzma_backend *each, *first = kuzma_backend_at(which, 0);
		const struct kuzma_backend *chosen = kuzma_backend_default(which);

		CHECK(kuzma_backend_by_name(which, "none") == NULL && kuzma_backend_by_name(which, NULL) == NULL, "no such");
		expect(kuzma_init(&context, kuzma_backend_by_name(which, "none"), key, 32), KUZMA_ERROR_ARGUMENT,
		       "a backend that is not there");
		CHECK(kuzma_backend_constant_time(kuzma_backend_default(which)), "the default is constant-time without being asked");
		/* The environment belongs to whoever starts the program. */
		setenv("KUZMA_BACKEND", "table", 1);
		CHECK(kuzma_backend_constant_time(kuzma_backend_default(which)), "the environment chooses tables");
		setenv("KUZMA_BACKEND", "constant-time", 1);
		CHECK(kuzma_backend_default(which) == chosen, "the environment chooses");
		unsetenv("KUZMA_BACKEND");
		CHECK(first != NULL && kuzma_backend_supported(kuzma_backend_default(which)), "a default");
		for (size_t i = 0; (each = kuzma_backend_at(which, i)) != NULL; i++)
			CHECK(kuzma_backend_by_name(which, kuzma_backend_name(each)) == each, "names are unique");
	}
	kuzma_require_constant_time();
	for (int cipher = 0; cipher < 2; cipher++) {
		enum kuzma_cipher which = (enum kuzma_cipher)cipher;
		const struct kuzma_backend *each;

		CHECK(kuzma_backend_constant_time(kuzma_backend_default(which)), "the default is constant-time");
		for (size_t i = 0; (each = kuzma_backend_at(which, i)) != NULL; i++)
			if (kuzma_backend_supported(each))
				CHECK(kuzma_init(&context, each, key, 32) ==
				              (kuzma_backend_constant_time(each) ? KUZMA_OK : KUZMA_ERROR_BACKEND),
				      "%s after constant time is required", kuzma_backend_name(each));
	}
}

int main(void)
{
	memset(output, 0x5A, sizeof output);
	memcpy(before, output, sizeof before);
	for (int status = KUZMA_OK; status <= KUZMA_ERROR_TAG; status++)
		CHECK(strcmp(kuzma_status_text((enum kuzma_status)status), "unknown status") != 0, "text of %d", status);
	CHECK(strcmp(kuzma_status_text((enum kuzma_status)99), "unknown status") == 0, "text of 99");
	for (int cipher = 0; cipher < 2; cipher++) {
		for (size_t i = 0; (backend = kuzma_backend_at((enum kuzma_cipher)cipher, i)) != NULL; i++) {
			if (!kuzma_backend_supported(backend))
				continue;
			block = kuzma_block_bytes((enum kuzma_cipher)cipher);
			kuzma_init(&context, backend, key, sizeof key);
			keys();
			every_mode();
			errors_midway();
			registers();
			far_away();
			limits();
			order();
			sections();
			keys_that_change();
			keys_that_end();
			forgeries();
			text_that_changes();
			many();
			many_that_meet();
		}
	}
	constant_time();
	return harness_finish();
}
