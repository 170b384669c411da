#include "multiply/multiply.h"

static const struct kuzma_multiplier *const multipliers128[] = {
#ifdef KUZMA_X86
	&kuzma_multiplier128_avx512,
	&kuzma_multiplier128_pclmul,
#endif
#ifdef KUZMA_ARM
	&kuzma_multiplier128_pmull,
#endif
	&kuzma_multiplier128_portable,
};

static const struct kuzma_multiplier *const multipliers64[] = {
#ifdef KUZMA_X86
	&kuzma_multiplier64_avx512,
	&kuzma_multiplier64_pclmul,
#endif
#ifdef KUZMA_ARM
	&kuzma_multiplier64_pmull,
#endif
	&kuzma_multiplier64_portable,
};

const struct kuzma_multiplier *kuzma_multiplier_at(enum kuzma_cipher cipher, size_t index)
{
	if (cipher == KUZMA_KUZNYECHIK && index < sizeof multipliers128 / sizeof *multipliers128)
		return multipliers128[index];
	if (cipher == KUZMA_MAGMA && index < sizeof multipliers64 / sizeof *multipliers64)
		return multipliers64[index];
	return NULL;
}

const struct kuzma_multiplier *kuzma_multiplier(enum kuzma_cipher cipher)
{
	const struct kuzma_multiplier *multiplier;

	for (size_t i = 0; (multiplier = kuzma_multiplier_at(cipher, i)) != NULL; i++)
		if (multiplier->supported == NULL || multiplier->supported())
			return multiplier;
	return NULL;
}
