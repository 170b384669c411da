/* x86-64, after the System V ABI; for assembly.c alone.
 *
 * A call keeps the control words: the rounding mode and the masks of exceptions in MXCSR and in the x87 control word. They are
 * nearly always alike in all coroutines. MXCSR is loaded all the same: to compare it, what was just stored must be read, which took
 * longer than loading it (Zen 3). The x87 control word is loaded only if it differs. The status flags of MXCSR go along, though the
 * ABI has no call keep them. */
#ifndef STEND_SWITCH_X86_64_H
#define STEND_SWITCH_X86_64_H

#define KEEPS_CONTROL_WORDS 1

#if defined(__APX_F__)
#error "the registers r16 to r31 are not known here: build without APX, or with -DSTEND_NO_INTRINSICS"
#endif

/* Where indirect branches are tracked (IBT), what they may reach begins with this. */
#if defined(__CET__) && (__CET__ & 1)
#define LANDING "endbr64\n\t"
#else
#define LANDING
#endif

_Static_assert(offsetof(struct registers, stack) == 0 && offsetof(struct registers, frame) == 8 &&
               offsetof(struct registers, base) == 16 && offsetof(struct registers, place) == 24 &&
               offsetof(struct registers, mxcsr) == 32 && offsetof(struct registers, x87) == 36,
               "the code below has these in numbers");

#if defined(__AVX512F__)
#define ALSO_CHANGED , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", \
	"xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define ALSO_CHANGED
#endif

#define KEEP_REGISTERS                       \
	"lea 1f(%%rip), %%rax\n\t"           \
	"mov %%rax, 24(%0)\n\t"              \
	"mov %%rsp, (%0)\n\t"                \
	"mov %%rbp, 8(%0)\n\t"               \
	"mov %%rbx, 16(%0)\n\t"

/* The stack pointer last: before the jump alone an unwinder finds another stack than the code that it stands in. */
#define GO_ON                                \
	"mov 8(%1), %%rbp\n\t"               \
	"mov 16(%1), %%rbx\n\t"              \
	"mov (%1), %%rsp\n\t"                \
	"jmp *24(%1)\n\t"

/* xmm0 stands for the whole register, whatever its width. */
#define CHANGED                                                                                                     \
	"rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0", "xmm1",   \
	"xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", \
	"xmm15", "mm0", "mm1", "mm2", "mm3", "mm4", "mm5", "mm6", "mm7", "st", "st(1)", "st(2)", "st(3)", "st(4)",   \
	"st(5)", "st(6)", "st(7)" ALSO_CHANGED

static inline __attribute__((always_inline)) void registers_switch(struct registers *from, struct registers *to)
{
	__asm__ volatile(
		"stmxcsr 32(%0)\n\t"
		"fnstcw 36(%0)\n\t"
		KEEP_REGISTERS
		"ldmxcsr 32(%1)\n\t"
		"movzwl 36(%1), %%eax\n\t"
		"cmp 36(%0), %%ax\n\t"
		"jne 2f\n"
		"3:\n\t"
		GO_ON
		"2:\n\t"
		"fldcw 36(%1)\n\t"
		"jmp 3b\n"
		"1:\n\t"
		LANDING
		: "+D"(from), "+S"(to) : : CHANGED);
}

/* The same without control words. */
static inline __attribute__((always_inline)) void registers_switch_alone(struct registers *from, struct registers *to)
{
	__asm__ volatile(KEEP_REGISTERS GO_ON "1:\n\t" LANDING : "+D"(from), "+S"(to) : : CHANGED);
}

void switch_first_place(void);

/* rbx is the coroutine; the stack is aligned as before a call. */
__asm__(
	".text\n\t"
	".p2align 4\n\t"
	".type switch_first_place, @function\n"
	"switch_first_place:\n\t"
	".cfi_startproc\n\t"
	".cfi_undefined rip\n\t"
	LANDING
	"mov %rbx, %rdi\n\t"
	"call coroutine_begin\n\t"
	"ud2\n\t"
	".cfi_endproc\n\t"
	".size switch_first_place, . - switch_first_place\n\t");

static void registers_make(struct registers *registers, uint8_t *stack_end, struct coroutine *coroutine)
{
	union {
		void (*code)(void);
		void *data;
	} first = { switch_first_place };

	*registers = (struct registers){ .stack = stack_end, .base = coroutine, .place = first.data };
	__asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(registers->mxcsr), "=m"(registers->x87));
}

#endif
