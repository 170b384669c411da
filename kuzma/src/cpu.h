/* What this processor can do beyond the architecture's baseline. Each answer is cheap and thread-safe.
 *
 * KUZMA_X86 and KUZMA_ARM say that the files under x86/ and arm/ hold code; they are empty translation units elsewhere,
 * and everywhere if KUZMA_NO_INTRINSICS is defined, which is what a compiler without these intrinsics gets. */
#ifndef KUZMA_CPU_H
#define KUZMA_CPU_H

#include <stdbool.h>

/* As in backend.h. */
#pragma GCC visibility push(hidden)

/* ISO C wants a declaration in every file, also in one that holds nothing for this machine. */
struct kuzma_backend;

#if !defined(KUZMA_NO_INTRINSICS) && defined(__GNUC__) && !defined(__e2k__)
#if defined(__x86_64__)
#define KUZMA_X86 1
#elif defined(__aarch64__) && defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define KUZMA_ARM 1
#endif
#endif

#ifdef KUZMA_X86
/* SSSE3. */
bool kuzma_cpu_ssse3(void);
/* PCLMULQDQ and SSSE3. */
bool kuzma_cpu_pclmul(void);
/* AVX2. */
bool kuzma_cpu_avx2(void);
/* GFNI, with AVX2. */
bool kuzma_cpu_gfni(void);
/* AVX-512 F, BW, DQ, VL, VBMI and VBMI2, GFNI, VPCLMULQDQ: Ice Lake, Zen 4 and later. */
bool kuzma_cpu_avx512(void);

/* Who made the processor, and what it calls it. */
struct kuzma_cpu_model {
	char vendor[13];
	unsigned family, model;
};
struct kuzma_cpu_model kuzma_cpu_model(void);
#endif

#ifdef KUZMA_ARM
/* PMULL of 64 by 64 bits. (NEON itself is aarch64's baseline.) */
bool kuzma_cpu_pmull(void);
#endif

#pragma GCC visibility pop
#endif
