/* The ring between two processes: every byte once and in order, whatever the sizes, and neither end waits for one that is
 * gone. */
#include "harness.h"
#include "pipe/ring.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

static uint8_t byte_at(uint64_t place)
{
	return (uint8_t)(place * 0x9E3779B97F4A7C15u >> 56);
}

/* The child's part: pieces of up to `most` bytes, until all are written. */
static void write_all(struct shared_ring *ring, size_t most, uint64_t bytes, int alive)
{
	static uint8_t memory[40000];
	uint64_t seed = 5, done = 0;

	while (done < bytes) {
		size_t piece = (size_t)(random_next(&seed) % most) + 1;

		piece = piece < bytes - done ? piece : (size_t)(bytes - done);
		for (size_t i = 0; i < piece; i++)
			memory[i] = byte_at(done + i);
		if (shared_ring_write(ring, memory, piece, alive) != 0)
			_exit(1);
		done += piece;
	}
	shared_ring_end(ring);
	_exit(0);
}

static void passes(size_t capacity, size_t write_most, size_t read_most)
{
	static uint8_t memory[40000];
	const uint64_t bytes = 3000000;
	struct shared_ring *ring = shared_ring_make(capacity);
	uint64_t got = 0, wrong = 0, seed = 9;
	int alive[2], status;

	CHECK(ring != NULL && pipe(alive) == 0, "a ring of %zu bytes", capacity);
	if (ring == NULL)
		return;
	CHECK(shared_ring_capacity(ring) >= capacity, "capacity %zu for %zu", shared_ring_capacity(ring), capacity);
	pid_t child = fork();
	if (child == 0) {
		close(alive[1]);
		write_all(ring, write_most, bytes, alive[0]);
	}
	close(alive[0]);
	for (;;) {
		ssize_t count = shared_ring_read(ring, memory, (size_t)(random_next(&seed) % read_most) + 1, alive[1]);

		if (count <= 0) {
			CHECK(count == 0, "an end, and no error: %s", strerror(errno));
			break;
		}
		for (ssize_t i = 0; i < count; i++)
			wrong += memory[i] != byte_at(got + (uint64_t)i);
		got += (uint64_t)count;
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0, "the writer ends well");
	CHECK(got == bytes && wrong == 0, "ring of %zu, by %zu and %zu: %llu bytes, %llu wrong", capacity, write_most, read_most,
	      (unsigned long long)got, (unsigned long long)wrong);
	CHECK(shared_ring_read(ring, memory, 1, alive[1]) == 0, "the end stays");
	close(alive[1]);
	shared_ring_free(ring);
}

/* The writer dies after a few bytes, without an end. */
static void writer_gone(void)
{
	struct shared_ring *ring = shared_ring_make(4096);
	uint8_t memory[100];
	int alive[2], status;

	if (ring == NULL || pipe(alive) != 0)
		return;
	pid_t child = fork();
	if (child == 0)
		_exit(shared_ring_write(ring, (const uint8_t *)"abc", 3, alive[0]));
	close(alive[0]);
	CHECK(waitpid(child, &status, 0) == child && status == 0, "it wrote");
	CHECK(shared_ring_read(ring, memory, sizeof memory, alive[1]) == 3, "what it wrote is there");
	CHECK(shared_ring_read(ring, memory, sizeof memory, alive[1]) == -1 && errno == EPIPE, "then an error, and no wait");
	close(alive[1]);
	shared_ring_free(ring);
}

static void reader_gone(void)
{
	struct shared_ring *ring = shared_ring_make(4096);
	static uint8_t memory[5000];
	int alive[2];

	if (ring == NULL || pipe(alive) != 0)
		return;
	close(alive[1]);
	CHECK(shared_ring_write(ring, memory, 4096, alive[0]) == 0, "what fits is taken");
	CHECK(shared_ring_write(ring, memory, 1, alive[0]) == EPIPE, "then an error, and no wait");
	close(alive[0]);
	shared_ring_free(ring);
}

int main(void)
{
	alarm(300); /* a ring that hangs ends here */
	passes(1, 1000, 1000);
	passes(4096, 9000, 7);
	passes(4096, 7, 9000);
	passes(65536, 40000, 40000);
	passes(100000, 1, 40000);
	writer_gone();
	reader_gone();
	return harness_finish();
}
