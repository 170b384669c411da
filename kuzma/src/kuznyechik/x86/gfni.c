/* Kuznyechik for AVX2 with GFNI: 32 blocks in slices, two in the lanes of a vector. The instructions multiply in the
 * field of AES and apply any linear map to a byte, so S needs no logarithms and a product by a constant is one of them.
 *
 * Slices are in the bases of tower.h. Lanes are in a third basis: that in which GF(2^8) with the polynomial of l() is the
 * field of AES, for there the bytes of a vector can be multiplied by a constant each. */
#include "backend.h"

#ifdef KUZMA_X86
#include <pthread.h>
#include <string.h>

#include "kuznyechik/tower.h"
#include "kuznyechik/transforms.h"
#include "kuznyechik/x86/avx2_vectors.h"

#define LANES_AT_ONCE 4
#define SLICES_FROM 17

/* For gf2p8affineqb, once for each 64 bits: the bits of byte 7 - i choose those that make bit i of the result. */
typedef uint64_t matrix[4];

struct side {
	matrix into, out_of;
	matrix times[TOWER_TIMES];
	matrix column[16];
	matrix lanes_into, lanes_out_of, lanes_to_slices;
	/* L as a matrix: entry (i, i + d) for byte i; d and d + 8 go together where both lanes hold the same block. */
	uint8_t diagonal[8][2][16];
	uint8_t offset_lanes[16];
};

/* S, for slices and for lanes: see tower.h. */
struct box {
	matrix nibbles;    /* lanes only: to (r, l) */
	matrix scaled_l;   /* to c l */
	matrix r;
	uint8_t phi[16];   /* c phi[t], by n(t) */
	uint8_t a[16];     /* by n(t) */
	uint8_t b[16];     /* by n(r phi[t]) */
	uint8_t rest[16];  /* N[l] - A[0], by n(l) */
};

struct inverse_box {
	matrix nibbles;    /* lanes only: to (v, u) */
	matrix v;          /* to the low nibble */
	matrix out;        /* from the field of AES */
	uint8_t e[16];     /* by v */
	uint8_t power[16]; /* a^(16-u) */
	uint8_t rest[16];  /* N'[u] */
};

static struct gfni_tables {
	struct side encrypt, decrypt;
	struct box slices, lanes;
	struct inverse_box slices_inverse, lanes_inverse;
	uint8_t schedule[32][16];
} tables;

#define side_encrypt (&tables.encrypt)
#define side_decrypt (&tables.decrypt)
#define offset_lanes(side) ((side)->offset_lanes)
#define schedule(i) (tables.schedule[i])

static const uint8_t rotation[8][2][16] = {
#define ROTATED(d)                                                                                                   \
	{ (d) & 15, ((d) + 1) & 15, ((d) + 2) & 15, ((d) + 3) & 15, ((d) + 4) & 15, ((d) + 5) & 15, ((d) + 6) & 15,  \
	  ((d) + 7) & 15, ((d) + 8) & 15, ((d) + 9) & 15, ((d) + 10) & 15, ((d) + 11) & 15, ((d) + 12) & 15,         \
	  ((d) + 13) & 15, ((d) + 14) & 15, ((d) + 15) & 15 }
#define ROTATIONS(d) { ROTATED(d), ROTATED((d) + 8) }
	ROTATIONS(0), ROTATIONS(1), ROTATIONS(2), ROTATIONS(3), ROTATIONS(4), ROTATIONS(5), ROTATIONS(6), ROTATIONS(7),
#undef ROTATIONS
#undef ROTATED
};

static INLINE vec mapped(const matrix map, vec x)
{
	return _mm256_gf2p8affine_epi64_epi8(x, v_load(map), 0);
}

static INLINE vec product(vec x, vec y)
{
	return _mm256_gf2p8mul_epi8(x, y);
}

/* 0 goes to 0. */
static INLINE vec reciprocal(vec x)
{
	return _mm256_gf2p8affineinv_epi64_epi8(x, _mm256_set1_epi64x(0x0102040810204080), 0);
}

