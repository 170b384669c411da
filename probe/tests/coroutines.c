/* Each way to switch between coroutines: what it must keep stays, what it does not keep is as it says, and the stacks are
 * apart. */
#include "harness.h"
#include "switch/coroutine.h"

#include <errno.h>
#include <fenv.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__GNUC__)
#include <unwind.h>
#define NOT_INLINE __attribute__((noinline))
#else
#define NOT_INLINE
#endif

/* A coroutine and the thread that made it; what the coroutine found. */
struct test {
	const struct coroutine_method *method;
	struct coroutine thread, other;
	uint64_t seed, result;
	unsigned steps;
	volatile uintptr_t place;
	int found;
	bool right;
};

static void start(struct test *test, const struct coroutine_method *method, void (*entry)(void *argument))
{
	*test = (struct test){ .method = method };
	coroutine_adopt(&test->thread, method);
	CHECK(coroutine_make(&test->other, method, COROUTINE_STACK_BYTES, entry, test), "%s: made", method->name);
}

static void to_other(struct test *test)
{
	test->method->switch_to(&test->thread, &test->other);
}

static void to_thread(struct test *test)
{
	test->method->switch_to(&test->other, &test->thread);
}

static void end_other(struct test *test)
{
	test->other.ends = true;
	to_thread(test);
}

/* Integers, doubles, a long double and vectors, more than there are registers that a call keeps, all of them needed behind
 * each switch. With `to` NULL it does not switch: then it is its own oracle. */
#define EACH(what) what(0) what(1) what(2) what(3) what(4) what(5) what(6) what(7) what(8) what(9) what(10) what(11)
#if defined(__GNUC__)
typedef uint32_t vector __attribute__((vector_size(16)));
#else
typedef uint32_t vector;
#endif

static NOT_INLINE uint64_t busy_registers(uint64_t seed, unsigned steps, struct coroutine *from, struct coroutine *to)
{
#define DECLARE(n)                                                 \
	uint64_t i##n = random_next(&seed);                        \
	double d##n = (double)(random_next(&seed) >> 20);          \
	vector v##n = (vector){ (uint32_t)i##n } + (uint32_t)n;
#define STEP(n)                                                    \
	i##n = i##n * 6364136223846793005u + n + 1;                \
	d##n = d##n * 0.75 + (double)(i##n >> 40);                 \
	v##n = v##n * 2654435761u + (uint32_t)i##n;
#define SUM(n)                                                     \
	sum = sum * 31 + i##n;                                     \
	memcpy(&word, &d##n, sizeof word);                         \
	sum = sum * 31 + word;                                     \
	memcpy(&word, &v##n, sizeof v##n < sizeof word ? sizeof v##n : sizeof word); \
	sum = sum * 31 + word;
	uint64_t sum = 0, word = 0;
	long double extended = (long double)seed;

	EACH(DECLARE)
	for (unsigned step = 0; step < steps; step++) {
		if (to != NULL)
			from->method->switch_to(from, to);
		EACH(STEP)
		extended = extended * 0.5L + (long double)step;
	}
	EACH(SUM)
	return sum * 31 + (uint64_t)extended;
}

static void keep_registers(void *argument)
{
	struct test *test = argument;

	test->result = busy_registers(77, test->steps, &test->other, &test->thread);
	end_other(test);
}

static void registers(const struct coroutine_method *method)
{
	struct test test;

	start(&test, method, keep_registers);
	test.steps = 1000;
	to_other(&test);
	uint64_t here = busy_registers(33, test.steps, &test.thread, &test.other);
	CHECK(here == busy_registers(33, test.steps, NULL, NULL), "%s: the thread's registers stay", method->name);
	CHECK(test.result == busy_registers(77, test.steps, NULL, NULL), "%s: the coroutine's registers stay", method->name);
	coroutine_free(&test.other);
}

#if defined(FE_UPWARD) && defined(FE_DOWNWARD) && defined(FE_TONEAREST)
/* 1 / 3 is rounded up or down by the mode that the arithmetic really has. */
static double third(void)
{
	volatile double one = 1, three = 3;

	return one / three;
}

static void round_downwards(void *argument)
{
	struct test *test = argument;

	fesetround(FE_DOWNWARD);
	test->right = true;
	for (;;) {
		double before = third();
		to_thread(test);
		test->right &= third() == before && fegetround() == FE_DOWNWARD;
	}
}

static void rounding(const struct coroutine_method *method)
{
	struct test test;

	start(&test, method, round_downwards);
	fesetround(FE_UPWARD);
	double up = third();
	to_other(&test);
	bool own = fegetround() == FE_UPWARD && third() == up, shared = fegetround() == FE_DOWNWARD && third() < up;
	fesetround(FE_UPWARD);
	to_other(&test);
	fesetround(FE_TONEAREST);
	if (method->keeps_control_words)
		CHECK(own && test.right, "%s: each coroutine rounds its own way", method->name);
	else
		CHECK(shared && !test.right, "%s: all coroutines round one way", method->name);
	coroutine_free(&test.other);
	fesetround(FE_TONEAREST);
}
#else
static void rounding(const struct coroutine_method *method)
{
	(void)method;
}
#endif

#if defined(__x86_64__) && defined(__GNUC__)
/* Flush-to-zero and precision: bits that are in one of the two control words alone. */
static void control_words(uint32_t *mxcsr, uint16_t *x87)
{
	__asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(*mxcsr), "=m"(*x87));
}

static void set_control_words(uint32_t mxcsr, uint16_t x87)
{
	__asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(mxcsr), "m"(x87));
}

