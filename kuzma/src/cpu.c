#include "cpu.h"

#ifdef KUZMA_X86
#include <cpuid.h>
#include <string.h>

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

struct kuzma_cpu_model kuzma_cpu_model(void)
{
	struct kuzma_cpu_model cpu = { 0 };
	unsigned eax, ebx, ecx, edx;

	if (__get_cpuid(0, &eax, &ebx, &ecx, &edx)) {
		memcpy(cpu.vendor, &ebx, 4);
		memcpy(cpu.vendor + 4, &edx, 4);
		memcpy(cpu.vendor + 8, &ecx, 4);
	}
	if (__get_cpuid(1, &eax, &ebx, &ecx, &edx)) {
		cpu.family = eax >> 8 & 0xf;
		cpu.model = (eax >> 4 & 0xf) | (eax >> 12 & 0xf0);
		if (cpu.family == 0xf)
			cpu.family += eax >> 20 & 0xff;
	}
	return cpu;
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
