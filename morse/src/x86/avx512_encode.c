/* Encoding with AVX-512.
 *
 * A byte of the output is one of five: '.', '-', ' ', '/', '\n'. They are four symbols of two bits (c, b):
 *
 *     '.' 00    '-' 10    S = 11, mostly ' '    X = 01, '/' or '\n'
 *
 * so that a character is a byte of c bits, a byte of b bits, and a byte that says how many of them count. A letter
 * has its elements and S, so that its c bits are its code in the alphabet as it is. A space is X S, and a line's
 * end is X. Where a line's end follows, S does not count. X before S is '/', and otherwise '\n'. Only the space
 * before a line's end would be X and nothing: there space and line's end together are S X, and S before X without
 * another S is '/'.
 *
 * 64 characters are looked up at once (VPERMI2B). PEXT then moves the bits of 8 characters together, c bits and b
 * bits apart, and POPCNT says how many bytes they give. VPMULTISHIFTQB gives each byte of the output its symbol and
 * the two after it, and VPERMB makes of these six bits the byte. So each 8 characters take one store of 64 bytes,
 * of which the next one overwrites what was too much.
 *
 * 64 characters take about 195 operations. Of those, on Golden Cove, 32 go through the port of the shuffles, which is
 * 0.5 cycles a character; at six operations a cycle all of them are 0.5 as well. */
#include "avx512.h"

#ifdef MORSE_X86

enum {
	BLOCK = 64,
	GROUP = 8, /* characters that are written at once */
	GROUPS = BLOCK / GROUP,
	GROUP_ROOM = GROUP * MORSE_TEXT_BYTES
};

/* The bits of each character of two sets of 128, by half. A b byte of 0 says that there is no such character. */
struct tables {
	__m512i c[2], b[2];
};

struct coder {
	struct tables ascii, pairs;
	uint8_t lead; /* D0 or C2: what two-byte characters begin with, or one more */
	__m512i symbols, c_bits, b_bits;
};

/* Each byte to the right. A macro, because the instruction holds the count. */
#define SHIFT_BYTES(bytes, count) \
	_mm512_and_si512(_mm512_srli_epi16(bytes, count), _mm512_set1_epi8((char)(0xFF >> (count))))

INLINE __m512i pack_codes(const uint16_t codes[64])
{
	__m512i low = _mm512_loadu_si512(codes), high = _mm512_loadu_si512(codes + 32);
	/* Codes of 8 elements do not fit; no alphabet has any. */
	const __m512i most = _mm512_set1_epi16(0xFF);

	return _mm512_inserti64x4(
		_mm512_castsi256_si512(_mm512_maskz_cvtepi16_epi8(_mm512_cmple_epu16_mask(low, most), low)),
		_mm512_maskz_cvtepi16_epi8(_mm512_cmple_epu16_mask(high, most), high), 1);
}

INLINE void make_tables(struct tables *tables, const uint16_t codes[128])
{
	for (unsigned i = 0; i < 2; i++) {
		__m512i code = pack_codes(codes + 64 * i), below = code;

		/* b is the bit above the elements, alone. */
		below = _mm512_or_si512(below, SHIFT_BYTES(below, 1));
		below = _mm512_or_si512(below, SHIFT_BYTES(below, 2));
		below = _mm512_or_si512(below, SHIFT_BYTES(below, 4));
		tables->c[i] = code;
		tables->b[i] = _mm512_xor_si512(below, SHIFT_BYTES(below, 1));
	}
}

/* By the bits c0 c1 c2 b0 b1 b2 of a symbol and the two after it, the first the lowest. */
static const char byte_of_symbols[BLOCK] __attribute__((aligned(64))) =
	".-.-.-.-" "\n \n \n \n " ".-.-.-.-" "\n// \n// "
	".-.-.-.-" "\n \n \n \n " ".-.-.-.-" "\n// \n / ";

