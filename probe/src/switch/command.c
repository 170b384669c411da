/* `stend-probe switch`: from coroutine to coroutine, and from thread to thread. */
#include "commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/cores.h"
#include "base/fail.h"
#include "base/options.h"
#include "switch/coroutine.h"
#include "switch/threads.h"
#include "wire/wire.h"

#define CALIBRATION_NS 10000000u
/* Between two looks at the clock there lie so many round trips, or about so much time. */
#define ROUNDS_MOST 65536u
#define BETWEEN_LOOKS_NS 100000u

static struct {
	const char *method, *cores;
	uint64_t seconds, repeats;
} chosen;

static const struct option_definition options[] = {
	{ "method", OPTION_CHOICE, "assembly|assembly-registers|setjmp|ucontext|call|futex|pipe|eventfd", "assembly",
	  "method of switching", &chosen.method, 0, 0 },
	{ "cores", OPTION_CHOICE, "same|different|any", "any", "pin to one core; to two, only for two threads; or not at all", &chosen.cores, 0, 0 },
	{ "seconds", OPTION_DURATION, "TIME", "0.2", "switch for this long", &chosen.seconds, 1, UINT64_C(3600000000000) },
	{ "repeats", OPTION_INTEGER, "N", "1", "number of repeats", &chosen.repeats, 1, 1000000 },
};

static const struct coroutine_method *find_coroutine_method(void)
{
	for (size_t i = 0; coroutine_methods[i] != NULL; i++)
		if (strcmp(coroutine_methods[i]->name, chosen.method) == 0)
			return coroutine_methods[i];
	return NULL;
}

/* NULL: a method of one thread. */
static const struct hand_over_method *find_hand_over_method(void)
{
	for (const struct hand_over_method *method = hand_over_methods; method->name != NULL; method++)
		if (strcmp(method->name, chosen.method) == 0)
			return method;
	return NULL;
}

static void check(void)
{
	if (strcmp(chosen.cores, "different") == 0 && find_hand_over_method() == NULL)
		fail(EXIT_USAGE, "--cores different: --method %s switches within one thread; use same, or any", chosen.method);
}

static const struct command command = {
	"switch", "Switch back and forth between two coroutines, or hand over between two threads.",
	"Work: operations are one-way switches, so a round trip is two.\n"
	"assembly: our own code for x86-64, aarch64 and riscv64. It preserves what the ABI requires of a call: registers and, on\n"
	"x86-64, the control words (rounding mode, masks of floating-point exceptions). assembly-registers: without these, so\n"
	"that all coroutines share them. setjmp: sigsetjmp and siglongjmp; the first entry is by a signal on another stack.\n"
	"ucontext: swapcontext, which also preserves the signal mask, by a system call. call: no coroutine, but a plain call and\n"
	"its return, the lower bound. futex, pipe, eventfd: two threads; one wakes the other and sleeps.\n"
	"Each side counts its switches, and both counts must be equal; the byte in the pipe and the counter of the eventfd must\n"
	"be those of the turn. cpu_ns: both threads together. A method that this machine or build lacks: exit status 4.",
	options, sizeof options / sizeof *options, NULL, check,
};

/* The floor: that the compiler neither sees into it nor leaves it out. */
static uint64_t called;

#if defined(__GNUC__)
__attribute__((noinline))
#endif
static void callee(void)
{
	called++;
#if defined(__GNUC__)
	__asm__ volatile("" : : : "memory");
#endif
}

static void (*volatile call_this)(void) = callee;

static void call_ping(struct ping_pong *pair, uint64_t count)
{
	void (*function)(void) = call_this;
	uint64_t sent = 0;

	for (; sent < count; sent++)
		function();
	pair->sent += sent;
}

/* Round trips between two looks at the clock: a short stretch says how long they take. */
static uint64_t rounds_between_looks(void (*ping)(struct ping_pong *, uint64_t), struct ping_pong *pair)
{
	uint64_t rounds = 16, start, elapsed;

	for (;;) {
		start = monotonic_ns();
		ping(pair, rounds);
		elapsed = monotonic_ns() - start;
		if (elapsed >= BETWEEN_LOOKS_NS || rounds >= ROUNDS_MOST)
			return rounds;
		rounds *= 2;
	}
}

