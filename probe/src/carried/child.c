#include "carried/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"

static _Noreturn void become(char *const *words, const char *directory, const int streams[3])
{
	sigset_t none;

	setpgid(0, 0);
	for (int number = 0; number < 3; number++)
		dup2(streams[number], number);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (directory == NULL || chdir(directory) == 0)
		execvp(words[0], words);
	fprintf(stderr, "cannot start %s: %s\n", words[0], strerror(errno));
	_exit(127);
}

struct child child_start(char *const *words, const char *directory)
{
	int in[2], out[2], err[2];
	struct child child;

	if (pipe(in) != 0 || pipe(out) != 0 || pipe(err) != 0)
		fail(EXIT_BROKEN, "cannot make a pipe: %s", strerror(errno));
	const int ours[3] = { in[1], out[0], err[0] }, theirs[3] = { in[0], out[1], err[1] };
	for (int i = 0; i < 3; i++) {
		fcntl(ours[i], F_SETFD, FD_CLOEXEC);
		fcntl(theirs[i], F_SETFD, FD_CLOEXEC);
		fcntl(ours[i], F_SETFL, O_NONBLOCK);
	}
	child.pid = fork();
	if (child.pid < 0)
		fail(EXIT_BROKEN, "cannot start a process: %s", strerror(errno));
	if (child.pid == 0)
		become(words, directory, theirs);
	setpgid(child.pid, child.pid);
	for (int i = 0; i < 3; i++)
		close(theirs[i]);
	child.in = ours[0];
	child.out = ours[1];
	child.err = ours[2];
	return child;
}

void child_stop(struct child *child)
{
	if (child->in >= 0)
		close(child->in);
	child->in = -1;
}

int child_wait(struct child *child)
{
	int status = 0;

	child_stop(child);
	while (waitpid(child->pid, &status, 0) < 0)
		if (errno != EINTR)
			return 127;
	if (child->out >= 0)
		close(child->out);
	if (child->err >= 0)
		close(child->err);
	child->out = child->err = -1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool stream_take(int *stream, struct bytes *bytes, size_t most)
{
	char some[1 << 15];

	while (*stream >= 0) {
		ssize_t count = read(*stream, some, sizeof some);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0 && errno == EAGAIN)
			return true;
		if (count <= 0) {
			close(*stream);
			*stream = -1;
			break;
		}
		/* A text of ours ends with the zero byte: this one is no UTF-8, so it is seen that something stood here. */
		for (char *at = some; (at = memchr(at, '\0', (size_t)(some + count - at))) != NULL; at++)
			*at = '\xff';
		size_t room = bytes->length < most ? most - bytes->length : 0;
		bytes_add(bytes, some, (size_t)count < room ? (size_t)count : room);
	}
	return false;
}
