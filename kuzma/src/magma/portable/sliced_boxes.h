/* The eight S-boxes of Magma on bit planes, as networks of logic found by a random search: x0 is the lowest bit of 64
 * nibbles, and the substituted nibble is added to the planes at `to`. The test sliced.c checks every input. */
#ifndef KUZMA_MAGMA_SLICED_BOXES_H
#define KUZMA_MAGMA_SLICED_BOXES_H

#include <stdint.h>

static inline void sliced_box0(uint64_t *to0, uint64_t *to1, uint64_t *to2, uint64_t *to3, uint64_t x0, uint64_t x1,
                               uint64_t x2, uint64_t x3)
{
	uint64_t t0 = x0 ^ x2, t1 = ~x2, t2 = x3 | x1, t3 = x3 | x2, t4 = x3 ^ x1, t5 = t2 ^ t0, t6 = x1 & t3,
	         t7 = t5 & t3, t8 = x2 | t5, t9 = x2 & x0, t10 = t6 | t9, t11 = t5 | t4, t12 = t11 ^ t1, t13 = t12 ^ t8,
	         t14 = t7 ^ x1, t15 = x3 ^ t12;

	*to0 ^= t10, *to1 ^= t14, *to2 ^= t13, *to3 ^= t15;
}

static inline void sliced_box1(uint64_t *to0, uint64_t *to1, uint64_t *to2, uint64_t *to3, uint64_t x0, uint64_t x1,
                               uint64_t x2, uint64_t x3)
{
	uint64_t t0 = x1 & x0, t1 = x2 & x0, t2 = x2 & x1, t3 = x3 & x0, t4 = x3 & x1, t5 = x3 & x2,
	         t6 = t2 & x0, t7 = t4 & x0, t8 = t5 & x0, t9 = t5 & x1, t10 = x2 ^ t0, t11 = t1 ^ t10, t12 = x3 ^ t5,
	         t13 = t11 ^ t12, t14 = x0 ^ t9, t15 = t6 ^ t13, t16 = t7 ^ t10, t17 = x0 ^ t2, t18 = x1 ^ t15,
	         t19 = t8 ^ t14, t20 = t4 ^ t7, t21 = t15 ^ t20, t22 = x3 ^ t16, t23 = t14 ^ t22, t24 = t3 ^ t21,
	         t25 = t11 ^ t17, t26 = t18 ^ t19, t27 = ~t23, t28 = ~t26;

	*to0 ^= t24, *to1 ^= t27, *to2 ^= t28, *to3 ^= t25;
}

static inline void sliced_box2(uint64_t *to0, uint64_t *to1, uint64_t *to2, uint64_t *to3, uint64_t x0, uint64_t x1,
                               uint64_t x2, uint64_t x3)
{
	uint64_t t0 = x1 & x0, t1 = x2 & x0, t2 = x2 & x1, t3 = x3 & x0, t4 = x3 & x1, t5 = x3 & x2,
	         t6 = t2 & x0, t7 = t4 & x0, t8 = t5 & x0, t9 = t5 & x1, t10 = t6 ^ t8, t11 = x1 ^ t10, t12 = t3 ^ t4,
	         t13 = t0 ^ t12, t14 = x2 ^ t7, t15 = t2 ^ t11, t16 = t9 ^ t13, t17 = t5 ^ t14, t18 = x3 ^ t16,
	         t19 = t1 ^ t18, t20 = t5 ^ t12, t21 = t10 ^ t19, t22 = x0 ^ t11, t23 = t17 ^ t21, t24 = t15 ^ t19,
	         t25 = t17 ^ t22, t26 = t15 ^ t20, t27 = ~t23, t28 = ~t26, t29 = ~t25;

	*to0 ^= t27, *to1 ^= t28, *to2 ^= t24, *to3 ^= t29;
}

static inline void sliced_box3(uint64_t *to0, uint64_t *to1, uint64_t *to2, uint64_t *to3, uint64_t x0, uint64_t x1,
                               uint64_t x2, uint64_t x3)
{
	uint64_t t0 = x1 & x0, t1 = x2 & x0, t2 = x2 & x1, t3 = x3 & x0, t4 = x3 & x1, t5 = x3 & x2,
	         t6 = t2 & x0, t7 = t4 & x0, t8 = t5 & x0, t9 = t5 & x1, t10 = t6 ^ t7, t11 = t8 ^ t10, t12 = x3 ^ t9,
	         t13 = t0 ^ t11, t14 = t5 ^ t13, t15 = x1 ^ t2, t16 = t3 ^ t12, t17 = t4 ^ t16, t18 = t1 ^ t15,
	         t19 = t14 ^ t17, t20 = t7 ^ t12, t21 = x1 ^ t13, t22 = t1 ^ t19, t23 = x0 ^ t14, t24 = t17 ^ t21,
	         t25 = x2 ^ t22, t26 = t18 ^ t20, t27 = t18 ^ t23, t28 = ~t27, t29 = ~t26;

	*to0 ^= t25, *to1 ^= t24, *to2 ^= t28, *to3 ^= t29;
}

