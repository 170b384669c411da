/* Morse with AVX2: vectors look, tables and scalar instructions write. See pairs.h and tokens.h.
 *
 * BMI1 and BMI2 make the scalar half shorter; of them only what is fast on every processor that has AVX2, so no
 * PEXT. */
#include "../pairs.h"
#include "../tokens.h"

#ifdef MORSE_X86
#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))
#define WITH_BMI __attribute__((target("bmi,bmi2")))

enum { PAIRS_AT_ONCE = 16, ENCODE_BLOCK = 2 * PAIRS_AT_ONCE, ENCODE_ROOM = PAIRS_AT_ONCE * MORSE_PAIR_BYTES };

WITH_BMI static struct morse_progress encode(const struct morse_alphabet *alphabet, uint8_t *output, size_t room,
                                             const uint8_t *input, size_t bytes)
{
	const struct morse_pairs *pairs = morse_pairs_of(alphabet);
	const __m256i newline = _mm256_set1_epi8('\n');
	const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201);
	const uint8_t *in = input, *text;
	uint8_t *out = output, *room_end = output + room;
	__m256i known;

	if (pairs == NULL)
		return (struct morse_progress){ 0, 0 };
	text = pairs->text[0];
	known = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)pairs->known));
	while (input + bytes - in > ENCODE_BLOCK && room_end - out >= ENCODE_ROOM) {
		uint16_t numbers[PAIRS_AT_ONCE] __attribute__((aligned(32)));
		__m256i characters = _mm256_loadu_si256((const __m256i *)(const void *)in);
		__m256i next = _mm256_loadu_si256((const __m256i *)(const void *)(in + 1));
		__m256i high = _mm256_and_si256(_mm256_srli_epi16(characters, 4), _mm256_set1_epi8(15));
		/* Zero for those from 80 on: VPSHUFB gives it. */
		__m256i set = _mm256_and_si256(_mm256_shuffle_epi8(known, characters), _mm256_shuffle_epi8(bit, high));
		unsigned unknown = (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(set, _mm256_setzero_si256()));
		unsigned count = unknown == 0 ? PAIRS_AT_ONCE : (unsigned)__builtin_ctz(unknown) / 2;
		__m256i half = _mm256_srli_epi16(characters, 1);
		__m256i class = _mm256_or_si256(_mm256_and_si256(characters, _mm256_set1_epi8(0x1F)),
		                                _mm256_and_si256(half, _mm256_set1_epi8(0x20)));
		__m256i is_line = _mm256_cmpeq_epi8(characters, newline);
		__m256i line_end = _mm256_andnot_si256(is_line, _mm256_cmpeq_epi8(next, newline));
		__m256i number = _mm256_maddubs_epi16(class, _mm256_set1_epi16(MORSE_PAIR_SECOND / 2 << 8 | 1));

		number = _mm256_or_si256(_mm256_add_epi16(number, number),
		                         _mm256_and_si256(line_end, _mm256_set1_epi16(MORSE_PAIR_LINE_END)));
		_mm256_store_si256((__m256i *)(void *)numbers, number);
		for (unsigned i = 0; i < count; i++) {
			const uint8_t *pair = text + (size_t)numbers[i] * (MORSE_PAIR_BYTES / 2);

			_mm_storeu_si128((__m128i *)(void *)out, _mm_loadu_si128((const __m128i *)(const void *)pair));
			out += pair[MORSE_PAIR_BYTES - 1];
		}
		in += 2 * count;
		if (count < PAIRS_AT_ONCE)
			break;
	}
	return (struct morse_progress){ (size_t)(in - input), (size_t)(out - output) };
}

INLINE uint64_t equal(__m256i low, __m256i high, char byte)
{
	const __m256i all = _mm256_set1_epi8(byte);

	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, all)) |
	       (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, all)) << 32;
}

WITH_BMI static struct morse_progress decode(const struct morse_alphabet *alphabet, uint8_t *output, size_t room,
                                             const uint8_t *input, size_t bytes)
{
	const uint8_t *in = input;
	uint8_t *out = output, *room_end = output + room;
	struct tokens tokens;
	unsigned taken;

	if (bytes < TOKENS_BLOCK)
		return (struct morse_progress){ 0, 0 };
	tokens_set_up(&tokens, alphabet);
	for (; input + bytes - in >= TOKENS_BLOCK && room_end - out >= TOKENS_ROOM; in += taken) {
		__m256i low = _mm256_loadu_si256((const __m256i *)(const void *)in);
		__m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(in + 32));
		struct tokens_marks marks;

		marks.dashes = equal(low, high, '-');
		marks.elements = equal(low, high, '.') | marks.dashes;
		marks.spaces = equal(low, high, ' ');
		marks.words = equal(low, high, '/');
		marks.lines = equal(low, high, '\n');
		taken = tokens_take(&tokens, &marks, &out);
		if (taken == 0)
			break;
	}
	return (struct morse_progress){ (size_t)(in - input), (size_t)(out - output) };
}

static bool supported(void)
{
	return morse_cpu_avx2() && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

const struct morse_backend morse_avx2 = {
	.name = "avx2",
	.supported = supported,
	.encode = encode,
	.decode = decode,
	.count_byte = morse_count_byte,
	.count_characters = morse_count_characters,
};
#endif
