/* Kuznyechik with S and L joined in tables: 16 positions x 256 values x 16 bytes, 64 KiB each way.
 *
 * Decryption: D = X[K1] S' L' X[K2] ... S' L' X[K10], where ' is the inverse. As L' is linear, L'(x ^ k) = L'(x) ^ L'(k):
 * so the keys K2..K10 are stored as L'(K), and S' and the next L' join in one table. What is left is L' alone at the
 * start, which is the table at S(byte), and S' alone at the end. */
#include <pthread.h>

#include "backend.h"
#include "kuznyechik/block128.h"
#include "kuznyechik/transforms.h"

struct table_state {
	/* [round][word]: plain words, as a context has the alignment of uint64_t only. */
	uint64_t encrypt_keys[KUZNYECHIK_ROUND_KEYS][2];
	uint64_t decrypt_keys[KUZNYECHIK_ROUND_KEYS][2];
};

static _Alignas(64) block128 encrypt_table[16][256];
static _Alignas(64) block128 decrypt_table[16][256];

static void fill_table(block128 table[16][256], void (*linear)(uint8_t *), const uint8_t box[256])
{
	for (unsigned position = 0; position < 16; position++) {
		block128 image[256];

		image[0] = block128_make(0, 0);
		for (unsigned value = 1; value < 256; value++) {
			unsigned rest = value & (value - 1);
			if (rest != 0) {
				image[value] = block128_xor(image[rest], image[value ^ rest]);
			} else {
				uint8_t block[16] = { 0 };
				block[position] = (uint8_t)value;
				linear(block);
				image[value] = block128_load(block);
			}
		}
		for (unsigned value = 0; value < 256; value++)
			table[position][value] = image[box[value]];
	}
}

static void make_tables(void)
{
	kuzma_kuznyechik_transforms_prepare();
	fill_table(encrypt_table, kuzma_kuznyechik_l, kuzma_kuznyechik_pi);
	fill_table(decrypt_table, kuzma_kuznyechik_l_inverse, kuzma_kuznyechik_pi_inverse);
}

static void prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_tables);
}

static void set_key(void *state, const uint8_t key[KUZMA_KEY_BYTES])
{
	struct table_state *table = state;
	uint8_t keys[KUZNYECHIK_ROUND_KEYS][16];

	kuzma_kuznyechik_expand_key(keys, key);
	for (unsigned i = 0; i < KUZNYECHIK_ROUND_KEYS; i++) {
		table->encrypt_keys[i][0] = load_le64(keys[i]);
		table->encrypt_keys[i][1] = load_le64(keys[i] + 8);
		if (i > 0)
			kuzma_kuznyechik_l_inverse(keys[i]);
		table->decrypt_keys[i][0] = load_le64(keys[i]);
		table->decrypt_keys[i][1] = load_le64(keys[i] + 8);
	}
	wipe_bytes(keys, sizeof keys);
}

static inline block128 round_key(const uint64_t key[2])
{
	return block128_make(key[0], key[1]);
}

#define BYTE(word, n) ((word) >> (8 * (n)) & 255u)

/* One pass through a table: S (or its inverse) and L (or its inverse) of a whole block. Two sums, so that the chain
 * of additions is half as long. (No const on the table: C11 would then want a cast at each call.) */
static inline block128 substitute(block128 table[16][256], block128 block)
{
	uint64_t low = block128_low(block), high = block128_high(block);
	block128 left = table[0][BYTE(low, 0)], right = table[8][BYTE(high, 0)];

	left = block128_xor(left, table[1][BYTE(low, 1)]);
	right = block128_xor(right, table[9][BYTE(high, 1)]);
	left = block128_xor(left, table[2][BYTE(low, 2)]);
	right = block128_xor(right, table[10][BYTE(high, 2)]);
	left = block128_xor(left, table[3][BYTE(low, 3)]);
	right = block128_xor(right, table[11][BYTE(high, 3)]);
	left = block128_xor(left, table[4][BYTE(low, 4)]);
	right = block128_xor(right, table[12][BYTE(high, 4)]);
	left = block128_xor(left, table[5][BYTE(low, 5)]);
	right = block128_xor(right, table[13][BYTE(high, 5)]);
	left = block128_xor(left, table[6][BYTE(low, 6)]);
	right = block128_xor(right, table[14][BYTE(high, 6)]);
	left = block128_xor(left, table[7][BYTE(low, 7)]);
	right = block128_xor(right, table[15][BYTE(high, 7)]);
	return block128_xor(left, right);
}

static inline uint64_t box_word(const uint8_t box[256], uint64_t word)
{
	uint64_t low = (uint64_t)box[BYTE(word, 0)] | (uint64_t)box[BYTE(word, 1)] << 8 |
	               (uint64_t)box[BYTE(word, 2)] << 16 | (uint64_t)box[BYTE(word, 3)] << 24;
	uint64_t high = (uint64_t)box[BYTE(word, 4)] | (uint64_t)box[BYTE(word, 5)] << 8 |
	                (uint64_t)box[BYTE(word, 6)] << 16 | (uint64_t)box[BYTE(word, 7)] << 24;

	return low | high << 32;
}

