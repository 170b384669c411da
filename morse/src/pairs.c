#include "pairs.h"

#include <pthread.h>
#include <string.h>

/* The tables are 128 KiB each, and take no memory before they are made. */
enum { ALPHABETS = 4 };

static struct morse_pairs tables[ALPHABETS];
static bool made[ALPHABETS];
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

struct character {
	uint8_t text[MORSE_TEXT_BYTES];
	uint8_t bytes;
	bool is_line;
};

static bool has_class(const struct morse_alphabet *alphabet, unsigned byte)
{
	unsigned count = alphabet->text_bytes[0][byte];

	return byte == '\n' || (count != MORSE_UNKNOWN && count < MORSE_TEXT_BYTES);
}

static void make(struct morse_pairs *pairs, const struct morse_alphabet *alphabet)
{
	static const struct character none;
	struct character classes[MORSE_CLASSES];

	for (unsigned i = 0; i < MORSE_CLASSES; i++)
		classes[i] = none;
	for (unsigned byte = 0; byte < 0x80; byte++) {
		struct character *character = &classes[(byte >> 1 & 0x20) | (byte & 0x1F)];

		if (!has_class(alphabet, byte))
			continue;
		pairs->known[byte & 15] = (uint8_t)(pairs->known[byte & 15] | 1u << (byte >> 4));
		memcpy(character->text, alphabet->text[0][byte], MORSE_TEXT_BYTES);
		character->bytes = alphabet->text_bytes[0][byte];
		character->is_line = byte == '\n';
	}
	for (unsigned i = 0; i < MORSE_PAIRS; i++) {
		const struct character *first = &classes[i % MORSE_CLASSES];
		const struct character *second = &classes[i / MORSE_CLASSES % MORSE_CLASSES];
		bool line_end = i >= MORSE_PAIRS / 2;
		unsigned count = first->bytes;

		/* Their ' ' goes before a line's end. */
		if (second->is_line && !first->is_line && count > 0)
			count--;
		memcpy(pairs->text[i], first->text, MORSE_TEXT_BYTES);
		memcpy(pairs->text[i] + count, second->text, MORSE_TEXT_BYTES);
		count += second->bytes;
		if (line_end && !second->is_line && second->bytes > 0)
			count--;
		pairs->text[i][MORSE_PAIR_BYTES - 1] = (uint8_t)count;
	}
}

const struct morse_pairs *morse_pairs_of(const struct morse_alphabet *alphabet)
{
	for (size_t i = 0; i < ALPHABETS; i++) {
		if (morse_alphabet_at(i) != alphabet)
			continue;
		pthread_mutex_lock(&making);
		if (!made[i])
			make(&tables[i], alphabet);
		made[i] = true;
		pthread_mutex_unlock(&making);
		return &tables[i];
	}
	return NULL;
}
