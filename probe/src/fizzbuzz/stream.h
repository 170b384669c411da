/* Fizz Buzz as a stream of bytes: "1\n2\nFizz\n4\nBuzz\n…", one line a number from 1 upwards, decimal, lines ended by
 * '\n'. It is a source for measuring pipes: made faster than any pipe takes it, and predictable at every offset, so that
 * whoever reads it can tell a single wrong byte, a lost one, or a page that was written again before it was read. */
#ifndef FIZZBUZZ_H
#define FIZZBUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The stream is known up to here: the last number has 17 digits. About 1.2 * 10^18 bytes. */
#define FIZZBUZZ_LINES UINT64_C(99999999999999999)

struct fizzbuzz;

/* At offset 0. `backend`: "portable", "avx512" or "neon"; NULL: the fastest that this processor has. NULL if there is no
 * memory, or the backend is not known or does not run here. One thread at a time. */
struct fizzbuzz *fizzbuzz_create(const char *backend);
void fizzbuzz_destroy(struct fizzbuzz *stream);

const char *fizzbuzz_backend(const struct fizzbuzz *stream);

/* The names of all backends of this build, whether or not they run here; NULL at the end. */
const char *fizzbuzz_backend_at(size_t index);

/* Goes to a byte of the stream. false, and nothing changed: it lies beyond the end. */
bool fizzbuzz_seek(struct fizzbuzz *stream, uint64_t offset);
uint64_t fizzbuzz_offset(const struct fizzbuzz *stream);

/* The next `bytes` bytes. Returns how many there were: fewer only at the end of the stream. */
size_t fizzbuzz_fill(struct fizzbuzz *stream, uint8_t *to, size_t bytes);

/* Compares with the next `bytes` bytes and goes past them, whatever they are. Returns how many of the first ones are
 * right: `bytes` if all are. */
size_t fizzbuzz_check(struct fizzbuzz *stream, const uint8_t *data, size_t bytes);

/* Where the line of a number begins, 1 … FIZZBUZZ_LINES + 1; the line after the last begins where the stream ends. */
uint64_t fizzbuzz_offset_of_line(uint64_t line);

/* The number whose line has the byte at `offset`; the end counts as one more line. */
uint64_t fizzbuzz_line_at(uint64_t offset);

#endif
