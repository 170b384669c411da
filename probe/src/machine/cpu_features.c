#include "machine/cpu_features.h"

#include <stddef.h>
#include <stdio.h>

#if defined(__e2k__)
/* No CPUID: what the compiler was told is all there is. */

const char *features_list(void (*found)(void *argument, const char *name), void *argument)
{
	char name[32];

	snprintf(name, sizeof name, "e2k-v%d", (int)__iset__);
	found(argument, name);
	return "compiler";
}

#elif (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__) && !defined(STEND_NO_INTRINSICS)

#include <cpuid.h>

/* The names must be literals, and one that a compiler does not know is an error: so only the old ones. The builtin
 * also asks whether the system saves the registers. */
#define TRY(name)                                  \
	do {                                       \
		if (__builtin_cpu_supports(name))  \
			found(argument, name);     \
	} while (0)

/* Intel SDM volume 2A, CPUID leaf 7, subleaf 0. */
static void list_leaf_7(void (*found)(void *argument, const char *name), void *argument)
{
	static const struct {
		const char *name;
		unsigned word, bit; /* word: 0 EBX, 1 ECX, 2 EDX */
		enum { ANY, NEEDS_AVX2, NEEDS_AVX512 } needs;
	} rows[] = {
		{ "erms", 0, 9, ANY }, { "sha", 0, 29, ANY }, { "fsrm", 2, 4, ANY }, { "gfni", 1, 8, ANY },
		{ "vaes", 1, 9, NEEDS_AVX2 }, { "vpclmulqdq", 1, 10, NEEDS_AVX2 },
		{ "avx512ifma", 0, 21, NEEDS_AVX512 }, { "avx512vbmi", 1, 1, NEEDS_AVX512 },
		{ "avx512vbmi2", 1, 6, NEEDS_AVX512 }, { "avx512vnni", 1, 11, NEEDS_AVX512 },
		{ "avx512bitalg", 1, 12, NEEDS_AVX512 }, { "avx512vpopcntdq", 1, 14, NEEDS_AVX512 },
	};
	unsigned leaf, words[3];

	if (!__get_cpuid_count(7, 0, &leaf, &words[0], &words[1], &words[2]))
		return;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if ((words[rows[i].word] >> rows[i].bit & 1u) == 0)
			continue;
		if (rows[i].needs == NEEDS_AVX2 && !__builtin_cpu_supports("avx2"))
			continue;
		if (rows[i].needs == NEEDS_AVX512 && !__builtin_cpu_supports("avx512f"))
			continue;
		found(argument, rows[i].name);
	}
}

const char *features_list(void (*found)(void *argument, const char *name), void *argument)
{
	__builtin_cpu_init();
	TRY("sse2");
	TRY("ssse3");
	TRY("sse4.1");
	TRY("sse4.2");
	TRY("popcnt");
	TRY("aes");
	TRY("pclmul");
	TRY("avx");
	TRY("avx2");
	TRY("fma");
	TRY("bmi");
	TRY("bmi2");
	TRY("avx512f");
	TRY("avx512dq");
	TRY("avx512cd");
	TRY("avx512bw");
	TRY("avx512vl");
	list_leaf_7(found, argument);
	return "cpuid";
}

#elif defined(__linux__) && (defined(__aarch64__) || defined(__arm__) || defined(__riscv))

#include <sys/auxv.h>
#if !defined(__riscv)
#include <asm/hwcap.h>
#endif

struct bit {
	unsigned long mask;
	const char *name;
};

static const struct bit bits[] = {
#if defined(__aarch64__)
#ifdef HWCAP_FP
	{ HWCAP_FP, "fp" },
#endif
#ifdef HWCAP_ASIMD
	{ HWCAP_ASIMD, "asimd" },
#endif
#ifdef HWCAP_AES
	{ HWCAP_AES, "aes" },
#endif
#ifdef HWCAP_PMULL
	{ HWCAP_PMULL, "pmull" },
#endif
#ifdef HWCAP_SHA1
	{ HWCAP_SHA1, "sha1" },
#endif
#ifdef HWCAP_SHA2
	{ HWCAP_SHA2, "sha2" },
#endif
#ifdef HWCAP_CRC32
	{ HWCAP_CRC32, "crc32" },
#endif
#ifdef HWCAP_ATOMICS
	{ HWCAP_ATOMICS, "atomics" },
#endif
#ifdef HWCAP_ASIMDDP
	{ HWCAP_ASIMDDP, "asimddp" },
#endif
#ifdef HWCAP_SHA3
	{ HWCAP_SHA3, "sha3" },
#endif
#ifdef HWCAP_SHA512
	{ HWCAP_SHA512, "sha512" },
#endif
#ifdef HWCAP_SVE
	{ HWCAP_SVE, "sve" },
#endif
#elif defined(__arm__)
#ifdef HWCAP_NEON
	{ HWCAP_NEON, "neon" },
#endif
#ifdef HWCAP_VFPv4
	{ HWCAP_VFPv4, "vfpv4" },
#endif
#elif defined(__riscv)
	/* One bit a letter. */
	{ 1ul << ('i' - 'a'), "i" }, { 1ul << ('m' - 'a'), "m" }, { 1ul << ('a' - 'a'), "a" },
	{ 1ul << ('f' - 'a'), "f" }, { 1ul << ('d' - 'a'), "d" }, { 1ul << ('c' - 'a'), "c" },
	{ 1ul << ('v' - 'a'), "v" },
#endif
	{ 0, NULL },
};

const char *features_list(void (*found)(void *argument, const char *name), void *argument)
{
	unsigned long present = getauxval(AT_HWCAP);

	for (size_t i = 0; bits[i].name != NULL; i++)
		if ((present & bits[i].mask) != 0)
			found(argument, bits[i].name);
#if defined(__aarch64__) && defined(HWCAP2_SVE2)
	if ((getauxval(AT_HWCAP2) & HWCAP2_SVE2) != 0)
		found(argument, "sve2");
#endif
	return "auxiliary vector";
}

#else

const char *features_list(void (*found)(void *argument, const char *name), void *argument)
{
	(void)found;
	(void)argument;
	return "compiler";
}

#endif