static INLINE vec look_up(const uint8_t table[16], vec index)
{
	return v_shuffle(v_lanes(table), index);
}

static INLINE vec times(const struct side *side, unsigned i, vec x)
{
	return mapped(side->times[i], x);
}

static INLINE vec column_times(const struct side *side, unsigned i, vec x)
{
	return mapped(side->column[i], x);
}

static INLINE vec into(const struct side *side, vec x)
{
	return mapped(side->into, x);
}

static INLINE vec out_of(const struct side *side, vec x)
{
	return mapped(side->out_of, x);
}

static INLINE vec lanes_into(const struct side *side, vec x)
{
	return mapped(side->lanes_into, x);
}

static INLINE vec lanes_out_of(const struct side *side, vec x)
{
	return mapped(side->lanes_out_of, x);
}

static INLINE vec lanes_to_slices(const struct side *side, vec x)
{
	return mapped(side->lanes_to_slices, x);
}

/* A[t] + B[r phi[t]], t = l / r; for r = 0 that is A[0], and the rest is added. */
static INLINE vec box(const struct box *box, vec x, vec nibbles)
{
	vec r = mapped(box->r, x), t = product(mapped(box->scaled_l, x), reciprocal(r));
	vec rest = look_up(box->rest, v_low_only(nibbles));

	return v_xor(v_xor(rest, look_up(box->a, t)), look_up(box->b, product(r, look_up(box->phi, t))));
}

static INLINE vec s(vec x)
{
	return box(&tables.slices, x, x);
}

static INLINE vec lanes_s(vec x)
{
	return box(&tables.lanes, x, mapped(tables.lanes.nibbles, x));
}

/* a^(16-u) e(v), and for v = 0 the rest. */
static INLINE vec inverse_box(const struct inverse_box *box, vec x, vec nibbles)
{
	vec power = look_up(box->power, v_and(nibbles, v_all(15)));
	vec value = product(power, look_up(box->e, mapped(box->v, x)));

	return v_xor(mapped(box->out, value), look_up(box->rest, v_low_only(nibbles)));
}

static INLINE vec s_inverse(vec x)
{
	return inverse_box(&tables.slices_inverse, x, x);
}

static INLINE vec lanes_s_inverse(vec x)
{
	return inverse_box(&tables.lanes_inverse, x, mapped(tables.lanes_inverse.nibbles, x));
}

#define DIAGONAL(d) \
	product(v_shuffle(x, v_lanes(rotation[(d) & 7][(d) >> 3])), v_lanes(side->diagonal[(d) & 7][(d) >> 3]))
#define DIAGONALS(d) \
	v_xor(v_xor(DIAGONAL(d), DIAGONAL((d) + 1)), v_xor(DIAGONAL((d) + 2), DIAGONAL((d) + 3)))

static INLINE vec diagonals(const struct side *side, vec x)
{
	return v_xor(v_xor(DIAGONALS(0), DIAGONALS(4)), v_xor(DIAGONALS(8), DIAGONALS(12)));
}

static INLINE vec lanes_l(vec x)
{
	return diagonals(side_encrypt, x);
}

static INLINE vec lanes_l_inverse(vec x)
{
	return diagonals(side_decrypt, x);
}

/* Each lane makes one half of the sum. */
#define HALF(d) product(v_shuffle(x, v_load(rotation[d])), v_load(tables.encrypt.diagonal[d]))

static INLINE vec chain_l(vec x)
{
	vec sum = v_xor(v_xor(v_xor(HALF(0), HALF(1)), v_xor(HALF(2), HALF(3))),
	                v_xor(v_xor(HALF(4), HALF(5)), v_xor(HALF(6), HALF(7))));

	return v_xor(sum, v_exchange_lanes(sum));
}

#include "kuznyechik/sliced.h"

static void fill_matrix(matrix to, const struct tower_map *map)
{
	uint64_t rows = 0;

	for (unsigned i = 0; i < 8; i++)
		for (unsigned j = 0; j < 8; j++)
			rows |= (uint64_t)(map->image[j] >> i & 1u) << (8 * (7 - i) + j);
	for (unsigned i = 0; i < 4; i++)
		to[i] = rows;
}

