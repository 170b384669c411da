#include "switch/threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/eventfd.h>
#endif

#include "base/clock.h"
#include "base/cores.h"
#include "base/fail.h"
#include "pipe/calls.h"
#include "pipe/usage.h"

/* Newer 32-bit architectures have the second call alone. It differs in the time, of which there is none here. */
#if !defined(SYS_futex) && defined(SYS_futex_time64)
#define SYS_futex SYS_futex_time64
#endif

enum { TURNS_BETWEEN_LOOKS = 16 };

struct hand_over {
	const struct hand_over_method *method;
	int core; /* of the second thread */
	int descriptors[2][2]; /* for each thread: where it waits, where it is woken */
	/* For each thread how many times it was woken. In cache lines (of up to 128 bytes) of their own. */
	struct {
		_Alignas(128) _Atomic(uint32_t) turn;
	} words[2];
	_Alignas(128) _Atomic(bool) over;
	uint64_t received;
	bool right; /* the second thread's */
};

static const char *nothing_missing(void)
{
	return NULL;
}

#if defined(__linux__) && defined(SYS_futex)

static bool futex_open(struct hand_over *threads)
{
	for (unsigned i = 0; i < 2; i++)
		atomic_init(&threads->words[i].turn, 0);
	return true;
}

static void futex_close(struct hand_over *threads)
{
	(void)threads;
}

static bool futex_wake(struct hand_over *threads, unsigned to, uint32_t turn)
{
	_Atomic(uint32_t) *word = &threads->words[to].turn;

	atomic_store(word, turn);
	return syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) >= 0;
}

static bool futex_sleep(struct hand_over *threads, unsigned self, uint32_t turn)
{
	_Atomic(uint32_t) *word = &threads->words[self].turn;

	/* The system may wake for nothing; the word alone says that it is this thread's turn. */
	while (atomic_load(word) == turn - 1)
		if (syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, turn - 1, NULL, NULL, 0) < 0 && errno != EAGAIN && errno != EINTR)
			return false;
	return atomic_load(word) == turn;
}

#define FUTEX { "futex", nothing_missing, futex_open, futex_close, futex_wake, futex_sleep }
#else

static const char *futex_missing(void)
{
	return "this system has no futex";
}

#define FUTEX { .name = "futex", .missing = futex_missing }
#endif

static bool pipe_open(struct hand_over *threads)
{
	if (pipe(threads->descriptors[0]) != 0)
		return false;
	if (pipe(threads->descriptors[1]) == 0)
		return true;
	close(threads->descriptors[0][0]);
	close(threads->descriptors[0][1]);
	return false;
}

static void pipe_close(struct hand_over *threads)
{
	for (unsigned i = 0; i < 4; i++)
		close(threads->descriptors[i / 2][i % 2]);
}

/* The byte is the end of the turn's number. */
static bool pipe_wake(struct hand_over *threads, unsigned to, uint32_t turn)
{
	uint8_t byte = (uint8_t)turn;

	return call_write(threads->descriptors[to][1], &byte, 1) == 1;
}

static bool pipe_sleep(struct hand_over *threads, unsigned self, uint32_t turn)
{
	uint8_t byte;

	return call_read(threads->descriptors[self][0], &byte, 1) == 1 && byte == (uint8_t)turn;
}

#ifdef __linux__

static bool eventfd_open(struct hand_over *threads)
{
	for (unsigned i = 0; i < 2; i++) {
		int descriptor = eventfd(0, EFD_CLOEXEC);

		if (descriptor < 0) {
			if (i > 0)
				close(threads->descriptors[0][0]);
			return false;
		}
		threads->descriptors[i][0] = threads->descriptors[i][1] = descriptor;
	}
	return true;
}

static void eventfd_close(struct hand_over *threads)
{
	close(threads->descriptors[0][0]);
	close(threads->descriptors[1][0]);
}

static bool eventfd_wake(struct hand_over *threads, unsigned to, uint32_t turn)
{
	const uint64_t one = 1;

	(void)turn;
	return call_write(threads->descriptors[to][1], (const uint8_t *)&one, sizeof one) == sizeof one;
}

/* The counter begins again at 0 when it is read: 1 is this turn alone. */
static bool eventfd_sleep(struct hand_over *threads, unsigned self, uint32_t turn)
{
	uint64_t count;

	(void)turn;
	return call_read(threads->descriptors[self][0], (uint8_t *)&count, sizeof count) == sizeof count && count == 1;
}

#define EVENTFD { "eventfd", nothing_missing, eventfd_open, eventfd_close, eventfd_wake, eventfd_sleep }
#else

static const char *eventfd_missing(void)
{
	return "this system has no eventfd";
}

#define EVENTFD { .name = "eventfd", .missing = eventfd_missing }
#endif

const struct hand_over_method hand_over_methods[] = {
	FUTEX, { "pipe", nothing_missing, pipe_open, pipe_close, pipe_wake, pipe_sleep }, EVENTFD, { .name = NULL },
};

static void *second_thread(void *argument)
{
	struct hand_over *threads = argument;
	const struct hand_over_method *method = threads->method;
	uint32_t turn = 0;

	core_pin(threads->core);
	threads->right = true;
	for (;;) {
		bool right = method->sleep(threads, 1, ++turn);

		threads->right &= right;
		if (atomic_load(&threads->over))
			break;
		threads->received++;
		/* A thread that nobody can wake would wait for ever. */
		if (!method->wake(threads, 0, turn))
			fail(EXIT_BROKEN, "cannot wake the first thread by %s: %s", method->name, strerror(errno));
	}
	return NULL;
}

static void first_thread(struct hand_over *threads, uint64_t duration_ns, struct hand_over_result *result)
{
	const struct hand_over_method *method = threads->method;
	uint32_t turn = 0;
	struct pipe_usage usage;
	uint64_t now;

	result->right = true;
	usage_start(&usage);
	result->t_ns = monotonic_ns();
	do {
		for (unsigned i = 0; i < TURNS_BETWEEN_LOOKS; i++) {
			if (!method->wake(threads, 1, ++turn))
				fail(EXIT_BROKEN, "cannot wake the second thread by %s: %s", method->name, strerror(errno));
			result->sent++;
			bool right = method->sleep(threads, 0, turn);
			result->right &= right;
		}
		now = monotonic_ns();
	} while (now - result->t_ns < duration_ns);
	result->wall_ns = now - result->t_ns;
	usage_stop(&usage);
	result->cpu_ns = usage.cpu_ns;
	result->sleeps = usage.switches_voluntary;
	atomic_store(&threads->over, true);
	method->wake(threads, 1, ++turn);
}

void hand_over_run(const struct hand_over_method *method, const int cores[2], uint64_t duration_ns,
                   struct hand_over_result *result)
{
	struct hand_over threads = { .method = method, .core = cores[1] };
	pthread_t second;

	*result = (struct hand_over_result){ 0 };
	if (!method->open(&threads))
		fail(EXIT_BROKEN, "no %s: %s", method->name, strerror(errno));
	core_pin(cores[0]);
	int error = pthread_create(&second, NULL, second_thread, &threads);
	if (error != 0)
		fail(EXIT_BROKEN, "cannot start a thread: %s", strerror(error));
	first_thread(&threads, duration_ns, result);
	pthread_join(second, NULL);
	result->received = threads.received;
	result->right &= threads.right;
	method->close(&threads);
}
