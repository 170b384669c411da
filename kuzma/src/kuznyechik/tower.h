/* Kuznyechik for instruction sets without a lookup of 256 entries: S by arithmetic in GF(16), L by products with few
 * constants. The tables for it, derived from the S-box and from the coefficients of l() by tower.c.
 *
 * Structure of S (L. Perrin, "Partitions in the S-Box of Streebog and Kuznyechik", 2019). In the field
 * GF(2)[x] / x^8 + x^4 + x^3 + x^2 + 1 with the generator a = 2, and F16 = {0} and the powers of a^17:
 *     S(a^(i+17j)) = k(16 - i) + f(a^17j),  i = 1..16;    S(a^17j) = k(16 - j), j = 1..15;    S(0) = k(0)
 * with k affine from 4 bits to bytes, f a bijection of the non-zero elements of F16. What tower.c does not take from
 * S itself is only the field, a, and the fact.
 *
 * Encryption: write x = l + r w over F16, w = a. For r != 0, x = r (t + w) with t = l / r, and t alone gives i:
 *     S(x) = A[t] + B[r phi[t]],   r = 0:  S(x) = N[l].
 * Decryption: y + k(0) splits linearly into u, the argument of k, and v in F16. For v != 0, x = a^(16-u) e(v) with
 * e(v) in F16; v = 0: x = N'[u].
 *
 * The state is kept in a basis in which these parts are nibbles: (r, l) from high to low for encryption, (v, u) for
 * decryption. Any linear map of bytes commutes with the additions of L, and turns products into other linear maps. */
#ifndef KUZMA_KUZNYECHIK_TOWER_H
#define KUZMA_KUZNYECHIK_TOWER_H

#include <stdint.h>

/* As in backend.h. */
#pragma GCC visibility push(hidden)

/* The coefficients of l(). One step of R does without the product by 133 = 148 + 16 + 1. */
enum { TIMES_148, TIMES_32, TIMES_133, TIMES_16, TIMES_194, TIMES_192, TIMES_251, TIMES_1, TOWER_TIMES };

/* A linear map of bytes: map[0][low nibble] ^ map[1][high nibble]. And two, so that the tables of a nibble lie together,
 * for vectors whose lanes do different things: [nibble][map][value]. */
typedef uint8_t nibble_map[2][16];
typedef uint8_t nibble_map_pair[2][2][16];

/* Each table of 16 begins at a multiple of 16, so that no load of one goes over the end of a cache line. */
struct tower_side {
	_Alignas(64) nibble_map into;
	nibble_map out_of; /* both between the ordinary basis and this one */
	nibble_map_pair times[TOWER_TIMES / 2];
	/* By 1 / p(z) modulo z^16, p(z) = 1 + 148 z + 32 z^2 + ... (the coefficients of l()): the terms z^1 .. z^15, and 0. */
	nibble_map_pair series[8];
	uint8_t schedule[32][16]; /* the constants C_1 .. C_32 of the key schedule (encryption only) */
	nibble_map column[16];    /* by byte i of L(0, ..., 0, 1) (encryption only) */
	/* What S here lacks: after S for encryption (here put through L), before the inverse of S for decryption. */
	uint8_t offset_block[16];
	uint8_t offset;
};

/* Logarithms to the base a^17. 0 has this one: byte shuffles give 0 for it and for its sums with all others, itself too. */
#define TOWER_LOG_ZERO 0xC8u

struct tower_tables {
	struct tower_side encrypt, decrypt;
	/* S without A[0]: by l, by r, by r; by log t, by log t; by log (r phi[t]); by l if r = 0. */
	uint8_t log_l[16], minus_log_r[16], log_r_phi[16], a[16], phi_step[16], b[16], rest[16];
	/* Its inverse, of y + k(0): by v, by u, by u; by the logarithms of l and r; by u if v = 0. */
	uint8_t log_e[16], log_power_l[16], log_power_r[16], l[16], r[16], inverse_rest[16];
};

extern struct tower_tables kuzma_kuznyechik_tower;

/* Fills kuzma_kuznyechik_tower; thread-safe. */
void kuzma_kuznyechik_tower_prepare(void);

/* For who wants other forms of the maps. A linear map of bytes by the images of its bits. */
struct tower_map {
	uint8_t image[8];
};

uint8_t kuzma_tower_apply(const struct tower_map *map, unsigned value);
/* First `inner`, then `outer`. */
struct tower_map kuzma_tower_compose(const struct tower_map *outer, const struct tower_map *inner);
struct tower_map kuzma_tower_inverse(const struct tower_map *map);
/* From GF(2)[x] / `from` to GF(2)[x] / `to`, an isomorphism of fields. */
struct tower_map kuzma_tower_isomorphism(unsigned from, unsigned to);
/* `map` in another basis: into, map, back. */
struct tower_map kuzma_tower_conjugate(const struct tower_map *into, const struct tower_map *map);
/* x -> constant x modulo `polynomial`. */
struct tower_map kuzma_tower_product(unsigned constant, unsigned polynomial);
uint8_t kuzma_tower_multiply(unsigned left, unsigned right, unsigned polynomial);

#define TOWER_POLYNOMIAL_L 0x1C3u   /* of the coefficients of l() */
#define TOWER_POLYNOMIAL_S 0x11Du   /* of the structure of S */
#define TOWER_POLYNOMIAL_AES 0x11Bu /* of the instructions GFNI */

/* What both directions are made of, taken to the field of AES, where GFNI needs it. */
struct tower_parts {
	struct tower_map to_aes, from_aes;
	uint8_t w;
	/* The coordinates n(x) of x in F16 are the low nibble of scale x, which has bit 7 clear: so it can itself index a
	 * shuffle. */
	uint8_t scale;
	uint8_t power[15];            /* of a^17 */
	uint8_t coordinates[256];     /* n(x) for x in F16 */
	uint8_t log[16], element[16]; /* by n(x); log[0] is TOWER_LOG_ZERO */
	uint8_t high[256], low[256];  /* n(r) and n(l) of x = l + r w */
	struct tower_map into_encrypt, into_decrypt; /* from the ordinary basis to those of the two sides */
	uint8_t phi[16];              /* n(phi[t]) by n(t) */
};

extern struct tower_parts kuzma_kuznyechik_tower_parts;

extern const uint8_t kuzma_kuznyechik_tower_coefficients[16]; /* 1, 148, 32, ...: of z^0 .. z^15 in p(z) */
extern const uint8_t kuzma_kuznyechik_tower_times[TOWER_TIMES];

#pragma GCC visibility pop
#endif
