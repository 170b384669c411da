#include "feedback.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	return feedback_case(kuzma_ofb_xor, kuzma_ofb_xor, data, bytes);
}
