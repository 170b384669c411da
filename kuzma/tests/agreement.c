/* Every backend in every mode against `table`: lengths, alignments, in place, in pieces, counters that carry. And many
 * messages at once against one at a time. What `table` itself is worth, `compact` and the published vectors say.
 *
 * AGREEMENT_STEP=n in the environment takes only every n-th length beyond 300 bytes, and of the slow backends few of those
 * below, for slow machines. */
#include "operations.h"

#include <pthread.h>
#include <stdlib.h>

/* The modes work in batches of 8 KiB, and MGM in pieces of 16 KiB: LONG_MAX is beyond two of each. */
enum { LENGTH_MAX = 4096 + 17, LONG_MAX = 2 * 16384 + 17, ROOM = LONG_MAX + 2 * 64, BACKENDS_MAX = 16, GUARD = 0xA5 };

static uint64_t seed = 7;
static uint8_t key[32], iv[KUZMA_IV_BYTES_MAX];

static struct {
	size_t count;
	struct kuzma_context base, tested[BACKENDS_MAX];
	char name[BACKENDS_MAX][64];
	bool slow[BACKENDS_MAX];
	size_t block;
} bench;

static size_t length_step = 1;

static void set_up(enum kuzma_cipher cipher)
{
	const struct kuzma_backend *backend;

	random_bytes(&seed, key, sizeof key);
	random_bytes(&seed, iv, sizeof iv);
	bench.block = kuzma_block_bytes(cipher);
	bench.count = 0;
	kuzma_init(&bench.base, kuzma_backend_by_name(cipher, "table"), key, sizeof key);
	for (size_t i = 0; (backend = kuzma_backend_at(cipher, i)) != NULL; i++) {
		if (!kuzma_backend_supported(backend))
			continue;
		snprintf(bench.name[bench.count], sizeof bench.name[0], "%s/%s", kuzma_cipher_name(cipher),
		         kuzma_backend_name(backend));
		CHECK(kuzma_init(&bench.tested[bench.count], backend, key, sizeof key) == KUZMA_OK, "%s takes a key",
		      bench.name[bench.count]);
		bench.slow[bench.count] = strcmp(kuzma_backend_name(backend), "compact") == 0 ||
		                          strcmp(kuzma_backend_name(backend), "constant-time") == 0;
		bench.count++;
	}
}

static int untouched(const uint8_t *output, size_t room, size_t from, size_t to)
{
	for (size_t i = 0; i < room; i++)
		if ((i < from || i >= to) && output[i] != GUARD)
			return 0;
	return 1;
}

/* One operation at one length by all backends: from buffer to buffer in one call and in pieces, and in place. */
static void agree(const struct operation *operation, size_t bytes, size_t input_offset, size_t output_offset,
                  size_t iv_blocks)
{
	static uint8_t input[ROOM], output[ROOM], expected[ROOM];
	size_t written = operation->no_output ? 0 : bytes, room = bytes + 2 * 64;
	struct call base = { .context = &bench.base, .key = key, .iv = iv, .iv_blocks = iv_blocks, .output = expected,
		             .input = input + input_offset, .bytes = bytes };

	random_bytes(&seed, input, room);
	if (operation->run(&base) != KUZMA_OK) {
		CHECK(0, "%s by table, %zu bytes", operation->name, bytes);
		return;
	}
	for (size_t i = 0; i < bench.count; i++) {
		struct call call = base;

		if (bench.slow[i] && bytes > (length_step == 1 ? 300 : 40) && bytes % 64 != 0 && bytes % 257 != 0)
			continue;
		call.context = &bench.tested[i];
		call.output = output + output_offset;
		for (int pieces = 0; pieces < 2; pieces++) {
			memset(output, GUARD, room);
			memset(call.tag, 0, sizeof call.tag);
			call.split = pieces ? &seed : NULL;
			call.whole = !pieces;
			CHECK(operation->run(&call) == KUZMA_OK && memcmp(call.output, expected, written) == 0 &&
			              memcmp(call.tag, base.tag, sizeof base.tag) == 0 &&
			              untouched(output, room, output_offset, output_offset + written),
			      "%s: %s of %zu bytes at %zu to %zu, register of %zu%s", bench.name[i], operation->name,
			      bytes, input_offset, output_offset, iv_blocks, pieces ? ", in pieces" : "");
		}
		if (operation->no_output)
			continue;
		memcpy(output + output_offset, input + input_offset, bytes);
		call.input = call.output;
		CHECK(operation->run(&call) == KUZMA_OK && memcmp(call.output, expected, written) == 0,
		      "%s: %s of %zu bytes at %zu, in place, in pieces", bench.name[i], operation->name, bytes,
		      output_offset);
	}
}

