#include "base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

static int ends[2];
static void (*also_called)(void);

static void on_signal(int number)
{
	int kept = errno;
	unsigned char byte = (unsigned char)number;
	ssize_t ignored = write(ends[1], &byte, 1);

	(void)ignored; /* full: there is something to read already */
	if (also_called != NULL)
		also_called();
	errno = kept;
}

int signals_catch(const int *numbers, size_t count, void (*also)(void))
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	if (pipe(ends) != 0)
		fail(EXIT_BROKEN, "cannot make a pipe: %s", strerror(errno));
	for (unsigned i = 0; i < 2; i++) {
		fcntl(ends[i], F_SETFD, FD_CLOEXEC);
		fcntl(ends[i], F_SETFL, O_NONBLOCK);
	}
	also_called = also;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < count; i++)
		sigaction(numbers[i], &action, NULL);
	return ends[0];
}
