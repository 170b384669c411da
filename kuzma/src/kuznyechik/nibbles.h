/* The parts of sliced.h for instruction sets that have a byte shuffle and nothing more: products through tables of 16
 * by nibble, S through logarithms in GF(16). The layouts of slices and of lanes have the same basis.
 *
 * Who includes this defines before, besides the operations on vectors that sliced.h names:
 *   v_and, v_add, v_sub, v_min: unsigned bytes
 *   v_all(b): the byte everywhere; v_high_nibbles(x): shifted down
 *   v_shuffle(table, index): table[index] in each lane, 0 where the index has bit 7
 *   v_low_only(x): an index for v_shuffle, which gives 0 where x > 15
 *   with two lanes: v_exchange_lanes(x)
 *   V_UP(x, n), V_DOWN(x, n): moves each lane by n bytes to higher or lower places in memory */
#include "kuznyechik/tower.h"

#define side tower_side
#define side_encrypt (&kuzma_kuznyechik_tower.encrypt)
#define side_decrypt (&kuzma_kuznyechik_tower.decrypt)
#define T kuzma_kuznyechik_tower

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

/* Number i of a row of pairs. */
static INLINE vec mapped_one(const nibble_map_pair *pairs, unsigned i, struct nibbles x)
{
	return v_xor(look_up(pairs[i / 2][0][i % 2], x.low), look_up(pairs[i / 2][1][i % 2], x.high));
}

static INLINE vec times(const struct side *side, unsigned i, vec x)
{
	return mapped_one(side->times, i, split(x));
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
		vec by_148 = mapped_one(side->times, TIMES_148, b), by_16 = mapped_one(side->times, TIMES_16, b);                \
		vec by_32 = mapped_one(side->times, TIMES_32, b), by_133 = v_xor(v_xor(by_148, by_16), x);                   \
		vec by_194 = mapped_one(side->times, TIMES_194, b), by_192 = mapped_one(side->times, TIMES_192, b);              \
		vec by_251 = mapped_one(side->times, TIMES_251, b);                                                          \
		vec p = v_xor(v_xor(V_MOVE(by_148, 1), V_MOVE(by_148, 15)), v_xor(V_MOVE(by_32, 2), V_MOVE(by_32, 14))); \
		vec q = v_xor(v_xor(V_MOVE(by_133, 3), V_MOVE(by_133, 13)), v_xor(V_MOVE(by_16, 4), V_MOVE(by_16, 12))); \
		p = v_xor(p, v_xor(v_xor(V_MOVE(by_194, 5), V_MOVE(by_194, 11)), v_xor(x, V_MOVE(by_251, 8))));          \
		q = v_xor(q, v_xor(v_xor(V_MOVE(by_192, 6), V_MOVE(by_192, 10)), v_xor(V_MOVE(x, 7), V_MOVE(x, 9))));    \
		x = v_xor(p, q);                                                                                         \
	} while (0)

#define TERM(V_MOVE, n) V_MOVE(mapped_one(side->series, (n) - 1, b), n)
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

#if LANES == 1
static INLINE vec chain_l(vec x)
{
	return lanes_l(x);
}
#else
/* Both lanes hold the same block: each makes half the terms. Moves by different numbers of bytes are shuffles: where the
 * index says 128, 0 comes in. */
#define UP(i, n) ((uint8_t)((i) < (n) ? 128 : (i) - (n)))
#define DOWN(i, n) ((uint8_t)((i) + (n) > 15 ? 128 : (i) + (n)))
#define MOVE(DIRECTION, n)                                                                                           \
	{ DIRECTION(0, n), DIRECTION(1, n), DIRECTION(2, n), DIRECTION(3, n), DIRECTION(4, n), DIRECTION(5, n),      \
	  DIRECTION(6, n), DIRECTION(7, n), DIRECTION(8, n), DIRECTION(9, n), DIRECTION(10, n), DIRECTION(11, n),    \
	  DIRECTION(12, n), DIRECTION(13, n), DIRECTION(14, n), DIRECTION(15, n) }
/* Where coefficient i of TIMES_148 .. goes: it has two places. */
static const uint8_t first_move[4][2][16] = {
	{ MOVE(UP, 1), MOVE(UP, 2) }, { MOVE(UP, 3), MOVE(UP, 4) }, { MOVE(UP, 5), MOVE(UP, 6) },
	{ MOVE(UP, 8), MOVE(UP, 7) },
};
static const uint8_t second_move[4][2][16] = {
	{ MOVE(UP, 15), MOVE(UP, 14) }, { MOVE(UP, 13), MOVE(UP, 12) }, { MOVE(UP, 11), MOVE(UP, 10) },
	{ MOVE(UP, 16), MOVE(UP, 9) },
};
static const uint8_t series_move[8][2][16] = {
	{ MOVE(DOWN, 1), MOVE(DOWN, 2) }, { MOVE(DOWN, 3), MOVE(DOWN, 4) }, { MOVE(DOWN, 5), MOVE(DOWN, 6) },
	{ MOVE(DOWN, 7), MOVE(DOWN, 8) }, { MOVE(DOWN, 9), MOVE(DOWN, 10) }, { MOVE(DOWN, 11), MOVE(DOWN, 12) },
	{ MOVE(DOWN, 13), MOVE(DOWN, 14) }, { MOVE(DOWN, 15), MOVE(DOWN, 16) },
};
#undef MOVE
#undef DOWN
#undef UP

static INLINE vec mapped_pair(const nibble_map_pair map, struct nibbles x)
{
	return v_xor(v_shuffle(v_load(map[0]), x.low), v_shuffle(v_load(map[1]), x.high));
}

static INLINE vec times_pair(const struct side *side, unsigned i, struct nibbles x)
{
	vec product = mapped_pair(side->times[i], x);

	return v_xor(v_shuffle(product, v_load(first_move[i])), v_shuffle(product, v_load(second_move[i])));
}

static INLINE vec series_pair(const struct side *side, unsigned i, struct nibbles x)
{
	return v_shuffle(mapped_pair(side->series[i], x), v_load(series_move[i]));
}

static INLINE vec chain_l(vec x)
{
	const struct side *side = side_encrypt;
	struct nibbles b = split(x);
	vec sum = v_xor(v_xor(times_pair(side, 0, b), times_pair(side, 1, b)),
	                v_xor(times_pair(side, 2, b), times_pair(side, 3, b)));

	x = v_xor(v_xor(x, sum), v_exchange_lanes(sum));
	b = split(x);
	sum = v_xor(v_xor(v_xor(series_pair(side, 0, b), series_pair(side, 1, b)),
	                  v_xor(series_pair(side, 2, b), series_pair(side, 3, b))),
	            v_xor(v_xor(series_pair(side, 4, b), series_pair(side, 5, b)),
	                  v_xor(series_pair(side, 6, b), series_pair(side, 7, b))));
	return v_xor(v_xor(x, sum), v_exchange_lanes(sum));
}
#endif

#define lanes_into into
#define lanes_out_of out_of
#define lanes_to_slices(side, x) (x)
#define lanes_s s
#define lanes_s_inverse s_inverse
#define offset_lanes(side) ((side)->offset_block)
#define schedule(i) (T.encrypt.schedule[i])
