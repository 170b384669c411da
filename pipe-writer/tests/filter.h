/* Filters for system calls (seccomp), as containers and service managers set them. */
#ifndef PIPE_FILTER_H
#define PIPE_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static inline bool filter_set(struct sock_filter *steps, size_t count)
{
	struct sock_fprog program = { .len = (unsigned short)count, .filter = steps };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* From now on, and in all children, the call gets `answer`, one of SECCOMP_RET_…. False: there are no filters here, as
 * under an emulator. */
static inline bool answer_call(long call, unsigned answer)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return filter_set(steps, sizeof steps / sizeof *steps);
}

/* It fails with `reason`. */
static inline bool refuse_call(long call, int reason)
{
	return answer_call(call, SECCOMP_RET_ERRNO | ((unsigned)reason & SECCOMP_RET_DATA));
}

/* Only if argument number `argument` (from 0) is `value`, which is below 2^32. */
static inline bool refuse_call_with(long call, size_t argument, unsigned value, int reason)
{
	size_t low = offsetof(struct seccomp_data, args) + 8 * argument;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	low += 4;
#endif
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)low),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ((unsigned)reason & SECCOMP_RET_DATA)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return filter_set(steps, sizeof steps / sizeof *steps);
}

#endif
