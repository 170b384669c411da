/* The S-box of Kuznyechik and its inverse on bit planes, as networks of logic: word b of eight holds bit b of 64 bytes.
 *
 * The structure is that of Perrin, "Partitions in the S-Box of Streebog and Kuznyechik" (2019), in the form of a field
 * and its subfield: a byte is X = l + r * w with l and r in the subfield of 16 elements of GF(2)[x] / x^8 + x^4 + x^3 +
 * x^2 + 1. For r != 0 the output is high(l / r) + low(r * factor(l / r)), for r = 0 it is high0(l), where high and
 * high0 have values in one space of four dimensions and low in another. Elements of the subfield are four planes,
 * polynomials modulo x^4 + x + 1. Of the free choices (w, the isomorphism, the bases of both spaces) those were taken
 * that a search found to give small networks; the networks themselves come from greedy and random searches. The test
 * sliced.c checks every input. */
#ifndef KUZMA_KUZNYECHIK_SLICED_BOX_H
#define KUZMA_KUZNYECHIK_SLICED_BOX_H

#include <stdint.h>

/* to = left * right in GF(2)[x] / x^4 + x + 1. */
static inline void multiply4(uint64_t to[4], const uint64_t a[4], const uint64_t b[4])
{
	uint64_t c4 = (a[1] & b[3]) ^ (a[2] & b[2]) ^ (a[3] & b[1]);
	uint64_t c5 = (a[2] & b[3]) ^ (a[3] & b[2]), c6 = a[3] & b[3];
	uint64_t c0 = (a[0] & b[0]) ^ c4, c4_5 = c4 ^ c5, c5_6 = c5 ^ c6;
	uint64_t c1 = (a[0] & b[1]) ^ (a[1] & b[0]) ^ c4_5;
	uint64_t c2 = (a[0] & b[2]) ^ (a[1] & b[1]) ^ (a[2] & b[0]) ^ c5_6;
	uint64_t c3 = (a[0] & b[3]) ^ (a[1] & b[2]) ^ (a[2] & b[1]) ^ (a[3] & b[0]) ^ c6;

	to[0] = c0, to[1] = c1, to[2] = c2, to[3] = c3;
}

/* 1 / x, and 0 for 0: 0 1 9 e d b 7 6 f 2 c 5 a 4 3 8. */
static inline void inverse(uint64_t to[4], uint64_t x0, uint64_t x1, uint64_t x2, uint64_t x3)
{
	uint64_t t0 = x3 ^ x2, t1 = x3 & x0, t2 = t0 ^ x1, t3 = t0 ^ t1, t4 = t2 ^ x0, t5 = t1 | t2,
	         t6 = x0 & t2, t7 = t5 ^ x3, t8 = t2 & t3, t9 = t7 | t8, t10 = t0 | t4, t11 = t1 | t0, t12 = t11 & x2,
	         t13 = t4 ^ t12, t14 = t11 ^ t6, t15 = t13 | t8, t16 = x3 ^ t14, t17 = t10 & t15, t18 = t8 ^ t16;

	to[0] = t17, to[1] = t18, to[2] = t14, to[3] = t9;
}

/* High: 0 1 f b 5 a e c 8 9 7 3 d 2 6 4. */
static inline void substitute_ratio(uint64_t to[4], uint64_t x0, uint64_t x1, uint64_t x2, uint64_t x3)
{
	uint64_t t0 = x0 & x2, t1 = x1 | x0, t2 = t1 ^ x2, t3 = x1 ^ t0, t4 = x1 | t0, t5 = t3 | t2,
	         t6 = t4 ^ x3, t7 = x0 ^ t5;

	to[0] = t2, to[1] = t3, to[2] = t7, to[3] = t6;
}

/* High0: 4 0 6 8 c 5 a f e 2 7 3 1 9 d b. */
static inline void substitute_multiple(uint64_t to[4], uint64_t x0, uint64_t x1, uint64_t x2, uint64_t x3)
{
	uint64_t t0 = x3 ^ x0, t1 = t0 & x1, t2 = t0 & x2, t3 = x2 & x1, t4 = t2 | x3, t5 = ~x0, t6 = ~t3,
	         t7 = t4 ^ t5, t8 = t5 & t6, t9 = t7 & x1, t10 = x2 | x3, t11 = x2 ^ x1, t12 = t10 ^ x2, t13 = t12 | t9,
	         t14 = x1 | t11, t15 = x2 ^ t1, t16 = t14 & t4, t17 = t2 ^ t8, t18 = t10 & t0, t19 = t18 ^ t15;

	to[0] = t16, to[1] = t13, to[2] = t17, to[3] = t19;
}