/* Product by a constant of L, in the basis of `into`. */
static void fill_product(matrix to, unsigned constant, const struct tower_map *into_basis)
{
	struct tower_map map = kuzma_tower_product(constant, TOWER_POLYNOMIAL_L);

	map = kuzma_tower_conjugate(into_basis, &map);
	fill_matrix(to, &map);
}

static void fill_side(struct side *side, const struct tower_map *slices, const struct tower_map *lanes,
                      void (*linear)(uint8_t *))
{
	struct tower_map slices_back = kuzma_tower_inverse(slices), lanes_back = kuzma_tower_inverse(lanes);
	struct tower_map across = kuzma_tower_compose(slices, &lanes_back);
	uint8_t block[16];

	fill_matrix(side->into, slices);
	fill_matrix(side->out_of, &slices_back);
	fill_matrix(side->lanes_into, lanes);
	fill_matrix(side->lanes_out_of, &lanes_back);
	fill_matrix(side->lanes_to_slices, &across);
	for (unsigned i = 0; i < TOWER_TIMES; i++)
		fill_product(side->times[i], kuzma_kuznyechik_tower_times[i], slices);
	for (unsigned j = 0; j < 16; j++) {
		memset(block, 0, sizeof block);
		block[j] = 1;
		linear(block);
		for (unsigned i = 0; i < 16; i++) {
			unsigned d = (j - i) & 15u;
			side->diagonal[d & 7][d >> 3][i] = kuzma_tower_apply(lanes, block[i]);
			if (j == 15)
				fill_product(side->column[i], block[i], slices);
		}
	}
}

/* The nibble at bit `shift`, coordinates in F16, goes to its element times `scale`; the other nibble goes to 0. */
static struct tower_map nibble_to_field(const struct tower_parts *parts, unsigned shift, unsigned scale)
{
	struct tower_map map = { { 0 } };

	for (unsigned i = 0; i < 4; i++)
		map.image[shift + i] = kuzma_tower_multiply(scale, parts->element[1u << i], TOWER_POLYNOMIAL_AES);
	return map;
}

/* `from`: from the basis of the box to the nibbles of tower.h. */
static void fill_box(struct box *box, const struct tower_parts *parts, const struct tower_map *from)
{
	struct tower_map out = kuzma_tower_inverse(from), map;
	struct tower_map standard = kuzma_tower_inverse(&parts->into_encrypt);
	uint8_t s_nibbles[256];

	for (unsigned x = 0; x < 256; x++) {
		unsigned y = kuzma_tower_apply(&parts->into_encrypt, kuzma_kuznyechik_pi[kuzma_tower_apply(&standard, x)]);
		s_nibbles[x] = kuzma_tower_apply(&out, y);
	}
	fill_matrix(box->nibbles, from);
	map = nibble_to_field(parts, 0, parts->scale);
	map = kuzma_tower_compose(&map, from);
	fill_matrix(box->scaled_l, &map);
	map = nibble_to_field(parts, 4, 1);
	map = kuzma_tower_compose(&map, from);
	fill_matrix(box->r, &map);
	for (unsigned t = 0; t < 16; t++) {
		box->phi[t] = kuzma_tower_multiply(parts->scale, parts->element[parts->phi[t]], TOWER_POLYNOMIAL_AES);
		box->a[t] = 0;
		for (unsigned r = 1; r < 16; r++) {
			unsigned l = kuzma_tower_multiply(parts->element[t], parts->element[r], TOWER_POLYNOMIAL_AES);
			box->a[t] ^= s_nibbles[r << 4 | parts->coordinates[l]];
		}
	}
	box->b[0] = 0;
	for (unsigned r = 1; r < 16; r++) {
		unsigned value = kuzma_tower_multiply(parts->element[r], parts->element[parts->phi[0]], TOWER_POLYNOMIAL_AES);
		box->b[parts->coordinates[value]] = s_nibbles[r << 4] ^ box->a[0];
	}
	for (unsigned l = 0; l < 16; l++)
		box->rest[l] = s_nibbles[l] ^ box->a[0];
}

