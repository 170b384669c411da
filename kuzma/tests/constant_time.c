/* That no branch and no address of the constant-time backends depends on keys or data, in two ways:
 *  - under valgrind, these are marked as undefined: memcheck follows what is computed from them, and reports branches
 *    and addresses that depend on it. Exact, for all modes, but valgrind knows no AVX-512 and no GFNI;
 *  - otherwise, the traces of trace.h under two sets of secrets are compared, of the backends that memcheck cannot run.
 *    Only of the backends' own functions: the modes above them are the same for all, and single steps are slow.
 * Where the counter of CTR stands is no secret: the kernels divide the work at its wraps. That of MGM, the hidden one, is.
 * The table backends, and kernels made for the purpose, must fail both: a test that cannot fail is no test. */
#include "../src/backend.h"
#include "../src/magma/x86/avx512.h"
#include "../src/multiply/multiply.h"
#include "operations.h"
#include "trace.h"

#include <stdlib.h>

#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define HAVE_VALGRIND 1
#endif
#endif
#ifndef HAVE_VALGRIND
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_COUNT_ERRORS 0
#define VALGRIND_MAKE_MEM_UNDEFINED(address, bytes) ((void)0)
#define VALGRIND_MAKE_MEM_DEFINED(address, bytes) ((void)0)
#endif

/* A difference by mistake does not come 20 times in a row; where one is expected, a few times are enough. */
enum { ATTEMPTS = 20, CONTROL_ATTEMPTS = 4, ROOM = 16 * 300 };

enum kernel { ENCRYPT, DECRYPT, COUNTER, HIDDEN_COUNTER, HIDDEN_COUNTER_ALONE, CHAIN, CHAIN_ONLY, KERNELS };

/* All that a function under test works on; always at the same addresses. */
static struct {
	uint8_t key[32], input[ROOM], output[ROOM], iv[KUZMA_IV_BYTES_MAX], tag[16], counter[16], hidden_counter[16];
	bool wraps; /* whether the hidden counter wraps soon: with every other set of secrets */
	struct kuzma_context context;
	const struct kuzma_backend *backend;
	const struct operation *operation;
	enum kernel kernel;
	const struct kuzma_multiplier *multiplier;
	size_t bytes;
	enum kuzma_status status;
} work;

static uint64_t seed = 3;

static void run_operation(void *unused)
{
	struct call call = {
		.context = &work.context,
		.key = work.key,
		.iv = work.iv,
		.iv_blocks = 1,
		.output = work.output,
		.input = work.input,
		.bytes = work.bytes,
	};

	(void)unused;
	work.status = work.operation->run(&call);
	memcpy(work.tag, call.tag, sizeof work.tag);
}

static void run_init(void *unused)
{
	(void)unused;
	work.status = kuzma_init(&work.context, work.backend, work.key, sizeof work.key);
}

static void run_kernel(void *unused)
{
	const struct kuzma_backend *backend = work.backend;
	const void *state = work.context.state;
	size_t blocks = work.bytes / kuzma_block_bytes(backend->cipher);

	(void)unused;
	switch (work.kernel) {
	case ENCRYPT: backend->encrypt_blocks(state, work.output, work.input, blocks); break;
	case DECRYPT: backend->decrypt_blocks(state, work.output, work.input, blocks); break;
	case COUNTER:
		if (backend->ctr_xor != NULL)
			backend->ctr_xor(state, work.counter, work.output, work.input, blocks);
		break;
	case HIDDEN_COUNTER:
		if (backend->hidden_counters != NULL)
			backend->hidden_counters(state, work.hidden_counter, RIGHT_HALF, work.output, work.input, blocks);
		break;
	case HIDDEN_COUNTER_ALONE:
		if (backend->hidden_counters != NULL)
			backend->hidden_counters(state, work.hidden_counter, LEFT_HALF, work.output, NULL, blocks);
		break;
	case CHAIN:
	case CHAIN_ONLY:
		if (backend->cbc_encrypt != NULL)
			backend->cbc_encrypt(state, work.counter, work.kernel == CHAIN ? work.output : NULL, work.input, blocks);
		break;
	case KERNELS: break;
	}
}

/* The messages side by side, of different lengths. */
static void run_many(void *unused)
{
	enum { MESSAGES = 5 };
	struct kuzma_message messages[MESSAGES];
	size_t share = work.bytes / MESSAGES / 16 * 16;

	(void)unused;
	for (size_t i = 0; i < MESSAGES; i++)
		messages[i] = (struct kuzma_message){ work.output + i * share, work.input + i * share,
			                              share - 16 * (i % 2), work.iv + 16 * i };
	work.status = kuzma_cbc_encrypt_many(&work.context, messages, MESSAGES);
	if (work.status == KUZMA_OK)
		work.status = kuzma_mac_many(&work.context, messages, MESSAGES, 8);
}

static void run_multiplier(void *unused)
{
	(void)unused;
	work.multiplier->accumulate(work.output, work.input, work.input + ROOM / 2, work.bytes / 16);
}

