#include "cpu.h"

#ifdef KUZMA_X86
/* The builtin also asks whether the system saves the wide registers. */

bool kuzma_cpu_ssse3(void)
{
	return __builtin_cpu_supports("ssse3");
}

bool kuzma_cpu_pclmul(void)
{
	return __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("pclmul");
}

bool kuzma_cpu_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

bool kuzma_cpu_gfni(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("gfni");
}

bool kuzma_cpu_avx512(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
	       __builtin_cpu_supports("gfni") &&
	       __builtin_cpu_supports("vpclmulqdq");
}
#endif

#ifdef KUZMA_ARM
#ifdef __linux__
#include <sys/auxv.h>

#include <asm/hwcap.h>
#endif

bool kuzma_cpu_pmull(void)
{
#if defined(__linux__)
	return (getauxval(AT_HWCAP) & HWCAP_PMULL) != 0;
#elif defined(__APPLE__)
	return true; /* in all of them */
#else
	return false;
#endif
}
#endif