static void other_control_words(void *argument)
{
	struct test *test = argument;
	uint32_t mxcsr;
	uint16_t x87;

	for (;;) {
		control_words(&mxcsr, &x87);
		test->found = (mxcsr & 0x8000) != 0 || (x87 & 0x300) != 0x300;
		to_thread(test);
	}
}

static void each_control_word(const struct coroutine_method *method)
{
	static const struct {
		uint32_t mxcsr;
		uint16_t x87;
	} changes[] = { { 0x8000, 0 }, { 0, 0x100 }, { 0x8000, 0x100 } };
	uint32_t mxcsr, mxcsr_after;
	uint16_t x87, x87_after;
	struct test test;

	start(&test, method, other_control_words);
	control_words(&mxcsr, &x87);
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		test.found = -1;
		set_control_words(mxcsr | changes[i].mxcsr, (uint16_t)(x87 & ~changes[i].x87));
		to_other(&test);
		control_words(&mxcsr_after, &x87_after);
		set_control_words(mxcsr, x87);
		CHECK(test.found == !method->keeps_control_words, "%s: control words of another, change %zu", method->name, i);
		CHECK((mxcsr_after & 0xffc0) == ((mxcsr | changes[i].mxcsr) & 0xffc0) &&
		      x87_after == (uint16_t)(x87 & ~changes[i].x87), "%s: control words of one's own, change %zu", method->name, i);
	}
	coroutine_free(&test.other);
}
#else
static void each_control_word(const struct coroutine_method *method)
{
	(void)method;
}
#endif

static bool blocks(int signal)
{
	sigset_t mask;

	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	return sigismember(&mask, signal) == 1;
}

static void block_a_signal(void *argument)
{
	struct test *test = argument;
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &one, NULL);
	to_thread(test);
	test->right = blocks(SIGUSR2);
	end_other(test);
}

static void signal_mask(const struct coroutine_method *method)
{
	struct test test;
	sigset_t one;

	start(&test, method, block_a_signal);
	sigemptyset(&one);
	sigaddset(&one, SIGUSR2);
	to_other(&test);
	CHECK(blocks(SIGUSR2) == !method->keeps_signal_mask, "%s: the thread's signal mask", method->name);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	to_other(&test);
	CHECK(test.right == method->keeps_signal_mask, "%s: the coroutine's signal mask", method->name);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	CHECK(!blocks(SIGUSR1) && !blocks(SIGSEGV), "%s: nothing else is blocked", method->name);
	coroutine_free(&test.other);
}

static void stand_somewhere(void *argument)
{
	struct test *test = argument;
	_Alignas(16) volatile uint32_t words[4] = { 1, 2, 3, 4 };
	volatile uintptr_t place = (uintptr_t)words;

	test->place = place;
#if defined(__x86_64__) && defined(__GNUC__)
	/* Raises a signal at any other address. */
	__asm__ volatile("movaps %0, %%xmm1\n\tpaddd %%xmm1, %%xmm1\n\tmovaps %%xmm1, %0" : "+m"(words) : : "xmm1");
	test->right = words[3] == 8;
#else
	test->right = true;
#endif
	end_other(test);
}

static void alignment(const struct coroutine_method *method)
{
	struct test test;

	start(&test, method, stand_somewhere);
	uintptr_t low = (uintptr_t)test.other.stack, high = low + test.other.stack_bytes;
	to_other(&test);
	CHECK(test.right && test.place % 16 == 0, "%s: the stack is aligned", method->name);
	/* AddressSanitizer may keep variables elsewhere. */
#if !defined(COROUTINES_UNDER_ASAN)
	CHECK(test.place >= low && test.place < high, "%s: a stack of its own", method->name);
#else
	(void)high;
#endif
	coroutine_free(&test.other);
}

