/* Magma with NEON, for aarch64: byte planes of 16 blocks, and chains by a lookup in 64 bytes. */
#include "cpu.h"

#ifdef KUZMA_ARM

#include <arm_neon.h>

#define PLANE uint8x16_t
#define PLANE_BYTES 16
#define PLANE_LOAD(from) vld1q_u8(from)
#define PLANE_STORE(to, plane) vst1q_u8(to, plane)
#define PLANE_SET(byte) vdupq_n_u8((uint8_t)(byte))
#define PLANE_TABLE(from) vld1q_u8(from)
#define PLANE_KEY(at) vreinterpretq_u8_u32(vdupq_n_u32(*(at)))
#define PLANE_ADD vaddq_u8
#define PLANE_SUB vsubq_u8
#define PLANE_AND vandq_u8
#define PLANE_OR vorrq_u8
#define PLANE_XOR veorq_u8
#define PLANE_EQUAL vceqq_u8
#define PLANE_GREATER(a, b) vcgtq_s8(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b))
#define PLANE_HIGH(x) vshrq_n_u8(x, 4)
#define PLANE_LOOKUP(table, indices) vqtbl1q_u8(table, indices)
#define PLANE_MIX_LOW vzip1q_u8
#define PLANE_MIX_HIGH vzip2q_u8
#include "magma/planes.h"

/* Entry 16 * place + nibble: what the nibble of byte `place` becomes, at its place in the byte. */
static struct {
	_Alignas(16) uint8_t low[64];
	_Alignas(16) uint8_t high[64];
} word_tables;

static void make_tables(void)
{
	planes_make();
	for (unsigned place = 0; place < 4; place++) {
		for (unsigned nibble = 0; nibble < 16; nibble++) {
			word_tables.low[16 * place + nibble] = kuzma_magma_pi[2 * place][nibble];
			word_tables.high[16 * place + nibble] = (uint8_t)(kuzma_magma_pi[2 * place + 1][nibble] << 4);
		}
	}
}

static void prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_tables);
}

static inline uint8x16x4_t word_table(const uint8_t table[64])
{
	return (uint8x16x4_t){ { vld1q_u8(table), vld1q_u8(table + 16), vld1q_u8(table + 32), vld1q_u8(table + 48) } };
}

/* target ^ g[key](source). The index of a lookup is the nibble and, above it, the place of the byte. */
static inline uint32x2_t word_round(uint32x2_t target, uint32x2_t source, uint32_t key, uint8x16x4_t low_table,
                                    uint8x16x4_t high_table)
{
	const uint8x8_t low_nibbles = vdup_n_u8(0x0f), places = vreinterpret_u8_u32(vdup_n_u32(UINT32_C(0x30201000)));
	uint8x8_t sum = vreinterpret_u8_u32(vadd_u32(source, vdup_n_u32(key)));
	uint8x8_t low = vqtbl4_u8(low_table, vbsl_u8(low_nibbles, sum, places));
	uint8x8_t high = vqtbl4_u8(high_table, vorr_u8(vshr_n_u8(sum, 4), places));
	uint32x2_t all = vreinterpret_u32_u8(vorr_u8(low, high));

	return veor_u32(target, vsri_n_u32(vshl_n_u32(all, 11), all, 21));
}

static inline void crypt_words(const struct planes_state *state, enum planes_order order, uint32x2_t *left,
                               uint32x2_t *right)
{
	const uint8x16x4_t low_table = word_table(word_tables.low), high_table = word_table(word_tables.high);
	uint32x2_t l = *left, r = *right;

	for (unsigned i = 0; i < MAGMA_ROUNDS; i += 2) {
		l = word_round(l, r, state->words[order][i], low_table, high_table);
		r = word_round(r, l, state->words[order][i + 1], low_table, high_table);
	}
	*left = r;
	*right = l;
}

/* A word of a block is the first word of a register. */
static inline uint32x2_t words_load(const uint8_t *from)
{
	return vreinterpret_u32_u8(vrev32_u8(vld1_u8(from)));
}

static inline void words_store(uint8_t *to, uint32x2_t left, uint32x2_t right)
{
	vst1_u8(to, vrev32_u8(vreinterpret_u8_u32(vzip1_u32(left, right))));
}

static inline void planes_crypt_word(const struct planes_state *state, enum planes_order order, uint8_t *block)
{
	uint32x2_t left = words_load(block), right = vrev64_u32(left);

	crypt_words(state, order, &left, &right);
	words_store(block, left, right);
}

static void cbc_encrypt(const void *state, uint8_t *iv, uint8_t *output, const uint8_t *input, size_t blocks)
{
	uint32x2_t left = words_load(iv), right = vrev64_u32(left);

	for (size_t n = 0; n < blocks; n++) {
		uint32x2_t block = words_load(input + 8 * n);

		left = veor_u32(left, block);
		right = veor_u32(right, vrev64_u32(block));
		crypt_words(state, PLANES_ENCRYPT, &left, &right);
		if (output != NULL)
			words_store(output + 8 * n, left, right);
	}
	words_store(iv, left, right);
}

const struct kuzma_backend kuzma_magma_neon = {
	.name = "neon",
	.cipher = KUZMA_MAGMA,
	.constant_time = true,
	.state_bytes = sizeof(struct planes_state),
	.prepare = prepare,
	.set_key = planes_set_key,
	.encrypt_blocks = planes_encrypt_blocks,
	.decrypt_blocks = planes_decrypt_blocks,
	.ctr_xor = planes_ctr_xor,
	.cbc_encrypt = cbc_encrypt,
};

#endif
