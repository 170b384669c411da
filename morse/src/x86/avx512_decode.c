/* Decoding with AVX-512.
 *
 * Of 64 bytes of code, masks say which are elements, '/', '\n', and which are dashes. A token is a run of elements,
 * or a '/', or a '\n', and each gives one letter. VPCOMPRESSB puts the tokens' starts side by side, and their ends.
 * VPMULTISHIFTQB takes for each token 8 bits of the mask of dashes, from its start on. In that mask what is no
 * element is 1: so the bit above a token's elements is 1, as in the alphabet's codes, and all above it is masked
 * away by length. A '\n' has no elements and so code 1, which is no letter's; a '/' is given a mask of 0, and has
 * code 0. VPERMI2B makes letters of codes.
 *
 * A token that goes on in the next 64 bytes is done there: so no block waits to know where the one before it ended.
 * It is always the first, and is done by scalar instructions, for which Intel cores have ports that the vectors do
 * not use.
 *
 * 64 bytes take about 105 operations. Of those, on Golden Cove, 16 go through the port of the shuffles, which is 0.25
 * cycles a byte; at six operations a cycle all of them are 0.27. */
#include "avx512.h"

#ifdef MORSE_X86
#include <string.h>

enum {
	BLOCK = 64,
	ELEMENTS = 7, /* of the longest letter */
	/* A token from the block before, which is stored as 4 bytes; two stores of 64, of which the second begins
	 * at most 64 bytes after the first. */
	BLOCK_ROOM = 4 + 2 * BLOCK
};

/* Letters by code, as they are in UTF-8; of those of two bytes the second, since all have the same first. 0: none. */
struct coder {
	const struct morse_alphabet *alphabet;
	__m512i letters[2];
	__m512i long_letters[2]; /* of 7 elements */
	__m512i lead;            /* in each pair of bytes: FF, and the first byte of what has two */
	__m512i expected;        /* by the low four bits, the byte that code may have there */
	__m512i used;            /* by length, which bits are the code's */
};

/* What stands where in the block. */
struct marks {
	uint64_t elements, words, lines, dashes;
	__mmask64 word_mask, line_mask; /* as compared */
};

/* A copy of a mask that the compiler keeps where integers are. What is done with masks below would else be done where
 * masks are, on the ports of the vectors, and shifts would take four times as long. */
INLINE uint64_t as_integer(__mmask64 mask)
{
	uint64_t integer = mask;

	__asm__("" : "+r"(integer));
	return integer;
}

/* Letters of 32 codes. */
INLINE __m256i pack_letters(const uint16_t *letters, uint16_t two_bytes_from)
{
	const __m512i letter = _mm512_loadu_si512(letters);
	__mmask32 one_byte = _mm512_cmplt_epu16_mask(letter, _mm512_set1_epi16(0x80));
	__mmask32 two_bytes = _mm512_cmpeq_epi16_mask(_mm512_and_si512(letter, _mm512_set1_epi16((short)0xFFC0)),
	                                              _mm512_set1_epi16((short)two_bytes_from));
	__m512i trail = _mm512_ternarylogic_epi64(letter, _mm512_set1_epi16(0x3F), _mm512_set1_epi16(0x80), 0xEA);

	return _mm256_mask_mov_epi8(_mm512_maskz_cvtepi16_epi8(one_byte, letter), two_bytes,
	                            _mm512_cvtepi16_epi8(trail));
}

INLINE __m512i pack_64_letters(const uint16_t *letters, uint16_t two_bytes_from)
{
	return _mm512_inserti64x4(_mm512_castsi256_si512(pack_letters(letters, two_bytes_from)),
	                          pack_letters(letters + 32, two_bytes_from), 1);
}

INLINE void set_up(struct coder *coder, const struct morse_alphabet *alphabet)
{
	bool cyrillic = alphabet->cyrillic[0x10] != 0;
	uint16_t two_bytes_from = cyrillic ? 0x400 : 0xC0;

	coder->alphabet = alphabet;
	for (unsigned i = 0; i < 2; i++) {
		coder->letters[i] = pack_64_letters(alphabet->letter + 64 * i, two_bytes_from);
		coder->long_letters[i] = pack_64_letters(alphabet->letter + 128 + 64 * i, two_bytes_from);
	}
	coder->letters[0] = _mm512_mask_mov_epi8(coder->letters[0], 3, _mm512_set1_epi16('\n' << 8 | ' '));
	coder->lead = _mm512_set1_epi16((short)(0xFF00 | (cyrillic ? 0xD0 : 0xC3)));
	coder->expected = _mm512_broadcast_i32x4(
		_mm_setr_epi8(' ', -1, -1, -1, -1, -1, -1, -1, -1, -1, '\n', -1, -1, '-', '.', '/'));
	coder->used = _mm512_broadcast_i32x4(_mm_setr_epi8(1, 3, 7, 15, 31, 63, 127, -1, 0, 0, 0, 0, 0, 0, 0, 0));
}

