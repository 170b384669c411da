/* Every backend, through its own face and through the coders, against a coder in this file that goes character by
 * character: all lengths to 4 KiB, all alignments, room to the byte, and every split. Input and output end or begin
 * at a page that cannot be touched.
 *
 * AGREEMENT_STEP=n in the environment takes only every n-th length beyond 300 bytes, for slow machines. */
#include "../src/backend.h"
#include "harness.h"
#include "morse.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LENGTH_MAX = 4096, TEXT_MAX = LENGTH_MAX + 64, CODE_MAX = TEXT_MAX * 9 };

static uint64_t seed = 11;
static size_t length_step = 1;

static unsigned below(size_t limit)
{
	return (unsigned)((random_next(&seed) >> 32) % limit);
}

/* ---- Memory between two pages that cannot be touched. */
struct arena {
	uint8_t *bytes;
	size_t size;
};

static struct arena inputs, outputs;

static struct arena new_arena(size_t least)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct arena arena = { NULL, (least + page - 1) / page * page };
	uint8_t *all = mmap(NULL, arena.size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED || mprotect(all + page, arena.size, PROT_READ | PROT_WRITE) != 0) {
		perror("mmap");
		exit(1);
	}
	arena.bytes = all + page;
	return arena;
}

/* So many bytes at the end, or the beginning, of it. */
static uint8_t *place(const struct arena *arena, size_t bytes, bool at_end)
{
	return at_end ? arena->bytes + arena->size - bytes : arena->bytes;
}

/* An alphabet, as its public functions give it. */
static struct {
	const char *name;
	size_t count, letters, long_ones;
	uint32_t all[512], letter[512], long_one[512]; /* small letters among them */
	char code[0x800][MORSE_ELEMENTS_MAX + 1];
	uint32_t character[2 << MORSE_ELEMENTS_MAX]; /* by elements from the highest bit down, and a 1 before them */
} known;

static void know(const struct morse_alphabet *alphabet)
{
	memset(&known, 0, sizeof known);
	known.name = morse_alphabet_name(alphabet);
	for (uint32_t character = 1; character < 0x800; character++) {
		char *code = known.code[character];
		size_t length = morse_alphabet_code(alphabet, character, code);
		unsigned index = 1;

		if (length == 0)
			continue;
		for (size_t i = 0; i < length; i++)
			index = index << 1 | (code[i] == '-');
		known.character[index] = morse_alphabet_character(alphabet, code);
		known.all[known.count++] = character;
		if (length <= 4 && character != 0xD7) /* the multiplication sign is sent as X, and is none */
			known.letter[known.letters++] = character;
		if (length >= 6)
			known.long_one[known.long_ones++] = character;
	}
}

/* ---- The plain coder. */
static uint32_t character_at(const uint8_t *text, size_t bytes, size_t *length)
{
	*length = 1;
	if (text[0] < 0x80)
		return text[0];
	if (bytes >= 2 && text[0] >= 0xC2 && text[0] <= 0xDF && (text[1] & 0xC0) == 0x80) {
		*length = 2;
		return (text[0] & 0x1Fu) << 6 | (text[1] & 0x3Fu);
	}
	return UINT32_MAX;
}

static size_t put_character(uint8_t *text, uint32_t character)
{
	if (character < 0x80) {
		text[0] = (uint8_t)character;
		return 1;
	}
	text[0] = (uint8_t)(0xC0 | character >> 6);
	text[1] = (uint8_t)(0x80 | (character & 0x3F));
	return 2;
}

/* The characters in the first `bytes`, of which `there` are there to see. SIZE_MAX: one is unknown. */
static size_t encode_plainly(uint8_t *code, const uint8_t *text, size_t bytes, size_t there)
{
	size_t written = 0, length;

	for (size_t at = 0; at < bytes; at += length) {
		uint32_t character = character_at(text + at, bytes - at, &length);
		const char *elements;

		if (character == '\n') {
			code[written++] = '\n';
			continue;
		}
		if (character >= 0x800)
			return SIZE_MAX;
		elements = character == ' ' ? "/" : known.code[character];
		if (elements[0] == '\0')
			return SIZE_MAX;
		while (*elements != '\0')
			code[written++] = (uint8_t)*elements++;
		if (at + length == there || text[at + length] != '\n')
			code[written++] = ' ';
	}
	return written;
}

