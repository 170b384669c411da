/* Handing over between threads: both count the same, on one core and on two; and what was woken out of turn, or counts that
 * disagree, would be seen. */
#include "base/cores.h"
#include "harness.h"
#include "switch/threads.h"

#include <stdatomic.h>

static const struct hand_over_method *honest;
static _Atomic(int) sleeps_until_wrong;

static bool open_honestly(struct hand_over *threads)
{
	return honest->open(threads);
}

static void close_honestly(struct hand_over *threads)
{
	honest->close(threads);
}

static bool wake_honestly(struct hand_over *threads, unsigned to, uint32_t turn)
{
	return honest->wake(threads, to, turn);
}

/* Once expects the turn after the one that it is, which takes no more than the right one does. */
static bool sleep_wrongly(struct hand_over *threads, unsigned self, uint32_t turn)
{
	bool right = honest->sleep(threads, self, turn);

	return atomic_fetch_sub(&sleeps_until_wrong, 1) == 0 ? false : right;
}

/* The byte in the pipe is that of another turn. */
static bool wake_with_a_wrong_turn(struct hand_over *threads, unsigned to, uint32_t turn)
{
	return honest->wake(threads, to, atomic_fetch_sub(&sleeps_until_wrong, 1) == 0 ? turn + 1 : turn);
}

int main(void)
{
	static const int anywhere[2] = { -1, -1 };
	struct hand_over_result result;
	int same[2];
	unsigned tried = 0;

	cores_choose("same", same);
	for (const struct hand_over_method *method = hand_over_methods; method->name != NULL; method++) {
		if (method->missing() != NULL)
			continue;
		tried++;
		for (unsigned place = 0; place < 2; place++) {
			hand_over_run(method, place == 0 ? anywhere : same, 5000000, &result);
			CHECK(result.right && result.sent > 0 && result.sent == result.received, "%s: %u turns here, %u there",
			      method->name, (unsigned)result.sent, (unsigned)result.received);
			CHECK(result.wall_ns >= 5000000 && result.cpu_ns > 0, "%s: takes its time", method->name);
		}
		/* On one core few are woken before they sleep, by chance. */
		CHECK(result.sleeps * 4 >= result.sent, "%s: %u sleeps in %u round trips on one core", method->name,
		      (unsigned)result.sleeps, (unsigned)result.sent);
		honest = method;
		struct hand_over_method wrong = {
			"wrong", method->missing, open_honestly, close_honestly, wake_honestly, sleep_wrongly,
		};
		for (int at = 0; at < 4; at++) {
			atomic_store(&sleeps_until_wrong, at);
			hand_over_run(&wrong, anywhere, 1000000, &result);
			CHECK(!result.right, "%s: sleep %d of the two threads was wrong", method->name, at);
		}
		if (strcmp(method->name, "pipe") != 0)
			continue;
		wrong.sleep = method->sleep;
		wrong.wake = wake_with_a_wrong_turn;
		atomic_store(&sleeps_until_wrong, 3);
		hand_over_run(&wrong, anywhere, 1000000, &result);
		CHECK(!result.right, "a byte of another turn");
	}
	CHECK(tried >= 1, "pipes are everywhere");
	return harness_finish();
}
