/* 64-bit RISC-V, after its psABI; for assembly.c alone.
 *
 * fcsr, with the rounding mode, belongs to the thread by the ABI: no call keeps it, and neither does a switch. */
#ifndef STEND_SWITCH_RISCV64_H
#define STEND_SWITCH_RISCV64_H

#define KEEPS_CONTROL_WORDS 0

#if defined(__riscv_vector)
#error "vector registers are not known here: build without them, or with -DSTEND_NO_INTRINSICS"
#endif

_Static_assert(offsetof(struct registers, stack) == 0 && offsetof(struct registers, frame) == 8 &&
               offsetof(struct registers, base) == 16 && offsetof(struct registers, place) == 24,
               "the code below has these in numbers");

#if defined(__riscv_flen)
#define ALSO_CHANGED , "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "ft8", "ft9", "ft10", "ft11", "fa0", "fa1", \
	"fa2", "fa3", "fa4", "fa5", "fa6", "fa7", "fs0", "fs1", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9",     \
	"fs10", "fs11"
#else
#define ALSO_CHANGED
#endif

/* By way of t1: a jump through ra or t0 counts as a return. */
static inline __attribute__((always_inline)) void registers_switch(struct registers *from, struct registers *to)
{
	register struct registers *here __asm__("a0") = from, *there __asm__("a1") = to;

	__asm__ volatile(
		"lla t1, 1f\n\t"
		"sd sp, 0(%0)\n\t"
		"sd s0, 8(%0)\n\t"
		"sd s1, 16(%0)\n\t"
		"sd t1, 24(%0)\n\t"
		"ld s0, 8(%1)\n\t"
		"ld s1, 16(%1)\n\t"
		"ld t1, 24(%1)\n\t"
		"ld sp, 0(%1)\n\t"
		"jr t1\n"
		"1:\n\t"
		: "+r"(here), "+r"(there) : :
		"ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a2", "a3", "a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7",
		"s8", "s9", "s10", "s11", "memory" ALSO_CHANGED);
}

void switch_first_place(void);

/* s1 is the coroutine. */
__asm__(
	".text\n\t"
	".p2align 2\n\t"
	".type switch_first_place, @function\n"
	"switch_first_place:\n\t"
	".cfi_startproc\n\t"
	".cfi_undefined ra\n\t"
	"mv a0, s1\n\t"
	"call coroutine_begin\n\t"
	"ebreak\n\t"
	".cfi_endproc\n\t"
	".size switch_first_place, . - switch_first_place\n\t");

static void registers_make(struct registers *registers, uint8_t *stack_end, struct coroutine *coroutine)
{
	union {
		void (*code)(void);
		void *data;
	} first = { switch_first_place };

	*registers = (struct registers){ .stack = stack_end, .base = coroutine, .place = first.data };
}

#endif
