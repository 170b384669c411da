/* How fast text becomes Morse code and code becomes text, in memory and on one core: every backend, through the
 * coders and alone, and beside them another program's coder, in turns within one run.
 *
 * Speeds are by the processor time of this thread, so that they count what was done and not what the machine did
 * meanwhile. On a machine that shares its cores the fastest round is the nearest to a quiet core, and the median
 * says what was there; both are printed, with the spread. Cycles are by the clock that a chain of dependent
 * additions shows. */
#include "../src/backend.h"
#include "morse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CORPORA = 3, SIZES = 3, CANDIDATES_MAX = 16, ROUNDS_MAX = 1000 };

enum direction { ENCODE, DECODE };

struct corpus {
	const char *name, *alphabet;
	const char *const *words;
	bool lines;
	const char *peer[2]; /* what the peer is to do, by direction; NULL: it has no such thing */
};

static const char *const english[] = {
	"the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "as", "was", "with", "be", "by", "on",
	"not", "he", "his", "but", "at", "are", "this", "have", "an", "had", "they", "you", "were", "their", "one",
	"all", "we", "can", "her", "has", "there", "been", "if", "more", "when", "will", "would", "who", "so", "no",
	"source", "licence", "notice", "conditions", "software", "warranty", "distribution", "permission",
	"particular", "purpose", "provided", "copyright", NULL
};

static const char *const russian[] = {
	"и", "в", "не", "на", "я", "быть", "он", "с", "что", "а", "по", "это", "она", "этот", "к", "но", "они",
	"мы", "весь", "который", "из", "у", "за", "свой", "что", "весь", "год", "от", "так", "о", "для", "ты", "же",
	"все", "тот", "мочь", "вы", "человек", "такой", "его", "сказать", "только", "или", "ещё", "бы", "себя",
	"один", "как", "уже", "до", "время", "если", "сам", "когда", "другой", "вот", "говорить", "наш", "мой",
	"знать", "стать", NULL
};

static const struct corpus corpora[CORPORA] = {
	{ "English, lines of 70", "itu", english, true, { "encode-ascii", "decode" } },
	{ "English, one line", "itu", english, false, { "encode-ascii", "decode" } },
	/* Its code for Russian is another in some marks, but as long. */
	{ "Russian, lines of 70", "ru", russian, true, { "encode", "decode-russian" } },
};

static const size_t sizes[SIZES] = { 16 << 10, 512 << 10, 16 << 20 };

struct candidate {
	char name[32];
	const struct morse_backend *backend; /* NULL: the peer */
	bool alone;
	double best, rates[ROUNDS_MAX]; /* bytes a second */
};

static struct {
	unsigned rounds;
	double seconds;
	const char *peer;
	bool json;
} options = { .rounds = 15, .seconds = 0.004 };

/* What the peer reads. */
static char file[] = "/tmp/morse-bench-XXXXXX";

static void remove_file(void)
{
	unlink(file);
}

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "morse-bench: %s: %s\n", what, why);
	exit(2);
}

static void *allocate(size_t bytes)
{
	void *memory = malloc(bytes);

	if (memory == NULL)
		fail("memory", strerror(ENOMEM));
	memset(memory, 0, bytes); /* so that it is there */
	return memory;
}

static double cpu_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Cycles a second, as short chains of steps of two cycles show them: nine of ten are slower. Not the fastest, because
 * where a hypervisor takes time away the processor time of a few may be too short. */
static double clock_hz(void)
{
	enum { STEPS = 20000, CHAINS = 100 };
	double rates[CHAINS];

	for (unsigned i = 0; i < CHAINS; i++) {
		volatile unsigned seed = i;
		unsigned chain = seed;
		double begin = cpu_seconds();

		for (unsigned step = 0; step < STEPS; step++)
			chain = (chain << 5 | chain >> 27) ^ step;
		seed = chain;
		rates[i] = 2.0 * STEPS / (cpu_seconds() - begin);
	}
	qsort(rates, CHAINS, sizeof *rates, by_value);
	return rates[CHAINS * 9 / 10];
}

static unsigned next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*state >> 33);
}

/* Words in a random order with a mark here and there; a few bytes less than asked for. */
static size_t make_text(const struct corpus *corpus, uint8_t *text, size_t bytes)
{
	uint64_t state = 1;
	size_t at = 0, column = 0, words = 0;

	while (corpus->words[words] != NULL)
		words++;
	for (;;) {
		const char *word = corpus->words[next_random(&state) % words];
		size_t length = strlen(word);
		bool mark = next_random(&state) % 9 == 0;

		if (at + length + 2 > bytes)
			return at;
		memcpy(text + at, word, length);
		at += length;
		if (mark)
			text[at++] = next_random(&state) % 2 == 0 ? ',' : '.';
		for (size_t i = 0; i < length; i++)
			column += ((uint8_t)word[i] & 0xC0) != 0x80;
		column += mark + 1u;
		text[at++] = corpus->lines && column > 66 ? '\n' : ' ';
		if (corpus->lines && column > 66)
			column = 0;
	}
}

