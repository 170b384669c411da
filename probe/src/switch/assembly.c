/* Switching between coroutines by code of our own.
 *
 * The code stands inline. The compiler is told that all registers change, and so keeps what is live there and nothing else:
 * of the registers that a call must keep, those that the function uses are saved once, when it is entered, and not at each
 * switch. Only the stack pointer, the two registers that compilers may need to find their frame, and the place to go on are
 * kept here. That place is reached by an indirect jump: a `ret` there would return elsewhere than its call came from, which
 * the processor's stack of return addresses predicts wrongly each time.
 *
 * Nothing is written to the stacks, so the red zones below them stay. Unwinders see each coroutine as a stack of its own,
 * which ends where it begins: there the directives say that there is nothing to return to.
 *
 * What is not kept: the signal mask, which takes a system call. */
#include "switch/coroutine.h"

#include <stdlib.h>

#if defined(__e2k__) || !defined(__GNUC__) || defined(STEND_NO_INTRINSICS)
#define NO_ASSEMBLY "this build has none"
#elif defined(__x86_64__) && !defined(__ILP32__)
#include "switch/x86_64.h"
#elif defined(__aarch64__) && defined(__LP64__)
#include "switch/aarch64.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "switch/riscv64.h"
#else
#define NO_ASSEMBLY "there is none for this architecture"
#endif

#if defined(NO_ASSEMBLY)

static const char *missing(void)
{
	return NO_ASSEMBLY;
}

const struct coroutine_method coroutine_assembly = { .name = "assembly", .missing = missing };
const struct coroutine_method coroutine_assembly_registers = { .name = "assembly-registers", .missing = missing };

#else

static bool make(struct coroutine *coroutine)
{
	registers_make(&coroutine->registers, coroutine->stack + coroutine->stack_bytes, coroutine);
	return true;
}

static inline __attribute__((always_inline)) void assembly_switch(struct coroutine *from, struct coroutine *to)
{
	coroutine_leave(from, to);
	registers_switch(&from->registers, &to->registers);
	coroutine_arrive(from);
}

static void switch_to(struct coroutine *from, struct coroutine *to)
{
	assembly_switch(from, to);
}

DEFINE_PING_PONG(assembly, assembly_switch)

const struct coroutine_method coroutine_assembly = {
	.name = "assembly", .missing = coroutine_shadow_stack, .keeps_control_words = KEEPS_CONTROL_WORDS, .make = make,
	.switch_to = switch_to, .ping = assembly_ping, .pong = assembly_pong,
};

#if KEEPS_CONTROL_WORDS

static inline __attribute__((always_inline)) void registers_alone(struct coroutine *from, struct coroutine *to)
{
	coroutine_leave(from, to);
	registers_switch_alone(&from->registers, &to->registers);
	coroutine_arrive(from);
}

static void switch_registers(struct coroutine *from, struct coroutine *to)
{
	registers_alone(from, to);
}

DEFINE_PING_PONG(alone, registers_alone)

const struct coroutine_method coroutine_assembly_registers = {
	.name = "assembly-registers", .missing = coroutine_shadow_stack, .make = make,
	.switch_to = switch_registers, .ping = alone_ping, .pong = alone_pong,
};

#else

static const char *no_control_words(void)
{
	return "a call need not keep control words on this architecture, so assembly is this method";
}

const struct coroutine_method coroutine_assembly_registers = { .name = "assembly-registers", .missing = no_control_words };

#endif
#endif
