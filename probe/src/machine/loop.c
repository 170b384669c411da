/* stend-probe loop: a loop device shows only the beginning of its file, or all of it again. What reads or writes beyond that is
 * refused by the kernel with EIO before it comes to the file: so a disk dies for those who use it, and its file stays as it is.
 * losetup sets such a limit only when it makes a device. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/loop.h>
#endif

#include "base/fail.h"
#include "base/options.h"
#include "commands.h"

static struct {
	const char *device;
	uint64_t bytes;
} chosen;

static void check(void)
{
	if (chosen.device == NULL)
		fail(EXIT_USAGE, "--device is missing: the loop device to limit, such as /dev/loop3");
	if (chosen.bytes % 512 != 0)
		fail(EXIT_USAGE, "--bytes is %llu; a device has sectors of 512", (unsigned long long)chosen.bytes);
}

static const struct option_definition options[] = {
	{ "device", OPTION_TEXT, "PATH", NULL, "the loop device", &chosen.device, 0, 0 },
	{ "bytes", OPTION_SIZE, "SIZE", "0", "size of the accessible part of its file; 0: all of it", &chosen.bytes, 0, 0 },
};

static const struct command command = {
	.name = "loop",
	.summary = "limit a loop device to the beginning of its file; access beyond fails",
	.notes = "The device may be in use. --bytes 512 simulates a failed disk, --bytes 0 restores it.\n",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.check = check,
};

int command_loop(int argc, char **argv)
{
	options_parse(&command, argc, argv);
#ifdef __linux__
	struct loop_info64 status;
	int device = open(chosen.device, O_RDWR | O_CLOEXEC);

	if (device < 0)
		fail(EXIT_BROKEN, "cannot open %s: %s", chosen.device, strerror(errno));
	if (ioctl(device, LOOP_GET_STATUS64, &status) != 0)
		fail(EXIT_BROKEN, "%s is no loop device with a file: %s", chosen.device, strerror(errno));
	status.lo_sizelimit = chosen.bytes;
	if (ioctl(device, LOOP_SET_STATUS64, &status) != 0)
		fail(EXIT_BROKEN, "the kernel does not limit %s: %s", chosen.device, strerror(errno));
	close(device);
	return EXIT_FINE;
#else
	fail(EXIT_UNSUPPORTED, "there are no loop devices on this system");
#endif
}