static void measure_pings(void (*ping)(struct ping_pong *, uint64_t), struct ping_pong *pair, struct repeat *repeat)
{
	uint64_t rounds = rounds_between_looks(ping, pair), before = pair->sent, now;

	uint64_t cpu = thread_cpu_ns();
	repeat->t_ns = monotonic_ns();
	do {
		ping(pair, rounds);
		now = monotonic_ns();
	} while (now - repeat->t_ns < chosen.seconds);
	repeat->wall_ns = now - repeat->t_ns;
	repeat->cpu_ns = thread_cpu_ns() - cpu;
	repeat->operations = 2 * (pair->sent - before);
}

static void judge(struct repeat *repeat, uint64_t sent, uint64_t received, bool right)
{
	repeat->passed = sent == received && right;
	repeat_check(repeat, "counted", (struct check_field[]){
		{ .name = "here", .number = sent }, { .name = "there", .number = received }, { .name = NULL } });
	if (!right)
		repeat_check(repeat, "out_of_turn", NULL);
}

static void measure_calls(struct repeat *repeat)
{
	struct ping_pong pair = { .sent = 0 };

	called = 0;
	measure_pings(call_ping, &pair, repeat);
	judge(repeat, pair.sent, called, true);
}

static void measure_coroutines(const struct coroutine_method *method, struct repeat *repeat)
{
	struct ping_pong pair = { .sent = 0 };

	coroutine_adopt(&pair.here, method);
	if (!coroutine_make(&pair.there, method, COROUTINE_STACK_BYTES, method->pong, &pair))
		fail(EXIT_BROKEN, "--method %s: no coroutine: %s", method->name, strerror(errno));
	measure_pings(method->ping, &pair, repeat);
	uint64_t sent = pair.sent;
	pair.over = true;
	method->switch_to(&pair.here, &pair.there);
	judge(repeat, sent, pair.received, true);
	coroutine_free(&pair.there);
}

static void measure_threads(const struct hand_over_method *method, const int cores[2], struct repeat *repeat)
{
	struct hand_over_result result;

	hand_over_run(method, cores, chosen.seconds, &result);
	repeat->t_ns = result.t_ns;
	repeat->wall_ns = result.wall_ns;
	repeat->cpu_ns = result.cpu_ns;
	repeat->operations = 2 * result.sent;
	repeat_observe(repeat, "switches_voluntary", (double)result.sleeps);
	judge(repeat, result.sent, result.received, result.right);
}

int command_switch(int argc, char **argv)
{
	struct json json = { 0 };
	int cores[2];

	options_parse(&command, argc, argv);
	const struct coroutine_method *coroutine = find_coroutine_method();
	const struct hand_over_method *hand_over = find_hand_over_method();
	const char *missing = coroutine != NULL ? coroutine->missing() : hand_over != NULL ? hand_over->missing() : NULL;
	if (missing != NULL)
		fail(EXIT_UNSUPPORTED, "--method %s: not on this machine (%s): %s", chosen.method, build_architecture(), missing);
	cores_choose(chosen.cores, cores);
	core_pin(cores[0]);

	wire_open_begin(&json, "switch");
	json_text(&json, "method", chosen.method);
	json_text(&json, "cores", chosen.cores);
	json_real(&json, "seconds", (double)chosen.seconds / 1e9);
	wire_close_begin(&json);
	for (uint64_t n = 0; n < chosen.repeats; n++) {
		struct repeat repeat = { .n = n };

		struct clock_estimate before = clock_measure(CALIBRATION_NS);
		if (hand_over != NULL)
			measure_threads(hand_over, cores, &repeat);
		else if (coroutine != NULL)
			measure_coroutines(coroutine, &repeat);
		else
			measure_calls(&repeat);
		repeat_observe_clock(&repeat, before, clock_measure(CALIBRATION_NS));
		wire_repeat(&json, &repeat);
	}
	wire_end(&json, chosen.repeats);
	json_free(&json);
	return EXIT_FINE;
}
