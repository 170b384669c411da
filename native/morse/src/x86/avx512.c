/* Morse with AVX-512, its byte permutations, and PEXT: the backend's value. */
#include "avx512.h"

#ifdef MORSE_X86
static bool supported(void)
{
	return morse_cpu_avx512() && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
	       __builtin_cpu_supports("popcnt");
}

const struct morse_backend morse_avx512 = {
	.name = "avx512",
	.supported = supported,
	.encode = morse_avx512_encode,
	.decode = morse_avx512_decode,
};
#endif