/* Kernels that are not constant-time, and one that is. */
static void run_branch(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof work.key; i++)
		if (work.key[i] & 1)
			work.output[i / 2] = work.input[i];
}

static void run_index(void *unused)
{
	(void)unused;
	work.output[0] = work.iv[work.key[0]];
}

static void run_division(void *unused)
{
	volatile unsigned divisor = work.key[0] + 1u;

	(void)unused;
	work.output[0] = (uint8_t)(12345678u / divisor);
}

static void run_straight(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof work.key; i++)
		work.output[i] = work.input[i] ^ work.key[i];
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

__attribute__((target("avx2"))) static void run_gather(void *unused)
{
	__m256i places = _mm256_loadu_si256((const __m256i *)(const void *)work.key);

	(void)unused;
	places = _mm256_and_si256(places, _mm256_set1_epi32(63));
	places = _mm256_i32gather_epi32((const int *)(const void *)work.iv, places, 4);
	_mm256_storeu_si256((__m256i *)(void *)work.output, places);
}

/* Which parts are stored, a vector register says. */
__attribute__((target("avx2"))) static void run_masked_store(void *unused)
{
	__m256i mask = _mm256_loadu_si256((const __m256i *)(const void *)work.key);

	(void)unused;
	_mm256_maskstore_epi32((int *)(void *)work.output, mask, mask);
}
#endif

static void fill(void)
{
	uint64_t of_iv = 1;

	random_bytes(&seed, work.key, sizeof work.key);
	random_bytes(&seed, work.input, sizeof work.input);
	memset(work.hidden_counter, work.wraps ? 0xfe : 0, sizeof work.hidden_counter);
	work.wraps = !work.wraps;
	/* No secrets, and the same in every run. */
	random_bytes(&of_iv, work.iv, sizeof work.iv);
	work.iv[0] &= 0x7f; /* as MGM wants it */
	random_bytes(&of_iv, work.counter, sizeof work.counter);
	memset(work.output, 0, sizeof work.output);
	if (RUNNING_ON_VALGRIND) {
		VALGRIND_MAKE_MEM_UNDEFINED(work.key, sizeof work.key);
		VALGRIND_MAKE_MEM_UNDEFINED(work.input, sizeof work.input);
		VALGRIND_MAKE_MEM_UNDEFINED(work.hidden_counter, sizeof work.hidden_counter);
	}
	if (work.backend != NULL)
		run_init(NULL);
}

enum verdict { DEPENDS, INDEPENDENT, UNKNOWN };

static enum verdict judge(void (*function)(void *), int attempts, uintptr_t *where)
{
	*where = 0;
	if (RUNNING_ON_VALGRIND) {
		fill();
		unsigned long before = VALGRIND_COUNT_ERRORS;
		function(NULL);
		unsigned long after = VALGRIND_COUNT_ERRORS;
		VALGRIND_MAKE_MEM_DEFINED(&work, sizeof work);
		return after == before ? INDEPENDENT : DEPENDS;
	}
	/* The first call may resolve symbols and make tables. */
	fill();
	function(NULL);
	/* What depends on the two sets of secrets differs whenever they are tried. What a hypervisor made of the steps,
	 * which are now and then late or lost, does not. */
	uint64_t start = seed;
	enum verdict verdict = UNKNOWN;
	for (int attempt = 0; attempt < attempts; attempt++) {
		seed = start;
		work.wraps = false;
		fill();
		struct trace_result first = trace(true, function, NULL);
		fill();
		struct trace_result second = trace(false, function, NULL);
		if (!first.possible || !second.possible)
			continue;
		if (second.same)
			return INDEPENDENT;
		verdict = DEPENDS;
		*where = second.differs;
	}
	return verdict;
}

static void expect(enum verdict wanted, void (*function)(void *), const char *name, const char *what)
{
	uintptr_t where;
	enum verdict verdict = judge(function, wanted == DEPENDS ? CONTROL_ATTEMPTS : ATTEMPTS, &where);

	CHECK(verdict == wanted && work.status == KUZMA_OK, "%s, %s, %zu bytes: %s (status %d, at 0x%lx)", name, what,
	      work.bytes, verdict == DEPENDS ? "depends on secrets" : "seems not to depend on secrets", (int)work.status,
	      (unsigned long)where);
}

/* What valgrind 3.19 has the instructions for. A name that is missing here costs time, and nothing else. */
static bool known_to_memcheck(const char *name)
{
	static const char *const known[] = { "constant-time", "portable", "ssse3", "pclmul", "avx2", "neon", "pmull" };

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(name, known[i]) == 0)
			return true;
	return false;
}