static void lengths_and_alignments(const struct operation *operation)
{
	size_t unit = operation->whole_blocks ? bench.block : 1;

	for (size_t bytes = 0; bytes <= LENGTH_MAX; bytes += bytes < 300 ? unit : unit * length_step)
		agree(operation, bytes, bytes * 5 % 64, bytes * 11 % 64, 1 + bytes / unit % 3);
	for (size_t offset = 0; offset < 64; offset++)
		agree(operation, 1217 / unit * unit, offset, (offset * 29 + 5) % 64, 1);
	agree(operation, LENGTH_MAX / 16 * 16, 1, 2, KUZMA_IV_BYTES_MAX / bench.block);
	for (size_t bytes = 8192 - unit; bytes <= 8192 + unit; bytes += unit)
		agree(operation, bytes, 1, 2, 1);
	for (size_t batches = 1; batches <= 2; batches++)
		agree(operation, batches * 8192 + unit, 3, 4, 3);
	agree(operation, LONG_MAX / unit * unit, 1, 2, 1);
}

/* The counter carries into each of its bytes in turn, at every place of a batch. */
static void counters(void)
{
	enum { BLOCKS = 200 };
	static uint8_t zeros[16 * BLOCKS], keystream[16 * BLOCKS], one_by_one[16 * BLOCKS];
	size_t bytes = BLOCKS * bench.block, counter_bytes = bench.block / 2;
	struct kuzma_ctr state;

	for (size_t carry = 1; carry < counter_bytes; carry++) {
		uint64_t last = (uint64_t)1 << (8 * carry);

		/* An offset is in bytes, and the counter of Kuznyechik in blocks: its highest byte stays 0. */
		if (bench.block == 16 && carry == 7)
			last = (uint64_t)15 << 56;
		for (size_t before = 1; before < 140; before += before < 70 ? 1 : 23) {
			uint64_t first = last - before;

			kuzma_ctr_init(&state, &bench.base, iv, counter_bytes);
			for (size_t n = 0; n < BLOCKS; n++) {
				kuzma_ctr_seek(&state, (first + n) * bench.block);
				kuzma_ctr_xor(&state, one_by_one + n * bench.block, zeros, bench.block);
			}
			for (size_t i = 0; i < bench.count; i++) {
				kuzma_ctr_init(&state, &bench.tested[i], iv, counter_bytes);
				CHECK(kuzma_ctr_seek(&state, first * bench.block) == KUZMA_OK &&
				              kuzma_ctr_xor(&state, keystream, zeros, bytes) == KUZMA_OK &&
				              memcmp(keystream, one_by_one, bytes) == 0,
				      "%s: counter from %llx", bench.name[i], (unsigned long long)first);
			}
		}
	}
	/* Any byte can be the first. */
	kuzma_ctr_init(&state, &bench.base, iv, counter_bytes);
	kuzma_ctr_xor(&state, keystream, zeros, bytes);
	for (size_t offset = 0; offset < 40; offset++) {
		CHECK(kuzma_ctr_seek(&state, offset) == KUZMA_OK &&
		              kuzma_ctr_xor(&state, one_by_one, zeros, 100) == KUZMA_OK &&
		              memcmp(one_by_one, keystream + offset, 100) == 0,
		      "seek to byte %zu", offset);
	}
}

