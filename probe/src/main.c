/* stend-probe: the instruments that need no other program. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/version.h"
#include "commands.h"
#include "machine/emulator.h"
#include "wire/wire.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{ "info", command_info, "describe this machine: processor, caches, clock, timer (one JSON object)" },
	{ "cipher", command_cipher, "encrypt or decrypt with Kuznyechik or Magma" },
	{ "copy", command_copy, "copy memory" },
	{ "pipe", command_pipe, "move bytes through a pipe between two processes" },
	{ "switch", command_switch, "switch between coroutines, or between threads" },
	{ "fizzbuzz", command_fizzbuzz, "write Fizz Buzz to standard output, or check it on standard input" },
	{ "sample", command_sample, "sample the machine: processors, memory, disks, networks, temperatures" },
	{ "clock", command_clock, "print both clocks on request, so that a lab can compare clocks" },
	{ "lock", command_lock, "hold a lock on a file until standard input ends" },
	{ "loop", command_loop, "limit a loop device to the beginning of its file" },
	{ "run", command_run, "measure a suite on a machine without a network connection" },
	{ "stand-in", command_stand_in, "make links that replace small programs that a machine lacks" },
	{ "guard", command_guard, "run a command that ends with its parent, and report its usage" },
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static int print_help(void)
{
	printf("stend-probe %s: the instruments of stend\n\nUsage: stend-probe COMMAND [OPTIONS]\n\nCommands:\n",
	       STEND_VERSION);
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-10s%s\n", commands[i].name, commands[i].summary);
	printf("\nOptions:\n  %-10sprint this and exit; after a command, its options\n  %-10sprint version and build\n",
	       "--help", "--version");
	printf("\nWith --check a command only checks its command line, and measures nothing.\n");
	printf("\nExit status: 0 success, 1 system error, 2 invalid command line, 4 not possible on this machine.\n"
	       "Sizes: 4096, 4k, 64KiB, 1M (powers of 1024), 1kB, 1MB, 1GB (powers of 1000).\n"
	       "Durations: 0.2, 200ms, 2s, 1m; a bare number is seconds.\n");
	return fflush(stdout) == 0 ? EXIT_FINE : EXIT_BROKEN;
}

/* Whoever starts us without the three standard descriptors must not find our files in their place. Standard input that
 * is not there is one that has been closed: the end of a pipe without a writer. */
static void fill_descriptors(void)
{
	int ends[2];

	if (fcntl(STDIN_FILENO, F_GETFD) < 0 && pipe(ends) == 0) {
		if (ends[0] != STDIN_FILENO)
			dup2(ends[0], STDIN_FILENO);
		close(ends[1]);
	}
	/* Results that nobody can get are an error: writing to this one fails. */
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		open("/dev/null", O_RDONLY);
	if (fcntl(STDERR_FILENO, F_GETFD) < 0)
		open("/dev/null", O_WRONLY);
}

int main(int argc, char **argv)
{
	fill_descriptors();
	/* A reader that went away is an error of write(), told in one line, not a silent death. */
	signal(SIGPIPE, SIG_IGN);

	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL, *called = argc < 1 ? "" : slash != NULL ? slash + 1 : argv[0];

	if (stand_in_knows(called))
		return stand_in(called, argv + 1);
	if (argc < 2)
		fail(EXIT_USAGE, "a command is missing; see stend-probe --help");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return print_help();
	if (strcmp(argv[1], "--version") == 0) {
		printf("stend-probe %s\n%s\n%s %s\n", STEND_VERSION, build_compiler(), build_architecture(), build_flags());
		if (emulator() != NULL)
			printf("emulated by %s\n", emulator());
		if (build_sources()[0] != '\0')
			printf("sources %s\n", build_sources());
		return fflush(stdout) == 0 ? EXIT_FINE : EXIT_BROKEN;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	fail(EXIT_USAGE, "unknown %s %s; see stend-probe --help", argv[1][0] == '-' ? "option" : "command", argv[1]);
}
