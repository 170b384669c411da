/* What this processor can do beyond the architecture's baseline. Each answer is cheap and thread-safe.
 *
 * MORSE_X86 and MORSE_ARM say that the files under x86/ and arm/ hold code; they are empty translation units elsewhere,
 * and everywhere if MORSE_NO_INTRINSICS or STEND_NO_INTRINSICS is defined, which is what a compiler without these
 * intrinsics gets. */
#ifndef MORSE_CPU_H
#define MORSE_CPU_H

#include <stdbool.h>

/* ISO C wants a declaration in every file, also in one that holds nothing for this machine. */
struct morse_backend;

#if !defined(MORSE_NO_INTRINSICS) && !defined(STEND_NO_INTRINSICS) && defined(__GNUC__) && !defined(__e2k__)
#if defined(__x86_64__)
#define MORSE_X86 1
#elif defined(__aarch64__) && defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MORSE_ARM 1
#endif
#endif

#ifdef MORSE_X86
/* AVX2. */
bool morse_cpu_avx2(void);
/* All that the Makefile lets the files named avx512 use: AVX-512 F, BW, DQ, VL, VBMI and VBMI2, GFNI, VPCLMULQDQ and
 * PCLMULQDQ: Ice Lake, Zen 4 and later. */
bool morse_cpu_avx512(void);
#endif

#endif
