/* `stend-probe cipher`: Kuznyechik and Magma over buffers, one or several threads. */
#include "commands.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/random.h"
#include "cipher/job.h"
#include "kuzma.h"
#include "wire/wire.h"

enum { THREADS_MAX = 1024 };
/* Small buffers go through the cipher so many bytes at a time between two looks at the clock. */
#define BYTES_BETWEEN_LOOKS 65536u
#define WARM_BYTES_MAX ((uint64_t)64 << 20)
#define CALIBRATION_NS 10000000u

static struct {
	const char *cipher, *mode, *direction, *backend;
	uint64_t size, messages, section, alignment, seconds, threads, repeats;
	bool list_backends;
} chosen;

static const struct option_definition options[] = {
	{ "cipher", OPTION_CHOICE, "kuznyechik|magma", "kuznyechik", "block cipher", &chosen.cipher, 0, 0 },
	{ "mode", OPTION_CHOICE, "ecb|cbc|ctr|cfb|ofb|mac|mgm|ctr-acpkm|mac-acpkm|key", "ecb", "mode of operation; key: expand keys", &chosen.mode, 0, 0 },
	{ "direction", OPTION_CHOICE, "encrypt|decrypt", "encrypt", "direction; mgm: decrypt checks the tag first", &chosen.direction, 0, 0 },
	{ "backend", OPTION_TEXT, "NAME", "auto", "implementation, see --list-backends; auto: the fastest constant-time one on this machine", &chosen.backend, 0, 0 },
	{ "size", OPTION_SIZE, "SIZE", "64KiB", "bytes of a message; ecb, cbc: whole blocks; key: whole keys of 32 bytes", &chosen.size, 1, (uint64_t)1 << 40 },
	{ "messages", OPTION_INTEGER, "N", "1", "messages per pass, each in a separate call or, in cbc, cfb, ofb and mac, in parallel", &chosen.messages, 1, 1 << 20 },
	{ "section", OPTION_SIZE, "SIZE", "8KiB", "bytes under one key in the two acpkm modes, whole blocks", &chosen.section, 1, (uint64_t)1 << 40 },
	{ "alignment", OPTION_INTEGER, "BYTES", "0", "offset of both buffers from the start of a page (so of a cache line)", &chosen.alignment, 0, 63 },
	{ "seconds", OPTION_DURATION, "TIME", "0.2", "repeat passes over the buffer for this long", &chosen.seconds, 1, UINT64_C(3600000000000) },
	{ "threads", OPTION_INTEGER, "N", "1", "number of threads, each with its own buffers", &chosen.threads, 1, THREADS_MAX },
	{ "repeats", OPTION_INTEGER, "N", "1", "number of repeats", &chosen.repeats, 1, 1000000 },
	{ "list-backends", OPTION_FLAG, NULL, NULL, "print the backends as JSON lines and exit", &chosen.list_backends, 0, 0 },
};

static enum kuzma_cipher chosen_cipher(void)
{
	return strcmp(chosen.cipher, "magma") == 0 ? KUZMA_MAGMA : KUZMA_KUZNYECHIK;
}

static bool decrypting(void)
{
	return strcmp(chosen.direction, "decrypt") == 0;
}

static bool any_backend(void)
{
	return strcmp(chosen.backend, "auto") == 0;
}

/* Backends that only some builds of kuzma have. For a suite, which is written for all machines, such a name is right
 * everywhere. */