static void check_operations(const char *name)
{
	static const size_t counts[] = { 1, 2, 7, 21, 69, 133 };
	size_t block = kuzma_block_bytes(work.backend->cipher);

	for (const struct operation *operation = operations; operation->name != NULL; operation++) {
		/* Memcheck cannot be told that whether a tag is right is no secret. */
		if (strcmp(operation->name, "MGM opening") == 0)
			continue;
		work.operation = operation;
		for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
			work.bytes = counts[i] * block + (operation->whole_blocks ? 0 : 3);
			expect(INDEPENDENT, run_operation, name, operation->name);
		}
	}
	work.bytes = 15 * 16;
	expect(INDEPENDENT, run_many, name, "many messages");
}

/* Block counts at which kernels take different ways: one, a few, whole groups and what is left over. */
static void check_kernels(const char *name)
{
	static const char *const kernels[KERNELS] = { "blocks encrypted", "blocks decrypted", "counters", "hidden counters",
		                                      "hidden counters alone", "chain", "register" };
	static const size_t wide_counts[] = { 1, 3, 7, 21, 69, 300, 600 }, narrow_counts[] = { 1, 2 };

	work.bytes = 0;
	expect(INDEPENDENT, run_init, name, "key schedule");
	for (work.kernel = ENCRYPT; work.kernel < KERNELS; work.kernel++) {
		bool wide = work.kernel < CHAIN;
		size_t count = wide ? sizeof wide_counts / sizeof *wide_counts : sizeof narrow_counts / sizeof *narrow_counts;

		/* Only Magma has kernels for so many. */
		if (wide && work.backend->cipher == KUZMA_KUZNYECHIK)
			count--;
		for (size_t i = 0; i < count; i++) {
			work.bytes = (wide ? wide_counts : narrow_counts)[i] * kuzma_block_bytes(work.backend->cipher);
			expect(INDEPENDENT, run_kernel, name, kernels[work.kernel]);
		}
	}
}

static void check_multipliers(enum kuzma_cipher cipher)
{
	const struct kuzma_multiplier *multiplier;

	for (size_t i = 0; (multiplier = kuzma_multiplier_at(cipher, i)) != NULL; i++) {
		if (multiplier->supported != NULL && !multiplier->supported())
			continue;
		if (!RUNNING_ON_VALGRIND && known_to_memcheck(multiplier->name))
			continue;
		work.multiplier = multiplier;
		work.status = KUZMA_OK;
		for (work.bytes = 0; work.bytes < 20 * 16; work.bytes += RUNNING_ON_VALGRIND ? 16 : 112)
			expect(INDEPENDENT, run_multiplier, multiplier->name, "sum of products");
	}
}

int main(void)
{
	uintptr_t where;

	if (!RUNNING_ON_VALGRIND && judge(run_straight, ATTEMPTS, &where) == UNKNOWN) {
		if (!skip_emulated("constant time", "an emulator takes no single steps, and valgrind knows no emulator"))
			fprintf(stderr, "constant_time: no single steps here, and not under valgrind: nothing was tried\n");
		CHECK(getenv("CONSTANT_TIME_MUST") == NULL, "built without valgrind/memcheck.h");
		CHECK(!TRACE_BUILT || getenv("CI") == NULL, "under CI nothing may be skipped");
		return harness_finish();
	}
	work.bytes = 0;
	expect(INDEPENDENT, run_straight, "control", "no branch");
	expect(DEPENDS, run_branch, "control", "branch");
	expect(DEPENDS, run_index, "control", "address");
	if (!RUNNING_ON_VALGRIND)
		expect(DEPENDS, run_division, "control", "division");
#if defined(__x86_64__) && defined(__GNUC__)
	if (__builtin_cpu_supports("avx2"))
		expect(DEPENDS, run_gather, "control", "gather");
	if (__builtin_cpu_supports("avx2") && !RUNNING_ON_VALGRIND)
		expect(DEPENDS, run_masked_store, "control", "masked store");
#endif
	for (int cipher = 0; cipher < 2; cipher++) {
		enum kuzma_cipher which = (enum kuzma_cipher)cipher;
		const struct kuzma_backend *backend;

		for (size_t i = 0; (backend = kuzma_backend_at(which, i)) != NULL; i++) {
			char name[64];

			snprintf(name, sizeof name, "%s/%s", kuzma_cipher_name(which), kuzma_backend_name(backend));
			if (!kuzma_backend_supported(backend))
				continue;
			work.backend = backend;
			work.kernel = ENCRYPT;
			work.bytes = 16;
			if (!kuzma_backend_constant_time(backend)) {
				expect(DEPENDS, run_kernel, name, "control");
			} else if (RUNNING_ON_VALGRIND) {
				check_kernels(name);
				check_operations(name);
			} else if (!known_to_memcheck(kuzma_backend_name(backend))) {
				check_kernels(name);
#ifdef KUZMA_X86
				/* The other of the two for long messages, of which one was chosen. */
				if (backend == &kuzma_magma_avx512) {
					kuzma_magma_avx512_choose(kuzma_magma_avx512_long_kernel() == MAGMA_GROUPS ? MAGMA_SLICED : MAGMA_GROUPS);
					check_kernels(name);
				}
#endif
			}
			work.backend = NULL;
		}
		check_multipliers(which);
	}
	return harness_finish();
}
