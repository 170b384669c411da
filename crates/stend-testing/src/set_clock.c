/*
 * set-clock FILE PROGRAM...: starts a program whose wall clock is ahead of the machine's by as many seconds as FILE says at each moment.
 *
 * Programs read the clock without a system call, from a page that the kernel shows them. So the program is not told of that page, and each
 * call for the wall clock that it makes in its place is answered here. What its clock since boot says is as it is.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void need(int fine, const char *what)
{
	if (!fine) {
		perror(what);
		_exit(125);
	}
}

/* Has the kernel hand over the calls for the wall clock, to whoever reads what is returned. */
static int take_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLOCK_REALTIME, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof filter / sizeof *filter, filter };

	need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static void send_descriptor(int to, int descriptor)
{
	char byte = 0, space[CMSG_SPACE(sizeof descriptor)];
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof descriptor);
	memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
	need(sendmsg(to, &message, 0) == 1, "sendmsg");
}

static int receive_descriptor(int from)
{
	int descriptor;
	char byte, space[CMSG_SPACE(sizeof descriptor)];
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space };

	need(recvmsg(from, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message), "recvmsg");
	memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
	return descriptor;
}

/* Where the program's stack begins, which the kernel has just laid out. */
static unsigned long stack_of(pid_t program)
{
	char path[64], line[256];
	unsigned long stack = 0;
	FILE *file;

	/* The last but one word. */
	snprintf(path, sizeof path, "/proc/%d/syscall", program);
	file = fopen(path, "r");
	if (file && fgets(line, sizeof line, file)) {
		char *end = strrchr(line, ' ');

		*end = '\0';
		stack = strtoul(strrchr(line, ' '), NULL, 0);
	}
	if (file)
		fclose(file);
	return stack;
}

/* Hides the page with the clock from a program that is about to begin: of its words, its environment and what the kernel tells it, the last. */
static void hide_page(pid_t program, int memory)
{
	unsigned long at = stack_of(program), word[2], ignore = AT_IGNORE;
	int ends;

	need(at != 0, "stack");
	at += sizeof *word;
	for (ends = 0; ends < 2; at += sizeof *word) {
		need(pread(memory, word, sizeof *word, (off_t)at) == sizeof *word, "stack");
		ends += *word == 0;
	}
	for (;; at += sizeof word) {
		need(pread(memory, word, sizeof word, (off_t)at) == sizeof word, "stack");
		if (word[0] == AT_SYSINFO_EHDR)
			need(pwrite(memory, &ignore, sizeof ignore, (off_t)at) == sizeof ignore, "stack");
		if (word[0] == AT_NULL)
			return;
	}
}

static long ahead(const char *path)
{
	char text[32] = "";
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file >= 0) {
		if (read(file, text, sizeof text - 1) < 0)
			text[0] = '\0';
		close(file);
	}
	return strtol(text, NULL, 10);
}

static void answer_calls(int calls, const char *path)
{
	struct seccomp_notif call;
	struct seccomp_notif_resp answer;
	struct pollfd ready = { .fd = calls, .events = POLLIN };

	while (poll(&ready, 1, -1) >= 0 || errno == EINTR) {
		struct timespec now;
		struct iovec here = { &now, sizeof now }, there;

		if (ready.revents & POLLHUP)
			return;
		memset(&call, 0, sizeof call);
		if (ioctl(calls, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
			continue;
		clock_gettime(CLOCK_REALTIME, &now);
		now.tv_sec += ahead(path);
		memset(&answer, 0, sizeof answer);
		answer.id = call.id;
		there.iov_base = (void *)(uintptr_t)call.data.args[1];
		there.iov_len = sizeof now;
		if (process_vm_writev((pid_t)call.pid, &here, 1, &there, 1, 0) != sizeof now)
			answer.error = -EFAULT;
		ioctl(calls, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
}

/* It may be stopped and sent signals before it comes there. */
static void wait_for_exec(pid_t program)
{
	for (;;) {
		int status, event;

		if (waitpid(program, &status, __WALL) != program || !WIFSTOPPED(status))
			_exit(0);
		event = status >> 16;
		if (event == PTRACE_EVENT_EXEC)
			return;
		if (event == PTRACE_EVENT_STOP)
			ptrace(PTRACE_LISTEN, program, NULL, NULL);
		else
			ptrace(PTRACE_CONT, program, NULL, (void *)(uintptr_t)WSTOPSIG(status));
	}
}

/* Answers for the clock of a program until it has ended. */
static void stand_by(pid_t program, int link, const char *path)
{
	int calls = receive_descriptor(link), memory;
	char name[64];

	need(ptrace(PTRACE_SEIZE, program, NULL, PTRACE_O_TRACEEXEC) == 0, "ptrace");
	need(write(link, "", 1) == 1, "write");
	wait_for_exec(program);
	snprintf(name, sizeof name, "/proc/%d/mem", program);
	memory = open(name, O_RDWR | O_CLOEXEC);
	need(memory >= 0, name);
	hide_page(program, memory);
	need(ptrace(PTRACE_DETACH, program, NULL, NULL) == 0, "ptrace");
	close(memory);
	answer_calls(calls, path);
}

int main(int count, char **words)
{
	int link[2], calls;
	pid_t program = getpid(), helper;
	char byte;

	if (count < 3)
		return 125;
	need(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link) == 0, "socketpair");
	/* Where only what one has started may be traced. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	helper = fork();
	need(helper >= 0, "fork");
	if (helper == 0) {
		/* Nobody waits for what it says. */
		setsid();
		close(link[0]);
		stand_by(program, link[1], words[1]);
		_exit(0);
	}
	close(link[1]);
	calls = take_calls();
	need(calls >= 0, "seccomp");
	send_descriptor(link[0], calls);
	close(calls);
	need(read(link[0], &byte, 1) == 1, "set-clock");
	execvp(words[2], words + 2);
	need(0, words[2]);
}
