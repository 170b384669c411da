/* Switching between coroutines by sigsetjmp() and siglongjmp(), which POSIX has everywhere.
 *
 * Neither can enter a stack that nobody was on before. A signal handler can: sigaltstack() gives it one. It marks its place,
 * returns, and is entered again there later, when the system has long forgotten the signal; nothing else has used that stack.
 * R. S. Engelschall: Portable Multithreading. The Signal Stack Trick for User-Space Thread Creation. USENIX Annual Technical
 * Conference, 2000.
 *
 * The signal mask is not kept (the second argument of sigsetjmp), and neither are control words: no C library that is known
 * here keeps them on x86. */

/* The fortified longjmp() takes a jump to another stack for a mistake. */
#undef _FORTIFY_SOURCE
#include "switch/coroutine.h"

#include <errno.h>
#include <signal.h>

#if defined(__e2k__)

static const char *missing(void)
{
	return "longjmp() cannot change the hardware stacks of Elbrus";
}

const struct coroutine_method coroutine_setjmp = { .name = "setjmp", .missing = missing };

#else

static struct coroutine *volatile made; /* by the signal that is under way */

/* qemu-user aligns the stack of a signal to 8 bytes, where the compiler counts on 16. */
#if defined(__GNUC__) && defined(__i386__)
__attribute__((force_align_arg_pointer))
#endif
static void on_signal(int signal)
{
	struct coroutine *self = made;

	(void)signal;
	if (sigsetjmp(self->jump, 0) != 0)
		coroutine_begin(self);
	made = NULL;
}

static bool make(struct coroutine *coroutine)
{
	stack_t stack = { .ss_sp = coroutine->stack, .ss_size = coroutine->stack_bytes }, stack_before;
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK }, action_before;
	sigset_t wanted, mask_before;

	sigfillset(&action.sa_mask);
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGUSR1);
	if (sigaltstack(&stack, &stack_before) != 0)
		return false;
	made = coroutine;
	sigaction(SIGUSR1, &action, &action_before);
	pthread_sigmask(SIG_UNBLOCK, &wanted, &mask_before);
	raise(SIGUSR1); /* the handler has returned when it returns */
	pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
	sigaction(SIGUSR1, &action_before, NULL);
	sigaltstack(&stack_before, NULL);
	errno = EINVAL;
	return made == NULL;
}

static void switch_to(struct coroutine *from, struct coroutine *to)
{
	coroutine_leave(from, to);
	if (sigsetjmp(from->jump, 0) == 0)
		siglongjmp(to->jump, 1);
	coroutine_arrive(from);
}

DEFINE_PING_PONG(setjmp, switch_to)

const struct coroutine_method coroutine_setjmp = {
	.name = "setjmp", .missing = coroutine_shadow_stack, .make = make,
	.switch_to = switch_to, .ping = setjmp_ping, .pong = setjmp_pong,
};

#endif