INLINE void set_up(struct coder *coder, const struct morse_alphabet *alphabet)
{
	bool cyrillic = alphabet->cyrillic[0x10] != 0;

	make_tables(&coder->ascii, alphabet->ascii);
	make_tables(&coder->pairs, cyrillic ? alphabet->cyrillic : alphabet->latin);
	coder->lead = cyrillic ? 0xD0 : 0xC2;
	/* ' ' and '\n' are both below 64. */
	coder->ascii.c[0] = _mm512_mask_mov_epi8(coder->ascii.c[0], UINT64_C(1) << ' ' | UINT64_C(1) << '\n',
	                                         _mm512_maskz_set1_epi8(UINT64_C(1) << ' ', 2));
	coder->ascii.b[0] = _mm512_mask_set1_epi8(coder->ascii.b[0], UINT64_C(1) << ' ', 3);
	coder->ascii.b[0] = _mm512_mask_set1_epi8(coder->ascii.b[0], UINT64_C(1) << '\n', 1);
	coder->symbols = _mm512_load_si512(byte_of_symbols);
	/* Bit j, and bit j - 3: the b bits come to stand above three c bits. */
	coder->c_bits = count_up(0);
	coder->b_bits = count_up(-3);
}

/* What 64 characters or fewer are made of, before the lines' ends are seen to. */
struct characters {
	__m512i c, b;
	uint64_t lines;        /* which are '\n' */
	uint64_t before_lines; /* which stand before one, and are none */
	uint64_t word_ends;    /* those of the latter that are ' ' */
};

/* In two stores: from one of 64 bytes, Golden Cove hands words on to loads at only one in two cycles. */
INLINE void store_halves(uint64_t to[GROUPS], __m512i bytes)
{
	_mm256_store_si256((__m256i *)(void *)to, _mm512_castsi512_si256(bytes));
	_mm256_store_si256((__m256i *)(void *)(to + GROUPS / 2), _mm512_extracti64x4_epi64(bytes, 1));
}

/* One group: its symbols, and which bits of them count; and where it may keep them. */
INLINE_BMI uint8_t *write_group(const struct coder *coder, uint8_t *out, uint64_t c_bits, uint64_t b_bits,
                                uint64_t used, uint64_t symbols[2])
{
	__m512i c, b;

	/* Through memory, because there the broadcast comes with the load: from a register it would take the port of
	 * the shuffles. Side by side, and each group's elsewhere: so Golden Cove takes 3.9 cycles a group, and not 5.7. */
	symbols[0] = _pext_u64(c_bits, used);
	symbols[1] = _pext_u64(b_bits, used);
	__asm__("" : "+m"(symbols[0]), "+m"(symbols[1]));
	c = _mm512_multishift_epi64_epi8(coder->c_bits, _mm512_set1_epi64((long long)symbols[0]));
	b = _mm512_multishift_epi64_epi8(coder->b_bits, _mm512_set1_epi64((long long)symbols[1]));
	/* The low three bits of c, and the others of b. */
	c = _mm512_ternarylogic_epi64(c, b, _mm512_set1_epi8(7), 0xE4);
	_mm512_storeu_si512(out, _mm512_permutexvar_epi8(c, coder->symbols));
	return out + _mm_popcnt_u64(used);
}

