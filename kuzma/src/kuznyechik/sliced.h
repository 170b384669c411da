/* Kuznyechik for vectors of bytes: a template, included once by each instruction set. Two layouts.
 *
 * Slices: BATCH blocks in 16 vectors, vector m holding byte m of every block (as it stands in memory). There L is 16
 * steps of the recursion of R, each new byte over the oldest: after 16 steps all are in place, nothing moves.
 * Lanes: one block in each 128 bits, for few blocks, for chains and for the key schedule.
 *
 * Who includes this defines before:
 *   vec, LANES (its 16-byte lanes), INLINE, VECTOR_REGISTER (the letter for it in inline assembly)
 *   v_load, v_store, v_xor, v_zero; v_lanes(p): 16 bytes into all lanes; v_low_store(p, v): the first lane
 *   v_interleave_low(a, b), v_interleave_high(a, b): bytes, in each lane
 *   SPREAD, v_spread(p): a byte, stored SPREAD times at p, into all bytes of a vector
 *   struct side; times(side, TIMES_148, x) and so on; column_times(side, i, x), by byte i of L(0, ..., 0, 1)
 *   side_encrypt, side_decrypt: pointers
 *   into, out_of(side, x): the change of basis; s(x), s_inverse(x): but for the offsets below
 *   lanes_into, lanes_out_of(side, x); lanes_s, lanes_s_inverse(x); lanes_l, lanes_l_inverse(x): the same in lanes,
 *   perhaps in another basis; chain_l(x): lanes_l for a vector whose lanes are all equal
 *   lanes_to_slices(side, x): from the basis of lanes to that of slices
 *   offset_lanes(side), schedule(i): 16 bytes in the basis of lanes: see struct tower_side
 *   LANES_AT_ONCE: vectors of lanes that go together; SLICES_FROM: blocks that are worth a batch. */
#include "backend.h"
#include "bytes.h"
#include "kuznyechik/tower.h"
#include "kuznyechik/transforms.h"

#define BLOCK 16u
#define BATCH (16u * LANES)
#define ROUNDS (KUZNYECHIK_ROUND_KEYS - 1)

typedef uint8_t spread_block[16][SPREAD];

struct sliced_state {
	/* encryption: K_1 .. K_10; decryption: K_1, L^-1(K_2) .. L^-1(K_10); with the offsets of S, in the bases that the
	 * layouts use. */
	spread_block encrypt_keys[KUZNYECHIK_ROUND_KEYS], decrypt_keys[KUZNYECHIK_ROUND_KEYS];
	uint8_t lanes_encrypt_keys[KUZNYECHIK_ROUND_KEYS][BLOCK], lanes_decrypt_keys[KUZNYECHIK_ROUND_KEYS][BLOCK];
};

/* Whole vectors, and cheaper than byte by byte; the compiler must take the memory for used. */
static INLINE void wipe_vectors(void *memory, size_t bytes)
{
	uint8_t *at = memory;

	for (size_t i = 0; i + 16 * LANES <= bytes; i += 16 * LANES)
		v_store(at + i, v_zero());
	__asm__ volatile("" : : "r"(at) : "memory");
}

static INLINE void wipe_block(uint8_t block[BLOCK])
{
	v_low_store(block, v_zero());
	__asm__ volatile("" : : "r"(block) : "memory");
}

/* Four perfect shuffles of the rows and the bytes in them turn row and column around. In each lane. */
static INLINE void transpose(vec y[16])
{
	vec t[16];

#define SHUFFLE(to, from, i)                                         \
	to[2 * (i)] = v_interleave_low(from[i], from[(i) + 8]);      \
	to[2 * (i) + 1] = v_interleave_high(from[i], from[(i) + 8])
#define SHUFFLE_ALL(to, from)                                                                       \
	SHUFFLE(to, from, 0); SHUFFLE(to, from, 1); SHUFFLE(to, from, 2); SHUFFLE(to, from, 3);     \
	SHUFFLE(to, from, 4); SHUFFLE(to, from, 5); SHUFFLE(to, from, 6); SHUFFLE(to, from, 7)
	SHUFFLE_ALL(t, y);
	SHUFFLE_ALL(y, t);
	SHUFFLE_ALL(t, y);
	SHUFFLE_ALL(y, t);
#undef SHUFFLE_ALL
#undef SHUFFLE
}

