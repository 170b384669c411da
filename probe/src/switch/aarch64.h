/* 64-bit ARM, after AAPCS64; for assembly.c alone.
 *
 * FPCR, with the rounding mode, is global state by the ABI: no call keeps it, and neither does a switch. */
#ifndef STEND_SWITCH_AARCH64_H
#define STEND_SWITCH_AARCH64_H

#define KEEPS_CONTROL_WORDS 0

_Static_assert(offsetof(struct registers, stack) == 0 && offsetof(struct registers, frame) == 8 &&
               offsetof(struct registers, base) == 16 && offsetof(struct registers, place) == 24,
               "the code below has these in numbers");

#if defined(__ARM_FEATURE_SVE)
#define ALSO_CHANGED , "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", "p14", "p15", "ffr"
#else
#define ALSO_CHANGED
#endif

/* Where pointers are signed (PAC), so is the place to go on, with the stack pointer that belongs to it: these two hints work
 * on x30 and sp. The place itself is a landing pad (BTI j), which does nothing where none is asked for. */
#if defined(__ARM_FEATURE_PAC_DEFAULT)
#define SIGN "hint #25\n\t"
#define AUTHENTICATE "hint #29\n\t"
#else
#define SIGN
#define AUTHENTICATE
#endif
#define LANDING "hint #36\n\t"

/* v0 stands for the whole register, that of SVE too. */
static inline __attribute__((always_inline)) void registers_switch(struct registers *from, struct registers *to)
{
	register struct registers *here __asm__("x0") = from, *there __asm__("x1") = to;

	__asm__ volatile(
		"adr x30, 1f\n\t"
		SIGN
		"mov x9, sp\n\t"
		"stp x9, x29, [%0]\n\t"
		"stp x19, x30, [%0, #16]\n\t"
		"ldp x9, x29, [%1]\n\t"
		"ldp x19, x30, [%1, #16]\n\t"
		"mov sp, x9\n\t"
		AUTHENTICATE
		"br x30\n"
		"1:\n\t"
		LANDING
		: "+r"(here), "+r"(there) : :
		"x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x20",
		"x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "memory", "cc", "v0", "v1", "v2", "v3", "v4", "v5",
		"v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22",
		"v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31" ALSO_CHANGED);
}

void switch_first_place(void);

/* x19 is the coroutine. */
__asm__(
	".text\n\t"
	".p2align 4\n\t"
	".type switch_first_place, %function\n"
	"switch_first_place:\n\t"
	".cfi_startproc\n\t"
	".cfi_undefined x30\n\t"
	LANDING
	"mov x0, x19\n\t"
	"bl coroutine_begin\n\t"
	"brk #1\n\t"
	".cfi_endproc\n\t"
	".size switch_first_place, . - switch_first_place\n\t");

static void registers_make(struct registers *registers, uint8_t *stack_end, struct coroutine *coroutine)
{
	union {
		void (*code)(void);
		void *data;
	} first = { switch_first_place };

#if defined(__ARM_FEATURE_PAC_DEFAULT)
	register void *place __asm__("x17") = first.data;
	register uint8_t *signed_with __asm__("x16") = stack_end;

	/* PACIA1716: as SIGN does it. */
	__asm__("hint #8" : "+r"(place) : "r"(signed_with));
	first.data = place;
#endif
	*registers = (struct registers){ .stack = stack_end, .base = coroutine, .place = first.data };
}

#endif
