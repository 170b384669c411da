#include "pipe/transfer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/clock.h"
#include "base/cores.h"
#include "base/fail.h"

static pid_t writer_process; /* 0: none */

static int wait_for_writer(void)
{
	int status;

	while (waitpid(writer_process, &status, 0) < 0)
		if (errno != EINTR)
			fail(EXIT_BROKEN, "cannot wait for the writer: %s", strerror(errno));
	writer_process = 0;
	return status;
}

/* Whatever ends this program early ends the writer too. */
static void end_writer(void)
{
	if (writer_process > 0) {
		kill(writer_process, SIGKILL);
		waitpid(writer_process, NULL, 0);
	}
}

void pipe_transfer_make(struct pipe_transfer *transfer)
{
	transfer->shared = mmap(NULL, sizeof *transfer->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (transfer->shared == MAP_FAILED)
		fail(EXIT_BROKEN, "no shared memory: %s", strerror(errno));
	atexit(end_writer);
}

void pipe_transfer_free(struct pipe_transfer *transfer)
{
	munmap(transfer->shared, sizeof *transfer->shared);
}

struct starter {
	int descriptor;
	uint64_t t_ns;
};

static void release(void *argument)
{
	struct starter *starter = argument;

	starter->t_ns = monotonic_ns();
	/* If it is gone it has said why, and the reader will find nothing to read. */
	if (write(starter->descriptor, "", 1) != 1 && errno != EPIPE)
		fail(EXIT_BROKEN, "cannot start the writer: %s", strerror(errno));
}

static _Noreturn void write_in_child(const struct pipe_transfer *transfer, const struct pipe_job *job,
                                     struct channel *channel, const int go[2], pid_t parent)
{
	writer_process = 0;
#ifdef __linux__
	/* Also where the parent is killed. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() != parent)
		_exit(EXIT_BROKEN);
#else
	(void)parent;
#endif
	channel_close_reader(channel);
	close(go[1]);
	core_pin(transfer->writer_core);
	pipe_write_end(channel, go[0], job, transfer->shared);
	_exit(EXIT_FINE);
}

void pipe_transfer_run(struct pipe_transfer *transfer, const struct pipe_job *job, struct pipe_transfer_result *result)
{
	struct channel channel = { .reader = -1, .writer = -1 };
	struct starter starter = { 0 };
	pid_t parent = getpid();
	int go[2];

	*result = (struct pipe_transfer_result){ 0 };
	memset(transfer->shared, 0, sizeof *transfer->shared);
	transfer->transport->make(&channel, transfer->capacity);
	result->capacity = channel.capacity;
	if (pipe(go) != 0)
		fail(EXIT_BROKEN, "cannot make a pipe: %s", strerror(errno));
	writer_process = fork();
	if (writer_process < 0)
		fail(EXIT_BROKEN, "cannot start a process: %s", strerror(errno));
	if (writer_process == 0)
		write_in_child(transfer, job, &channel, go, parent);
	channel_close_writer(&channel);
	close(go[0]);
	starter.descriptor = go[1];
	core_pin(transfer->reader_core);
	pipe_read_end(&channel, go[1], job, release, &starter, &result->reader);
	result->t_ns = starter.t_ns;
	result->wall_ns = monotonic_ns() - starter.t_ns;
	channel_free(&channel);
	close(go[1]);
	int status = wait_for_writer();
	if (WIFEXITED(status) && WEXITSTATUS(status) != EXIT_FINE)
		exit(WEXITSTATUS(status)); /* it has said why */
	if (WIFSIGNALED(status))
		fail(EXIT_BROKEN, "the writer was ended by signal %d", WTERMSIG(status));
	result->writer = *transfer->shared;
}
