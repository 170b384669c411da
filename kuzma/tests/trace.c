#include "trace.h"

#if TRACE_BUILT
#include <cpuid.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>
#include <x86intrin.h>

extern const char __executable_start[];

enum { MOST_STEPS = 1 << 23, SINGLE_STEP = 0x100 };

static uint64_t kept[MOST_STEPS];
static size_t kept_steps;
static uint64_t runs; /* tells a run from all others */
static volatile bool recording, tracing;
static struct trace_result result;

/* The steps that count: from the traced function's first instruction until it has returned. */
static uintptr_t first_instruction, return_address, stack_at_entry;
static volatile enum { BEFORE, INSIDE, AFTER } place;

/* The registers' numbers in instructions, as places in the signal's context. */
static const int places[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	                        REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };

static uint64_t seen;
static bool divided;

static void see(uint64_t value)
{
	seen = (seen ^ value) * 0x9E3779B97F4A7C15u;
	seen ^= seen >> 29;
}

struct instruction {
	unsigned map;  /* 0: one byte; 1: after 0F; 2: after 0F 38; 3: after 0F 3A */
	unsigned code;
	unsigned modrm, sib; /* modrm: 256 if there is none */
	unsigned rex;        /* bits X and B as in REX: 2 and 1 */
	unsigned mask;       /* EVEX: the mask register, 0 for none */
	bool vector_coded, repeated;
};

static bool has_modrm(unsigned map, unsigned code)
{
	if (map >= 2)
		return true;
	if (map == 1)
		return !((code >= 0x05 && code <= 0x0B) || code == 0x0E || (code >= 0x30 && code <= 0x37) || code == 0x77 ||
		         (code >= 0x80 && code <= 0x8F) || (code >= 0xA0 && code <= 0xA2) ||
		         (code >= 0xA8 && code <= 0xAA) || (code >= 0xC8 && code <= 0xCF));
	if (code < 0x40)
		return (code & 7) < 4;
	return code == 0x63 || code == 0x69 || code == 0x6B || (code >= 0x80 && code <= 0x8F) || code == 0xC0 ||
	       code == 0xC1 || code == 0xC6 || code == 0xC7 || (code >= 0xD0 && code <= 0xD3) ||
	       (code >= 0xD8 && code <= 0xDF) || code == 0xF6 || code == 0xF7 || code >= 0xFE;
}

/* Intel 64 Software Developer's Manual, volume 2, chapter 2: prefixes, opcode, ModRM, SIB. */
static struct instruction decode(const uint8_t *at)
{
	struct instruction it = { .modrm = 256 };

	for (;; at++) {
		if (*at == 0xF2 || *at == 0xF3)
			it.repeated = true;
		else if (*at != 0x66 && *at != 0x67 && *at != 0xF0 && *at != 0x2E && *at != 0x36 && *at != 0x3E &&
		         *at != 0x26 && *at != 0x64 && *at != 0x65)
			break;
	}
	if (*at == 0xC5) {
		it.vector_coded = true;
		it.map = 1;
		at += 2;
	} else if (*at == 0xC4) {
		it.vector_coded = true;
		it.rex = (unsigned)~at[1] >> 5 & 3;
		it.map = at[1] & 31u;
		at += 3;
	} else if (*at == 0x62) {
		it.vector_coded = true;
		it.rex = (unsigned)~at[1] >> 5 & 3;
		it.map = at[1] & 7u;
		it.mask = at[3] & 7u;
		at += 4;
	} else {
		if ((*at & 0xF0) == 0x40)
			it.rex = *at++ & 3u;
		if (*at == 0x0F) {
			it.map = at[1] == 0x38 ? 2 : at[1] == 0x3A ? 3 : 1;
			at += it.map == 1 ? 1 : 2;
		}
	}
	it.code = *at++;
	if (it.vector_coded ? !(it.map == 1 && it.code == 0x77) : has_modrm(it.map, it.code)) {
		it.modrm = *at++;
		it.sib = *at;
	}
	return it;
}

/* Mask register `number`, from the state that the kernel saved with the signal. */
static uint64_t mask_register(const ucontext_t *context, unsigned number)
{
	const uint8_t *saved = (const uint8_t *)context->uc_mcontext.fpregs;
	unsigned a, b, c, d;
	uint64_t components, value;

	memcpy(&components, saved + 512, sizeof components);
	if (!(components >> 5 & 1) || !__get_cpuid_count(13, 5, &a, &b, &c, &d))
		return 0;
	memcpy(&value, saved + b + 8 * number, sizeof value);
	return value;
}

/* Whether a mask may choose what is touched in memory: in moves, stores of narrowed or compressed elements among them.
 * What only calculates reads its operand whole, under a mask as well. */
static bool moves(const struct instruction *it)
{
	unsigned low = it->code & 15, high = it->code >> 4;

	if (it->map == 1)
		return high <= 2 || high == 6 || high == 7;
	if (it->map == 2)
		return (high >= 1 && high <= 3 && low < 6) || (it->code & 0xFC) == 0x88 || it->code == 0x62 || it->code == 0x63;
	return it->map == 3 && (high == 1 || high == 3);
}

static void see_memory_operand(const struct instruction *it, const ucontext_t *context)
{
	const greg_t *registers = context->uc_mcontext.gregs;
	unsigned mode = it->modrm >> 6, base = it->modrm & 7;

	if (base == 4) {
		unsigned index = (it->sib >> 3 & 7) | (it->rex & 2) << 2;

		base = it->sib & 7;
		if (index != 4)
			see((uint64_t)registers[places[index]]);
	}
	/* Base 5 of mode 0: no register, but the instruction's own address or a constant. */
	if (base != 5 || mode != 0)
		see((uint64_t)registers[places[base | (it->rex & 1) << 3]]);
	if (it->mask != 0 && moves(it))
		see(mask_register(context, it->mask));
}

