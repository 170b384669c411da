/* Every way to switch between two coroutines, and Boost.Context's jump_fcontext() beside, in one process and in turns.
 * Usage: switch [ROUNDS [MILLISECONDS]]
 *
 * The loop is the instrument's, and for Boost the same: both sides count, and the counts must agree. Prints nanoseconds of
 * processor time a switch one way, which other programs disturb less than time by the clock: median, quartiles and least of the rounds, and the median of each round's ratio to Boost in that round. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "switch/coroutine.h"

/* <boost/context/detail/fcontext.hpp>, which is C++; the functions are C's. */
struct transfer {
	void *from, *data;
};
extern struct transfer jump_fcontext(void *to, void *data);
extern void *make_fcontext(void *stack_end, size_t bytes, void (*entry)(struct transfer));

enum { MOST_METHODS = 8, STACK = 65536 };

struct boost_pair {
	void *there;
	uint64_t sent, received;
};

static void boost_pong(struct transfer transfer)
{
	struct boost_pair *pair = transfer.data;

	for (;;) {
		pair->received++;
		transfer = jump_fcontext(transfer.from, pair);
	}
}

static void boost_ping(struct boost_pair *pair, uint64_t count)
{
	uint64_t sent = 0;

	for (; sent < count; sent++)
		pair->there = jump_fcontext(pair->there, pair).from;
	pair->sent += sent;
}

static uint64_t wanted_ns;

/* Nanoseconds of processor time a switch, over about `wanted_ns`. */
static double measure(void (*ping)(void *, uint64_t), void *pair)
{
	enum { AT_ONCE = 65536 };
	uint64_t rounds = 0, start = thread_cpu_ns(), elapsed;

	do {
		ping(pair, AT_ONCE);
		rounds += AT_ONCE;
		elapsed = thread_cpu_ns() - start;
	} while (elapsed < wanted_ns);
	return (double)elapsed / (2.0 * (double)rounds);
}

static const struct coroutine_method *current;

static void own_ping(void *pair, uint64_t count)
{
	current->ping(pair, count);
}

static void peer_ping(void *pair, uint64_t count)
{
	boost_ping(pair, count);
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double quantile(const double *sorted, size_t count, double share)
{
	double place = share * (double)(count - 1);
	size_t low = (size_t)place, high = low + 1 < count ? low + 1 : low;

	return sorted[low] + (place - (double)low) * (sorted[high] - sorted[low]);
}

static void must(bool right, const char *what)
{
	if (!right) {
		fprintf(stderr, "switch: %s\n", what);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 31;
	static struct ping_pong pairs[MOST_METHODS];
	static struct boost_pair peer;
	const struct coroutine_method *methods[MOST_METHODS];
	size_t count = 0;

	wanted_ns = (argc > 2 ? strtoul(argv[2], NULL, 10) : 50) * 1000000;
	must(rounds >= 3 && rounds <= 100000 && wanted_ns > 0, "usage: switch [ROUNDS [MILLISECONDS]], at least three rounds");
	for (size_t i = 0; coroutine_methods[i] != NULL; i++) {
		if (coroutine_methods[i]->missing() != NULL)
			continue;
		methods[count] = coroutine_methods[i];
		coroutine_adopt(&pairs[count].here, methods[count]);
		must(coroutine_make(&pairs[count].there, methods[count], STACK, methods[count]->pong, &pairs[count]), "no coroutine");
		count++;
	}
	uint8_t *stack = aligned_alloc(64, STACK);
	must(stack != NULL, "no memory");
	peer.there = make_fcontext(stack + STACK, STACK, boost_pong);

	double *values = malloc((count + 1) * rounds * sizeof *values), *ratios = malloc(rounds * sizeof *ratios);
	must(values != NULL && ratios != NULL, "no memory");
	for (size_t round = 0; round < rounds; round++) {
		/* Each begins a round as often as any other. */
		for (size_t turn = 0; turn <= count; turn++) {
			size_t which = (turn + round) % (count + 1);
			if (which < count)
				current = methods[which];
			values[which * rounds + round] = which < count ? measure(own_ping, &pairs[which]) : measure(peer_ping, &peer);
		}
	}
	for (size_t i = 0; i < count; i++)
		must(pairs[i].sent == pairs[i].received && pairs[i].sent > 0, "the two sides counted differently");
	must(peer.sent == peer.received && peer.sent > 0, "the two sides of Boost counted differently");

	printf("| method | ns a switch: median | quartiles | least | of Boost's in the same round |\n|---|--:|--:|--:|--:|\n");
	for (size_t i = 0; i <= count; i++) {
		double *own = values + i * rounds;
		for (size_t round = 0; round < rounds; round++)
			ratios[round] = own[round] / values[count * rounds + round];
		qsort(ratios, rounds, sizeof *ratios, by_value);
		qsort(own, rounds, sizeof *own, by_value);
		printf("| %s | %.2f | %.2f–%.2f | %.2f | %.2f |\n", i < count ? methods[i]->name : "Boost.Context", quantile(own, rounds, 0.5),
		       quantile(own, rounds, 0.25), quantile(own, rounds, 0.75), own[0], quantile(ratios, rounds, 0.5));
	}
	fprintf(stderr, "%zu rounds of %" PRIu64 " ms for each method, in turns\n", rounds, wanted_ns / 1000000);
	free(values);
	free(ratios);
	free(stack);
	return 0;
}
