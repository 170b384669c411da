#include "feedback.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	return feedback_case(kuzma_cfb_decrypt, kuzma_cfb_encrypt, data, bytes);
}
