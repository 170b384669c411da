/* A writer belongs to one process: children, however they are made, neither use it nor touch its memory. */
#include "pipe_writer.h"
#include "harness.h"
#include "reader.h"

#ifdef __linux__
#include <signal.h>
#include <sys/syscall.h>

#include "filter.h"

/* As fork(), but handlers are not run. */
static pid_t bare_clone(void)
{
#ifdef __s390x__
	return (pid_t)syscall(SYS_clone, 0L, (long)SIGCHLD, 0L, 0L, 0L);
#else
	return (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
#endif
}

#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 34)
#define HAS_BARE_FORK 1
static pid_t bare_fork(void)
{
	return _Fork();
}
#endif

/* Emulators may say that they keep memory from children and not do it; then only fork() itself can be told. */
static bool memory_goes_along(void)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status = -1;
	pid_t child;

	page[0] = 1;
	bool said = madvise(page, bytes, MADV_WIPEONFORK) == 0;
	child = bare_clone();
	if (child == 0)
		_exit(page[0]);
	waitpid(child, &status, 0);
	munmap(page, bytes);
	return said && status != 0;
}

/* Whether the slab's memory is there at all. */
static bool is_mapped(const struct pipe_writer_slab *slab)
{
	unsigned char pages[1];

	return mincore(slab->data, 1, pages) == 0;
}

static void in_child(struct pipe_writer *writer, struct pipe_writer_slab slab, bool memory_is_kept)
{
	struct pipe_writer_slab mine;
	struct pipe_writer *own;
	int ends[2], good = memory_is_kept || !is_mapped(&slab);

	good &= pipe_writer_commit(writer, &slab, 10000) == EPERM && pipe_writer_flush(writer) == EPERM &&
	        pipe_writer_reserve(writer, 1, &mine) == EPERM && pipe_writer_write(writer, "x", 1, NULL) == EPERM &&
	        pipe_writer_close(&writer) == 0;
	/* One of its own it may have. */
	good &= pipe(ends) == 0 && pipe_writer_open(&own, ends[1], NULL) == 0 && pipe_writer_write(own, "x", 1, NULL) == 0 &&
	        pipe_writer_close(&own) == 0;
	_exit(good ? 0 : 1);
}

/* A child has none of the writer's memory, and every call says so. What the parent sends is right. */
static void forks(const struct pipe_writer_options *options, pid_t (*make_child)(void), const char *name)
{
	struct pipe_writer *writer;
	struct pipe_writer_slab slab;
	struct reader reader = { 0 };
	uint64_t sent = 0;
	int ends[2], right = 1, refused = 1;
	bool memory_is_kept = memory_goes_along();

	if (pipe(ends) != 0)
		return;
	right &= pipe_writer_open(&writer, ends[1], options) == 0;
	reader.descriptor = ends[0];
	for (int n = 0; n < 4; n++) {
		int status = -1;
		pid_t child;

		right &= pipe_writer_reserve(writer, 10000, &slab) == 0;
		stream_fill(slab.data, 5000, sent);
		child = make_child();
		if (child == 0)
			in_child(writer, slab, memory_is_kept);
		waitpid(child, &status, 0);
		refused &= status == 0;
		stream_fill(slab.data + 5000, 5000, sent + 5000);
		right &= pipe_writer_commit(writer, &slab, 10000) == 0;
		sent += 10000;
	}
	CHECK(refused, "%s: a child cannot use it", name);
	CHECK(right && pipe_writer_close(&writer) == 0, "%s: the parent can", name);
	close(ends[1]);
	read_all(&reader);
	CHECK(reader.got == sent && reader.wrong == 0, "%s: and what it sends is right", name);
	close(ends[0]);
}

/* A child opens a writer that its own child cannot use: no two in a line of descent are taken for each other. */
static void grandchildren(void)
{
	int status = -1;
	pid_t child = bare_clone();

	if (child == 0) {
		struct pipe_writer_options options = { .policy = PIPE_WRITER_WRITE };

		forks(&options, bare_clone, "a child's writer");
		_exit(harness_failed == 0 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0, "the child of a child");
}

/* An older kernel, without MADV_WIPEONFORK: the writer asks for its process's id. Before anything else here opens a
 * writer, as what the kernel can do is tried once. */
static void without_wiped_pages(void)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		struct pipe_writer_options options = { .strict = true };

		if (!refuse_call_with(SYS_madvise, 2, MADV_WIPEONFORK, EINVAL))
			_exit(0);
		forks(&options, fork, "no wiped pages, fork()");
		forks(&options, bare_clone, "no wiped pages, clone()");
		_exit(harness_failed == 0 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0, "a kernel without MADV_WIPEONFORK");
}
#endif

int main(void)
{
#ifdef __linux__
	static const struct pipe_writer_options fresh = { .strict = true },
		ring = { .policy = PIPE_WRITER_RING, .strict = true }, copy = { .policy = PIPE_WRITER_WRITE };

	signal(SIGPIPE, SIG_IGN);
	without_wiped_pages();
	forks(&fresh, fork, "fresh, fork()");
	forks(&ring, fork, "ring, fork()");
	forks(&copy, fork, "write, fork()");
	if (!memory_goes_along() || !skip_emulated("pipe: children that fork() does not make", "qemu-user keeps no memory from them")) {
		forks(&fresh, bare_clone, "fresh, clone()");
		forks(&ring, bare_clone, "ring, clone()");
		forks(&copy, bare_clone, "write, clone()");
#ifdef HAS_BARE_FORK
		forks(&fresh, bare_fork, "fresh, _Fork()");
#endif
		grandchildren();
	}
#endif
	return harness_finish();
}