/* 300 messages of all sorts of lengths at once, in place or not, against each alone. */
static void many_messages(const struct kuzma_context *context, const char *name)
{
	enum { COUNT = 300, MESSAGE_MAX = 700 };
	static uint8_t input[COUNT][MESSAGE_MAX], output[COUNT][MESSAGE_MAX], expected[MESSAGE_MAX];
	static uint8_t ivs[COUNT][16], ivs_before[COUNT][16], tags[COUNT][16];
	static struct kuzma_message messages[COUNT];
	static const char *const modes[] = { "CBC", "CFB", "OFB", "MAC" };

	for (int mode = 0; mode < 4; mode++) {
		enum kuzma_status status;

		random_bytes(&seed, (uint8_t *)input, sizeof input);
		random_bytes(&seed, (uint8_t *)ivs, sizeof ivs);
		memcpy(ivs_before, ivs, sizeof ivs);
		for (size_t i = 0; i < COUNT; i++) {
			size_t bytes = (size_t)(random_next(&seed) % (i % 3 == 0 ? 20 : MESSAGE_MAX));

			if (mode == 0)
				bytes = bytes / 16 * 16;
			memcpy(output[i], input[i], MESSAGE_MAX);
			messages[i] = (struct kuzma_message){
				.output = mode == 3 ? tags[i] : output[i],
				.input = i % 2 == 0 ? output[i] : input[i],
				.bytes = bytes,
				.iv = mode == 3 ? NULL : ivs[i],
			};
		}
		switch (mode) {
		case 0: status = kuzma_cbc_encrypt_many(context, messages, COUNT); break;
		case 1: status = kuzma_cfb_encrypt_many(context, messages, COUNT); break;
		case 2: status = kuzma_ofb_xor_many(context, messages, COUNT); break;
		default: status = kuzma_mac_many(context, messages, COUNT, bench.block); break;
		}
		CHECK(status == KUZMA_OK, "%s: many messages, %s", name, modes[mode]);
		for (size_t i = 0; i < COUNT; i++) {
			struct kuzma_feedback state;
			size_t bytes = messages[i].bytes;
			uint8_t alone[16], tag[16];
			int same;

			memcpy(alone, ivs_before[i], sizeof alone);
			if (mode == 0)
				kuzma_cbc_encrypt(&bench.base, alone, bench.block, expected, input[i], bytes);
			kuzma_feedback_init(&state, &bench.base, ivs_before[i], bench.block);
			if (mode == 1)
				kuzma_cfb_encrypt(&state, expected, input[i], bytes);
			if (mode == 2)
				kuzma_ofb_xor(&state, expected, input[i], bytes);
			if (mode == 3) {
				kuzma_mac_message(&bench.base, tag, bench.block, input[i], bytes);
				same = memcmp(tags[i], tag, bench.block) == 0;
			} else {
				same = memcmp(output[i], expected, bytes) == 0 &&
				       memcmp(output[i] + bytes, input[i] + bytes, MESSAGE_MAX - bytes) == 0 &&
				       memcmp(ivs[i], alone, bench.block) == 0;
			}
			CHECK(same, "%s: message %zu of many, %s of %zu bytes", name, i, modes[mode], bytes);
		}
	}
}

/* Tables are made at first use: several threads at once must all see them whole. */
static void *first_use(void *result)
{
	struct kuzma_context context;
	uint8_t first_key[32], block[16];

	from_hex(first_key, "8899aabbccddeeff0011223344556677fedcba98765432100123456789abcdef");
	from_hex(block, "1122334455667700ffeeddccbbaa9988");
	kuzma_init(&context, kuzma_backend_default(KUZMA_KUZNYECHIK), first_key, 32);
	kuzma_ecb_encrypt(&context, block, block, 16);
	*(int *)result = equals_hex(block, "7f679d90bebc24305a468d42b9d4edcd");
	kuzma_wipe(&context);
	return NULL;
}

int main(void)
{
	pthread_t threads[8];
	int right[8] = { 0 };
	const char *step = getenv("AGREEMENT_STEP");

	if (step != NULL && atoi(step) > 0)
		length_step = (size_t)atoi(step);
	for (unsigned i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, first_use, &right[i]);
	for (unsigned i = 0; i < 8; i++) {
		pthread_join(threads[i], NULL);
		CHECK(right[i], "thread %u of 8 at first use", i);
	}
	for (int cipher = 0; cipher < 2; cipher++) {
		set_up((enum kuzma_cipher)cipher);
		for (const struct operation *operation = operations; operation->name != NULL; operation++)
			lengths_and_alignments(operation);
		counters();
		for (size_t i = 0; i < bench.count; i++)
			many_messages(&bench.tested[i], bench.name[i]);
	}
	return harness_finish();
}