/* SIZE_MAX: something in it is no code. */
static size_t decode_plainly(uint8_t *text, const uint8_t *code, size_t bytes)
{
	size_t written = 0;

	for (size_t at = 0; at < bytes; at++) {
		unsigned index = 1;

		for (; at < bytes && (code[at] == '.' || code[at] == '-'); at++) {
			if (index >> MORSE_ELEMENTS_MAX != 0)
				return SIZE_MAX;
			index = index << 1 | (code[at] == '-');
		}
		if (index > 1) {
			if (known.character[index] == 0)
				return SIZE_MAX;
			written += put_character(text + written, known.character[index]);
		}
		if (at == bytes)
			break;
		if (code[at] == '/' || code[at] == '\n')
			text[written++] = code[at] == '/' ? ' ' : '\n';
		else if (code[at] != ' ')
			return SIZE_MAX;
	}
	return written;
}

enum direction { ENCODE, DECODE };

static const char *const direction_names[] = { "encoding", "decoding" };

static size_t plainly(enum direction direction, uint8_t *output, const uint8_t *input, size_t bytes, size_t there)
{
	return direction == ENCODE ? encode_plainly(output, input, bytes, there) : decode_plainly(output, input, bytes);
}

/* ---- What is coded. */
enum flavour { LETTERS, EVERYTHING, SPACES_AND_LINES, LONGEST, SOME_UNKNOWN, ANY_BYTES, FLAVOURS };

static const char *const flavour_names[] = {
	"letters", "all characters", "spaces and lines", "the longest codes", "some unknown", "any bytes"
};

static uint32_t a_character(enum flavour flavour)
{
	unsigned dice = below(100);

	if (flavour == LONGEST)
		return known.long_one[below(known.long_ones)];
	if (flavour == SOME_UNKNOWN && dice == 99)
		return 1 + below(0x7FF);
	if (dice < (flavour == SPACES_AND_LINES ? 40 : 16))
		return ' ';
	if (dice < (flavour == SPACES_AND_LINES ? 80 : 18))
		return '\n';
	return flavour == LETTERS ? known.letter[below(known.letters)] : known.all[below(known.count)];
}

/* Exactly `bytes` of it. */
static void make_text(uint8_t *text, size_t bytes, enum flavour flavour)
{
	if (flavour == ANY_BYTES) {
		random_bytes(&seed, text, bytes);
		return;
	}
	for (size_t at = 0; at < bytes;) {
		uint32_t character = a_character(flavour);
		at += put_character(text + at, character < 0x80 || bytes - at >= 2 ? character : ' ');
	}
}

static void make_code(uint8_t *code, size_t bytes, enum flavour flavour)
{
	static const char five[] = ".-/ \n", separators[] = "      /\n";

	for (size_t at = 0; at < bytes;) {
		char elements[MORSE_ELEMENTS_MAX + 2];
		uint32_t character;
		size_t count;

		if (flavour == ANY_BYTES) {
			code[at++] = below(60) == 0 ? (uint8_t)below(256) : (uint8_t)five[below(5)];
			continue;
		}
		character = a_character(flavour);
		count = strlen(known.code[character % 0x800]);
		memcpy(elements, known.code[character % 0x800], count);
		if (character == ' ' || character == '\n')
			elements[count++] = character == ' ' ? '/' : '\n';
		else if (flavour == SOME_UNKNOWN && below(50) == 0)
			elements[0] = 'x';
		if (character != '\n')
			elements[count++] = separators[below(flavour == LETTERS ? 6 : 8)];
		count = count < bytes - at ? count : bytes - at;
		memcpy(code + at, elements, count);
		at += count;
	}
}

static void make(enum direction direction, uint8_t *made, size_t bytes, enum flavour flavour)
{
	if (direction == ENCODE)
		make_text(made, bytes, flavour);
	else
		make_code(made, bytes, flavour);
}

/* ---- A backend through its own face. */
static bool is_element(uint8_t byte)
{
	return byte == '.' || byte == '-';
}

/* Whether it may stop there: between characters, and before the last; between tokens. */
static bool may_stop(enum direction direction, const uint8_t *input, size_t bytes, size_t at)
{
	if (at == 0)
		return true;
	if (direction == ENCODE)
		return at < bytes; /* and half a character could not have been coded */
	return !is_element(input[at - 1]) || (at < bytes && !is_element(input[at]));
}

static struct morse_progress run(const struct morse_backend *backend, enum direction direction,
                                 const struct morse_alphabet *alphabet, const uint8_t *input, size_t bytes, size_t room,
                                 uint8_t *output)
{
	static uint8_t expected[CODE_MAX];
	struct morse_progress progress;
	size_t count;

	progress = (direction == ENCODE ? backend->encode : backend->decode)(alphabet, output, room, input, bytes);
	if (progress.read > bytes || progress.written > room) {
		CHECK(false, "%s says that it read %zu of %zu and wrote %zu of %zu", backend->name, progress.read,
		      bytes, progress.written, room);
		exit(harness_finish());
	}
	count = plainly(direction, expected, input, progress.read, bytes);
	CHECK(count == progress.written && memcmp(expected, output, count) == 0 &&
	              may_stop(direction, input, bytes, progress.read),
	      "%s, %s, %s: %zu bytes, room for %zu, stopped at %zu", backend->name, known.name,
	      direction_names[direction], bytes, room, progress.read);
	return progress;
}

