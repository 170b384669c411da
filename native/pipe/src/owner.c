#include "owner.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

void pipe_writer_owner_open(struct owner *owner)
{
	*owner = (struct owner){ .process = getpid() };
#if defined(__linux__) && defined(MADV_WIPEONFORK)
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	if (madvise(page, bytes, MADV_WIPEONFORK) != 0) {
		munmap(page, bytes);
		return;
	}
	*page = 1;
	owner->mark = page;
#endif
}

bool pipe_writer_owner_is_here(const struct owner *owner)
{
	return owner->mark != NULL ? *(const volatile unsigned char *)owner->mark == 1 : owner->process == getpid();
}

void pipe_writer_owner_close(struct owner *owner)
{
	/* In a child too: it has a page of its own there, of zeros. */
	if (owner->mark != NULL)
		munmap(owner->mark, (size_t)sysconf(_SC_PAGESIZE));
	owner->mark = NULL;
}
