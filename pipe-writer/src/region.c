#include "region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif

/* Larger ones (512 MiB where pages are 64 KiB) cost more to clear than a pipe's content is worth. */
enum { LARGEST_HUGE_PAGE = 4 << 20 };

static size_t round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

#ifdef __linux__
static bool read_text(const char *path, char *text, size_t room)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t count = file < 0 ? -1 : read(file, text, room - 1);

	if (file >= 0)
		close(file);
	text[count < 0 ? 0 : count] = '\0';
	return count > 0;
}
#endif

size_t pipe_writer_region_huge_page_bytes(void)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
	char text[128];
	unsigned long long bytes;

	if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1)
		return 0;
	if (!read_text("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text) || strstr(text, "[never]") != NULL)
		return 0;
	if (!read_text("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", text, sizeof text))
		return 0;
	bytes = strtoull(text, NULL, 10);
	if (bytes <= LARGEST_HUGE_PAGE && bytes > (unsigned long long)sysconf(_SC_PAGESIZE))
		return (size_t)bytes;
#endif
	return 0;
}

/* Touches both ends of the first `bytes`: one page fault for both means that it is one page. */
static bool is_one_page(uint8_t *start, size_t bytes)
{
#ifdef RUSAGE_THREAD
	struct rusage before, after;

	getrusage(RUSAGE_THREAD, &before);
	/* The start first: the kernel clears what lies near the touched place last, so that it is in the cache. */
	((volatile uint8_t *)start)[0] = 0;
	((volatile uint8_t *)start)[bytes - 1] = 0;
	getrusage(RUSAGE_THREAD, &after);
	return after.ru_minflt - before.ru_minflt <= 1;
#else
	(void)start;
	(void)bytes;
	return false;
#endif
}

/* mmap() at a boundary: what is mapped too much goes back at once. */
static uint8_t *map_aligned(size_t bytes, size_t boundary, size_t page_bytes)
{
	size_t mapped = bytes + boundary - page_bytes;
	uint8_t *start = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (start == MAP_FAILED)
		return NULL;
	size_t before = round_up((uintptr_t)start, boundary) - (uintptr_t)start;
	size_t after = mapped - before - bytes;
	if (before > 0)
		munmap(start, before);
	if (after > 0)
		munmap(start + before + bytes, after);
	return start + before;
}

/* Of mmap(): EAGAIN says that no more may be locked, and would be taken for a pipe without room. */
static int no_memory(void)
{
	return errno == EAGAIN ? ENOMEM : errno;
}

int pipe_writer_region_renew(struct region *region, size_t bytes, size_t huge_page_bytes, struct retired *retired)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t boundary = huge_page_bytes > 0 ? huge_page_bytes : page_bytes;
	uint8_t *start;

	bytes = round_up(bytes, boundary);
	if (retired != NULL && region->start != NULL) {
		pipe_writer_retire(retired, region->start, region->bytes);
		*region = (struct region){ 0 };
	}
	if (region->start != NULL && region->bytes == bytes && region->boundary == boundary) {
		/* In place, in one call. Not MADV_DONTNEED, which is refused for locked memory and means less on some systems
		 * that run programs of Linux: it would leave the old pages to be written again. */
		start = mmap(region->start, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		if (start == MAP_FAILED) {
			int reason = no_memory();
			/* Whether the old memory is still there is not known, so it is left alone. */
			*region = (struct region){ 0 };
			return reason;
		}
	} else {
		pipe_writer_region_drop(region);
		start = map_aligned(bytes, boundary, page_bytes);
		if (start == NULL)
			return no_memory();
	}
	*region = (struct region){ .start = start, .bytes = bytes, .boundary = boundary };
#ifdef MADV_DONTFORK
	/* Else a fork() would make every page that is written next a copy. */
	madvise(start, bytes, MADV_DONTFORK);
#endif
#ifdef MADV_HUGEPAGE
	madvise(start, bytes, huge_page_bytes > 0 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
	region->huge = huge_page_bytes > 0 && is_one_page(start, huge_page_bytes);
	if (retired != NULL)
		mprotect(start, bytes, PROT_NONE);
	return 0;
}

bool pipe_writer_region_move(struct region *region, struct retired *retired)
{
#if defined(__linux__) && defined(MREMAP_DONTUNMAP)
	/* Pieces with different rights are different mappings, and only one is moved by a call. DONTUNMAP: so that no other
	 * thread gets the old address before it is retired. */
	int flags = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
	uint8_t *old = region->start, *start = map_aligned(region->bytes, region->boundary, (size_t)sysconf(_SC_PAGESIZE));

	if (start == NULL)
		return false;
	if (mprotect(old, region->bytes, PROT_NONE) == 0 &&
	    mremap(old, region->bytes, region->bytes, flags, start) == start) {
		pipe_writer_retire(retired, old, region->bytes);
		region->start = start;
		return true;
	}
	munmap(start, region->bytes);
#else
	(void)region;
	(void)retired;
#endif
	return false;
}

void pipe_writer_region_drop(struct region *region)
{
	if (region->start != NULL)
		munmap(region->start, region->bytes);
	*region = (struct region){ 0 };
}