/* Finds out what the bytes are; returns a mask of those that are no code. */
INLINE uint64_t look(const struct coder *coder, struct marks *marks, __m512i code)
{
	/* Of the five, ' ' and '\n'. */
	uint64_t separators = as_integer(_mm512_testn_epi8_mask(code, _mm512_set1_epi8(4)));

	marks->word_mask = _mm512_cmpeq_epi8_mask(code, _mm512_set1_epi8('/'));
	marks->line_mask = _mm512_cmpeq_epi8_mask(code, _mm512_set1_epi8('\n'));
	marks->words = as_integer(marks->word_mask);
	marks->lines = as_integer(marks->line_mask);
	marks->elements = ~(separators | marks->words);
	marks->dashes = as_integer(_mm512_test_epi8_mask(code, _mm512_set1_epi8(1))) | separators;
	return _mm512_cmpneq_epi8_mask(code, _mm512_shuffle_epi8(coder->expected, code));
}

/* Where runs of 8 or more elements begin: no letter is that long. */
INLINE uint64_t too_long(uint64_t elements)
{
	elements &= elements >> 1;
	elements &= elements >> 2;
	return elements & elements >> 4;
}

/* Where tokens begin; `elements` are of those that also end here. */
INLINE uint64_t token_starts(const struct marks *marks, uint64_t elements)
{
	return as_integer((elements & ~as_integer(elements << 1)) | marks->words | marks->lines);
}

/* Letters of the tokens, in order, and behind them ' ' or '\n'. 0: there is no such letter. `wide` becomes a mask
 * of those of two bytes. */
INLINE __m512i read_letters(const struct coder *coder, const struct marks *marks, uint64_t elements, uint64_t starts,
                            uint64_t *wide)
{
	uint64_t lasts = as_integer((elements & ~as_integer(elements >> 1)) | marks->words | marks->lines);
	__m512i place = count_up(0), end = count_up(1), start, length, code, letters;

	end = _mm512_mask_mov_epi8(end, marks->line_mask, place);
	end = _mm512_mask_mov_epi8(end, marks->word_mask, count_up(ELEMENTS + 1));
	start = _mm512_maskz_compress_epi8(starts, place);
	length = _mm512_sub_epi8(_mm512_maskz_compress_epi8(lasts, end), start);
	code = _mm512_and_si512(_mm512_multishift_epi64_epi8(start, _mm512_set1_epi64((long long)marks->dashes)),
	                        _mm512_shuffle_epi8(coder->used, length));
	letters = _mm512_permutex2var_epi8(coder->letters[0], code, coder->letters[1]);
	*wide = _mm512_movepi8_mask(_mm512_or_si512(code, letters));
	if (*wide != 0) {
		__m512i others = _mm512_permutex2var_epi8(coder->long_letters[0], code, coder->long_letters[1]);

		letters = _mm512_mask_mov_epi8(letters, _mm512_movepi8_mask(code), others);
		*wide = _mm512_movepi8_mask(letters);
	}
	return letters;
}

/* 32 letters, some of two bytes, of which `count` count. */
INLINE_BMI uint8_t *write_wide(const struct coder *coder, uint8_t *out, __m256i letters, uint32_t wide, unsigned count)
{
	/* The sign becomes the high byte, and that the low one: FF of two bytes, 0 of one. */
	__m512i pairs = _mm512_cvtepi8_epi16(letters);

	pairs = _mm512_and_si512(_mm512_shldi_epi16(pairs, pairs, 8), coder->lead);
	_mm512_storeu_si512(out, _mm512_maskz_compress_epi8(_mm512_test_epi8_mask(pairs, pairs), pairs));
	return out + count + (unsigned)_mm_popcnt_u32(wide);
}

INLINE_BMI uint8_t *write_letters(const struct coder *coder, uint8_t *out, __m512i letters, uint64_t wide,
                                  unsigned count)
{
	if (wide == 0) {
		_mm512_storeu_si512(out, letters);
		return out + count;
	}
	out = write_wide(coder, out, _mm512_castsi512_si256(letters), (uint32_t)wide, count < 32 ? count : 32);
	if (count > 32)
		out = write_wide(coder, out, _mm512_extracti64x4_epi64(letters, 1), (uint32_t)(wide >> 32), count - 32);
	return out;
}

