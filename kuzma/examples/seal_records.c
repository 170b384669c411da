/* Seals three records with MGM, opens them, and shows that a damaged one is refused. Then the MACs of all at once.
 *
 *     cc seal_records.c $(pkg-config --cflags --libs kuzma) -o seal_records
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <kuzma.h>

static int failed(const char *what, enum kuzma_status status)
{
	if (status != KUZMA_OK)
		printf("%s: %s\n", what, kuzma_status_text(status));
	return status != KUZMA_OK;
}

int main(void)
{
	/* In earnest a key comes from a random source or a key agreement. */
	static const uint8_t key[KUZMA_KEY_BYTES] = "an example's key, 32 bytes long";
	static const char *const records[] = { "first", "the second record", "3" };
	struct kuzma_context context;
	struct kuzma_message messages[3];
	uint8_t text[3][64], tags[3][16], macs[3][16], nonce[16] = { 0 };
	int refused = 0;

	if (failed("key", kuzma_init(&context, kuzma_backend_default(KUZMA_KUZNYECHIK), key, sizeof key)))
		return 1;
	printf("backend %s, %sconstant-time\n", kuzma_backend_name(kuzma_context_backend(&context)),
	       kuzma_backend_constant_time(kuzma_context_backend(&context)) ? "" : "not ");
	for (uint8_t i = 0; i < 3; i++) {
		size_t bytes = strlen(records[i]);

		/* A counter is a good nonce: no two records have the same. The number is authenticated as well. */
		nonce[15] = i;
		memcpy(text[i], records[i], bytes);
		if (failed("seal", kuzma_mgm_seal(&context, nonce, sizeof nonce, &i, 1, text[i], text[i], bytes, tags[i], 16)))
			return 1;
		messages[i] = (struct kuzma_message){ .output = macs[i], .input = text[i], .bytes = bytes };
	}
	if (failed("MAC", kuzma_mac_many(&context, messages, 3, 16)))
		return 1;
	text[1][4] ^= 1;
	for (uint8_t i = 0; i < 3; i++) {
		size_t bytes = strlen(records[i]);

		nonce[15] = i;
		if (failed("open", kuzma_mgm_open(&context, nonce, sizeof nonce, &i, 1, text[i], text[i], bytes, tags[i], 16)))
			refused++;
		else
			printf("record %u: %.*s\n", i + 1, (int)bytes, (const char *)text[i]);
	}
	kuzma_wipe(&context);
	return refused == 1 ? 0 : 1;
}
