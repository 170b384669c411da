/* Any bytes as code: text that encodes to code of the same text, or the exact error. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz_case made = make_case(data, bytes);
	struct output text, code, again;

	if (made.choice % 8 != 0)
		make_code(&made);
	if (made.choice % 2 == 1)
		made.options.replacement = made.choice % 4 == 1 ? "?" : "";
	text = run(false, &made.options, made.bytes, made.count);
	check_error(&text, made.bytes, made.count);
	check_portable(false, &made, &text);
	code = run(true, &made.options, text.bytes, text.count);
	REQUIRE(code.status == MORSE_OK);
	again = run(false, &made.options, code.bytes, code.count);
	REQUIRE(again.status == MORSE_OK && again.count == text.count && memcmp(again.bytes, text.bytes, text.count) == 0);
	free(text.bytes);
	free(code.bytes);
	free(again.bytes);
	free(made.bytes);
	return 0;
}
