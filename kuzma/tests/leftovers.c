/* What calls for whole messages leave behind on the stack, which nobody wipes after them: no key and no plaintext. Each in a
 * process of its own, so that whatever is done at a first call (symbols resolved, tables made) is done within it. */
#include "harness.h"
#include "kuzma.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 1 << 20, TEXT = 4000, SECTION = 1024, PIECE = 8 };

static struct {
	const struct kuzma_backend *backend;
	size_t block, bytes;
	bool mac;
	enum kuzma_status status;
} work;

static uint8_t key[KUZMA_KEY_BYTES], plaintext[TEXT], output[TEXT], tag[16];
static const uint8_t iv[16];
static uint64_t seed = 62;

static void *run(void *unused)
{
	if (work.mac)
		work.status = kuzma_mac_acpkm_message(work.backend, key, sizeof key, SECTION, 4 * SECTION, tag, work.block,
		                                      plaintext, work.bytes);
	else
		work.status = kuzma_ctr_acpkm_message(work.backend, key, sizeof key, iv, work.block / 2, SECTION, output,
		                                      plaintext, work.bytes);
	return unused;
}

/* How many places of the memory hold PIECE bytes of what is secret. */
static unsigned found(const uint8_t *memory, size_t bytes, const uint8_t *secret, size_t secret_bytes)
{
	static const uint8_t untouched[PIECE];
	unsigned count = 0;

	for (size_t at = 0; at + PIECE <= bytes; at++)
		for (size_t i = 0; memcmp(memory + at, untouched, PIECE) != 0 && i + PIECE <= secret_bytes; i += PIECE)
			if (memcmp(memory + at, secret + i, PIECE) == 0)
				count++;
	return count;
}

static int in_child(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	uint8_t *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED || pthread_attr_init(&attributes) != 0 || pthread_attr_setstack(&attributes, stack, STACK) != 0 ||
	    pthread_create(&thread, &attributes, run, NULL) != 0 || pthread_join(thread, NULL) != 0)
		return 100;
	unsigned keys = found(stack, STACK, key, sizeof key), text = found(stack, STACK, plaintext, TEXT);
	return work.status != KUZMA_OK ? 101 : (keys > 0 ? 1 : 0) | (text > 0 ? 2 : 0);
}

static void check(const char *what)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(in_child());
	CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
	      "%s/%s, %s of %zu bytes: left behind%s%s (status %d)", kuzma_cipher_name(kuzma_backend_cipher(work.backend)),
	      kuzma_backend_name(work.backend), what, work.bytes, WEXITSTATUS(status) & 1 ? " key" : "",
	      WEXITSTATUS(status) & 2 ? " plaintext" : "", status);
}

int main(void)
{
	static const size_t lengths[] = { 17, 1000, 2 * SECTION, TEXT };

	random_bytes(&seed, key, sizeof key);
	random_bytes(&seed, plaintext, sizeof plaintext);
	for (int cipher = 0; cipher < 2; cipher++) {
		for (size_t i = 0; (work.backend = kuzma_backend_at((enum kuzma_cipher)cipher, i)) != NULL; i++) {
			if (!kuzma_backend_supported(work.backend))
				continue;
			work.block = kuzma_block_bytes((enum kuzma_cipher)cipher);
			for (size_t length = 0; length < sizeof lengths / sizeof *lengths; length++) {
				work.bytes = lengths[length];
				work.mac = false;
				check("CTR-ACPKM");
				work.mac = true;
				check("MAC-ACPKM");
			}
		}
	}
	return harness_finish();
}
