/* With x86 vector registers and string instructions. Elbrus takes the intrinsics too, but emulates the wide ones, so it is
 * left out. */
#include "copy/methods.h"

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__) && !defined(__e2k__) && !defined(STEND_NO_INTRINSICS)

#include <immintrin.h>

#define TARGET(name) __attribute__((target(name)))

/* Compilers that see what the vector is made of would call memset. */
#define HIDE(vector) __asm__("" : "+v"(vector))
#define HIDE_SSE2(vector) __asm__("" : "+x"(vector))

#define SSE2_LOAD(at) _mm_loadu_si128((const __m128i *)(const void *)(at))
#define SSE2_STORE(at, vector) _mm_storeu_si128((__m128i *)(void *)(at), vector)
#define SSE2_STREAM(at, vector) _mm_stream_si128((__m128i *)(void *)(at), vector)
#define AVX2_LOAD(at) _mm256_loadu_si256((const __m256i *)(const void *)(at))
#define AVX2_STORE(at, vector) _mm256_storeu_si256((__m256i *)(void *)(at), vector)
#define AVX2_STREAM(at, vector) _mm256_stream_si256((__m256i *)(void *)(at), vector)
#define AVX512_LOAD(at) _mm512_loadu_si512((const void *)(at))
#define AVX512_STORE(at, vector) _mm512_storeu_si512((void *)(at), vector)
#define AVX512_STREAM(at, vector) _mm512_stream_si512((void *)(at), vector)

/* The three ways of a width, and past the caches: stores of that kind are ordered by the fence. */
#define METHODS(set, instructions, type, width, prefix, LOAD, STORE, STREAM, HIDDEN)                                        \
	static TARGET(instructions) void copy_##set(uint8_t *restrict to, const uint8_t *restrict from, size_t bytes)       \
	{                                                                                                                   \
		COPY_LOOP(type, width, LOAD, STORE);                                                                        \
	}                                                                                                                   \
	static TARGET(instructions) uint64_t load_##set(const uint8_t *from, size_t bytes, uint64_t passes)                 \
	{                                                                                                                   \
		LOAD_LOOP(type, width, prefix##_set1_epi8(0), LOAD, prefix##_add_epi64);                                    \
	}                                                                                                                   \
	static TARGET(instructions) void store_##set(uint8_t *to, uint8_t value, size_t bytes)                              \
	{                                                                                                                   \
		type vector = prefix##_set1_epi8((char)value);                                                              \
		HIDDEN(vector);                                                                                             \
		STORE_LOOP(width, STORE, vector);                                                                           \
	}                                                                                                                   \
	static TARGET(instructions) void copy_nontemporal_##set(uint8_t *restrict to, const uint8_t *restrict from,         \
	                                                        size_t bytes)                                               \
	{                                                                                                                   \
		COPY_LOOP(type, width, LOAD, STREAM);                                                                       \
		_mm_sfence();                                                                                               \
	}                                                                                                                   \
	static TARGET(instructions) void store_nontemporal_##set(uint8_t *to, uint8_t value, size_t bytes)                  \
	{                                                                                                                   \
		type vector = prefix##_set1_epi8((char)value);                                                              \
		HIDDEN(vector);                                                                                             \
		STORE_LOOP(width, STREAM, vector);                                                                          \
		_mm_sfence();                                                                                               \
	}

METHODS(sse2, "sse2", __m128i, 16, _mm, SSE2_LOAD, SSE2_STORE, SSE2_STREAM, HIDE_SSE2)
METHODS(avx2, "avx2", __m256i, 32, _mm256, AVX2_LOAD, AVX2_STORE, AVX2_STREAM, HIDE_SSE2)
METHODS(avx512, "avx512f", __m512i, 64, _mm512, AVX512_LOAD, AVX512_STORE, AVX512_STREAM, HIDE)

static void copy_rep_movsb(uint8_t *restrict to, const uint8_t *restrict from, size_t bytes)
{
	void *target = to;
	const void *source = from;

	__asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
}

static void store_rep_stosb(uint8_t *to, uint8_t value, size_t bytes)
{
	void *target = to;

	__asm__ volatile("rep stosb" : "+D"(target), "+c"(bytes) : "a"(value) : "memory");
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
	{ "sse2", has_sse2, copy_sse2, load_sse2, store_sse2 },
	{ "avx2", has_avx2, copy_avx2, load_avx2, store_avx2 },
	{ "avx512", has_avx512, copy_avx512, load_avx512, store_avx512 },
	{ "rep-movsb", NULL, copy_rep_movsb, NULL, store_rep_stosb },
	{ "nontemporal-sse2", has_sse2, copy_nontemporal_sse2, NULL, store_nontemporal_sse2 },
	{ "nontemporal-avx2", has_avx2, copy_nontemporal_avx2, NULL, store_nontemporal_avx2 },
	{ "nontemporal-avx512", has_avx512, copy_nontemporal_avx512, NULL, store_nontemporal_avx512 },
	{ NULL, NULL, NULL, NULL, NULL },
};

#else

const struct copy_method copy_methods_x86[] = {
	{ NULL, NULL, NULL, NULL, NULL },
};

#endif