/* The same; what comes in was put through S and lacks k(0). */
static void fill_inverse_box(struct inverse_box *box, const struct tower_parts *parts, const struct tower_map *from)
{
	struct tower_map out = kuzma_tower_inverse(from), standard = kuzma_tower_inverse(&parts->into_decrypt), map = { { 0 } };

	fill_matrix(box->nibbles, from);
	for (unsigned i = 0; i < 4; i++)
		map.image[4 + i] = (uint8_t)(1u << i);
	map = kuzma_tower_compose(&map, from);
	fill_matrix(box->v, &map);
	map = kuzma_tower_compose(&parts->into_decrypt, &parts->from_aes);
	map = kuzma_tower_compose(&out, &map);
	fill_matrix(box->out, &map);
	box->e[0] = 0;
	for (unsigned v = 1; v < 16; v++)
		box->e[v] = parts->power[kuzma_kuznyechik_tower.log_e[v]];
	for (unsigned u = 0, power = 1; u < 16; u++) {
		power = kuzma_tower_multiply(power, parts->w, TOWER_POLYNOMIAL_AES);
		box->power[15 - u] = (uint8_t)power;
		unsigned x = kuzma_kuznyechik_pi_inverse[kuzma_tower_apply(&standard, u) ^ kuzma_kuznyechik_pi[0]];
		box->rest[u] = kuzma_tower_apply(&out, kuzma_tower_apply(&parts->into_decrypt, x));
	}
}

static void make_tables(void)
{
	const struct tower_parts *parts = &kuzma_kuznyechik_tower_parts;
	struct tower_map identity = { { 1, 2, 4, 8, 16, 32, 64, 128 } };
	struct tower_map lanes = kuzma_tower_isomorphism(TOWER_POLYNOMIAL_L, TOWER_POLYNOMIAL_AES);
	struct tower_map lanes_back = kuzma_tower_inverse(&lanes);
	struct tower_map to_encrypt, to_decrypt;
	uint8_t block[16];

	kuzma_kuznyechik_tower_prepare();
	to_encrypt = kuzma_tower_compose(&parts->into_encrypt, &lanes_back);
	to_decrypt = kuzma_tower_compose(&parts->into_decrypt, &lanes_back);
	fill_side(&tables.encrypt, &parts->into_encrypt, &lanes, kuzma_kuznyechik_l);
	fill_side(&tables.decrypt, &parts->into_decrypt, &lanes, kuzma_kuznyechik_l_inverse);
	memset(tables.decrypt.offset_lanes, kuzma_tower_apply(&lanes, kuzma_kuznyechik_pi[0]), 16);
	fill_box(&tables.slices, parts, &identity);
	fill_box(&tables.lanes, parts, &to_encrypt);
	fill_inverse_box(&tables.slices_inverse, parts, &identity);
	fill_inverse_box(&tables.lanes_inverse, parts, &to_decrypt);
	for (unsigned i = 0; i < 32; i++) {
		memset(block, 0, sizeof block);
		block[15] = (uint8_t)(i + 1);
		kuzma_kuznyechik_l(block);
		for (unsigned n = 0; n < 16; n++)
			tables.schedule[i][n] = kuzma_tower_apply(&lanes, block[n]);
	}
}

static void prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_tables);
}

const struct kuzma_backend kuzma_kuznyechik_gfni = {
	.name = "gfni",
	.cipher = KUZMA_KUZNYECHIK,
	.constant_time = true,
	.state_bytes = sizeof(struct sliced_state),
	.supported = kuzma_cpu_gfni,
	.prepare = prepare,
	.set_key = set_key,
	.encrypt_blocks = encrypt_blocks,
	.decrypt_blocks = decrypt_blocks,
	.ctr_xor = ctr_xor,
	.cbc_encrypt = cbc_encrypt,
};
#endif