#define ALL_16(DO) \
	DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define ALL_16_DOWN(DO) \
	DO(15) DO(14) DO(13) DO(12) DO(11) DO(10) DO(9) DO(8) DO(7) DO(6) DO(5) DO(4) DO(3) DO(2) DO(1) DO(0)

/* Compilers rearrange sums, and know nothing of what comes late: this makes them take x as it is. Worth 15 %. */
#define KEEP_ORDER(x) __asm__("" : "+" VECTOR_REGISTER(x))

/* Without a variable of that alignment some compilers leave the stack as it is, and half of what they put there lies
 * across two lines of the cache: 20 % slower. */
#define ALIGN_STACK()                        \
	_Alignas(32) uint8_t aligned[32];    \
	__asm__ volatile("" : : "r"(aligned))

/* One step of R or of its inverse. The coefficients are a palindrome, so equal ones share a product; 133 = 148 + 16 + 1
 * shares two more. `newest` is the result of the step before: it enters last. */
static INLINE vec step(const struct side *side, vec oldest, vec newest, vec with_newest, vec a2, vec b2, vec a3, vec b3,
                       vec a4, vec b4, vec a5, vec b5, vec a6, vec b6, vec a7, vec b7, vec middle)
{
	vec third = v_xor(a3, b3);
	vec sum = v_xor(v_xor(oldest, third), v_xor(a7, b7));

#define ADD(i, x)                                     \
	do {                                          \
		sum = v_xor(sum, times(side, i, x));  \
		KEEP_ORDER(sum);                      \
	} while (0)
	ADD(TIMES_251, middle);
	ADD(TIMES_192, v_xor(a6, b6));
	ADD(TIMES_194, v_xor(a5, b5));
	ADD(TIMES_16, v_xor(third, v_xor(a4, b4)));
	ADD(TIMES_32, v_xor(a2, b2));
	with_newest = v_xor(third, with_newest);
	KEEP_ORDER(with_newest);
	ADD(TIMES_148, v_xor(with_newest, newest));
#undef ADD
	return sum;
}

#define AT(m, k) y[((m) + (k)) & 15]
#define STEP(m)                                                                                                          \
	y[m] = step(side_encrypt, y[m], AT(m, 1), AT(m, 15), AT(m, 14), AT(m, 2), AT(m, 13), AT(m, 3), AT(m, 12),        \
	            AT(m, 4), AT(m, 11), AT(m, 5), AT(m, 10), AT(m, 6), AT(m, 9), AT(m, 7), AT(m, 8));
#define STEP_BACK(m)                                                                                                     \
	y[m] = step(side_decrypt, y[m], AT(m, 15), AT(m, 1), AT(m, 14), AT(m, 2), AT(m, 13), AT(m, 3), AT(m, 12),        \
	            AT(m, 4), AT(m, 11), AT(m, 5), AT(m, 10), AT(m, 6), AT(m, 9), AT(m, 7), AT(m, 8));

static INLINE void encrypt_round(vec y[16], const spread_block key)
{
#define SUBSTITUTE(m) y[m] = s(v_xor(y[m], v_spread(key[m])));
	ALL_16(SUBSTITUTE)
#undef SUBSTITUTE
	ALL_16_DOWN(STEP)
}

static INLINE void decrypt_round(vec y[16], const spread_block key)
{
	ALL_16(STEP_BACK)
#define SUBSTITUTE(m) y[m] = s_inverse(v_xor(y[m], v_spread(key[m])));
	ALL_16(SUBSTITUTE)
#undef SUBSTITUTE
}

static INLINE void load_slices(const struct side *side, vec y[16], const uint8_t *input)
{
#define LOAD(m) y[m] = v_load(input + 16 * LANES * (m));
	ALL_16(LOAD)
#undef LOAD
	transpose(y);
#define INTO(m) y[m] = into(side, y[m]);
	ALL_16(INTO)
#undef INTO
}

/* The last key, and back to the layout of blocks. */
static INLINE void finish_slices(const struct side *side, vec y[16], const spread_block key)
{
#define OUT(m) y[m] = out_of(side, v_xor(y[m], v_spread(key[m])));
	ALL_16(OUT)
#undef OUT
	transpose(y);
}