enum { DEPTH = 200 };

/* Switches at each level on the way down, and on the way up. */
static NOT_INLINE uint64_t descend(struct test *test, unsigned depth)
{
	volatile uint64_t mark = depth * UINT64_C(0x9E3779B97F4A7C15);

	to_thread(test);
	uint64_t below = depth == 0 ? 0 : descend(test, depth - 1);
	to_thread(test);
	return below + (mark == depth * UINT64_C(0x9E3779B97F4A7C15));
}

static void go_deep(void *argument)
{
	struct test *test = argument;

	test->result = descend(test, DEPTH);
	end_other(test);
}

static NOT_INLINE unsigned visit(struct test *test, unsigned depth)
{
	volatile unsigned before = depth;

	to_other(test);
	return depth == 0 ? 0 : visit(test, depth - 1) + (before == depth);
}

static void deep(const struct coroutine_method *method)
{
	enum { VISITS = 2 * (DEPTH + 1) };
	struct test test;

	start(&test, method, go_deep);
	CHECK(visit(&test, VISITS) == VISITS, "%s: the thread's stack while both are deep", method->name);
	CHECK(test.result == DEPTH + 1, "%s: the coroutine's stack while both are deep", method->name);
	coroutine_free(&test.other);
}

enum { MANY = 1000, ROUNDS = 20 };

static struct ring {
	const struct coroutine_method *method;
	struct coroutine thread, others[MANY];
	unsigned entered, visits[MANY];
	bool right;
} ring;

static struct coroutine *after(unsigned i)
{
	return i + 1 < MANY ? &ring.others[i + 1] : &ring.thread;
}

static void join_the_ring(void *argument)
{
	unsigned self = ring.entered++;

	for (;;) {
		ring.right &= argument == &ring.others[self];
		ring.visits[self]++;
		ring.method->switch_to(&ring.others[self], after(self));
	}
}

static void many(const struct coroutine_method *method)
{
	unsigned made = 0, visits = 0;

	memset(&ring, 0, sizeof ring);
	ring.method = method;
	ring.right = true;
	coroutine_adopt(&ring.thread, method);
	while (made < MANY && coroutine_make(&ring.others[made], method, 16384, join_the_ring, &ring.others[made]))
		made++;
	CHECK(made == MANY, "%s: %u coroutines at a time", method->name, made);
	for (unsigned round = 0; made == MANY && round < ROUNDS; round++)
		method->switch_to(&ring.thread, &ring.others[0]);
	for (unsigned i = 0; i < MANY; i++)
		visits += ring.visits[i] == ROUNDS;
	CHECK(visits == MANY && ring.right, "%s: each of many was there each time", method->name);
	for (unsigned i = 0; i < made; i++)
		coroutine_free(&ring.others[i]);
}

static struct test *overflowing;
enum { HIT = 42 };

static void on_fault(int signal, siginfo_t *information, void *context)
{
	uintptr_t at = (uintptr_t)information->si_addr, stack = (uintptr_t)overflowing->other.stack;

	(void)signal, (void)context;
	_exit(at < stack && at >= stack - (uintptr_t)sysconf(_SC_PAGESIZE) ? HIT : 1);
}

static NOT_INLINE unsigned overflow(volatile unsigned *depth)
{
	volatile uint8_t some[256];

	for (size_t i = 0; i < sizeof some; i++)
		some[i] = (uint8_t)*depth;
	*depth += 1;
	/* It never is 0, which the compiler cannot know. */
	return *depth == 0 ? 0 : overflow(depth) + some[7];
}

static void fall_off(void *argument)
{
	volatile unsigned depth = 1;

	(void)argument;
	overflow(&depth);
}

static void guard_page(const struct coroutine_method *method)
{
	static struct test test;
	static uint8_t stack[65536];
	int status = 0;

	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		start(&test, method, fall_off);
		overflowing = &test;
		stack_t alternative = { .ss_sp = stack, .ss_size = sizeof stack };
		struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
		sigaltstack(&alternative, NULL);
		sigaction(SIGSEGV, &action, NULL);
		sigaction(SIGBUS, &action, NULL);
		to_other(&test);
		_exit(2);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == HIT,
	      "%s: a stack that overflows hits the page below it: status %x", method->name, (unsigned)status);
}

