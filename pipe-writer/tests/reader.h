/* The reading end of a test. */
#ifndef PIPE_READER_H
#define PIPE_READER_H

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stream.h"

struct reader {
	int descriptor;
	pid_t process;
	uint64_t got, wrong;
};

/* Until the end of the stream. */
static inline void read_all(struct reader *reader)
{
	static uint8_t data[100003];
	ssize_t count;

	while ((count = read(reader->descriptor, data, sizeof data)) > 0 || (count < 0 && errno == EINTR)) {
		if (count < 0)
			continue;
		reader->wrong += stream_wrong(data, (size_t)count, reader->got);
		reader->got += (uint64_t)count;
	}
}

/* A process that reads from `ends[0]`, and begins late. A process, not a thread: emulators mix up signals and
 * threads. */
static inline struct reader *reader_start(const int ends[2])
{
	struct reader *reader = mmap(NULL, sizeof *reader, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (reader == MAP_FAILED)
		abort();
	*reader = (struct reader){ .descriptor = ends[0] };
	reader->process = fork();
	if (reader->process == 0) {
		close(ends[1]);
		usleep(2000);
		read_all(reader);
		_exit(0);
	}
	close(ends[0]);
	return reader;
}

/* After the writing end was closed. */
static inline struct reader reader_finish(struct reader *reader)
{
	struct reader result;

	while (waitpid(reader->process, NULL, 0) < 0 && errno == EINTR)
		;
	result = *reader;
	munmap(reader, sizeof *reader);
	return result;
}

#endif