/* Factor: 1 4 f d 6 8 8 4 d c 6 5 e c 3 4. */
static inline void factor(uint64_t to[4], uint64_t x0, uint64_t x1, uint64_t x2, uint64_t x3)
{
	uint64_t t0 = x1 & x0, t1 = x2 & x0, t2 = x3 & x0, t3 = x3 & x1, t4 = x3 & x2, t5 = t1 & x1,
	         t6 = t3 & x0, t7 = t4 & x0, t8 = t4 & x1, t9 = t8 & x0, t10 = x2 ^ t0, t11 = x1 ^ t10, t12 = x0 ^ t3,
	         t13 = t6 ^ t12, t14 = t8 ^ t11, t15 = t5 ^ t13, t16 = x3 ^ t15, t17 = x3 ^ t1, t18 = t9 ^ t14,
	         t19 = t14 ^ t16, t20 = t1 ^ t18, t21 = t7 ^ t17, t22 = t1 ^ t15, t23 = t2 ^ t19, t24 = t10 ^ t22,
	         t25 = t4 ^ t23, t26 = x1 ^ t21, t27 = ~t24;

	to[0] = t27, to[1] = t20, to[2] = t25, to[3] = t26;
}

/* Low: 0 3 2 4 8 1 7 d a 9 b c e f 6 5. */
static inline void substitute_product(uint64_t to[4], uint64_t x0, uint64_t x1, uint64_t x2, uint64_t x3)
{
	uint64_t t0 = x0 & x1, t1 = x0 | x3, t2 = x2 ^ t1, t3 = x2 | t0, t4 = x1 | x3, t5 = x1 & t2,
	         t6 = x1 ^ t2, t7 = t5 ^ x0, t8 = t3 & t6, t9 = t6 & t7, t10 = t0 | t9, t11 = t4 & t3, t12 = t10 ^ t4,
	         t13 = x3 ^ t8;

	to[0] = t7, to[1] = t12, to[2] = t11, to[3] = t13;
}

/* High's inverse: 0 1 d b f 4 e a 8 9 5 3 7 c 6 2. */
static inline void restore_ratio(uint64_t to[4], uint64_t x0, uint64_t x1, uint64_t x2, uint64_t x3)
{
	uint64_t t0 = x1 | x0, t1 = x2 ^ t0, t2 = x1 | t1, t3 = t2 ^ x0, t4 = t3 & t1, t5 = t4 | x1,
	         t6 = x1 ^ t4, t7 = x3 ^ t5;

	to[0] = t1, to[1] = t6, to[2] = t3, to[3] = t7;
}

/* High0's inverse: 1 c 9 b 0 5 2 a 3 d 6 f 4 e 8 7. */
static inline void restore_multiple(uint64_t to[4], uint64_t x0, uint64_t x1, uint64_t x2, uint64_t x3)
{
	uint64_t t0 = x1 & x0, t1 = x2 & x0, t2 = x2 & x1, t3 = x3 & x0, t4 = x3 & x1, t5 = x3 & x2,
	         t6 = t2 & x0, t7 = t4 & x0, t8 = t5 & x0, t9 = t5 & x1, t10 = x0 ^ t4, t11 = t0 ^ t10, t12 = t3 ^ t9,
	         t13 = t8 ^ t11, t14 = t5 ^ t12, t15 = x1 ^ t2, t16 = t6 ^ t14, t17 = t5 ^ t13, t18 = t0 ^ t16,
	         t19 = t2 ^ t18, t20 = t13 ^ t15, t21 = x2 ^ t12, t22 = t7 ^ t20, t23 = t11 ^ t21, t24 = t1 ^ t22,
	         t25 = x3 ^ t19, t26 = ~t23;

	to[0] = t26, to[1] = t25, to[2] = t17, to[3] = t24;
}

/* 1 / factor: 1 d 8 4 7 f f d 4 a 7 b 3 a e d. */
static inline void factor_inverse(uint64_t to[4], uint64_t x0, uint64_t x1, uint64_t x2, uint64_t x3)
{
	uint64_t t0 = x1 ^ x0, t1 = x1 ^ x2, t2 = ~x1, t3 = t2 | x3, t4 = t3 ^ t0, t5 = x2 & t4, t6 = t5 ^ x2,
	         t7 = t2 | t6, t8 = x3 ^ t5, t9 = t8 ^ t0, t10 = t7 ^ t8, t11 = t9 ^ x1, t12 = t10 | t5, t13 = t3 & t1,
	         t14 = t0 & t8, t15 = t4 ^ t7, t16 = t13 | t14;

	to[0] = t12, to[1] = t16, to[2] = t11, to[3] = t15;
}

/* Low's inverse: 0 5 2 1 3 f e 6 4 9 8 a b 7 c d. */
static inline void restore_product(uint64_t to[4], uint64_t x0, uint64_t x1, uint64_t x2, uint64_t x3)
{
	uint64_t t0 = x1 ^ x0, t1 = t0 ^ x3, t2 = x2 & t0, t3 = x3 | t2, t4 = x2 ^ x1, t5 = t2 ^ t1,
	         t6 = t1 | t5, t7 = t4 & t5, t8 = t5 & x1, t9 = t8 ^ x2, t10 = t7 ^ t0, t11 = x1 | t10, t12 = t9 & t11,
	         t13 = t6 & x1, t14 = x2 ^ t13, t15 = t14 | t0, t16 = t15 ^ x1, t17 = t5 ^ t12, t18 = t3 & t11;

	to[0] = t16, to[1] = t9, to[2] = t17, to[3] = t18;
}

