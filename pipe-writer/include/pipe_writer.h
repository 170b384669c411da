/* pipe_writer: writes to a pipe by moving pages instead of copying them, and stays correct whatever the reader does.
 *
 * vmsplice() puts references to the writer's pages into the pipe. A page that is written again while any pipe holds
 * it changes what the reader gets, and the writer cannot know how long that is: a reader that splices or tees carries
 * the page on. So here pages change owner: reserve a slab, fill it, commit it. After that it is the kernel's, which
 * frees it after the last reader; the caller's pointer is gone.
 *
 * All sizes are in bytes. Functions that return int give 0 or an errno value. A writer belongs to one thread at a
 * time.
 *
 * fork(): a writer belongs to the process that opened it. Its memory is not given to children (MADV_DONTFORK), so a
 * child neither sees slabs nor makes the parent copy them; in a child every call but close gives EPERM, and close
 * frees only the handle. What was committed before fork() stays right in every policy. A slab that is reserved while
 * fork() is called is the parent's alone. All this holds for children by _Fork() and by clone() too; one that shares
 * its parent's memory (vfork(), CLONE_VM) counts as its parent, and must leave the writer alone.
 *
 * SIGPIPE is the caller's business: ignore it to get EPIPE. */
#ifndef PIPE_WRITER_H
#define PIPE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library itself is compiled with all other symbols hidden. */
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define PIPE_WRITER_VERSION "0.1.0"

enum pipe_writer_policy {
	/* vmsplice() of memory that is used once. Right with every reader.
	 *
	 * MEMORY: it is in huge pages, and the kernel frees a huge page only as a whole. A reader that keeps 4 KiB of it
	 * (splice() or tee() into a pipe that nobody reads) keeps 2 MiB, which count as the writer's: in its memory control
	 * group until that is full. Towards readers that are not trusted with the writer's memory use PIPE_WRITER_WRITE, of
	 * which they can keep no more than the pages that they were sent. */
	PIPE_WRITER_FRESH = 0,
	/* vmsplice() of memory that is used again once it provably left the pipe. UNSAFE: wrong bytes arrive if any
	 * reader of this pipe uses splice(), tee() or vmsplice() on it (pv does, and so may cat), because its pages then
	 * live on outside this pipe, and the writer cannot see that. For readers that read() and nothing else, in all
	 * processes that hold the read end.
	 *
	 * A page is used again only if (a) the pages spliced after it are at least as many as the pipe's capacity, asked
	 * (F_GETPIPE_SZ) after the last vmsplice(), has slots; or (b) the pipe holds (FIONREAD) no more bytes than were
	 * sent after it. So it does not matter how large the reader makes the pipe, or when. If neither holds, memory is
	 * fresh. */
	PIPE_WRITER_RING = 1,
	/* write(): the bytes are copied. Works on every descriptor and every system. */
	PIPE_WRITER_WRITE = 2
};

/* All zero is a good choice. */
struct pipe_writer_options {
	enum pipe_writer_policy policy;
	/* What a reservation of 0 bytes gives. 0: chosen from the size of the pipe and the number of cores that this
	 * process may run on (sched_getaffinity). */
	size_t chunk_bytes;
	/* The pipe is enlarged to this, as far as the system allows; it is never made smaller. 0: chosen in the same way.
	 * 1: left as it is. */
	size_t pipe_bytes;
	/* Without it, what does not go well is done by write(): on what is no pipe, on other systems than Linux, where
	 * there are no huge pages, for commits so small that a copy is cheaper, and where a filter for system calls
	 * (seccomp) refuses vmsplice() or tee(), also if it does so only later. What the kernel has no memory to move
	 * (ENOMEM) is copied too, and the next commit is moved again. With it, the policy is kept, small pages and all, or
	 * open() gives EINVAL (no pipe) or ENOTSUP (no vmsplice() here). If vmsplice() or tee() is refused only later, the
	 * call that needed it gives ENOTSUP, or ENOMEM, and what it had not sent is lost. */
	bool strict;
	/* With it, calls return EAGAIN instead of waiting; the descriptor must be non-blocking (O_NONBLOCK). Without it,
	 * they wait for room, whatever the descriptor. */
	bool no_wait;
	/* For finding errors: a slab that was committed faults when it is touched, in every policy, from the commit on, and
	 * so does what lies behind a slab; the address comes back only when at least 64 regions of memory were used after
	 * it, or the writer was closed. Always on in a library that was compiled with -DPIPE_WRITER_TRAP. Slow; calls may
	 * give ENOMEM where the system would have to divide memory into more mappings than it allows. */
	bool trap;
	/* No huge pages are asked for; with `strict`, for comparisons. */
	bool small_pages;
};

