/* Any bytes as text: code that decodes to the same as it would again, or the exact error. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz_case made = make_case(data, bytes);
	struct output code, text, again;

	if (made.choice % 2 == 1)
		made.options.replacement = made.choice % 4 == 1 ? "?" : "";
	code = run(true, &made.options, made.bytes, made.count);
	check_error(&code, made.bytes, made.count);
	check_portable(true, &made, &code);
	/* What was written is code, also before an error, and stays what it is. */
	text = run(false, &made.options, code.bytes, code.count);
	REQUIRE(text.status == MORSE_OK);
	again = run(true, &made.options, text.bytes, text.count);
	REQUIRE(again.status == MORSE_OK && again.count == code.count && memcmp(again.bytes, code.bytes, code.count) == 0);
	free(code.bytes);
	free(text.bytes);
	free(again.bytes);
	free(made.bytes);
	return 0;
}
