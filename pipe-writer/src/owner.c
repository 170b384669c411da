#include "owner.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

/* The number of this process, in a page that the kernel gives to children as zeros (MADV_WIPEONFORK), also to those of
 * _Fork() and clone(), which call no handlers. NULL: there is no such page, and the process is asked for its id. */
static atomic_uint *here;
static atomic_uint last;

#if defined(__linux__) && defined(MADV_WIPEONFORK)
/* An emulator may say yes to MADV_WIPEONFORK and do nothing: then at least children by fork() are told apart. Another thread
 * may fork() between the registration and the page. */
static void in_child(void)
{
	if (here != NULL)
		atomic_store(here, 0);
}

static void prepare(void)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	/* Whatever fails, asking for the id is as good, and slower. */
	if (madvise(page, bytes, MADV_WIPEONFORK) != 0 || pthread_atfork(NULL, NULL, in_child) != 0)
		munmap(page, bytes);
	else
		here = page;
}
#else
static void prepare(void)
{
}
#endif

static unsigned process_id(void)
{
#ifdef __linux__
	/* getpid() of older libraries remembers what it said before a clone(). */
	return (unsigned)syscall(SYS_getpid);
#else
	return (unsigned)getpid();
#endif
}

unsigned pipe_writer_owner_here(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	unsigned number;

	pthread_once(&once, prepare);
	if (here == NULL)
		return process_id();
	number = atomic_load(here);
	if (number == 0) {
		/* Of several threads one is the first; the others take what it chose. */
		unsigned next = atomic_fetch_add(&last, 1) + 1;

		if (atomic_compare_exchange_strong(here, &number, next))
			number = next;
	}
	return number;
}
