/* What the memory system and the branch predictor see of a function: its trace. On x86-64 under Linux, every
 * instruction is executed in single steps; each step's address, the registers that its memory operand is addressed by,
 * the mask of a masked move to or from memory and what a division divides go into one number. A function whose trace is
 * the same for all secrets has no branch and no address that depends on them.
 *
 * That holds for the secrets tried, not for all; but two random ones of many bytes leave little room. It sees the
 * instructions of the real object code, whatever compiler made it and however new they are, which tools that follow
 * secrets through an emulated processor do not. */
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__)
#define TRACE_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TRACE_INSTRUMENTED 1
#endif
#endif
/* Whether this build has single steps. */
#if defined(__x86_64__) && defined(__linux__) && !defined(TRACE_INSTRUMENTED)
#define TRACE_BUILT 1
#else
#define TRACE_BUILT 0
#endif

struct trace_result {
	bool possible;     /* false: no single steps here */
	bool same;         /* as the recorded trace */
	size_t steps;      /* of this run */
	uintptr_t differs; /* if not the same: where, counted from the program's start as addr2line wants it */
};

/* Runs `function` once. With `record`, the trace is kept; otherwise it is compared with the kept one. */
struct trace_result trace(bool record, void (*function)(void *), void *argument);

#endif
