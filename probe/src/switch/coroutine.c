#include "switch/coroutine.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif
#ifndef MAP_STACK
#define MAP_STACK 0
#endif

const struct coroutine_method *const coroutine_methods[] = {
	&coroutine_assembly, &coroutine_assembly_registers, &coroutine_setjmp, &coroutine_ucontext, NULL,
};

static size_t page_size(void)
{
	long bytes = sysconf(_SC_PAGESIZE);

	return bytes > 0 ? (size_t)bytes : 65536;
}

bool coroutine_make(struct coroutine *coroutine, const struct coroutine_method *method, size_t stack_bytes,
                    void (*entry)(void *argument), void *argument)
{
	size_t page = page_size(), bytes = (stack_bytes + page - 1) / page * page;

	*coroutine = (struct coroutine){ .entry = entry, .argument = argument, .method = method, .stack_bytes = bytes };
	uint8_t *mapping = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (mapping == MAP_FAILED)
		return false;
	coroutine->stack = mapping + page;
	/* Stacks grow downwards on all processors that are known here. */
	if (mprotect(mapping, page, PROT_NONE) == 0 && method->make(coroutine))
		return true;
	int error = errno;
	munmap(mapping, page + bytes);
	coroutine->stack = NULL;
	errno = error;
	return false;
}

void coroutine_adopt(struct coroutine *coroutine, const struct coroutine_method *method)
{
	*coroutine = (struct coroutine){ .method = method };
}

void coroutine_free(struct coroutine *coroutine)
{
	size_t page = page_size();

	if (coroutine->method->free != NULL)
		coroutine->method->free(coroutine);
#if defined(COROUTINES_UNDER_ASAN)
	/* What the coroutine had not left yet; the memory may soon be something else's. */
	__asan_unpoison_memory_region(coroutine->stack, coroutine->stack_bytes);
#endif
	munmap(coroutine->stack - page, page + coroutine->stack_bytes);
	coroutine->stack = NULL;
}

/* For unwinders: there is nothing to return to. Below may lie what never was a caller, as after sigreturn(). */
#if defined(__GCC_HAVE_DWARF2_CFI_ASM) && defined(__x86_64__)
#define NO_CALLER __asm__ volatile(".cfi_undefined rip")
#elif defined(__GCC_HAVE_DWARF2_CFI_ASM) && defined(__aarch64__)
#define NO_CALLER __asm__ volatile(".cfi_undefined x30")
#elif defined(__GCC_HAVE_DWARF2_CFI_ASM) && defined(__riscv)
#define NO_CALLER __asm__ volatile(".cfi_undefined ra")
#else
#define NO_CALLER (void)0
#endif

void coroutine_begin(struct coroutine *coroutine)
{
	NO_CALLER;
	coroutine_arrive(coroutine);
	coroutine->entry(coroutine->argument);
	abort(); /* there is nowhere to return to */
}

const char *coroutine_shadow_stack(void)
{
#if defined(__GNUC__) && defined(__x86_64__) && !defined(__e2k__) && !defined(STEND_NO_INTRINSICS)
	uint64_t place = 0;

	/* Intel SDM volume 1, 17.1: reads the shadow stack pointer; where there is none, it does nothing. */
	__asm__ volatile("rdsspq %0" : "+r"(place));
	return place == 0 ? NULL : "shadow stacks (CET) are on in this process, and it changes stacks behind their back";
#elif defined(__GNUC__) && defined(__aarch64__) && !defined(STEND_NO_INTRINSICS)
	register uint64_t features __asm__("x16") = 1;

	/* CHKFEAT: clears bit 0 if the guarded control stack is on; a hint that does nothing on older processors. */
	__asm__ volatile("hint #40" : "+r"(features));
	return features != 0 ? NULL : "guarded control stacks (GCS) are on in this process, and it changes stacks behind their back";
#else
	return NULL;
#endif
}
