/* Switching between coroutines by the C library's contexts. Each keeps its signal mask, so a switch is a system call; glibc
 * keeps control words too. On Elbrus the kernel makes the context's hardware stacks.
 *
 * The part for Elbrus is written after its glibc and has never been run there: tests run it on top of makecontext(). */
#include "switch/coroutine.h"

#include <errno.h>

#if HAVE_UCONTEXT

static const char *missing(void)
{
	return NULL;
}

/* The arguments of a context's function are ints. */
static void begin(unsigned high, unsigned low)
{
	coroutine_begin((struct coroutine *)(uintptr_t)((uint64_t)high << 32 | low));
}

static bool make(struct coroutine *coroutine)
{
	uint64_t self = (uintptr_t)coroutine;
	void (*function)(void) = (void (*)(void))begin;

	if (getcontext(&coroutine->context) != 0)
		return false;
	coroutine->context.uc_stack.ss_sp = coroutine->stack;
	coroutine->context.uc_stack.ss_size = coroutine->stack_bytes;
	coroutine->context.uc_link = NULL;
#if UCONTEXT_OF_E2K
	return makecontext_e2k(&coroutine->context, function, 2, (unsigned)(self >> 32), (unsigned)self) == 0;
#else
	makecontext(&coroutine->context, function, 2, (unsigned)(self >> 32), (unsigned)self);
	return true;
#endif
}

#if UCONTEXT_OF_E2K
static void free_context(struct coroutine *coroutine)
{
	freecontext_e2k(&coroutine->context);
}
#else
#define free_context NULL
#endif

static void switch_to(struct coroutine *from, struct coroutine *to)
{
	coroutine_leave(from, to);
	swapcontext(&from->context, &to->context);
	coroutine_arrive(from);
}

DEFINE_PING_PONG(ucontext, switch_to)

const struct coroutine_method coroutine_ucontext = {
	.name = "ucontext", .missing = missing, .keeps_control_words = true, .keeps_signal_mask = true, .make = make,
	.free = free_context, .switch_to = switch_to, .ping = ucontext_ping, .pong = ucontext_pong,
};

#else

static const char *missing(void)
{
	return "this C library has no makecontext()";
}

const struct coroutine_method coroutine_ucontext = { .name = "ucontext", .missing = missing };

#endif
