/* Whether a processor runs this program, or a program that translates it.
 *
 * Translators of programs show the system that they pretend: name of the architecture, auxiliary vector, /proc/self/exe and
 * often /proc/cpuinfo are those of a machine that this program would run on. What they cannot change is that to the kernel
 * they themselves are what runs. So the kernel is asked what it runs, by ways that translators let through:
 * /proc/thread-self/exe, or before Linux 3.17 the same of the main thread by number. If the ELF header there is not of the
 * architecture that this program was compiled for, this program is data to the kernel; and so it is if that is another file
 * than /proc/self/exe, which translators give as this program's own. A native one shows neither: however it is started, both
 * are one file, of its own architecture.
 *
 * A machine that is emulated as a whole has a kernel of its own, which knows no better. On x86 QEMU says by CPUID that its code
 * generator (TCG) does the work, whatever processor it claims to be. Elsewhere such a machine does not show itself to programs. */
#include "machine/emulator.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* e_machine of this program's own file, after the registry of the ELF gABI; 0: not known here. Elbrus last: tests tell others that
 * they are one. */
#if defined(__x86_64__)
#define OWN_MACHINE 62
#elif defined(__i386__)
#define OWN_MACHINE 3
#elif defined(__aarch64__)
#define OWN_MACHINE 183
#elif defined(__arm__)
#define OWN_MACHINE 40
#elif defined(__riscv)
#define OWN_MACHINE 243
#elif defined(__loongarch__)
#define OWN_MACHINE 258
#elif defined(__powerpc64__)
#define OWN_MACHINE 21
#elif defined(__powerpc__)
#define OWN_MACHINE 20
#elif defined(__s390__)
#define OWN_MACHINE 22
#elif defined(__mips__)
#define OWN_MACHINE 8
#elif defined(__e2k__)
#define OWN_MACHINE 175
#else
#define OWN_MACHINE 0
#endif

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__) && !defined(__e2k__) && !defined(STEND_NO_INTRINSICS)
#include <cpuid.h>

static bool generated_code(void)
{
	unsigned a, words[3], c, unused;

	/* Bit 31: a hypervisor is there, and its leaf, which __get_cpuid() does not know. */
	if (!__get_cpuid(1, &a, &unused, &c, &unused) || (c >> 31 & 1) == 0)
		return false;
	__cpuid(0x40000000, a, words[0], words[1], words[2]);
	return memcmp(words, "TCGTCGTCGTCG", sizeof words) == 0;
}
#else
static bool generated_code(void)
{
	return false;
}
#endif

enum { HEADER = 20, CLASS = 4, DATA = 5, MACHINE = 18 }; /* of an ELF file; e_machine is the last that is read */

/* A file that is open, or -1; by `header` its beginning, if it is an ELF file. */
static int open_program(const char *path, uint8_t header[HEADER])
{
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file >= 0 && (read(file, header, HEADER) != HEADER || memcmp(header, "\177ELF", 4) != 0)) {
		close(file);
		return -1;
	}
	return file;
}

static bool is_own(const uint8_t header[HEADER])
{
	const uint16_t machine = OWN_MACHINE;
	bool little = header[DATA] == 1;
	unsigned low = header[little ? MACHINE : MACHINE + 1], high = header[little ? MACHINE + 1 : MACHINE];
	unsigned found = low | high << 8;
	const uint16_t one = 1;
	uint8_t first;

	memcpy(&first, &one, 1);
	return machine == 0 || (found == machine && little == (first == 1) && header[CLASS] == (sizeof(void *) == 8 ? 2 : 1));
}

static bool same_file(int one, int other)
{
	struct stat first, second;

	return fstat(one, &first) == 0 && fstat(other, &second) == 0 && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* The name of the file behind a link. */
static void name_of(const char *path, char *name, size_t bytes)
{
	char target[4096];
	ssize_t length = readlink(path, target, sizeof target - 1);

	target[length > 0 ? length : 0] = '\0';
	const char *last = strrchr(target, '/');
	snprintf(name, bytes, "%.60s", last != NULL ? last + 1 : "another program");
}

const char *emulator(void)
{
	static char name[64];
	char paths[2][64] = { "/proc/thread-self/exe" };
	uint8_t header[HEADER], own_header[HEADER];
	int runs = -1, own = open_program("/proc/self/exe", own_header);
	unsigned i = 0;

	/* The main thread has the process's number. */
	snprintf(paths[1], sizeof paths[1], "/proc/self/task/%ld/exe", (long)getpid());
	while (i < 2 && (runs = open_program(paths[i], header)) < 0)
		i++;
	bool translated = runs >= 0 && (!is_own(header) || (own >= 0 && !same_file(runs, own)));
	if (runs >= 0)
		close(runs);
	if (own >= 0)
		close(own);
	if (translated) {
		name_of(paths[i], name, sizeof name);
		return strncmp(name, "qemu-", 5) == 0 ? "qemu-user" : name;
	}
	return generated_code() ? "qemu-system" : NULL;
}
