/* Morse with AVX-512, its byte permutations, and PEXT: the backend's value, and its counting. */
#include "avx512.h"

#ifdef MORSE_X86
static bool supported(void)
{
	return morse_cpu_avx512() && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
	       __builtin_cpu_supports("popcnt");
}

/* Which of the lowest 64 bytes there are. */
INLINE_BMI uint64_t those_of(size_t count)
{
	return low_bits(count < 64 ? (unsigned)count : 64);
}

/* What is not there is loaded as 0, so it is masked again in case that is the byte. */
WITH_BMI static size_t count_byte(const uint8_t *bytes, size_t count, uint8_t byte)
{
	const __m512i wanted = _mm512_set1_epi8((char)byte);
	size_t sum = 0;

	for (size_t at = 0; at < count; at += 64) {
		uint64_t there = those_of(count - at);
		__m512i part = _mm512_maskz_loadu_epi8(there, bytes + at);

		sum += (size_t)_mm_popcnt_u64(_mm512_mask_cmpeq_epi8_mask(there, part, wanted));
	}
	return sum;
}

/* Bytes from 80 to BF go on with a character: as signed numbers, they are the least. */
WITH_BMI static size_t count_characters(const uint8_t *bytes, size_t count)
{
	const __m512i last = _mm512_set1_epi8((char)0xBF);
	size_t sum = 0;

	for (size_t at = 0; at < count; at += 64) {
		uint64_t there = those_of(count - at);
		__m512i part = _mm512_maskz_loadu_epi8(there, bytes + at);

		sum += (size_t)_mm_popcnt_u64(_mm512_mask_cmpgt_epi8_mask(there, part, last));
	}
	return sum;
}

const struct morse_backend morse_avx512 = {
	.name = "avx512",
	.supported = supported,
	.encode = morse_avx512_encode,
	.decode = morse_avx512_decode,
	.count_byte = count_byte,
	.count_characters = count_characters,
};
#endif
