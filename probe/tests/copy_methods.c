/* Each way to move memory, at every short length and at places of every alignment that it takes: it does all of the work
 * and nothing beside it. */
#include "copy/methods.h"
#include "harness.h"

#include <stdlib.h>

enum { BYTES_MOST = 700, MARGIN = 64 };

static _Alignas(64) uint8_t source[MARGIN + BYTES_MOST + MARGIN], target[MARGIN + BYTES_MOST + MARGIN];

static size_t step_of(const struct copy_method *method)
{
	if (strcmp(method->name, "words") == 0)
		return 8;
	if (strcmp(method->name, "nontemporal-sse2") == 0)
		return 16;
	if (strcmp(method->name, "nontemporal-avx2") == 0)
		return 32;
	return strcmp(method->name, "nontemporal-avx512") == 0 ? 64 : 1;
}

/* Whether all bytes of the target outside `bytes` at `at` are still `value`. */
static int rest_is(uint8_t value, size_t at, size_t bytes)
{
	int right = 1;

	for (size_t i = 0; i < sizeof target; i++)
		right &= (i >= at && i < at + bytes) || target[i] == value;
	return right;
}

/* Independent of copy_sum(): by bytes. */
static uint64_t sum_by_bytes(const uint8_t *from, size_t bytes)
{
	const uint16_t probe = 1;
	int little = *(const uint8_t *)&probe;
	uint64_t sum = 0;

	for (size_t i = 0; i < bytes; i++)
		sum += (uint64_t)from[i] << (little ? 8 * (i % 8) : 56 - 8 * (i % 8));
	return sum;
}

static void try_method(const struct copy_method *method)
{
	size_t step = step_of(method);
	int copies = 1, loads = 1, stores = 1;

	for (size_t at = 0; at < MARGIN; at += step) {
		for (size_t bytes = 0; bytes <= BYTES_MOST; bytes += bytes < 140 || at == 0 ? 1 : 37) {
			uint8_t value = (uint8_t)(bytes * 3 + at + 1);

			memset(target, 0xEE, sizeof target);
			method->copy(target + at, source + at, bytes);
			copies &= memcmp(target + at, source + at, bytes) == 0 && rest_is(0xEE, at, bytes);
			memset(target, (uint8_t)~value, sizeof target);
			method->store(target + at, value, bytes);
			for (size_t i = at; i < at + bytes; i++)
				stores &= target[i] == value;
			stores &= rest_is((uint8_t)~value, at, bytes);
			for (uint64_t passes = 1; method->load != NULL && passes <= 3; passes += 2)
				loads &= method->load(source + at, bytes, passes) == passes * sum_by_bytes(source + at, bytes);
		}
	}
	CHECK(copies, "%s: copies", method->name);
	CHECK(stores, "%s: stores", method->name);
	CHECK(loads, "%s: loads", method->name);
}

int main(void)
{
	const struct copy_method *const lists[] = { copy_methods_portable, copy_methods_x86, copy_methods_arm };
	unsigned tried = 0;
	uint64_t seed = 11;

	random_bytes(&seed, source, sizeof source);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		for (const struct copy_method *method = lists[i]; method->name != NULL; method++) {
			if (method->supported != NULL && !method->supported())
				continue;
			try_method(method);
			tried++;
		}
	}
	CHECK(tried >= 3, "%u methods were tried", tried);
	return harness_finish();
}
