/* Magma's S-boxes as networks of functions of three bits, one vpternlog each: six inner nodes and one for each bit of
 * the result, which adds it to the other half of the block as well. They were found by simulated annealing over the
 * networks of six nodes (inputs and functions of each at random, the cost being the number of wrong bits with the best
 * pair of nodes for each output); five nodes were not found to be enough. kuzma/tests/kernels.c puts every value
 * through each of them.
 *
 * In LUT(x, y, z, f), bit 4x + 2y + z of f is the result. x0 is the lowest bit of the nibble. */
#ifndef KUZMA_MAGMA_X86_AVX512_SBOXES_H
#define KUZMA_MAGMA_X86_AVX512_SBOXES_H

#include <immintrin.h>

#define LUT(x, y, z, f) _mm512_ternarylogic_epi64(x, y, z, f)

/* Bit `bit` of a word of t is rotated by 11; words are kept with the highest bit first. */
#define ADD(bit, y, z, f) \
	target[31 - ((bit) + 11) % 32] = LUT(target[31 - ((bit) + 11) % 32], y, z, f)

static inline void substitute_0(__m512i *target, __m512i x0, __m512i x1, __m512i x2, __m512i x3)
{
	__m512i n1 = LUT(x1, x2, x3, 0xea);
	__m512i n2 = LUT(n1, x2, x0, 0x94);
	__m512i n3 = LUT(x3, x1, n2, 0x16);
	__m512i n4 = LUT(x2, n3, x1, 0x18);
	__m512i n5 = LUT(n2, x0, n4, 0xe2);
	__m512i n6 = LUT(n3, n5, x3, 0xe4);

	ADD(0, n4, x1, 0x96);
	ADD(1, n2, x1, 0x96);
	ADD(2, n5, n3, 0x69);
	ADD(3, n6, x0, 0x69);
}

static inline void substitute_1(__m512i *target, __m512i x0, __m512i x1, __m512i x2, __m512i x3)
{
	__m512i n1 = LUT(x3, x1, x2, 0xea);
	__m512i n2 = LUT(x3, x2, x3, 0x9a);
	__m512i n3 = LUT(x3, x0, x1, 0x94);
	__m512i n4 = LUT(n1, x3, x0, 0x6b);
	__m512i n5 = LUT(x2, x0, x1, 0x18);
	__m512i n6 = LUT(n3, n1, n2, 0xd4);

	ADD(4, n5, n4, 0x2d);
	ADD(5, n3, n1, 0x69);
	ADD(6, n6, x1, 0x69);
	ADD(7, n5, x0, 0x96);
}

static inline void substitute_2(__m512i *target, __m512i x0, __m512i x1, __m512i x2, __m512i x3)
{
	__m512i n1 = LUT(x3, x1, x0, 0x9b);
	__m512i n2 = LUT(x3, x2, n1, 0x5b);
	__m512i n3 = LUT(x2, n1, x0, 0x6e);
	__m512i n4 = LUT(x1, x0, x2, 0x62);
	__m512i n5 = LUT(x1, x2, n2, 0xa8);
	__m512i n6 = LUT(x2, x1, n2, 0x89);

	ADD(8, n4, n2, 0xd2);
	ADD(9, n6, x3, 0x69);
	ADD(10, n3, n2, 0x96);
	ADD(11, n5, x0, 0x69);
}

static inline void substitute_3(__m512i *target, __m512i x0, __m512i x1, __m512i x2, __m512i x3)
{
	__m512i n1 = LUT(x0, x1, x2, 0x9e);
	__m512i n2 = LUT(x3, n1, x2, 0xe5);
	__m512i n3 = LUT(x1, x0, n2, 0x25);
	__m512i n4 = LUT(n3, x3, x1, 0x24);
	__m512i n5 = LUT(x0, n1, n2, 0x71);
	__m512i n6 = LUT(x0, x1, n1, 0xee);

	ADD(12, n5, x2, 0x96);
	ADD(13, n3, x2, 0x96);
	ADD(14, n6, n2, 0x87);
	ADD(15, n5, n4, 0x69);
}

static inline void substitute_4(__m512i *target, __m512i x0, __m512i x1, __m512i x2, __m512i x3)
{
	__m512i n1 = LUT(x0, x3, x1, 0x68);
	__m512i n2 = LUT(x0, x2, n1, 0x26);
	__m512i n3 = LUT(x1, x2, x1, 0x44);
	__m512i n4 = LUT(x2, x3, n1, 0x9e);
	__m512i n5 = LUT(n4, x1, n1, 0x6d);
	__m512i n6 = LUT(n2, n4, n1, 0x6f);

	ADD(16, n2, x3, 0x69);
	ADD(17, n4, x1, 0x69);
	ADD(18, n6, n5, 0x78);
	ADD(19, n3, x0, 0x96);
}

static inline void substitute_5(__m512i *target, __m512i x0, __m512i x1, __m512i x2, __m512i x3)
{
	__m512i n1 = LUT(x2, x0, x1, 0x87);
	__m512i n2 = LUT(x2, x1, x3, 0xe8);
	__m512i n3 = LUT(n2, x0, x2, 0xd2);
	__m512i n4 = LUT(x0, x2, x3, 0xc2);
	__m512i n5 = LUT(x1, x3, x2, 0xd6);
	__m512i n6 = LUT(n3, x1, n5, 0xbe);

	ADD(20, n3, n1, 0x96);
	ADD(21, n5, n3, 0x96);
	ADD(22, n4, n3, 0xe1);
	ADD(23, n6, x0, 0x96);
}

static inline void substitute_6(__m512i *target, __m512i x0, __m512i x1, __m512i x2, __m512i x3)
{
	__m512i n1 = LUT(x1, x3, x2, 0x89);
	__m512i n2 = LUT(x0, x2, x1, 0x87);
	__m512i n3 = LUT(x0, n2, x1, 0xf3);
	__m512i n4 = LUT(x0, n1, x3, 0x94);
	__m512i n5 = LUT(n4, n2, n1, 0x31);
	__m512i n6 = LUT(n2, x2, x3, 0x5e);

	ADD(24, n5, x3, 0x96);
	ADD(25, n3, n1, 0x69);
	ADD(26, n4, x1, 0x69);
	ADD(27, n6, n4, 0x69);
}

static inline void substitute_7(__m512i *target, __m512i x0, __m512i x1, __m512i x2, __m512i x3)
{
	__m512i n1 = LUT(x0, x3, x1, 0x82);
	__m512i n2 = LUT(x1, x0, x2, 0x7e);
	__m512i n3 = LUT(x3, x2, x0, 0x94);
	__m512i n4 = LUT(n1, x0, x2, 0xdb);
	__m512i n5 = LUT(x0, x1, x3, 0x6e);
	__m512i n6 = LUT(x2, n3, x0, 0xa3);

	ADD(28, n3, n1, 0xe1);
	ADD(29, n4, x1, 0x69);
	ADD(30, n6, n2, 0x69);
	ADD(31, n5, n2, 0x78);
}

#endif