/* Writes them by groups, from the first one on; `counts` says which there are. */
INLINE_BMI uint8_t *write_groups(const struct coder *coder, uint8_t *out, const struct characters *characters,
                                 uint64_t counts, unsigned groups)
{
	uint64_t c_bits[GROUPS] __attribute__((aligned(64)));
	uint64_t b_bits[GROUPS] __attribute__((aligned(64)));
	uint64_t used[GROUPS] __attribute__((aligned(64)));
	uint64_t symbols[GROUPS][2] __attribute__((aligned(64)));
	__m512i below = _mm512_add_epi8(characters->b, _mm512_set1_epi8(-1));
	__m512i c = characters->c, b = characters->b;
	/* From the highest b bit down; without that bit before a line's end. */
	__m512i use = _mm512_mask_mov_epi8(_mm512_or_si512(b, below), characters->before_lines, below);

	if (UNLIKELY(characters->word_ends != 0)) {
		c = _mm512_mask_set1_epi8(c, characters->word_ends, 1);
		use = _mm512_mask_set1_epi8(use, characters->word_ends, 3);
		use = _mm512_mask_set1_epi8(use, characters->word_ends << 1, 0);
	}
	if (counts != UINT64_MAX)
		use = _mm512_maskz_mov_epi8(counts, use);
	store_halves(c_bits, c);
	store_halves(b_bits, b);
	store_halves(used, use);
	if (LIKELY(groups == GROUPS)) {
		out = write_group(coder, out, c_bits[0], b_bits[0], used[0], symbols[0]);
		out = write_group(coder, out, c_bits[1], b_bits[1], used[1], symbols[1]);
		out = write_group(coder, out, c_bits[2], b_bits[2], used[2], symbols[2]);
		out = write_group(coder, out, c_bits[3], b_bits[3], used[3], symbols[3]);
		out = write_group(coder, out, c_bits[4], b_bits[4], used[4], symbols[4]);
		out = write_group(coder, out, c_bits[5], b_bits[5], used[5], symbols[5]);
		out = write_group(coder, out, c_bits[6], b_bits[6], used[6], symbols[6]);
		return write_group(coder, out, c_bits[7], b_bits[7], used[7], symbols[7]);
	}
	for (unsigned i = 0; i < groups; i++)
		out = write_group(coder, out, c_bits[i], b_bits[i], used[i], symbols[i]);
	return out;
}

/* Cuts the characters to those before `end` and within the room. A line's end whose space before it is S X is not
 * to stand before another such space: that one would look like the S of its X. Neither is such a space to lose its
 * line's end. */
INLINE_BMI unsigned cut(const struct characters *characters, unsigned end, size_t room, uint64_t starts)
{
	uint64_t last_space;

	end = (unsigned)zeros_below(~low_bits(end) | (characters->lines << 1 & characters->word_ends));
	if (room < GROUPS * GROUP_ROOM) {
		unsigned fit = (unsigned)(room / GROUP_ROOM * GROUP);
		unsigned fit_end = zeros_below(_pdep_u64(UINT64_C(1) << fit, starts));

		end = fit_end < end ? fit_end : end;
	}
	last_space = characters->word_ends & low_bits(end) & ~low_bits(end == 0 ? 0 : end - 1);
	return last_space != 0 ? end - 1 : end;
}