/* A block, and what a coder may leave at an end. */
enum { LEFT_MAX = 64 + MORSE_ROOM_MIN };

/* Those that encode by pairs take ASCII only. */
static bool takes_letters(const struct morse_backend *backend, enum direction direction)
{
	return direction == DECODE || known.letter[0] < 0x80 || strcmp(backend->name, "avx512") == 0 ||
	       strcmp(backend->name, "portable") == 0;
}

/* All at once; then with room for only a part of it; then from where it stopped. */
static void agree(const struct morse_backend *backend, enum direction direction, const struct morse_alphabet *alphabet,
                  const uint8_t *made, size_t bytes, enum flavour flavour)
{
	bool at_end = bytes % 2 == 0;
	uint8_t *input = place(&inputs, bytes, at_end);
	size_t room = bytes * MORSE_TEXT_BYTES;
	struct morse_progress progress;

	memcpy(input, made, bytes);
	progress = run(backend, direction, alphabet, input, bytes, room, place(&outputs, room, !at_end));
	if (flavour == LETTERS && takes_letters(backend, direction))
		CHECK(progress.read + LEFT_MAX >= bytes, "%s, %s, %s: of %zu bytes of letters it left all from %zu on",
		      backend->name, known.name, direction_names[direction], bytes, progress.read);
	if (progress.written > 0) {
		room = below(progress.written + 1);
		progress = run(backend, direction, alphabet, input, bytes, room, place(&outputs, room, at_end));
		room = (bytes - progress.read) * MORSE_TEXT_BYTES;
		run(backend, direction, alphabet, input + progress.read, bytes - progress.read, room,
		    place(&outputs, room, true));
	}
}

static void lengths(const struct morse_backend *backend, enum direction direction,
                    const struct morse_alphabet *alphabet)
{
	static uint8_t made[TEXT_MAX];

	for (size_t bytes = 0; bytes <= LENGTH_MAX; bytes += bytes < 300 ? 1 : length_step) {
		unsigned flavours = bytes < 300 ? FLAVOURS : 1, first = below(FLAVOURS);

		for (unsigned i = 0; i < flavours; i++) {
			enum flavour flavour = (enum flavour)((first + i) % FLAVOURS);

			make(direction, made, bytes, flavour);
			agree(backend, direction, alphabet, made, bytes, flavour);
		}
	}
}

/* A short text at every place within 64 bytes, and with every room. */
static void alignments(const struct morse_backend *backend, enum direction direction,
                       const struct morse_alphabet *alphabet)
{
	enum { BYTES = 200, ROOM = BYTES * MORSE_TEXT_BYTES };
	static uint8_t made[TEXT_MAX];

	for (unsigned flavour = 0; flavour < FLAVOURS; flavour++) {
		uint8_t *input;

		make(direction, made, BYTES, (enum flavour)flavour);
		for (size_t offset = 0; offset < 64; offset++) {
			input = inputs.bytes + offset;
			memcpy(input, made, BYTES);
			run(backend, direction, alphabet, input, BYTES, ROOM, outputs.bytes + offset * 7 % 64);
		}
		input = place(&inputs, BYTES, true);
		memcpy(input, made, BYTES);
		for (size_t room = 0; room < ROOM; room++)
			run(backend, direction, alphabet, input, BYTES, room, place(&outputs, room, true));
	}
}

/* The longest codes, and at every place what is not ASCII, with every room: what is written in vain needs room too. */
static void long_codes(const struct morse_backend *backend, const struct morse_alphabet *alphabet)
{
	enum { BYTES = 70, ROOM = BYTES * MORSE_TEXT_BYTES };
	uint8_t *input = place(&inputs, BYTES, true);

	for (size_t at = 0; at < BYTES; at++) {
		memset(input, '$', BYTES);
		input[at] = 0xE0;
		for (size_t room = 0; room < ROOM; room++)
			run(backend, ENCODE, alphabet, input, BYTES, room, place(&outputs, room, true));
	}
}