/* The byte X to l (planes 0 to 3) and r (planes 4 to 7). */
static inline void split(uint64_t to[8], const uint64_t x[8])
{
	uint64_t t0 = x[5] ^ x[7], t1 = x[1] ^ x[6], t2 = x[4] ^ t0, t3 = x[2] ^ x[7], t4 = x[2] ^ t2,
	         t5 = x[3] ^ t1, t6 = x[6] ^ t4, t7 = t0 ^ t5, t8 = x[0] ^ t4, t9 = x[5] ^ t1, t10 = x[1] ^ t3,
	         t11 = t3 ^ t5, t12 = x[4] ^ x[7];

	to[0] = t8, to[1] = t7, to[2] = t10, to[3] = t9;
	to[4] = t12, to[5] = t11, to[6] = t6, to[7] = t2;
}

/* l and r to X. */
static inline void unsplit(uint64_t to[8], const uint64_t x[8])
{
	uint64_t t0 = x[1] ^ x[5], t1 = x[4] ^ x[6], t2 = x[4] ^ t0, t3 = x[2] ^ t1, t4 = x[3] ^ x[6],
	         t5 = x[2] ^ t4, t6 = x[7] ^ t2, t7 = x[3] ^ t3, t8 = x[7] ^ t4, t9 = t0 ^ t1, t10 = t0 ^ t8,
	         t11 = x[4] ^ x[7], t12 = x[0] ^ t2, t13 = x[1] ^ t3;

	to[0] = t12, to[1] = t10, to[2] = t6, to[3] = t13;
	to[4] = t5, to[5] = t11, to[6] = t9, to[7] = t7;
}

/* The values of high and low to the output, with its constant 0xEE. */
static inline void join(uint64_t to[8], const uint64_t x[8])
{
	uint64_t t0 = x[4] ^ x[6], t1 = x[5] ^ t0, t2 = x[7] ^ t1, t3 = x[0] ^ x[6], t4 = x[2] ^ t3,
	         t5 = x[1] ^ x[3], t6 = x[0] ^ t2, t7 = x[1] ^ t4, t8 = x[2] ^ t0;

	to[0] = x[5], to[1] = ~t8, to[2] = ~t6, to[3] = ~x[4];
	to[4] = t7, to[5] = ~t5, to[6] = ~t2, to[7] = ~x[6];
}

/* The output without its constant to the values of high and low. */
static inline void unjoin(uint64_t to[8], const uint64_t x[8])
{
	uint64_t t0 = x[1] ^ x[3], t1 = x[2] ^ x[6], t2 = x[4] ^ t0, t3 = t1 ^ t2, t4 = x[6] ^ x[7],
	         t5 = x[0] ^ t4, t6 = x[5] ^ t3, t7 = x[3] ^ t5, t8 = x[7] ^ t0;

	to[0] = t1, to[1] = t3, to[2] = t8, to[3] = t6;
	to[4] = x[3], to[5] = x[0], to[6] = x[7], to[7] = t7;
}

/* `to` may be `x`. Without loops, which would keep the planes in memory. */
static inline void sliced_box(uint64_t to[8], const uint64_t x[8])
{
	uint64_t s[8], ratio[4], other[4];

	split(s, x);
	inverse(ratio, s[4], s[5], s[6], s[7]);
	multiply4(ratio, s, ratio);
	/* r = 0 makes the ratio and the product 0, and high(0) = low(0) = 0. */
	uint64_t zero = ~(s[4] | s[5] | (s[6] | s[7]));
	substitute_multiple(other, s[0], s[1], s[2], s[3]);
	uint64_t product[4];
	factor(product, ratio[0], ratio[1], ratio[2], ratio[3]);
	multiply4(product, product, s + 4);
	substitute_product(s + 4, product[0], product[1], product[2], product[3]);
	substitute_ratio(s, ratio[0], ratio[1], ratio[2], ratio[3]);
	s[0] ^= other[0] & zero, s[1] ^= other[1] & zero, s[2] ^= other[2] & zero, s[3] ^= other[3] & zero;
	join(to, s);
}

static inline void sliced_box_inverse(uint64_t to[8], const uint64_t x[8])
{
	const uint64_t y[8] = { x[0], ~x[1], ~x[2], ~x[3], x[4], ~x[5], ~x[6], ~x[7] };
	uint64_t s[8], ratio[4], r[4], other[4];

	unjoin(s, y);
	restore_ratio(ratio, s[0], s[1], s[2], s[3]);
	restore_multiple(other, s[0], s[1], s[2], s[3]);
	restore_product(r, s[4], s[5], s[6], s[7]);
	uint64_t zero = ~(s[4] | s[5] | (s[6] | s[7]));
	uint64_t factors[4];
	factor_inverse(factors, ratio[0], ratio[1], ratio[2], ratio[3]);
	multiply4(s + 4, r, factors);
	multiply4(s, ratio, s + 4);
	s[0] ^= other[0] & zero, s[1] ^= other[1] & zero, s[2] ^= other[2] & zero, s[3] ^= other[3] & zero;
	unsplit(to, s);
}

#endif