static void encrypt_batch(const struct sliced_state *state, uint8_t *output, const uint8_t *input)
{
	vec y[16];
	ALIGN_STACK();

	load_slices(side_encrypt, y, input);
	for (unsigned i = 0; i < ROUNDS; i++)
		encrypt_round(y, state->encrypt_keys[i]);
	finish_slices(side_encrypt, y, state->encrypt_keys[ROUNDS]);
#define STORE(m) v_store(output + 16 * LANES * (m), y[m]);
	ALL_16(STORE)
}

static void decrypt_batch(const struct sliced_state *state, uint8_t *output, const uint8_t *input)
{
	vec y[16];
	ALIGN_STACK();

	load_slices(side_decrypt, y, input);
	for (unsigned i = ROUNDS; i > 0; i--)
		decrypt_round(y, state->decrypt_keys[i]);
	finish_slices(side_decrypt, y, state->decrypt_keys[0]);
	ALL_16(STORE)
#undef STORE
}

/* Counters that differ in byte 15 only. Then the first round is a constant, `rest`, which is L of S of the other bytes,
 * and one column of L times S of byte 15. `low`: byte 15, spread. */
static void ctr_batch(const struct sliced_state *state, const uint8_t *low, const spread_block rest, uint8_t *output,
                      const uint8_t *input)
{
	/* Where load_slices would bring the blocks. */
	static const _Alignas(32) uint8_t place[32] = {
#if LANES == 1
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
#else
		0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
		1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
#endif
	};
	vec y[16], x = into(side_encrypt, v_add(v_load(place), v_spread(low)));
	ALIGN_STACK();

	x = s(v_xor(x, v_spread(state->encrypt_keys[0][15])));
#define COLUMN(m) y[m] = v_xor(column_times(side_encrypt, m, x), v_spread(rest[m]));
	ALL_16(COLUMN)
#undef COLUMN
	for (unsigned i = 1; i < ROUNDS; i++)
		encrypt_round(y, state->encrypt_keys[i]);
	finish_slices(side_encrypt, y, state->encrypt_keys[ROUNDS]);
#define STORE(m) v_store(output + 16 * LANES * (m), v_xor(y[m], v_load(input + 16 * LANES * (m))));
	ALL_16(STORE)
#undef STORE
}

/* `count` is a constant at each call. */
static INLINE void lanes_encrypt(const struct sliced_state *state, uint8_t *output, const uint8_t *input, unsigned count)
{
	vec x[LANES_AT_ONCE];
	ALIGN_STACK();

	for (unsigned j = 0; j < count; j++)
		x[j] = lanes_into(side_encrypt, v_load(input + 16 * LANES * j));
	for (unsigned i = 0; i < ROUNDS; i++) {
		vec key = v_lanes(state->lanes_encrypt_keys[i]);
		for (unsigned j = 0; j < count; j++)
			x[j] = lanes_l(lanes_s(v_xor(x[j], key)));
	}
	for (unsigned j = 0; j < count; j++) {
		x[j] = v_xor(x[j], v_lanes(state->lanes_encrypt_keys[ROUNDS]));
		v_store(output + 16 * LANES * j, lanes_out_of(side_encrypt, x[j]));
	}
}

static INLINE void lanes_decrypt(const struct sliced_state *state, uint8_t *output, const uint8_t *input, unsigned count)
{
	vec x[LANES_AT_ONCE];
	ALIGN_STACK();

	for (unsigned j = 0; j < count; j++)
		x[j] = lanes_into(side_decrypt, v_load(input + 16 * LANES * j));
	for (unsigned i = ROUNDS; i > 0; i--) {
		vec key = v_lanes(state->lanes_decrypt_keys[i]);
		for (unsigned j = 0; j < count; j++)
			x[j] = lanes_s_inverse(v_xor(lanes_l_inverse(x[j]), key));
	}
	for (unsigned j = 0; j < count; j++) {
		x[j] = v_xor(x[j], v_lanes(state->lanes_decrypt_keys[0]));
		v_store(output + 16 * LANES * j, lanes_out_of(side_decrypt, x[j]));
	}
}

/* One block, in all lanes. */
static INLINE vec encrypt_chain(const struct sliced_state *state, vec x)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		x = chain_l(lanes_s(v_xor(x, v_lanes(state->lanes_encrypt_keys[i]))));
	return v_xor(x, v_lanes(state->lanes_encrypt_keys[ROUNDS]));
}

static void encrypt_single(const struct sliced_state *state, uint8_t *output, const uint8_t *input)
{
	ALIGN_STACK();

	v_low_store(output, lanes_out_of(side_encrypt, encrypt_chain(state, lanes_into(side_encrypt, v_lanes(input)))));
}

