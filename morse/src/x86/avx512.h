/* What the files of the AVX-512 backend share. */
#ifndef MORSE_AVX512_H
#define MORSE_AVX512_H

/* By this path, because other libraries have a backend.h as well. */
#include "../backend.h"

#ifdef MORSE_X86
#include <immintrin.h>

/* PEXT, BZHI, ANDN and the like belong to no file name of the Makefile; morse_avx512 asks the processor for them
 * too. */
#define WITH_BMI __attribute__((target("bmi,bmi2")))
#define INLINE static inline __attribute__((always_inline))
#define INLINE_BMI static inline __attribute__((always_inline, target("bmi,bmi2")))

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

struct morse_progress morse_avx512_encode(const struct morse_alphabet *alphabet, uint8_t *output, size_t room,
                                          const uint8_t *input, size_t bytes);
struct morse_progress morse_avx512_decode(const struct morse_alphabet *alphabet, uint8_t *output, size_t room,
                                          const uint8_t *input, size_t bytes);

/* The lowest `count` bits, 0 to 64. */
INLINE_BMI uint64_t low_bits(unsigned count)
{
	return _bzhi_u64(UINT64_MAX, count);
}

/* How many of the lowest bits are 0, 64 of 0. */
INLINE unsigned zeros_below(uint64_t mask)
{
	return mask == 0 ? 64 : (unsigned)__builtin_ctzll(mask);
}

/* 0, 1, … 63 in the bytes, from `first` on. */
INLINE __m512i count_up(char first)
{
	static const uint8_t zero_to_63[64] __attribute__((aligned(64))) = {
		0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
		22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
		44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
	};

	return _mm512_add_epi8(_mm512_load_si512(zero_to_63), _mm512_set1_epi8(first));
}
#endif

#endif