static inline block128 box_block(const uint8_t box[256], block128 block)
{
	return block128_make(box_word(box, block128_low(block)), box_word(box, block128_high(block)));
}

static inline block128 encrypt_one(const struct table_state *table, block128 block)
{
	for (unsigned i = 0; i < KUZNYECHIK_ROUND_KEYS - 1; i++)
		block = substitute(encrypt_table, block128_xor(block, round_key(table->encrypt_keys[i])));
	return block128_xor(block, round_key(table->encrypt_keys[KUZNYECHIK_ROUND_KEYS - 1]));
}

static inline block128 decrypt_one(const struct table_state *table, block128 block)
{
	block = box_block(kuzma_kuznyechik_pi, block);
	for (unsigned i = KUZNYECHIK_ROUND_KEYS - 1; i > 0; i--)
		block = block128_xor(substitute(decrypt_table, block), round_key(table->decrypt_keys[i]));
	return block128_xor(box_block(kuzma_kuznyechik_pi_inverse, block), round_key(table->decrypt_keys[0]));
}

/* Four blocks go through each round together: the loads of one fill the waits of the others. */
static void encrypt_blocks(const void *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	const struct table_state *table = state;
	size_t n = 0;

	for (; n + 4 <= blocks; n += 4) {
		const uint8_t *from = input + 16 * n;
		uint8_t *to = output + 16 * n;
		block128 a = block128_load(from), b = block128_load(from + 16);
		block128 c = block128_load(from + 32), d = block128_load(from + 48);
		block128 key = round_key(table->encrypt_keys[0]);

		a = block128_xor(a, key), b = block128_xor(b, key);
		c = block128_xor(c, key), d = block128_xor(d, key);
		for (unsigned i = 1; i < KUZNYECHIK_ROUND_KEYS; i++) {
			key = round_key(table->encrypt_keys[i]);
			a = block128_xor(substitute(encrypt_table, a), key);
			b = block128_xor(substitute(encrypt_table, b), key);
			c = block128_xor(substitute(encrypt_table, c), key);
			d = block128_xor(substitute(encrypt_table, d), key);
		}
		block128_store(to, a), block128_store(to + 16, b);
		block128_store(to + 32, c), block128_store(to + 48, d);
	}
	for (; n < blocks; n++)
		block128_store(output + 16 * n, encrypt_one(table, block128_load(input + 16 * n)));
}

static void decrypt_blocks(const void *state, uint8_t *output, const uint8_t *input, size_t blocks)
{
	const struct table_state *table = state;
	size_t n = 0;

	for (; n + 4 <= blocks; n += 4) {
		const uint8_t *from = input + 16 * n;
		uint8_t *to = output + 16 * n;
		block128 a = box_block(kuzma_kuznyechik_pi, block128_load(from));
		block128 b = box_block(kuzma_kuznyechik_pi, block128_load(from + 16));
		block128 c = box_block(kuzma_kuznyechik_pi, block128_load(from + 32));
		block128 d = box_block(kuzma_kuznyechik_pi, block128_load(from + 48));

		for (unsigned i = KUZNYECHIK_ROUND_KEYS - 1; i > 0; i--) {
			block128 key = round_key(table->decrypt_keys[i]);
			a = block128_xor(substitute(decrypt_table, a), key);
			b = block128_xor(substitute(decrypt_table, b), key);
			c = block128_xor(substitute(decrypt_table, c), key);
			d = block128_xor(substitute(decrypt_table, d), key);
		}
		block128 key = round_key(table->decrypt_keys[0]);
		block128_store(to, block128_xor(box_block(kuzma_kuznyechik_pi_inverse, a), key));
		block128_store(to + 16, block128_xor(box_block(kuzma_kuznyechik_pi_inverse, b), key));
		block128_store(to + 32, block128_xor(box_block(kuzma_kuznyechik_pi_inverse, c), key));
		block128_store(to + 48, block128_xor(box_block(kuzma_kuznyechik_pi_inverse, d), key));
	}
	for (; n < blocks; n++)
		block128_store(output + 16 * n, decrypt_one(table, block128_load(input + 16 * n)));
}

static void cbc_encrypt(const void *state, uint8_t *iv, uint8_t *output, const uint8_t *input, size_t blocks)
{
	const struct table_state *table = state;
	block128 chain = block128_load(iv);

	for (size_t n = 0; n < blocks; n++) {
		chain = encrypt_one(table, block128_xor(chain, block128_load(input + 16 * n)));
		if (output != NULL)
			block128_store(output + 16 * n, chain);
	}
	block128_store(iv, chain);
}

const struct kuzma_backend kuzma_kuznyechik_table = {
	.name = "table",
	.cipher = KUZMA_KUZNYECHIK,
	.constant_time = false,
	.state_bytes = sizeof(struct table_state),
	.prepare = prepare,
	.set_key = set_key,
	.encrypt_blocks = encrypt_blocks,
	.decrypt_blocks = decrypt_blocks,
	.cbc_encrypt = cbc_encrypt,
};