/* Up to 64 bytes, everything looked at: stops before what is no code and the token it ends, before a token that
 * does not end here, before an unknown one, and where there is no room. Returns how far it came. */
INLINE_BMI size_t decode_carefully(const struct coder *coder, uint8_t **output, size_t room, const uint8_t *input,
                                   size_t bytes)
{
	uint64_t there = low_bits(bytes < BLOCK ? (unsigned)bytes : BLOCK), bad, starts, wide;
	unsigned end, count, wanted;
	uint8_t text[2 * BLOCK];
	struct marks marks;
	__m512i letters;
	size_t size;

	bad = look(coder, &marks, _mm512_maskz_loadu_epi8(there, input)) | ~there;
	marks.elements &= low_bits(zeros_below(bad));
	end = zeros_below(bad | too_long(marks.elements));
	if (end == 0)
		return 0;
	/* Shifted so that the last one is the highest bit, elements are at most 7 in a row from there. */
	end -= (unsigned)__builtin_clzll(~(marks.elements << (BLOCK - end)));
	marks.elements &= low_bits(end);
	marks.words &= low_bits(end);
	marks.lines &= low_bits(end);

	starts = token_starts(&marks, marks.elements);
	letters = read_letters(coder, &marks, marks.elements, starts, &wide);
	wanted = (unsigned)_mm_popcnt_u64(starts);
	count = zeros_below(_mm512_testn_epi8_mask(letters, letters) | ~low_bits(wanted));
	letters = _mm512_maskz_mov_epi8(low_bits(count), letters);
	size = (size_t)(write_letters(coder, text, letters, wide & low_bits(count), count) - text);
	if (size > room) {
		uint8_t each[BLOCK];

		_mm512_storeu_si512(each, letters);
		while (size > room)
			size -= each[--count] < 0x80 ? 1 : 2;
	}
	memcpy(*output, text, size);
	*output += size;
	return count == wanted ? end : zeros_below(_pdep_u64(UINT64_C(1) << count, starts));
}

WITH_BMI struct morse_progress morse_avx512_decode(const struct morse_alphabet *alphabet, uint8_t *output, size_t room,
                                                   const uint8_t *input, size_t bytes)
{
	/* Of struct morse_alphabet's `decoded`: a separator that gives nothing, and the code of no elements. */
	enum { SPACE = 1, NOTHING = 1 };
	const uint8_t *in = input, *in_end = input + bytes;
	uint8_t *out = output, *room_end = output + room;
	uint64_t dashes_before = 0;
	unsigned before = 0; /* elements of a token that goes on */
	struct coder coder;
	size_t count;

	set_up(&coder, alphabet);
	while (in_end - in >= BLOCK && room_end - out >= BLOCK_ROOM) {
		struct marks marks;
		uint64_t bad = look(&coder, &marks, _mm512_loadu_si512(in)) | too_long(marks.elements);
		uint64_t rest, starts, wide, carried, code;
		unsigned length, after;
		uint32_t first;
		__m512i letters;

		if (UNLIKELY(bad != 0))
			break;
		length = before + (unsigned)__builtin_ctzll(~marks.elements);
		if (UNLIKELY(length > ELEMENTS))
			break;
		after = (unsigned)__builtin_clzll(~marks.elements);
		rest = marks.elements & low_bits(BLOCK - after);
		/* No branch: it would be guessed wrong every third time. */
		code = (dashes_before >> 1 >> (BLOCK - 1 - before) | marks.dashes << before) & low_bits(length + 1);
		carried = as_integer(before == 0 ? 0 : UINT64_MAX);
		code = (code & carried) | (NOTHING & ~carried);
		rest &= (rest + 1) | ~carried;
		first = alphabet->decoded[SPACE][code];
		starts = token_starts(&marks, rest);
		letters = read_letters(&coder, &marks, rest, starts, &wide);
		if (UNLIKELY((_mm512_testn_epi8_mask(letters, letters) | (first >> 24 & MORSE_UNKNOWN)) != 0))
			break;
		memcpy(out, &first, sizeof first);
		out = write_letters(&coder, out + (first >> 24), letters, wide,
		                    (unsigned)_mm_popcnt_u64(starts));
		dashes_before = marks.dashes;
		before = after;
		in += BLOCK;
	}
	in -= before;
	do {
		count = decode_carefully(&coder, &out, (size_t)(room_end - out), in, (size_t)(in_end - in));
		in += count;
	} while (count != 0);
	return (struct morse_progress){ (size_t)(in - input), (size_t)(out - output) };
}
#endif