static bool known_elsewhere(enum kuzma_cipher cipher, const char *name)
{
	static const char *const names[] = { "avx512", "avx2", "ssse3", "neon" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return cipher == KUZMA_KUZNYECHIK && strcmp(name, "gfni") == 0;
}

static void check(void)
{
	const struct cipher_mode *mode = cipher_mode_by_name(chosen.mode);
	size_t block = kuzma_block_bytes(chosen_cipher()), unit = cipher_unit(mode, chosen_cipher());

	if (chosen.size % unit != 0)
		fail(EXIT_USAGE, "--size %" PRIu64 ": must be a multiple of %zu bytes for %s in mode %s", chosen.size, unit,
		     chosen.cipher, chosen.mode);
	if (chosen.section % block != 0)
		fail(EXIT_USAGE, "--section %" PRIu64 ": must be a multiple of the block of %s, %zu bytes", chosen.section,
		     chosen.cipher, block);
	if (decrypting() && mode->decrypt == NULL)
		fail(EXIT_USAGE, "--direction decrypt: mode %s has only one direction, encrypt", chosen.mode);
	if (!any_backend() && kuzma_backend_by_name(chosen_cipher(), chosen.backend) == NULL &&
	    !known_elsewhere(chosen_cipher(), chosen.backend))
		fail(EXIT_USAGE, "--backend %s: no such backend of %s; see stend-probe cipher --list-backends", chosen.backend,
		     chosen.cipher);
}

static const struct command command = {
	"cipher", "Encrypt or decrypt a buffer repeatedly with Kuznyechik or Magma.",
	"Input and output are two buffers of SIZE x N bytes; at least one full pass is made. Every pass has the same input and\n"
	"initial value, so that the output can be checked against the backend `table`, which itself is checked against\n"
	"`compact`. Up to 4 MiB, and for any size in mac, mgm and the acpkm modes, every byte and tag is checked once, and then\n"
	"by a digest. Above that, in the other modes, the first 1 MiB is checked, and of every message after it the first block,\n"
	"the last and up to 64 random ones; in mode key the last key of each message. An RFC vector is checked before the clock\n"
	"starts. Work: bytes; operations: passes; in mode key the bytes are those of keys, 32 each. cbc, cfb and ofb process\n"
	"the sequential direction block by block, unless N is more than 1.\n"
	"Observed: clock_hz_before and clock_hz_after by calibration, and their mean clock_hz if they agree within 2 %.",
	options, sizeof options / sizeof *options, NULL, check,
};

struct worker {
	const struct cipher_job *job;
	struct cipher_lane lane;
	struct buffer input, output;
	pthread_barrier_t *start;
	uint64_t duration_ns;
	uint64_t passes, begin_ns, end_ns, cpu_ns;
	pthread_t thread;
};

static void *work(void *argument)
{
	struct worker *worker = argument;
	size_t bytes = worker->job->message_bytes * worker->job->messages;
	uint64_t batch = (BYTES_BETWEEN_LOOKS + bytes - 1) / bytes;

	if (bytes <= WARM_BYTES_MAX)
		cipher_pass(worker->job, &worker->lane, worker->output.data, worker->input.data);
	pthread_barrier_wait(worker->start);

	uint64_t cpu = thread_cpu_ns(), now;
	worker->begin_ns = monotonic_ns();
	do {
		for (uint64_t i = 0; i < batch; i++)
			cipher_pass(worker->job, &worker->lane, worker->output.data, worker->input.data);
		worker->passes += batch;
		now = monotonic_ns();
	} while (now - worker->begin_ns < worker->duration_ns);
	worker->end_ns = now;
	worker->cpu_ns = thread_cpu_ns() - cpu;
	return NULL;
}

/* All workers from one start line; the measured time is from the first to begin to the last to end. */
static void measure(struct worker *workers, size_t count, struct repeat *repeat)
{
	pthread_barrier_t start;
	uint64_t begin = UINT64_MAX, end = 0;

	pthread_barrier_init(&start, NULL, (unsigned)count);
	for (size_t i = 0; i < count; i++) {
		workers[i].start = &start;
		workers[i].passes = 0;
	}
	for (size_t i = 1; i < count; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			fail(EXIT_UNSUPPORTED, "--threads %zu: the system gives no thread number %zu", count, i + 1);
	work(&workers[0]);
	for (size_t i = 1; i < count; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_barrier_destroy(&start);
	for (size_t i = 0; i < count; i++) {
		begin = workers[i].begin_ns < begin ? workers[i].begin_ns : begin;
		end = workers[i].end_ns > end ? workers[i].end_ns : end;
		repeat->cpu_ns += workers[i].cpu_ns;
		repeat->operations += workers[i].passes;
	}
	repeat->t_ns = begin;
	repeat->wall_ns = end - begin;
	repeat->bytes = repeat->operations * workers[0].job->message_bytes * workers[0].job->messages;
}

static int list_backends(void)
{
	struct json json = { 0 };
	const struct kuzma_backend *backend;

	for (int cipher = 0; cipher < 2; cipher++) {
		enum kuzma_cipher which = (enum kuzma_cipher)cipher;
		for (size_t i = 0; (backend = kuzma_backend_at(which, i)) != NULL; i++) {
			json_open_object(&json, NULL);
			json_text(&json, "cipher", kuzma_cipher_name(which));
			json_text(&json, "backend", kuzma_backend_name(backend));
			json_boolean(&json, "supported", kuzma_backend_supported(backend));
			json_boolean(&json, "constant_time", kuzma_backend_constant_time(backend));
			json_boolean(&json, "default", backend == kuzma_backend_default(which));
			json_close_object(&json);
			wire_send(&json);
		}
	}
	json_free(&json);
	return EXIT_FINE;
}

static const struct kuzma_backend *choose_backend(void)
{
	const struct kuzma_backend *backend;

	if (any_backend())
		return kuzma_backend_default(chosen_cipher());
	backend = kuzma_backend_by_name(chosen_cipher(), chosen.backend);
	if (backend == NULL)
		fail(EXIT_UNSUPPORTED, "--backend %s: this build for %s has no such instructions", chosen.backend,
		     build_architecture());
	if (!kuzma_backend_supported(backend))
		fail(EXIT_UNSUPPORTED, "--backend %s: this processor lacks the instructions for it", chosen.backend);
	return backend;
}

static void print_begin(struct json *json, const struct kuzma_backend *backend)
{
	wire_open_begin(json, "cipher");
	json_text(json, "cipher", chosen.cipher);
	json_text(json, "mode", chosen.mode);
	json_text(json, "direction", chosen.direction);
	json_text(json, "backend", kuzma_backend_name(backend));
	json_boolean(json, "constant_time", kuzma_backend_constant_time(backend));
	json_unsigned(json, "size", chosen.size);
	json_unsigned(json, "messages", chosen.messages);
	if (strstr(chosen.mode, "acpkm") != NULL)
		json_unsigned(json, "section", chosen.section);
	json_unsigned(json, "alignment", chosen.alignment);
	json_real(json, "seconds", (double)chosen.seconds / 1e9);
	json_unsigned(json, "threads", chosen.threads);
	wire_close_begin(json);
}

static void tell_checked(struct repeat *repeat, const struct cipher_job *job, const struct cipher_checked *checked)
{
	bool keys = job->mode->unit == UNIT_KEY, text = checked->blocks > 0 || job->mode->makes_text;

	repeat_check(repeat, "rfc_vector", NULL);
	repeat_check(repeat, "backend", (struct check_field[]){
		{ .name = "backend", .text = kuzma_backend_name(kuzma_context_backend(&job->base)) },
		{ .name = "bytes", .number = text ? checked->bytes : 0 },
		{ .name = "blocks", .number = checked->blocks },
		{ .name = "keys", .number = keys ? checked->tags : 0 },
		{ .name = "tags", .number = !keys && job->mode->makes_tag ? checked->tags : 0 },
		{ .name = NULL } });
	if (checked->by_digest)
		repeat_check(repeat, "by_digest", NULL);
}

int command_cipher(int argc, char **argv)
{
	static struct worker workers[THREADS_MAX];
	static struct cipher_job job;
	struct json json = { 0 };
	uint64_t seed = 2015;

	options_parse(&command, argc, argv);
	if (chosen.list_backends)
		return list_backends();

	const struct cipher_mode *mode = cipher_mode_by_name(chosen.mode);
	size_t threads = (size_t)chosen.threads;
	/* At most 2^40 bytes 2^20 times, and the room for tags: no overflow. Input and output of each thread. */
	buffer_check(2 * chosen.threads, chosen.messages * (chosen.size + CIPHER_TAG_ROOM));
	/* One that is longer than any message here can be changes nothing by being longer still. */
	size_t section = chosen.section > SIZE_MAX / 2 ? SIZE_MAX / 2 + 1 : (size_t)chosen.section;
	const struct kuzma_backend *backend = choose_backend();
	cipher_job_make(&job, mode, backend, decrypting(), (size_t)chosen.size, (size_t)chosen.messages, section);
	if (!cipher_known_answer(backend))
		fail(EXIT_BROKEN, "the backend %s of %s does not give the answer of the RFC: this build is wrong",
		     kuzma_backend_name(backend), chosen.cipher);
	for (size_t i = 0; i < threads; i++) {
		workers[i].job = &job;
		workers[i].duration_ns = chosen.seconds;
		workers[i].input = buffer_make(cipher_buffer_bytes(&job), (size_t)chosen.alignment, false);
		workers[i].output = buffer_make(cipher_buffer_bytes(&job), (size_t)chosen.alignment, false);
		random_fill(&seed, workers[i].input.data, cipher_buffer_bytes(&job));
		cipher_prepare_input(&job, workers[i].input.data);
		buffer_touch(&workers[i].output);
		workers[i].lane = cipher_lane_make(&job, workers[i].output.data, workers[i].input.data);
	}
	print_begin(&json, backend);
	for (uint64_t n = 0; n < chosen.repeats; n++) {
		struct repeat repeat = { .n = n, .passed = true };
		struct cipher_checked checked = { 0 };

		struct clock_estimate before = clock_measure(CALIBRATION_NS);
		measure(workers, threads, &repeat);
		repeat_observe_clock(&repeat, before, clock_measure(CALIBRATION_NS));
		for (size_t i = 0; i < threads; i++)
			repeat.passed &= cipher_check(&job, &workers[i].lane, workers[i].output.data, workers[i].input.data,
			                              &seed, &checked);
		tell_checked(&repeat, &job, &checked);
		wire_repeat(&json, &repeat);
	}
	wire_end(&json, chosen.repeats);
	for (size_t i = 0; i < threads; i++) {
		cipher_lane_free(&workers[i].lane);
		buffer_free(&workers[i].input);
		buffer_free(&workers[i].output);
	}
	cipher_job_wipe(&job);
	json_free(&json);
	return EXIT_FINE;
}