WITH_BMI struct morse_progress morse_avx512_encode(const struct morse_alphabet *alphabet, uint8_t *output, size_t room,
                                                   const uint8_t *input, size_t bytes)
{
	const __m512i newline = _mm512_set1_epi8('\n'), space = _mm512_set1_epi8(' ');
	const uint8_t *in = input, *last;
	uint8_t *out = output, *room_end;
	struct coder coder;

	if (bytes < 2 || room < GROUP_ROOM)
		return (struct morse_progress){ 0, 0 };
	last = input + bytes - 1;
	room_end = output + room;
	set_up(&coder, alphabet);
	while (in < last && room_end - out >= GROUP_ROOM) {
		size_t left = (size_t)(last - in), room_left = (size_t)(room_end - out);
		unsigned end = BLOCK, groups = GROUPS;
		uint64_t there = UINT64_MAX, wide, bad, next_lines, counts, starts;
		__m512i text, next; /* the text, and at each byte the one after it */
		struct characters characters;

		if (LIKELY(left >= BLOCK)) {
			text = _mm512_loadu_si512(in);
			next = _mm512_loadu_si512(in + 1);
		} else {
			end = (unsigned)left;
			there = low_bits(end);
			text = _mm512_maskz_loadu_epi8(there, in);
			next = _mm512_maskz_loadu_epi8(there, in + 1);
		}
		wide = _mm512_movepi8_mask(text);
		next_lines = _mm512_cmpeq_epi8_mask(next, newline);
		characters.lines = _mm512_cmpeq_epi8_mask(text, newline);
		characters.c = _mm512_permutex2var_epi8(coder.ascii.c[0], text, coder.ascii.c[1]);
		characters.b = _mm512_permutex2var_epi8(coder.ascii.b[0], text, coder.ascii.b[1]);
		bad = _mm512_testn_epi8_mask(characters.b, characters.b);
		starts = UINT64_MAX;
		if (LIKELY(wide == 0)) {
			characters.before_lines = next_lines & ~characters.lines;
		} else {
			const __m512i lead_byte = _mm512_set1_epi8((char)coder.lead);
			const __m512i top_bits = _mm512_set1_epi8((char)0xC0), low_six = _mm512_set1_epi8(0x3F);
			__m512i lead = _mm512_and_si512(text, _mm512_set1_epi8((char)0xFE));
			/* Six bits of the second byte, and above them the lowest one of the first. */
			__m512i index = _mm512_ternarylogic_epi64(low_six, next, _mm512_slli_epi16(text, 6), 0xCA);
			__m512i c = _mm512_permutex2var_epi8(coder.pairs.c[0], index, coder.pairs.c[1]);
			__m512i b = _mm512_permutex2var_epi8(coder.pairs.b[0], index, coder.pairs.b[1]);
			uint64_t leads, trails;

			/* What follows after a character that is cut here cannot be seen. By this byte alone, so
			 * that the next block's address is known soon. */
			end -= (in[end - 1] & 0xFEu) == coder.lead;
			if (UNLIKELY(end == 0))
				break;
			there = low_bits(end);
			/* Signed: 80 to BF are the least. */
			leads = _mm512_cmpeq_epi8_mask(lead, lead_byte) & there;
			leads &= _mm512_cmplt_epi8_mask(next, top_bits);
			trails = leads << 1;
			characters.c = _mm512_mask_mov_epi8(characters.c, leads, c);
			characters.b = _mm512_mask_mov_epi8(characters.b, leads, b);
			starts = ~wide | leads;
			bad = ~(starts | trails) | (starts & _mm512_testn_epi8_mask(characters.b, characters.b));
			next_lines = (next_lines & ~wide) | (next_lines >> 1 & leads);
			characters.before_lines = next_lines & ~characters.lines;
		}
		bad &= there;
		characters.word_ends = characters.before_lines & _mm512_cmpeq_epi8_mask(text, space);
		if (UNLIKELY((bad | characters.word_ends) != 0 || room_left < GROUPS * GROUP_ROOM)) {
			end = cut(&characters, zeros_below(bad | ~there), room_left, starts);
			if (end == 0)
				break;
			characters.word_ends &= low_bits(end);
		}
		counts = low_bits(end);
		if (wide != 0) {
			/* No trailing bytes from here on. A line's end stays behind its space. */
			starts &= counts;
			characters.c = _mm512_maskz_compress_epi8(starts, characters.c);
			characters.b = _mm512_maskz_compress_epi8(starts, characters.b);
			characters.before_lines = _pext_u64(characters.before_lines, starts);
			characters.word_ends = _pext_u64(characters.word_ends, starts);
			unsigned count = (unsigned)_mm_popcnt_u64(starts);
			counts = low_bits(count);
			/* Nearly always 5 groups, so that the branch is foreseen. What is written in vain needs room too. */
			if (UNLIKELY(room_left < GROUPS * GROUP_ROOM))
				groups = (count + GROUP - 1) / GROUP;
			else
				groups = count <= 5 * GROUP ? 5 : GROUPS;
		} else if (UNLIKELY(end < BLOCK)) {
			groups = (end + GROUP - 1) / GROUP;
		}
		out = write_groups(&coder, out, &characters, counts, groups);
		in += end;
	}
	return (struct morse_progress){ (size_t)(in - input), (size_t)(out - output) };
}
#endif
