/* Coroutines of one thread, each with a stack of its own, and the ways to switch from one to another.
 *
 * All coroutines of a thread share its thread-local variables, errno among them. What else they share depends on the
 * method, which says so. None may be switched to by another thread than the one that made it. */
#ifndef STEND_SWITCH_COROUTINE_H
#define STEND_SWITCH_COROUTINE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* On Elbrus glibc has makecontext_e2k() instead of makecontext(). Tests tell other processors that they are Elbrus, and have
 * that function from elbrus_contexts.h. */
#if defined(__e2k__)
#define UCONTEXT_OF_E2K 1
#else
#define UCONTEXT_OF_E2K 0
#endif

/* musl declares makecontext() and has none; so those that are known to have it are named. */
#if UCONTEXT_OF_E2K || defined(__GLIBC__) || defined(__FreeBSD__) || defined(__NetBSD__) || defined(__sun)
#define HAVE_UCONTEXT 1
#include <ucontext.h>
#else
#define HAVE_UCONTEXT 0
#endif

#if defined(__SANITIZE_ADDRESS__)
#define COROUTINES_UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COROUTINES_UNDER_ASAN 1
#endif
#endif
#if defined(COROUTINES_UNDER_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

/* Where a coroutine stands, as the code for this architecture keeps it. */
struct registers {
	void *stack, *frame, *base, *place; /* stack pointer, frame pointer, a second frame pointer, where it goes on */
	uint32_t mxcsr;                     /* x86 */
	uint16_t x87;
};

struct coroutine {
	union {
		struct registers registers;
		sigjmp_buf jump;
#if HAVE_UCONTEXT
		ucontext_t context;
#endif
	};
	/* Never returns: the last thing that it does is to switch away, for good. */
	void (*entry)(void *argument);
	void *argument;
	const struct coroutine_method *method;
	uint8_t *stack; /* above the guard page; NULL: the thread's own */
	size_t stack_bytes;
	/* For AddressSanitizer, which must know on which stack it is. */
	struct coroutine *from;
	void *fake_stack;
	bool ends; /* the next switch away from here is the last */
};

/* A coroutine and its maker that switch to and fro, and what each of them has counted. */
struct ping_pong {
	struct coroutine here, there;
	uint64_t sent, received; /* the maker's, the coroutine's */
	bool over;
};

struct coroutine_method {
	const char *name;
	const char *(*missing)(void); /* why it is not to be had here; NULL: it is */
	/* Whether each coroutine has its own rounding mode and masks of floating-point exceptions. */
	bool keeps_control_words;
	bool keeps_signal_mask;
	/* Makes that the first switch to it enters coroutine_begin() on its stack. False: refused, with errno. */
	bool (*make)(struct coroutine *coroutine);
	void (*free)(struct coroutine *coroutine); /* NULL: nothing to free */
	void (*switch_to)(struct coroutine *from, struct coroutine *to);
	/* The same to and fro, `count` times, without a call through a pointer. */
	void (*ping)(struct ping_pong *pair, uint64_t count);
	void (*pong)(void *pair);
};

/* assembly, assembly-registers, setjmp, ucontext; the last element is NULL. */
extern const struct coroutine_method *const coroutine_methods[];

extern const struct coroutine_method coroutine_assembly, coroutine_assembly_registers, coroutine_setjmp, coroutine_ucontext;

enum { COROUTINE_STACK_BYTES = 65536 };

/* Makes `coroutine` one that the method can switch to, with a stack of at least so many bytes above a page that nobody may
 * touch. False: the system refused, with errno. */
bool coroutine_make(struct coroutine *coroutine, const struct coroutine_method *method, size_t stack_bytes,
                    void (*entry)(void *argument), void *argument);
/* For the thread itself, which has a stack: what it switches away from. Need not be freed. */
void coroutine_adopt(struct coroutine *coroutine, const struct coroutine_method *method);
/* It must not be the one that is running, and is never switched to again. */
void coroutine_free(struct coroutine *coroutine);

/* Where every coroutine begins; for the methods. */
_Noreturn void coroutine_begin(struct coroutine *coroutine);

/* NULL: there is none. Why no code here may change stacks behind the back of a shadow stack. */
const char *coroutine_shadow_stack(void);

/* Each method calls these before it leaves one stack, and after it has arrived on the other. */
static inline void coroutine_leave(struct coroutine *from, struct coroutine *to)
{
#if defined(COROUTINES_UNDER_ASAN)
	to->from = from;
	__sanitizer_start_switch_fiber(from->ends ? NULL : &from->fake_stack, to->stack, to->stack_bytes);
#else
	(void)from, (void)to;
#endif
}

static inline void coroutine_arrive(struct coroutine *self)
{
#if defined(COROUTINES_UNDER_ASAN)
	const void *stack;
	size_t bytes;

	__sanitizer_finish_switch_fiber(self->fake_stack, &stack, &bytes);
	/* The thread's own stack, of which nobody else has told. */
	if (self->from->stack == NULL && self->from->stack_bytes == 0) {
		union {
			const void *constant;
			uint8_t *plain;
		} start = { stack };
		self->from->stack = start.plain;
		self->from->stack_bytes = bytes;
	}
#else
	(void)self;
#endif
}

/* The two measured loops of a method. Both sides count by themselves: a switch that went nowhere, or twice, shows. */
#define DEFINE_PING_PONG(name, switch_to)                                        \
	static void name##_ping(struct ping_pong *pair, uint64_t count)          \
	{                                                                        \
		uint64_t sent = 0;                                               \
                                                                                 \
		for (; sent < count; sent++)                                     \
			switch_to(&pair->here, &pair->there);                    \
		pair->sent += sent;                                              \
	}                                                                        \
                                                                                 \
	static void name##_pong(void *argument)                                  \
	{                                                                        \
		struct ping_pong *pair = argument;                               \
                                                                                 \
		while (!pair->over) {                                            \
			pair->received++;                                        \
			switch_to(&pair->there, &pair->here);                    \
		}                                                                \
		pair->there.ends = true;                                         \
		switch_to(&pair->there, &pair->here);                            \
	}

#endif