/* What cannot be coded by one character at a time: spaces and lines' ends at every place of a block. */
static void line_ends(const struct morse_backend *backend, const struct morse_alphabet *alphabet)
{
	static const char *const patterns[] = { " \n", "\n \n", "  \n", "\n\n", " \n ", " \n \n", "\n \n \n\n",
		                                "5 \n\n5", "5 \n 5" };
	enum { BYTES = 160, ROOM = BYTES * MORSE_TEXT_BYTES };
	static uint8_t made[TEXT_MAX];

	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
		for (size_t at = 0; at < BYTES - 10; at++) {
			uint8_t *input = place(&inputs, BYTES, true);

			make_text(made, BYTES, at % 2 == 0 ? LETTERS : EVERYTHING);
			/* The pattern may cut a character: only those of one byte, at the same lengths. */
			for (size_t j = 0; j < BYTES; j++)
				if (made[j] >= 0x80)
					made[j] = at % 3 == 0 ? '5' : '\n';
			memcpy(made + at, patterns[i], strlen(patterns[i]));
			memcpy(input, made, BYTES);
			run(backend, ENCODE, alphabet, input, BYTES, ROOM, place(&outputs, ROOM, true));
		}
}

/* ---- Through the coders, cut in two. */
static size_t by_coder(const struct morse_options *options, enum direction direction, uint8_t *output, size_t room,
                       const uint8_t *input, size_t bytes, size_t first)
{
	struct morse_encoder encoder;
	struct morse_decoder decoder;
	size_t written = 0, read, count = 0;
	enum morse_status status = direction == ENCODE ? morse_encoder_init(&encoder, options) :
	                                                 morse_decoder_init(&decoder, options);

	for (size_t at = 0, piece = first; status == MORSE_OK && at < bytes; at += read, piece = bytes - first) {
		uint8_t *to = output + written;

		if (direction == ENCODE)
			status = morse_encoder_update(&encoder, to, room - written, &count, input + at, piece, &read);
		else
			status = morse_decoder_update(&decoder, to, room - written, &count, input + at, piece, &read);
		written += count;
		if (status == MORSE_OK && read < piece)
			status = MORSE_ERROR_ROOM;
	}
	if (status == MORSE_OK) {
		if (direction == ENCODE)
			status = morse_encoder_finish(&encoder, output + written, room - written, &count);
		else
			status = morse_decoder_finish(&decoder, output + written, room - written, &count);
		written += count;
	}
	return status == MORSE_OK ? written : SIZE_MAX;
}

static void splits(const struct morse_backend *backend, enum direction direction, const struct morse_alphabet *alphabet)
{
	enum { BYTES = 333, TAIL = 9 };
	static uint8_t made[TEXT_MAX], expected[CODE_MAX];
	struct morse_options options = { .alphabet = alphabet, .backend = backend };

	for (unsigned flavour = 0; flavour < SOME_UNKNOWN; flavour++) {
		size_t count;

		/* Until the token that is cut at the end is one. */
		do {
			make(direction, made, BYTES, (enum flavour)flavour);
			if (direction == DECODE)
				memcpy(made + BYTES - TAIL, "/./../-./", TAIL);
			count = plainly(direction, expected, made, BYTES, BYTES);
		} while (count == SIZE_MAX);
		if (direction == ENCODE && expected[count - 1] == ' ')
			count--;
		for (size_t first = 1; first <= BYTES; first++) {
			uint8_t *output = place(&outputs, count, true);
			size_t written = by_coder(&options, direction, output, count, made, BYTES, first);

			CHECK(written == count && memcmp(output, expected, count) == 0, "%s, %s, %s, %s: cut at %zu",
			      backend->name, known.name, direction_names[direction], flavour_names[flavour], first);
		}
	}
}

int main(void)
{
	const char *step = getenv("AGREEMENT_STEP");
	const struct morse_backend *backend;
	const struct morse_alphabet *alphabet;

	if (step != NULL && atoi(step) > 0)
		length_step = (size_t)atoi(step);
	inputs = new_arena(TEXT_MAX);
	outputs = new_arena(CODE_MAX);
	for (size_t i = 0; (backend = morse_backend_at(i)) != NULL; i++) {
		if (!morse_backend_supported(backend)) {
			fprintf(stderr, "skipped: this processor cannot run the backend %s\n", backend->name);
			continue;
		}
		for (size_t j = 0; (alphabet = morse_alphabet_at(j)) != NULL; j++) {
			know(alphabet);
			for (int direction = ENCODE; direction <= DECODE; direction++) {
				lengths(backend, (enum direction)direction, alphabet);
				alignments(backend, (enum direction)direction, alphabet);
				splits(backend, (enum direction)direction, alphabet);
			}
			line_ends(backend, alphabet);
			long_codes(backend, alphabet);
		}
	}
	return harness_finish();
}