static void decrypt_single(const struct sliced_state *state, uint8_t *output, const uint8_t *input)
{
	vec x = lanes_into(side_decrypt, v_lanes(input));
	ALIGN_STACK();

	for (unsigned i = ROUNDS; i > 0; i--)
		x = lanes_s_inverse(v_xor(lanes_l_inverse(x), v_lanes(state->lanes_decrypt_keys[i])));
	x = v_xor(x, v_lanes(state->lanes_decrypt_keys[0]));
	v_low_store(output, lanes_out_of(side_decrypt, x));
}

/* Any number of blocks: batches, then lanes; a last vector or batch that is not full is filled up in a buffer. */
#define DEFINE_BLOCKS(NAME, BATCH_FUNCTION, LANES_FUNCTION, SINGLE_FUNCTION)                                       \
	static void NAME##_lanes(const struct sliced_state *state, uint8_t *output, const uint8_t *input)          \
	{                                                                                                          \
		LANES_FUNCTION(state, output, input, LANES_AT_ONCE);                                               \
	}                                                                                                          \
                                                                                                                   \
	static void NAME##_one_vector(const struct sliced_state *state, uint8_t *output, const uint8_t *input)     \
	{                                                                                                          \
		LANES_FUNCTION(state, output, input, 1);                                                           \
	}                                                                                                          \
                                                                                                                   \
	static void NAME##_padded(const struct sliced_state *state, uint8_t *output, const uint8_t *input,         \
	                          size_t blocks)                                                                   \
	{                                                                                                          \
		_Alignas(32) uint8_t buffer[16 * BATCH];                                                           \
                                                                                                                   \
		wipe_vectors(buffer, sizeof buffer);                                                               \
		memcpy(buffer, input, 16 * blocks);                                                                \
		if (blocks >= SLICES_FROM)                                                                         \
			BATCH_FUNCTION(state, buffer, buffer);                                                     \
		else                                                                                               \
			NAME##_lanes(state, buffer, buffer);                                                       \
		memcpy(output, buffer, 16 * blocks);                                                               \
		wipe_vectors(buffer, sizeof buffer);                                                               \
	}                                                                                                          \
                                                                                                                   \
	static void NAME(const void *sliced, uint8_t *output, const uint8_t *input, size_t blocks)                 \
	{                                                                                                          \
		const struct sliced_state *state = sliced;                                                         \
                                                                                                                   \
		for (; blocks >= BATCH; blocks -= BATCH, output += 16 * BATCH, input += 16 * BATCH)                \
			BATCH_FUNCTION(state, output, input);                                                      \
		if (blocks >= SLICES_FROM) {                                                                       \
			NAME##_padded(state, output, input, blocks);                                               \
			return;                                                                                    \
		}                                                                                                  \
		for (; blocks >= LANES * LANES_AT_ONCE; blocks -= LANES * LANES_AT_ONCE) {                         \
			NAME##_lanes(state, output, input);                                                        \
			output += 16 * LANES * LANES_AT_ONCE;                                                      \
			input += 16 * LANES * LANES_AT_ONCE;                                                       \
		}                                                                                                  \
		if (blocks > LANES * LANES_AT_ONCE / 2 && blocks > LANES) {                                        \
			NAME##_padded(state, output, input, blocks);                                               \
			return;                                                                                    \
		}                                                                                                  \
		for (; blocks >= LANES; blocks -= LANES, output += 16 * LANES, input += 16 * LANES)                \
			NAME##_one_vector(state, output, input);                                                   \
		if (blocks > 0)                                                                                    \
			SINGLE_FUNCTION(state, output, input);                                                     \
	}

DEFINE_BLOCKS(encrypt_blocks, encrypt_batch, lanes_encrypt, encrypt_single)
DEFINE_BLOCKS(decrypt_blocks, decrypt_batch, lanes_decrypt, decrypt_single)

static INLINE void spread(spread_block to, const uint8_t from[BLOCK])
{
	for (unsigned i = 0; i < BLOCK; i++)
		memset(to[i], from[i], SPREAD);
}