/* The whole by the backend's own functions, and what they leave by the portable ones, as the coders do. */
static size_t code_alone(const struct morse_backend *backend, enum direction direction,
                         const struct morse_alphabet *alphabet, uint8_t *output, size_t room, const uint8_t *input,
                         size_t bytes)
{
	const struct morse_backend *both[2] = { backend, &morse_portable };
	size_t read = 0, written = 0;

	for (unsigned i = 0; i < 2; i++) {
		struct morse_progress progress = (direction == ENCODE ? both[i]->encode : both[i]->decode)(
			alphabet, output + written, room - written, input + read, bytes - read);
		read += progress.read;
		written += progress.written;
	}
	return written;
}

static size_t code(const struct candidate *candidate, enum direction direction, const struct morse_alphabet *alphabet,
                   uint8_t *output, size_t room, const uint8_t *input, size_t bytes)
{
	struct morse_options how = { .alphabet = alphabet, .backend = candidate->backend };
	enum morse_status status;
	size_t written;

	if (candidate->alone)
		return code_alone(candidate->backend, direction, alphabet, output, room, input, bytes);
	status = (direction == ENCODE ? morse_encode : morse_decode)(&how, output, room, &written, input, bytes, NULL);
	if (status != MORSE_OK)
		fail(candidate->name, morse_status_text(status));
	return written;
}

static double measure_peer(const char *what)
{
	char command[4096];
	unsigned long long bytes, ns;
	FILE *pipe;
	int fields;

	if ((size_t)snprintf(command, sizeof command, "'%s' %s '%s' %f", options.peer, what, file, options.seconds) >=
	    sizeof command)
		fail(options.peer, "its name is too long");
	pipe = popen(command, "r");
	if (pipe == NULL)
		fail(options.peer, strerror(errno));
	fields = fscanf(pipe, "%llu %llu", &bytes, &ns);
	if (pclose(pipe) != 0 || fields != 2)
		fail(options.peer, "it did not print bytes and nanoseconds");
	return (double)bytes / (double)ns * 1e9;
}

