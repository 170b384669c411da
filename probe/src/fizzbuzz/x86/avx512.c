/* One permutation of the alphabet makes 64 bytes: vpermb, AVX-512 VBMI. */
#include "../backend.h"

#ifdef FIZZBUZZ_X86

#include <immintrin.h>

static bool supported(void)
{
	/* All that the file is compiled with. The builtin also asks whether the system saves the wide registers. */
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
	       __builtin_cpu_supports("gfni") && __builtin_cpu_supports("vpclmulqdq");
}

static inline __m512i tenth_alphabet(const struct shape *shape, const struct alphabet *alphabet, size_t tenth)
{
	__m512i thousands = _mm512_permutexvar_epi64(_mm512_loadu_si512(shape->thousands[tenth]), _mm512_loadu_si512(alphabet));
	__m512i hundreds = _mm512_loadu_si512(shape->hundreds[tenth]);

	return _mm512_mask_mov_epi8(thousands, _mm512_test_epi8_mask(hundreds, hundreds), hundreds);
}

static inline __m512i take(const struct shape *shape, size_t at, __m512i letters)
{
	return _mm512_permutexvar_epi8(_mm512_loadu_si512(shape->index + at), letters);
}

static void fill(const struct shape *shape, const struct alphabet *alphabet, uint8_t *to)
{
	size_t bytes = shape->tenth_bytes;

	for (size_t tenth = 0; tenth < TENTHS; tenth++, to += bytes) {
		__m512i letters = tenth_alphabet(shape, alphabet, tenth);
		/* Up to a multiple of 64 first: a store that crosses cache lines costs two, a load of the index less. */
		size_t at = -(uintptr_t)to & 63;

		_mm512_storeu_si512(to, take(shape, 0, letters));
		for (; at + 128 <= bytes; at += 128) {
			_mm512_store_si512(to + at, take(shape, at, letters));
			_mm512_store_si512(to + at + 64, take(shape, at + 64, letters));
		}
		for (; at < bytes; at += 64)
			_mm512_store_si512(to + at, take(shape, at, letters));
	}
}

static inline __m512i difference(const struct shape *shape, size_t at, __m512i letters, __m512i data)
{
	return _mm512_xor_si512(take(shape, at, letters), data);
}

static bool same(const struct shape *shape, const struct alphabet *alphabet, const uint8_t *data)
{
	__m512i differs = _mm512_setzero_si512(), differs_too = differs;
	size_t bytes = shape->tenth_bytes;

	for (size_t tenth = 0; tenth < TENTHS; tenth++, data += bytes) {
		__m512i letters = tenth_alphabet(shape, alphabet, tenth);
		/* As in fill(): what is in the second cache is better loaded by lines. */
		size_t at = -(uintptr_t)data & 63;

		differs = _mm512_or_si512(differs, difference(shape, 0, letters, _mm512_loadu_si512(data)));
		for (; at + 128 <= bytes; at += 128) {
			__m512i one = difference(shape, at, letters, _mm512_load_si512(data + at));
			__m512i two = difference(shape, at + 64, letters, _mm512_load_si512(data + at + 64));

			differs = _mm512_or_si512(differs, one);
			differs_too = _mm512_or_si512(differs_too, two);
		}
		for (; at + 64 <= bytes; at += 64)
			differs = _mm512_or_si512(differs, difference(shape, at, letters, _mm512_load_si512(data + at)));
		__mmask64 rest = (UINT64_C(1) << (bytes - at)) - 1; /* fewer than 64 */
		__m512i last = difference(shape, at, letters, _mm512_maskz_loadu_epi8(rest, data + at));
		differs = _mm512_or_si512(differs, _mm512_maskz_mov_epi8(rest, last));
	}
	differs = _mm512_or_si512(differs, differs_too);
	return _mm512_test_epi64_mask(differs, differs) == 0;
}

const struct backend fizzbuzz_avx512 = { "avx512", supported, fill, same };

#endif