/* L of S of all bytes but the last, which has its column in ctr_batch. */
static void ctr_rest(const struct sliced_state *state, const uint8_t counter[BLOCK], spread_block rest)
{
	static const uint8_t all_but_last[BLOCK] = {
		255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0,
	};
	uint8_t block[BLOCK];
	vec x = v_xor(lanes_into(side_encrypt, v_lanes(counter)), v_lanes(state->lanes_encrypt_keys[0]));

	x = chain_l(v_and(lanes_s(x), v_lanes(all_but_last)));
	v_low_store(block, lanes_to_slices(side_encrypt, x));
	spread(rest, block);
	wipe_block(block);
}

static void ctr_xor(const void *sliced, uint8_t *counter, uint8_t *output, const uint8_t *input, size_t blocks)
{
	const struct sliced_state *state = sliced;
	_Alignas(32) uint8_t buffer[16 * BATCH];
	uint64_t number = load_be64(counter + 8);
	spread_block rest;
	bool have_rest = false;

	while (blocks > 0) {
		size_t count = blocks < BATCH ? blocks : BATCH;
		unsigned low = (unsigned)(number & 255u);

		if (count == BATCH && low <= 256 - BATCH) {
			uint8_t spread_low[SPREAD];
			if (!have_rest) {
				store_be64(counter + 8, number);
				ctr_rest(state, counter, rest);
			}
			memset(spread_low, (int)low, sizeof spread_low);
			ctr_batch(state, spread_low, (const uint8_t(*)[SPREAD])rest, output, input);
		} else {
			for (size_t i = 0; i < count; i++) {
				memcpy(buffer + 16 * i, counter, 8);
				store_be64(buffer + 16 * i + 8, number + i);
			}
			encrypt_blocks(state, buffer, buffer, count);
			xor_bytes(output, input, buffer, 16 * count);
		}
		have_rest = low + count < 256 && (have_rest || (count == BATCH && low <= 256 - BATCH));
		number += count;
		blocks -= count;
		output += 16 * count;
		input += 16 * count;
	}
	store_be64(counter + 8, number);
	wipe_vectors(buffer, sizeof buffer);
	wipe_vectors(rest, sizeof rest);
}

static void cbc_encrypt(const void *sliced, uint8_t *iv, uint8_t *output, const uint8_t *input, size_t blocks)
{
	const struct sliced_state *state = sliced;
	vec chain = lanes_into(side_encrypt, v_lanes(iv));
	ALIGN_STACK();

	for (size_t n = 0; n < blocks; n++) {
		chain = encrypt_chain(state, v_xor(chain, lanes_into(side_encrypt, v_lanes(input + 16 * n))));
		if (output != NULL)
			v_low_store(output + 16 * n, lanes_out_of(side_encrypt, chain));
	}
	v_low_store(iv, lanes_out_of(side_encrypt, chain));
}

static void set_round_key(struct sliced_state *state, unsigned i, vec key)
{
	vec inverse = lanes_into(side_decrypt, lanes_out_of(side_encrypt, key));
	uint8_t block[BLOCK];

	if (i > 0) {
		inverse = v_xor(lanes_l_inverse(inverse), v_lanes(offset_lanes(side_decrypt)));
		key = v_xor(key, v_lanes(offset_lanes(side_encrypt)));
	}
	v_low_store(state->lanes_encrypt_keys[i], key);
	v_low_store(state->lanes_decrypt_keys[i], inverse);
	v_low_store(block, lanes_to_slices(side_encrypt, key));
	spread(state->encrypt_keys[i], block);
	v_low_store(block, lanes_to_slices(side_decrypt, inverse));
	spread(state->decrypt_keys[i], block);
	wipe_block(block);
}

/* RFC 7801 section 4.3. */
static void set_key(void *sliced, const uint8_t key[KUZMA_KEY_BYTES])
{
	struct sliced_state *state = sliced;
	vec left = lanes_into(side_encrypt, v_lanes(key)), right = lanes_into(side_encrypt, v_lanes(key + 16));

	set_round_key(state, 0, left);
	set_round_key(state, 1, right);
	for (unsigned i = 0; i < 32; i++) {
		vec mixed = chain_l(lanes_s(v_xor(left, v_lanes(schedule(i)))));
		mixed = v_xor(mixed, v_xor(right, v_lanes(offset_lanes(side_encrypt))));
		right = left;
		left = mixed;
		if (i % 8 == 7) {
			set_round_key(state, i / 4 + 1, left);
			set_round_key(state, i / 4 + 2, right);
		}
	}
}
