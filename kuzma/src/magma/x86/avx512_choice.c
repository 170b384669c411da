/* Which of the two kernels takes long messages. The bit-sliced one has fewer operations a block, but its state lies in
 * memory: where a core starts one load of 512 bits a cycle it waits for them. */
#include "cpu.h"

#ifdef KUZMA_X86

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "avx512.h"

/* Processors on which both were measured; docs/inside.md has the figures. */
static const struct {
	const char *vendor;
	unsigned family, first_model, last_model;
	enum magma_long_kernel faster;
} measured[] = {
	{ "AuthenticAMD", 0x19, 0x00, 0xff, MAGMA_GROUPS }, /* Zen 4: the others of this family have no AVX-512 */
	{ "AuthenticAMD", 0x1a, 0x00, 0x1f, MAGMA_GROUPS }, /* Zen 5 in servers, whose paths are 512 bits wide */
	{ "GenuineIntel", 6, 0x8f, 0x8f, MAGMA_SLICED },    /* Sapphire Rapids */
};

enum magma_long_kernel kuzma_magma_avx512_decide(const struct kuzma_cpu_model *cpu,
                                                 enum magma_long_kernel (*measure)(void))
{
	for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
		if (strcmp(cpu->vendor, measured[i].vendor) == 0 && cpu->family == measured[i].family &&
		    cpu->model >= measured[i].first_model && cpu->model <= measured[i].last_model)
			return measured[i].faster;
	return kuzma_measuring_allowed() ? measure() : MAGMA_GROUPS;
}

static uint64_t now_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* In turns, and the shortest time of each counts: whatever comes between makes a time longer. */
enum magma_long_kernel kuzma_magma_avx512_measure(void)
{
	enum { TURNS = 10, BLOCKS = 2 * MAGMA_SLICED_BLOCKS };
	static const uint8_t key[KUZMA_KEY_BYTES];
	struct magma_avx512 state;
	uint8_t data[8 * BLOCKS] = { 0 };
	uint64_t best[MAGMA_SLICED + 1] = { UINT64_MAX, UINT64_MAX, UINT64_MAX };

	kuzma_magma_avx512.set_key(&state, key);
	for (unsigned turn = 0; turn < TURNS; turn++) {
		for (enum magma_long_kernel kernel = MAGMA_GROUPS; kernel <= MAGMA_SLICED; kernel++) {
			uint64_t start = now_ns(), ns;

			kuzma_magma_avx512_crypt(&state, kernel, MAGMA_ENCRYPT, data, data, BLOCKS);
			ns = now_ns() - start;
			best[kernel] = ns < best[kernel] ? ns : best[kernel];
		}
	}
	return best[MAGMA_SLICED] < best[MAGMA_GROUPS] ? MAGMA_SLICED : MAGMA_GROUPS;
}

static _Atomic(enum magma_long_kernel) chosen;

void kuzma_magma_avx512_choose(enum magma_long_kernel kernel)
{
	atomic_store_explicit(&chosen, kernel, memory_order_relaxed);
}

/* Two threads may decide at once, each for itself; either answer gives the same blocks. */
enum magma_long_kernel kuzma_magma_avx512_long_kernel(void)
{
	enum magma_long_kernel kernel = atomic_load_explicit(&chosen, memory_order_relaxed);

	if (kernel == MAGMA_UNDECIDED) {
		struct kuzma_cpu_model cpu = kuzma_cpu_model();

		kernel = kuzma_magma_avx512_decide(&cpu, kuzma_magma_avx512_measure);
		kuzma_magma_avx512_choose(kernel);
	}
	return kernel;
}

#endif