static inline void sliced_box4(uint64_t *to0, uint64_t *to1, uint64_t *to2, uint64_t *to3, uint64_t x0, uint64_t x1,
                               uint64_t x2, uint64_t x3)
{
	uint64_t t0 = x1 & x0, t1 = x2 & x0, t2 = x2 & x1, t3 = x3 & x0, t4 = x3 & x1, t5 = x3 & x2,
	         t6 = t2 & x0, t7 = t4 & x0, t8 = t5 & x0, t9 = t5 & x1, t10 = x3 ^ t0, t11 = x2 ^ t10, t12 = t8 ^ t11,
	         t13 = t7 ^ t12, t14 = t2 ^ t12, t15 = t5 ^ t14, t16 = t9 ^ t13, t17 = t6 ^ t13, t18 = t6 ^ t9,
	         t19 = t4 ^ t17, t20 = x1 ^ t16, t21 = x0 ^ x2, t22 = t1 ^ t19, t23 = t15 ^ t18, t24 = t3 ^ t22,
	         t25 = t2 ^ t21, t26 = ~t24, t27 = ~t20, t28 = ~t23;

	*to0 ^= t26, *to1 ^= t27, *to2 ^= t28, *to3 ^= t25;
}

static inline void sliced_box5(uint64_t *to0, uint64_t *to1, uint64_t *to2, uint64_t *to3, uint64_t x0, uint64_t x1,
                               uint64_t x2, uint64_t x3)
{
	uint64_t t0 = x1 & x0, t1 = x2 & x0, t2 = x2 & x1, t3 = x3 & x0, t4 = x3 & x1, t5 = x3 & x2,
	         t6 = t2 & x0, t7 = t4 & x0, t8 = t5 & x0, t9 = t5 & x1, t10 = x3 ^ t2, t11 = x2 ^ t6, t12 = t1 ^ t5,
	         t13 = t9 ^ t10, t14 = x0 ^ t4, t15 = x1 ^ t8, t16 = t7 ^ t11, t17 = t3 ^ t13, t18 = t14 ^ t15,
	         t19 = t4 ^ t12, t20 = t11 ^ t18, t21 = x1 ^ t12, t22 = t16 ^ t17, t23 = t0 ^ t19, t24 = t13 ^ t21,
	         t25 = t2 ^ t23, t26 = t10 ^ t20, t27 = ~t25, t28 = ~t22;

	*to0 ^= t27, *to1 ^= t24, *to2 ^= t28, *to3 ^= t26;
}

static inline void sliced_box6(uint64_t *to0, uint64_t *to1, uint64_t *to2, uint64_t *to3, uint64_t x0, uint64_t x1,
                               uint64_t x2, uint64_t x3)
{
	uint64_t t0 = x1 & x0, t1 = x2 & x0, t2 = x2 & x1, t3 = x3 & x0, t4 = x3 & x1, t5 = x3 & x2,
	         t6 = t2 & x0, t7 = t4 & x0, t8 = t5 & x0, t9 = t5 & x1, t10 = t2 ^ t3, t11 = x2 ^ t4, t12 = x3 ^ t9,
	         t13 = t10 ^ t12, t14 = t5 ^ t11, t15 = t8 ^ t13, t16 = x1 ^ t14, t17 = t7 ^ t15, t18 = t11 ^ t12,
	         t19 = t6 ^ t18, t20 = x0 ^ t14, t21 = t1 ^ t6, t22 = t1 ^ t16, t23 = t17 ^ t21, t24 = x0 ^ t19,
	         t25 = x1 ^ t24, t26 = t0 ^ t23, t27 = t10 ^ t22, t28 = t15 ^ t20, t29 = ~t27;

	*to0 ^= t26, *to1 ^= t25, *to2 ^= t28, *to3 ^= t29;
}

static inline void sliced_box7(uint64_t *to0, uint64_t *to1, uint64_t *to2, uint64_t *to3, uint64_t x0, uint64_t x1,
                               uint64_t x2, uint64_t x3)
{
	uint64_t t0 = x1 & x0, t1 = x2 & x0, t2 = x2 & x1, t3 = x3 & x0, t4 = x3 & x1, t5 = x3 & x2,
	         t6 = t2 & x0, t7 = t4 & x0, t8 = t5 & x0, t9 = t5 & x1, t10 = t6 ^ t9, t11 = x1 ^ t10, t12 = t3 ^ t8,
	         t13 = x3 ^ t0, t14 = t2 ^ t13, t15 = t5 ^ t12, t16 = t1 ^ t11, t17 = t14 ^ t16, t18 = x1 ^ t14,
	         t19 = t7 ^ t16, t20 = x0 ^ t15, t21 = t4 ^ t12, t22 = t17 ^ t21, t23 = x0 ^ t19, t24 = t2 ^ t23,
	         t25 = x2 ^ t22, t26 = t11 ^ t15, t27 = t18 ^ t20, t28 = ~t25;

	*to0 ^= t28, *to1 ^= t24, *to2 ^= t27, *to3 ^= t26;
}

#endif