static void see_instruction(const ucontext_t *context)
{
	const greg_t *registers = context->uc_mcontext.gregs;
	struct instruction it = decode((const uint8_t *)registers[REG_RIP]);
	bool legacy = !it.vector_coded, memory = it.modrm < 0xC0;
	bool address_only = legacy && ((it.map == 0 && it.code == 0x8D) || (it.map == 1 && it.code >= 0x19 && it.code <= 0x1F));

	seen = 0;
	see((uint64_t)registers[REG_RIP]);
	see((uint64_t)registers[REG_RSP]);
	if (memory && !address_only)
		see_memory_operand(&it, context);
	/* Bit tests in memory are addressed by a second register. */
	if (memory && legacy && it.map == 1 && (it.code & 0xE7) == 0xA3)
		for (unsigned i = 0; i < 16; i++)
			see((uint64_t)registers[places[i]]);
	/* String instructions: A4 to A7 have both pointers, AA and AB and AE and AF the second only, AC and AD the first. */
	if (legacy && it.map == 0 && ((it.code >= 0xA4 && it.code <= 0xA7) || (it.code >= 0xAA && it.code <= 0xAF))) {
		if (it.code <= 0xA7 || (it.code | 1) == 0xAD)
			see((uint64_t)registers[REG_RSI]);
		if ((it.code | 1) != 0xAD)
			see((uint64_t)registers[REG_RDI]);
		if (it.repeated)
			see((uint64_t)registers[REG_RCX]);
	}
	if (legacy && it.map == 0 && it.code == 0xD7)
		see((uint64_t)(registers[REG_RBX] + (registers[REG_RAX] & 255)));
	/* Divisions take longer for some operands. A divisor in memory shows in the result, a step later. */
	if (divided) {
		see((uint64_t)registers[REG_RAX]);
		see((uint64_t)registers[REG_RDX]);
	}
	divided = false;
	if (legacy && it.map == 0 && (it.code | 1) == 0xF7 && it.modrm != 256 && (it.modrm >> 4 & 3) == 3) {
		see((uint64_t)registers[REG_RAX]);
		see((uint64_t)registers[REG_RDX]);
		divided = true;
		if (!memory)
			see((uint64_t)registers[places[(it.modrm & 7) | (it.rex & 1) << 3]]);
	}
	/* Gathers and scatters are addressed by vector registers: never the same. Nor are moves whose mask is one: vmaskmov,
	 * vpmaskmov, and maskmovdqu, whose address stands in RDI. */
	if (it.vector_coded && it.map == 2 && ((it.code >= 0x90 && it.code <= 0x93) || (it.code >= 0xA0 && it.code <= 0xA3)))
		see(runs);
	if (it.vector_coded && it.map == 2 && memory &&
	    ((it.code >= 0x2C && it.code <= 0x2F) || it.code == 0x8C || it.code == 0x8E))
		see(runs);
	if (it.map == 1 && it.code == 0xF7 && !memory)
		see(runs);
}

/* Whether the step that `context` is of counts. Kept by addresses alone: a hypervisor may deliver a step late, or not at
 * all, and two traps that meet become one signal. */
static bool counts(const ucontext_t *context)
{
	uintptr_t instruction = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
	uintptr_t stack = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];

	if (place == BEFORE && instruction == first_instruction) {
		place = INSIDE;
		stack_at_entry = stack;
		memcpy(&return_address, (const void *)stack, sizeof return_address);
	} else if (place == INSIDE && instruction == return_address && stack > stack_at_entry) {
		place = AFTER;
	}
	return place == INSIDE;
}

static void on_trap(int signal, siginfo_t *info, void *opaque)
{
	ucontext_t *context = opaque;

	(void)signal;
	(void)info;
	if (!tracing) {
		context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)SINGLE_STEP;
		return;
	}
	if (!counts(context))
		return;
	see_instruction(context);
	if (result.steps < MOST_STEPS && recording) {
		kept[result.steps] = seen;
	} else if (result.same && (result.steps >= kept_steps || kept[result.steps] != seen)) {
		result.same = false;
		result.differs = (uintptr_t)context->uc_mcontext.gregs[REG_RIP] - (uintptr_t)__executable_start;
	}
	result.steps++;
}

struct trace_result trace(bool record, void (*function)(void *), void *argument)
{
	static uint8_t stack[1 << 16];
	stack_t other = { .ss_sp = stack, .ss_size = sizeof stack };
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	/* They stay, for steps that come late. */
	sigaltstack(&other, NULL);
	sigaction(SIGTRAP, &action, NULL);
	recording = record;
	memset(&result, 0, sizeof result);
	result.same = true;
	runs++;
	first_instruction = (uintptr_t)function;
	place = BEFORE;
	tracing = true;
	atomic_signal_fence(memory_order_seq_cst); /* the handler reads what stands above */
	__writeeflags(__readeflags() | SINGLE_STEP);
	function(argument);
	__writeeflags(__readeflags() & ~(unsigned long long)SINGLE_STEP);
	atomic_signal_fence(memory_order_seq_cst);
	tracing = false;
	result.possible = result.steps > 0 && result.steps < MOST_STEPS;
	if (record)
		kept_steps = result.steps;
	else if (result.steps != kept_steps)
		result.same = false;
	return result;
}
#else
struct trace_result trace(bool record, void (*function)(void *), void *argument)
{
	struct trace_result none = { false, false, 0, 0 };

	(void)record;
	(void)function;
	(void)argument;
	return none;
}
#endif