/* Where the compiler writes tables for unwinding by itself. */
#if defined(__GNUC__) && defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
static _Unwind_Reason_Code count_frame(struct _Unwind_Context *context, void *argument)
{
	(void)context;
	/* More frames than there can be: the unwinder has lost its way. */
	return ++*(int *)argument < 100 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static NOT_INLINE int frames(int depth)
{
	int count = 0;

	if (depth == 0)
		_Unwind_Backtrace(count_frame, &count);
	else
		count = frames(depth - 1);
	__asm__ volatile("" : "+r"(count)); /* so that the call above is not the last thing done */
	return count;
}

static void look_back(void *argument)
{
	struct test *test = argument;

	for (int depth = 0;; depth = 10) {
		test->found = frames(depth);
		to_thread(test);
	}
}

static void unwinding(const struct coroutine_method *method)
{
	struct test test;

	start(&test, method, look_back);
	to_other(&test);
	int shallow = test.found;
	to_other(&test);
	CHECK(test.found == shallow + 10, "%s: an unwinder sees ten frames more: %d, %d", method->name, shallow, test.found);
	/* frames, look_back, coroutine_begin, and what led to it. */
	CHECK(shallow >= 3 && shallow <= 5, "%s: an unwinder finds the end: %d frames",
	      method->name, shallow);
	coroutine_free(&test.other);
}
#else
static void unwinding(const struct coroutine_method *method)
{
	(void)method;
}
#endif

static void loops(const struct coroutine_method *method)
{
	static struct ping_pong pair;

	pair = (struct ping_pong){ .sent = 0 };
	coroutine_adopt(&pair.here, method);
	CHECK(coroutine_make(&pair.there, method, COROUTINE_STACK_BYTES, method->pong, &pair), "%s: a pair", method->name);
	method->ping(&pair, 1);
	CHECK(pair.sent == 1 && pair.received == 1, "%s: one round trip", method->name);
	method->ping(&pair, 1000);
	CHECK(pair.sent == 1001 && pair.received == 1001, "%s: a thousand more", method->name);
	pair.over = true;
	method->switch_to(&pair.here, &pair.there);
	CHECK(pair.received == 1001, "%s: the last is not counted", method->name);
	coroutine_free(&pair.there);
}

#if defined(STEND_ELBRUS_CONTEXTS_H)
/* The kernel of Elbrus makes hardware stacks for a context, which it may refuse, and which must be given back. */
static void hardware_stacks(void)
{
	struct coroutine some[3];
	unsigned before = elbrus_contexts, made = 0;

	elbrus_contexts_most = before + 2;
	for (unsigned i = 0; i < 3; i++)
		made += coroutine_make(&some[i], &coroutine_ucontext, COROUTINE_STACK_BYTES, NULL, NULL);
	CHECK(made == 2 && errno == ENOMEM && some[2].stack == NULL, "a context that the kernel refuses: %u made", made);
	elbrus_contexts_most = ~0u;
	coroutine_free(&some[0]);
	coroutine_free(&some[1]);
	CHECK(before == 0 && elbrus_contexts == 0, "all contexts are given back: %u, %u", before, elbrus_contexts);
}
#else
static void hardware_stacks(void)
{
}
#endif

static bool must_be_there(const struct coroutine_method *method)
{
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64)) && \
	!defined(STEND_NO_INTRINSICS) && !defined(__ILP32__) && !defined(__e2k__)
	if (method == &coroutine_assembly)
		return coroutine_shadow_stack() == NULL;
#endif
#if !defined(__e2k__)
	if (method == &coroutine_setjmp)
		return coroutine_shadow_stack() == NULL;
#endif
#if defined(__GLIBC__)
	return method == &coroutine_ucontext;
#else
	return false;
#endif
}

/* PowerPC: glibc's contexts keep vector registers only while VRSAVE says that there are some in use. Linux sets it when a
 * thread first uses one (arch/powerpc/kernel/vector.S: "it should be set to -1 to hedge our bets"); qemu-user leaves it at 0. */
static void use_vectors(void)
{
#if defined(__powerpc64__) && defined(__ALTIVEC__) && defined(__GNUC__)
	__asm__ volatile("mtvrsave %0" : : "r"(~0u));
#endif
}

int main(void)
{
	use_vectors();
	for (size_t i = 0; coroutine_methods[i] != NULL; i++) {
		const struct coroutine_method *method = coroutine_methods[i];
		const char *missing = method->missing();

		CHECK(missing == NULL || !must_be_there(method), "%s: %s", method->name, missing);
		CHECK(missing == NULL || *missing != '\0', "%s: says why it is not there", method->name);
		if (missing != NULL)
			continue;
		loops(method);
		registers(method);
		rounding(method);
		each_control_word(method);
		signal_mask(method);
		alignment(method);
		deep(method);
		many(method);
		guard_page(method);
		unwinding(method);
	}
	hardware_stacks();
	return harness_finish();
}
