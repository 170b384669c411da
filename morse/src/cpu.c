#include "cpu.h"

#ifdef MORSE_X86
/* The builtin also asks whether the system saves the wide registers. */

bool morse_cpu_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

bool morse_cpu_avx512(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
	       __builtin_cpu_supports("gfni") && __builtin_cpu_supports("vpclmulqdq") &&
	       __builtin_cpu_supports("pclmul");
}
#endif
