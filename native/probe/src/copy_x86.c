/* Copies with x86 vector registers and string instructions. Elbrus takes the intrinsics too, but emulates the wide
 * ones, so it is left out. */
#include "copy_methods.h"

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__) && !defined(__e2k__) && !defined(STEND_NO_INTRINSICS)

#include <immintrin.h>
#include <string.h>

#define TARGET(name) __attribute__((target(name)))

/* `width` bytes by `load` and `store`, four at a time, then one at a time; the rest by memcpy. */
#define VECTOR_LOOP(type, width, load, store)                                                         \
	size_t i = 0;                                                                                 \
	for (; i + 4 * (width) <= bytes; i += 4 * (width)) {                                          \
		type a = load(from + i), b = load(from + i + (width));                                \
		type c = load(from + i + 2 * (width)), d = load(from + i + 3 * (width));              \
		store(to + i, a);                                                                     \
		store(to + i + (width), b);                                                           \
		store(to + i + 2 * (width), c);                                                       \
		store(to + i + 3 * (width), d);                                                       \
	}                                                                                             \
	for (; i + (width) <= bytes; i += (width))                                                    \
		store(to + i, load(from + i));                                                        \
	if (i < bytes)                                                                                \
	memcpy(to + i, from + i, bytes - i)

#define SSE2_LOAD(at) _mm_loadu_si128((const __m128i *)(const void *)(at))
#define SSE2_STORE(at, value) _mm_storeu_si128((__m128i *)(void *)(at), value)
#define SSE2_STREAM(at, value) _mm_stream_si128((__m128i *)(void *)(at), value)
#define AVX2_LOAD(at) _mm256_loadu_si256((const __m256i *)(const void *)(at))
#define AVX2_STORE(at, value) _mm256_storeu_si256((__m256i *)(void *)(at), value)
#define AVX512_LOAD(at) _mm512_loadu_si512((const void *)(at))
#define AVX512_STORE(at, value) _mm512_storeu_si512((void *)(at), value)

static TARGET("sse2") void copy_sse2(uint8_t *restrict to, const uint8_t *restrict from, size_t bytes)
{
	VECTOR_LOOP(__m128i, 16, SSE2_LOAD, SSE2_STORE);
}

static TARGET("sse2") void copy_nontemporal(uint8_t *restrict to, const uint8_t *restrict from, size_t bytes)
{
	VECTOR_LOOP(__m128i, 16, SSE2_LOAD, SSE2_STREAM);
	_mm_sfence();
}

static TARGET("avx2") void copy_avx2(uint8_t *restrict to, const uint8_t *restrict from, size_t bytes)
{
	VECTOR_LOOP(__m256i, 32, AVX2_LOAD, AVX2_STORE);
}

static TARGET("avx512f") void copy_avx512(uint8_t *restrict to, const uint8_t *restrict from, size_t bytes)
{
	VECTOR_LOOP(__m512i, 64, AVX512_LOAD, AVX512_STORE);
}

static void copy_rep_movsb(uint8_t *restrict to, const uint8_t *restrict from, size_t bytes)
{
	void *target = to;
	const void *source = from;

	__asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
}

static bool has_sse2(void)
{
	return __builtin_cpu_supports("sse2");
}

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

static bool has_avx512(void)
{
	return __builtin_cpu_supports("avx512f");
}

const struct copy_method copy_methods_x86[] = {
	{ "sse2", "16-byte registers", has_sse2, copy_sse2 },
	{ "avx2", "32-byte registers", has_avx2, copy_avx2 },
	{ "avx512", "64-byte registers", has_avx512, copy_avx512 },
	{ "rep-movsb", "the string instruction", NULL, copy_rep_movsb },
	{ "nontemporal", "16-byte stores past the caches", has_sse2, copy_nontemporal },
	{ NULL, NULL, NULL, NULL },
};

#else

const struct copy_method copy_methods_x86[] = {
	{ NULL, NULL, NULL, NULL },
};

#endif
