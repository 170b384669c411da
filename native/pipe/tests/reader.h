/* The reading end of a test. */
#ifndef PIPE_READER_H
#define PIPE_READER_H

#include <errno.h>
#include <unistd.h>

#include "stream.h"

struct reader {
	int descriptor;
	uint64_t got, wrong;
	unsigned delay_us; /* before the first byte */
};

/* For a thread, or called. */
static inline void *read_all(void *argument)
{
	struct reader *reader = argument;
	static uint8_t data[100003];
	ssize_t count;

	usleep(reader->delay_us);
	while ((count = read(reader->descriptor, data, sizeof data)) > 0 || (count < 0 && errno == EINTR)) {
		if (count < 0)
			continue;
		reader->wrong += stream_wrong(data, (size_t)count, reader->got);
		reader->got += (uint64_t)count;
	}
	return NULL;
}

#endif
