/* The parts of sliced.h for instruction sets that have a byte shuffle and nothing more: products through tables of 16
 * by nibble, S through logarithms in GF(16). The layouts of slices and of lanes have the same basis.
 *
 * Who includes this defines before, besides the operations on vectors that sliced.h names:
 *   v_and, v_add, v_sub, v_min: unsigned bytes
 *   v_all(b): the byte everywhere; v_high_nibbles(x): shifted down
 *   v_shuffle(table, index): table[index] in each lane, 0 where the index has bit 7
 *   v_low_only(x): an index for v_shuffle, which gives 0 where x > 15
 *   V_UP(x, n), V_DOWN(x, n): moves each lane by n bytes to higher or lower places in memory */
#include "kuznyechik/tower.h"

#define side tower_side
#define side_encrypt (&kuznyechik_tower.encrypt)
#define side_decrypt (&kuznyechik_tower.decrypt)
#define T kuznyechik_tower

struct nibbles {
	vec low, high;
};

static INLINE struct nibbles split(vec x)
{
	return (struct nibbles){ v_and(x, v_all(15)), v_high_nibbles(x) };
}

static INLINE vec look_up(const uint8_t table[16], vec index)
{
	return v_shuffle(v_lanes(table), index);
}

static INLINE vec mapped(const uint8_t map[2][16], struct nibbles x)
{
	return v_xor(look_up(map[0], x.low), look_up(map[1], x.high));
}

static INLINE vec times(const struct side *side, unsigned i, vec x)
{
	return mapped(side->times[i], split(x));
}

static INLINE vec column_times(const struct side *side, unsigned i, vec x)
{
	return mapped(side->column[i], split(x));
}

static INLINE vec into(const struct side *side, vec x)
{
	return mapped(side->into, split(x));
}

static INLINE vec out_of(const struct side *side, vec x)
{
	return mapped(side->out_of, split(x));
}

/* Modulo 15, for sums to 28; a sum with one TOWER_LOG_ZERO keeps bit 7. */
static INLINE vec add_logarithms(vec left, vec right)
{
	vec sum = v_add(left, right);

	return v_min(sum, v_sub(sum, v_all(15)));
}

/* tower.h: A[t] + B[r phi[t]], and the rest, which is for r = 0 only. */
static INLINE vec s(vec x)
{
	struct nibbles lr = split(x);
	vec t = add_logarithms(look_up(T.log_l, lr.low), look_up(T.minus_log_r, lr.high));
	vec product = add_logarithms(look_up(T.log_r_phi, lr.high), look_up(T.phi_step, t));
	vec rest = look_up(T.rest, v_low_only(x));

	return v_xor(v_xor(rest, look_up(T.a, t)), look_up(T.b, product));
}

static INLINE vec s_inverse(vec x)
{
	struct nibbles vu = split(x);
	vec e = look_up(T.log_e, vu.high);
	vec l = add_logarithms(e, look_up(T.log_power_l, vu.low));
	vec r = add_logarithms(e, look_up(T.log_power_r, vu.low));
	vec rest = look_up(T.inverse_rest, v_low_only(x));

	return v_xor(v_xor(rest, look_up(T.l, l)), look_up(T.r, r));
}

/* L in lanes. Let a block be the polynomial b(z) with the coefficient of z^m in byte m, and p(z) = 1 + 148 z + ... as in
 * tower.h. The 16 steps of R give n(z) with: n(z) p(1/z) = b(z) p(z), all powers but z^0 .. z^15 left out. So first a
 * product with p, then one with the series 1 / p; in the inverse the directions are exchanged. */
#define PALINDROME(V_MOVE)                                                                                               \
	do {                                                                                                             \
		struct nibbles b = split(x);                                                                             \
		vec by_148 = mapped(side->times[TIMES_148], b), by_16 = mapped(side->times[TIMES_16], b);                \
		vec by_32 = mapped(side->times[TIMES_32], b), by_133 = v_xor(v_xor(by_148, by_16), x);                   \
		vec by_194 = mapped(side->times[TIMES_194], b), by_192 = mapped(side->times[TIMES_192], b);              \
		vec by_251 = mapped(side->times[TIMES_251], b);                                                          \
		vec p = v_xor(v_xor(V_MOVE(by_148, 1), V_MOVE(by_148, 15)), v_xor(V_MOVE(by_32, 2), V_MOVE(by_32, 14))); \
		vec q = v_xor(v_xor(V_MOVE(by_133, 3), V_MOVE(by_133, 13)), v_xor(V_MOVE(by_16, 4), V_MOVE(by_16, 12))); \
		p = v_xor(p, v_xor(v_xor(V_MOVE(by_194, 5), V_MOVE(by_194, 11)), v_xor(x, V_MOVE(by_251, 8))));          \
		q = v_xor(q, v_xor(v_xor(V_MOVE(by_192, 6), V_MOVE(by_192, 10)), v_xor(V_MOVE(x, 7), V_MOVE(x, 9))));    \
		x = v_xor(p, q);                                                                                         \
	} while (0)

#define TERM(V_MOVE, n) V_MOVE(mapped(side->series[(n) - 1], b), n)
#define TERMS(V_MOVE, n) v_xor(TERM(V_MOVE, n), TERM(V_MOVE, (n) + 1))
#define SERIES(V_MOVE)                                                             \
	do {                                                                       \
		struct nibbles b = split(x);                                       \
		vec p = v_xor(x, TERMS(V_MOVE, 1)), q = TERMS(V_MOVE, 3);          \
		p = v_xor(p, TERMS(V_MOVE, 5)), q = v_xor(q, TERMS(V_MOVE, 7));    \
		p = v_xor(p, TERMS(V_MOVE, 9)), q = v_xor(q, TERMS(V_MOVE, 11));   \
		p = v_xor(p, TERMS(V_MOVE, 13)), q = v_xor(q, TERM(V_MOVE, 15));   \
		x = v_xor(p, q);                                                   \
	} while (0)

static INLINE vec lanes_l(vec x)
{
	const struct side *side = side_encrypt;

	PALINDROME(V_UP);
	SERIES(V_DOWN);
	return x;
}

static INLINE vec lanes_l_inverse(vec x)
{
	const struct side *side = side_decrypt;

	PALINDROME(V_DOWN);
	SERIES(V_UP);
	return x;
}

static INLINE vec chain_l(vec x)
{
	return lanes_l(x);
}

#define lanes_into into
#define lanes_out_of out_of
#define lanes_to_slices(side, x) (x)
#define lanes_s s
#define lanes_s_inverse s_inverse
#define offset_lanes(side) ((side)->offset_block)
#define schedule(i) (T.encrypt.schedule[i])
