/* The MAC of GOST R 34.13-2015, section 5.6: CBC of which only the last block is kept, and into whose last step one of
 * two further keys goes. It is known as OMAC1 and CMAC (RFC 4493, NIST SP 800-38B) too. */
#include "modes/modes.h"

static enum kuzma_status check(const struct kuzma_mac *mac)
{
	if (mac == NULL)
		return KUZMA_ERROR_ARGUMENT;
	enum kuzma_status status = kuzma_check_state(mac->context, mac->block_bytes);
	return status == KUZMA_OK && mac->finished ? KUZMA_ERROR_ORDER : status;
}

enum kuzma_status kuzma_mac_init(struct kuzma_mac *mac, const struct kuzma_context *context)
{
	enum kuzma_status status = kuzma_check_context(context);

	if (mac == NULL)
		return KUZMA_ERROR_ARGUMENT;
	memset(mac, 0, sizeof *mac);
	if (status != KUZMA_OK)
		return status;
	mac->block_bytes = (uint16_t)block_bytes_of(context);
	mac->context = context;
	return KUZMA_OK;
}

size_t kuzma_mac_ready(size_t pending_bytes, size_t bytes, size_t block)
{
	size_t fill = block - pending_bytes;

	return bytes > fill ? block + (bytes - fill - 1) / block * block : 0;
}

void kuzma_mac_take(uint8_t *pending, uint32_t *pending_bytes, size_t block, const uint8_t *data, size_t bytes,
                    kuzma_absorb *absorb, void *mac)
{
	size_t ready = kuzma_mac_ready(*pending_bytes, bytes, block);

	if (ready > 0) {
		size_t fill = block - *pending_bytes, whole = ready - block;

		memcpy(pending + *pending_bytes, data, fill);
		absorb(mac, pending, block);
		absorb(mac, data + fill, whole);
		data += fill + whole;
		bytes -= fill + whole;
		*pending_bytes = 0;
	}
	memcpy(pending + *pending_bytes, data, bytes);
	*pending_bytes += (uint32_t)bytes;
}

static void absorb(void *state, const uint8_t *data, size_t bytes)
{
	struct kuzma_mac *mac = state;

	kuzma_chain(mac->context, mac->chain, NULL, data, bytes / block_bytes_of(mac->context));
}

enum kuzma_status kuzma_mac_update(struct kuzma_mac *mac, const uint8_t *data, size_t bytes)
{
	enum kuzma_status status = check(mac);

	if (status != KUZMA_OK || bytes == 0)
		return status;
	if (data == NULL)
		return KUZMA_ERROR_ARGUMENT;
	kuzma_mac_take(mac->pending, &mac->pending_bytes, block_bytes_of(mac->context), data, bytes, absorb, mac);
	return KUZMA_OK;
}

void kuzma_mac_finish(const struct kuzma_context *context, const uint8_t *final_key, uint8_t *chain,
                      const uint8_t *pending, size_t pending_bytes)
{
	size_t block = block_bytes_of(context);
	uint8_t last[KUZMA_BLOCK_BYTES_MAX];

	kuzma_mac_last_block(last, final_key, pending, pending_bytes, block);
	kuzma_chain(context, chain, NULL, last, 1);
	wipe_bytes(last, sizeof last);
}

void kuzma_mac_last_block(uint8_t *last, const uint8_t *final_key, const uint8_t *pending, size_t pending_bytes,
                          size_t block)
{
	if (pending_bytes == block) {
		memcpy(last, final_key, block);
	} else {
		kuzma_mac_double(last, final_key, block);
		last[pending_bytes] ^= 0x80;
	}
	xor_bytes(last, last, pending, pending_bytes);
}

void kuzma_mac_final_key(const struct kuzma_context *context, uint8_t *final_key)
{
	size_t block = block_bytes_of(context);

	memset(final_key, 0, block);
	context->backend->encrypt_blocks(context->state, final_key, final_key, 1);
	kuzma_mac_double(final_key, final_key, block);
}

static enum kuzma_status finish(struct kuzma_mac *mac, const uint8_t *tag, size_t tag_bytes)
{
	enum kuzma_status status = check(mac);
	uint8_t final_key[KUZMA_BLOCK_BYTES_MAX];

	if (status == KUZMA_OK)
		status = kuzma_check_tag(mac->context, tag, tag_bytes);
	if (status != KUZMA_OK)
		return status;
	kuzma_mac_final_key(mac->context, final_key);
	kuzma_mac_finish(mac->context, final_key, mac->chain, mac->pending, mac->pending_bytes);
	wipe_bytes(final_key, sizeof final_key);
	mac->finished = 1;
	return KUZMA_OK;
}

enum kuzma_status kuzma_mac_final(struct kuzma_mac *mac, uint8_t *tag, size_t tag_bytes)
{
	enum kuzma_status status = finish(mac, tag, tag_bytes);

	if (status == KUZMA_OK)
		memcpy(tag, mac->chain, tag_bytes);
	return status;
}

enum kuzma_status kuzma_mac_verify(struct kuzma_mac *mac, const uint8_t *tag, size_t tag_bytes)
{
	enum kuzma_status status = finish(mac, tag, tag_bytes);

	return status == KUZMA_OK ? kuzma_compare_tag(mac->chain, tag, tag_bytes) : status;
}

enum kuzma_status kuzma_mac_message(const struct kuzma_context *context, uint8_t *tag, size_t tag_bytes,
                                    const uint8_t *data, size_t bytes)
{
	struct kuzma_mac mac;
	enum kuzma_status status = kuzma_mac_init(&mac, context);

	if (status == KUZMA_OK)
		status = kuzma_check_tag(context, tag, tag_bytes);
	if (status == KUZMA_OK)
		status = kuzma_mac_update(&mac, data, bytes);
	if (status == KUZMA_OK)
		status = kuzma_mac_final(&mac, tag, tag_bytes);
	wipe_bytes(&mac, sizeof mac);
	return status;
}