/* Memory that the caller alone may touch, until it is committed. */
struct pipe_writer_slab {
	uint8_t *data; /* at a page boundary; zeros where "fresh" and `strict` never reserved before, else anything */
	size_t bytes;
};

/* What was done so far. */
struct pipe_writer_statistics {
	uint64_t bytes_spliced, bytes_written, bytes_teed;
	uint64_t splices;     /* calls of vmsplice() */
	uint64_t regions;     /* memory that was asked of the system */
	uint64_t pages_again; /* ring: pages that were used again */
	uint64_t not_again;   /* ring: times that no page could be shown to have left the pipe */
};

struct pipe_writer;

/* `descriptor` is not owned: it must stay open, and is not closed. `options` may be NULL.
 * EBADF: not open for writing. EINVAL: an option out of range, `no_wait` on a descriptor that blocks, or see `strict`.
 * ENOTSUP: see `strict`. ENOMEM. */
int pipe_writer_open(struct pipe_writer **writer, int descriptor, const struct pipe_writer_options *options);

/* Memory for at least `bytes` bytes; 0: for a chunk. `slab` gets all that there is without another call, which may be
 * more. A slab that was reserved and not committed is given again, or lost if it is too small now.
 * EINVAL: more than half the address space. ENOMEM. EAGAIN (`no_wait`): flush first. An earlier error: that again. */
int pipe_writer_reserve(struct pipe_writer *writer, size_t bytes, struct pipe_writer_slab *slab);

/* Sends the first `bytes` bytes of the slab and takes its memory: slab->data is NULL afterwards, whatever is returned.
 * 0 bytes: nothing is sent, the slab is given back.
 * EINVAL: not the slab that was reserved last, or more bytes than it has; nothing was sent. EPIPE: no reader is left.
 * ENOTSUP: see `strict`. EPERM: in a child.
 * EAGAIN (`no_wait`): all is taken, not all is in the pipe yet; flush when poll() says that there is room. */
int pipe_writer_commit(struct pipe_writer *writer, struct pipe_writer_slab *slab, size_t bytes);

/* Sends a copy of `data`, in order with what was committed. *sent, which may be NULL, gets how many bytes went; all of
 * them if the result is 0. EAGAIN (`no_wait`): the rest is for another call. */
int pipe_writer_write(struct pipe_writer *writer, const void *data, size_t bytes, size_t *sent);

/* `no_wait`: sends what a commit left. EAGAIN: there is still something. */
int pipe_writer_flush(struct pipe_writer *writer);

/* Constant data, copied once into pages of the kernel that nobody can change; tee() sends them again and again.
 * EINVAL: no bytes. EMFILE, ENFILE, ENOMEM. May be used with several writers, and by several threads. */
struct pipe_writer_constant;
int pipe_writer_constant_open(struct pipe_writer_constant **constant, const void *data, size_t bytes);
void pipe_writer_constant_close(struct pipe_writer_constant **constant);

/* Sends `bytes` bytes of the constant repeated without end, from byte `offset` of that, in order with what was
 * committed. Safe with every reader. *sent, which may be NULL, gets how many bytes went; after EAGAIN (`no_wait`) go
 * on there. EPIPE, ENOTSUP, EPERM as for a commit. */
int pipe_writer_repeat(struct pipe_writer *writer, struct pipe_writer_constant *constant, uint64_t offset,
                       uint64_t bytes, uint64_t *sent);

/* The policy in use: PIPE_WRITER_WRITE if another was asked for and would not go well. */
enum pipe_writer_policy pipe_writer_policy(const struct pipe_writer *writer);
size_t pipe_writer_chunk_bytes(const struct pipe_writer *writer);
/* The pipe's capacity when the writer was opened; 0: no pipe. */
size_t pipe_writer_pipe_bytes(const struct pipe_writer *writer);
struct pipe_writer_statistics pipe_writer_statistics(const struct pipe_writer *writer);

/* Frees the writer and what was not committed, and sets the pointer to NULL. What the pipe holds stays there.
 * Returns the error that the writer had met, or EAGAIN if what a commit left was never flushed and is lost now. */
int pipe_writer_close(struct pipe_writer **writer);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
