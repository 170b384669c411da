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

static inline __m512i take(const struct shape *shape, size_t at, __m512i letters)
{
	return _mm512_permutexvar_epi8(_mm512_loadu_si512(shape->index + at), letters);
}

static void fill(const struct shape *shape, const struct alphabet *alphabet, uint8_t *to)
{
	__m512i letters = _mm512_loadu_si512(alphabet);
	/* Up to a multiple of 64 first: a store that crosses cache lines costs two, a load of the index less. */
	size_t at = -(uintptr_t)to & 63;

	_mm512_storeu_si512(to, take(shape, 0, letters));
	for (; at + 256 <= shape->bytes; at += 256) {
		_mm512_store_si512(to + at, take(shape, at, letters));
		_mm512_store_si512(to + at + 64, take(shape, at + 64, letters));
		_mm512_store_si512(to + at + 128, take(shape, at + 128, letters));
		_mm512_store_si512(to + at + 192, take(shape, at + 192, letters));
	}
	for (; at < shape->bytes; at += 64)
		_mm512_store_si512(to + at, take(shape, at, letters));
}

static bool same(const struct shape *shape, const struct alphabet *alphabet, const uint8_t *data)
{
	__m512i letters = _mm512_loadu_si512(alphabet), differs = _mm512_setzero_si512();
	size_t at = 0;

	for (; at + 64 <= shape->bytes; at += 64) {
		__m512i difference = _mm512_xor_si512(take(shape, at, letters), _mm512_loadu_si512(data + at));
		differs = _mm512_or_si512(differs, difference);
	}
	__mmask64 rest = (UINT64_C(1) << (shape->bytes - at)) - 1; /* fewer than 64 */
	__mmask64 wrong = _mm512_mask_cmpneq_epi8_mask(rest, take(shape, at, letters), _mm512_maskz_loadu_epi8(rest, data + at));
	return (wrong | _mm512_test_epi64_mask(differs, differs)) == 0;
}

const struct backend fizzbuzz_avx512 = { "avx512", supported, fill, same };

#endif
