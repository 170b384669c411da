#include "sizes.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

/* On one core the two ends take turns: each turn is as long as the pipe. On two, nobody should have to sleep: many
 * chunks in a large pipe. 1 MiB is what every user may ask for. suites/quick.toml measures those of one core. */
enum {
	PIPE_ONE_CORE = 1 << 20,
	PIPE_ONE_CORE_RING = 512 << 10, /* half of it still is in the second cache when its turn comes again */
	PIPE_CORES = 1 << 20,
	CHUNKS_ONE_CORE = 2,
	CHUNKS_CORES = 8,
	CHUNK_NO_PIPE = 128 << 10,
	SMALLEST_SPLICE_ONE_CORE = 32 << 10,
	SMALLEST_SPLICE_CORES = 8 << 10,
	SMALLEST_SPLICE_RING = 4 << 10
};

#ifdef __linux__
static bool one_core(void)
{
	/* The kernel refuses a set that is smaller than its own. */
	for (int cores = 1024; cores <= 1 << 16; cores *= 2) {
		cpu_set_t *set = CPU_ALLOC((size_t)cores);
		size_t bytes = CPU_ALLOC_SIZE((size_t)cores);
		int count = 0, status;

		if (set == NULL)
			return false;
		status = sched_getaffinity(0, bytes, set);
		if (status == 0)
			count = CPU_COUNT_S(bytes, set);
		CPU_FREE(set);
		if (status == 0 || errno != EINVAL)
			return count == 1;
	}
	return false;
}

/* As large as it is allowed to be: a limit of the system or of the user is no error. */
static size_t enlarge(int descriptor, size_t wanted)
{
	int bytes = fcntl(descriptor, F_GETPIPE_SZ);

	if (bytes <= 0)
		return 0;
	if (wanted > (size_t)1 << 30)
		wanted = (size_t)1 << 30;
	while (wanted > (size_t)bytes) {
		int got = fcntl(descriptor, F_SETPIPE_SZ, (int)wanted);
		if (got > 0)
			return (size_t)got;
		wanted /= 2;
	}
	return (size_t)bytes;
}
#endif

struct sizes pipe_writer_sizes_choose(int descriptor, bool is_pipe, const struct pipe_writer_options *options)
{
	struct sizes sizes = { .chunk_bytes = CHUNK_NO_PIPE };
#ifdef __linux__
	bool ring = options->policy == PIPE_WRITER_RING;

	if (is_pipe) {
		bool one = one_core();
		size_t wanted = options->pipe_bytes;

		if (wanted == 0)
			wanted = !one ? PIPE_CORES : ring ? PIPE_ONE_CORE_RING : PIPE_ONE_CORE;
		sizes.pipe_bytes = enlarge(descriptor, wanted);
		sizes.chunk_bytes = sizes.pipe_bytes / (one ? CHUNKS_ONE_CORE : CHUNKS_CORES);
		sizes.smallest_splice = ring ? SMALLEST_SPLICE_RING : one ? SMALLEST_SPLICE_ONE_CORE : SMALLEST_SPLICE_CORES;
	}
#else
	(void)descriptor;
	(void)is_pipe;
#endif
	if (options->chunk_bytes > 0)
		sizes.chunk_bytes = options->chunk_bytes;
	if (sizes.chunk_bytes < (size_t)sysconf(_SC_PAGESIZE))
		sizes.chunk_bytes = (size_t)sysconf(_SC_PAGESIZE);
	return sizes;
}