static double median(double *values, unsigned count)
{
	qsort(values, count, sizeof *values, by_value);
	return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void print(const struct candidate *candidate, const struct corpus *corpus, enum direction direction,
                  size_t bytes, double hz)
{
	static double values[ROUNDS_MAX], from_middle[ROUNDS_MAX];
	double middle, spread;

	memcpy(values, candidate->rates, options.rounds * sizeof *values);
	middle = median(values, options.rounds);
	for (unsigned i = 0; i < options.rounds; i++)
		from_middle[i] = values[i] > middle ? values[i] - middle : middle - values[i];
	spread = median(from_middle, options.rounds) / middle;
	if (options.json)
		printf("{\"corpus\":\"%s\",\"direction\":\"%s\",\"bytes\":%zu,\"coder\":\"%s\",\"rounds\":%u,"
		       "\"median_bytes_per_cpu_second\":%.0f,\"median_absolute_deviation\":%.4f,"
		       "\"best_bytes_per_cpu_second\":%.0f,\"clock_hz\":%.0f}\n",
		       corpus->name, direction == ENCODE ? "encode" : "decode", bytes, candidate->name, options.rounds,
		       middle, spread, candidate->best, hz);
	else
		printf("%-22s %-6s %9zu  %-16s %7.2f ±%4.1f %%  %7.2f  %7.3f\n", corpus->name,
		       direction == ENCODE ? "encode" : "decode", bytes, candidate->name, middle / 1e9, 100 * spread,
		       candidate->best / 1e9, hz / candidate->best);
}

/* All candidates in turns, the first of each round another one. */
static void compare(struct candidate *candidates, size_t count, const struct corpus *corpus, enum direction direction,
                    const uint8_t *input, size_t bytes)
{
	const struct morse_alphabet *alphabet = morse_alphabet_by_name(corpus->alphabet);
	size_t room = direction == ENCODE ? morse_encoded_max(bytes) : bytes * 2;
	uint8_t *output = allocate(room), *expected = allocate(room);
	size_t wanted = 0;
	double hz;

	for (size_t i = 0; i < count; i++) {
		struct candidate *candidate = &candidates[i];

		candidate->best = 0;
		if (candidate->backend == NULL || candidate->alone)
			continue;
		size_t written = code(candidate, direction, alphabet, output, room, input, bytes);
		if (wanted == 0) {
			memcpy(expected, output, written);
			wanted = written;
		} else if (written != wanted || memcmp(output, expected, wanted) != 0) {
			fail(candidate->name, "it gives something else than the first backend");
		}
	}
	hz = clock_hz();
	for (unsigned round = 0; round < options.rounds; round++)
		for (size_t i = 0; i < count; i++) {
			struct candidate *candidate = &candidates[(round + i) % count];
			double rate;

			if (candidate->backend == NULL) {
				if (corpus->peer[direction] == NULL)
					continue;
				rate = measure_peer(corpus->peer[direction]);
			} else {
				double begin = cpu_seconds(), seconds;
				size_t passes = 0;

				do {
					code(candidate, direction, alphabet, output, room, input, bytes);
					passes++;
					seconds = cpu_seconds() - begin;
				} while (seconds < options.seconds);
				rate = (double)(passes * bytes) / seconds;
			}
			candidate->rates[round] = rate;
			candidate->best = rate > candidate->best ? rate : candidate->best;
		}
	for (size_t i = 0; i < count; i++)
		if (candidates[i].best > 0)
			print(&candidates[i], corpus, direction, bytes, hz);
	fflush(stdout);
	free(output);
	free(expected);
}

static void write_file(const uint8_t *bytes, size_t count)
{
	FILE *stream = fopen(file, "wb");

	if (stream == NULL || fwrite(bytes, 1, count, stream) != count || fclose(stream) != 0)
		fail(file, strerror(errno));
}

static size_t find_candidates(struct candidate *candidates)
{
	const struct morse_backend *backend;
	size_t count = 0;

	for (size_t i = 0; (backend = morse_backend_at(i)) != NULL; i++) {
		if (!morse_backend_supported(backend))
			continue;
		for (unsigned alone = 0; alone < 2 && count < CANDIDATES_MAX - 1; alone++) {
			struct candidate *candidate = &candidates[count++];

			snprintf(candidate->name, sizeof candidate->name, "%s%s", morse_backend_name(backend),
			         alone ? ", alone" : "");
			candidate->backend = backend;
			candidate->alone = alone;
		}
	}
	if (options.peer != NULL)
		strcpy(candidates[count++].name, "ripmors");
	return count;
}

static void read_options(int count, char **words)
{
	int option;
	bool known = true;

	while (known && (option = getopt(count, words, "r:s:p:j")) != -1) {
		switch (option) {
		case 'r':
			options.rounds = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 's':
			options.seconds = strtod(optarg, NULL);
			break;
		case 'p':
			options.peer = optarg;
			break;
		case 'j':
			options.json = true;
			break;
		default:
			known = false;
		}
	}
	if (!known || optind != count || options.rounds < 1 || options.rounds > ROUNDS_MAX || !(options.seconds > 0)) {
		fprintf(stderr,
		        "usage: morse-bench [-r ROUNDS, 1 to %d] [-s SECONDS a round] [-p PROGRAM, stend-peer-morse] "
		        "[-j, JSON lines]\n",
		        ROUNDS_MAX);
		exit(2);
	}
}

int main(int count, char **words)
{
	static struct candidate candidates[CANDIDATES_MAX];
	size_t candidate_count;
	int descriptor;

	read_options(count, words);
	candidate_count = find_candidates(candidates);
	descriptor = mkstemp(file);
	if (descriptor < 0)
		fail(file, strerror(errno));
	close(descriptor);
	atexit(remove_file);
	if (!options.json)
		printf("%-22s %-6s %9s  %-16s %16s  %7s  %7s\n", "corpus", "", "bytes in", "coder", "GB/s in, median",
		       "best", "cycles/B");
	for (size_t i = 0; i < CORPORA; i++)
		for (size_t j = 0; j < SIZES; j++) {
			const struct corpus *corpus = &corpora[i];
			struct morse_options how = { .alphabet = morse_alphabet_by_name(corpus->alphabet) };
			uint8_t *text = allocate(sizes[j]), *coded = allocate(morse_encoded_max(sizes[j]));
			size_t bytes = make_text(corpus, text, sizes[j]), code_bytes;

			write_file(text, bytes);
			compare(candidates, candidate_count, corpus, ENCODE, text, bytes);
			if (morse_encode(&how, coded, morse_encoded_max(bytes), &code_bytes, text, bytes, NULL) !=
			    MORSE_OK)
				fail(corpus->name, "it cannot be encoded");
			write_file(coded, code_bytes);
			compare(candidates, candidate_count, corpus, DECODE, coded, code_bytes);
			free(text);
			free(coded);
		}
	return 0;
}
