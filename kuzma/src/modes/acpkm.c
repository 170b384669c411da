/* CTR-ACPKM and OMAC-ACPKM: R 1323565.1.017-2018 sections 4.1 and 4.2, RFC 8645 sections 6.2.2 and 6.3.6. */
#include "modes/modes.h"

static enum kuzma_status check_section(const struct kuzma_backend *backend, uint64_t section_bytes)
{
	if (backend == NULL)
		return KUZMA_ERROR_ARGUMENT;
	return section_bytes == 0 || section_bytes % kuzma_block_bytes(backend->cipher) != 0 ? KUZMA_ERROR_LENGTH : KUZMA_OK;
}

enum kuzma_status kuzma_ctr_acpkm_init(struct kuzma_ctr_acpkm *ctr, const struct kuzma_backend *backend,
                                       const uint8_t *key, size_t key_bytes, const uint8_t *iv, size_t iv_bytes,
                                       uint64_t section_bytes)
{
	enum kuzma_status status = check_section(backend, section_bytes);

	if (ctr == NULL)
		return KUZMA_ERROR_ARGUMENT;
	memset(ctr, 0, sizeof *ctr);
	if (status == KUZMA_OK)
		status = kuzma_init(&ctr->section_key, backend, key, key_bytes);
	if (status == KUZMA_OK)
		status = kuzma_ctr_init(&ctr->ctr, &ctr->section_key, iv, iv_bytes);
	if (status != KUZMA_OK) {
		wipe_bytes(ctr, sizeof *ctr);
		return status;
	}
	ctr->section_bytes = ctr->section_left = section_bytes;
	return KUZMA_OK;
}

/* The next key is the encryption of the bytes 0x80 to 0x9f under this one. */
static void next_key(struct kuzma_context *context)
{
	const struct kuzma_backend *backend = context->backend;
	uint8_t key[KUZMA_KEY_BYTES];

	for (unsigned i = 0; i < sizeof key; i++)
		key[i] = (uint8_t)(0x80 + i);
	backend->encrypt_blocks(context->state, key, key, sizeof key / block_bytes_of(context));
	kuzma_set_key(context, backend, key);
	wipe_bytes(key, sizeof key);
}

enum kuzma_status kuzma_ctr_acpkm_xor(struct kuzma_ctr_acpkm *ctr, uint8_t *output, const uint8_t *input, size_t bytes)
{
	enum kuzma_status status = ctr == NULL ? KUZMA_ERROR_ARGUMENT : kuzma_check_context(&ctr->section_key);

	if (status == KUZMA_OK)
		status = kuzma_check_buffers(output, input, bytes);
	if (status != KUZMA_OK || bytes == 0)
		return status;
	/* The state may have been moved since the last call. */
	ctr->ctr.context = &ctr->section_key;
	if (!kuzma_ctr_has_room(&ctr->ctr, bytes))
		return KUZMA_ERROR_LIMIT;
	while (bytes > 0) {
		if (ctr->section_left == 0) {
			next_key(&ctr->section_key);
			ctr->section_left = ctr->section_bytes;
		}
		size_t part = bytes < ctr->section_left ? bytes : (size_t)ctr->section_left;
		status = kuzma_ctr_xor(&ctr->ctr, output, input, part);
		if (status != KUZMA_OK)
			return status;
		output += part;
		input += part;
		bytes -= part;
		ctr->section_left -= part;
	}
	return KUZMA_OK;
}

enum kuzma_status kuzma_ctr_acpkm_message(const struct kuzma_backend *backend, const uint8_t *key, size_t key_bytes,
                                          const uint8_t *iv, size_t iv_bytes, uint64_t section_bytes, uint8_t *output,
                                          const uint8_t *input, size_t bytes)
{
	struct kuzma_ctr_acpkm ctr;
	enum kuzma_status status = kuzma_ctr_acpkm_init(&ctr, backend, key, key_bytes, iv, iv_bytes, section_bytes);

	if (status == KUZMA_OK)
		status = kuzma_ctr_acpkm_xor(&ctr, output, input, bytes);
	/* The stack too, which the caller, who has no context, cannot have wiped. */
	kuzma_wipe(&ctr.section_key);
	wipe_bytes(&ctr, sizeof ctr);
	return status;
}

enum kuzma_status kuzma_mac_acpkm_init(struct kuzma_mac_acpkm *mac, const struct kuzma_backend *backend,
                                       const uint8_t *key, size_t key_bytes, uint64_t section_bytes,
                                       uint64_t master_section_bytes)
{
	static const uint8_t ones[KUZMA_BLOCK_BYTES_MAX / 2] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	enum kuzma_status status = check_section(backend, section_bytes);

	if (mac == NULL)
		return KUZMA_ERROR_ARGUMENT;
	memset(mac, 0, sizeof *mac);
	if (status == KUZMA_OK)
		status = kuzma_ctr_acpkm_init(&mac->master, backend, key, key_bytes, ones,
		                              kuzma_block_bytes(backend->cipher) / 2, master_section_bytes);
	if (status == KUZMA_OK)
		mac->section_bytes = section_bytes;
	return status;
}

static enum kuzma_status check(const struct kuzma_mac_acpkm *mac)
{
	enum kuzma_status status = mac == NULL ? KUZMA_ERROR_ARGUMENT : kuzma_check_context(&mac->master.section_key);

	return status == KUZMA_OK && mac->finished ? KUZMA_ERROR_ORDER : status;
}

/* The keystream under the master key is: key, final key, key, final key, ... The caller has looked that it lasts. */
static void next_section(struct kuzma_mac_acpkm *mac)
{
	const struct kuzma_backend *backend = mac->master.section_key.backend;
	uint8_t keys[KUZMA_KEY_BYTES + KUZMA_BLOCK_BYTES_MAX] = { 0 };
	size_t block = kuzma_block_bytes(backend->cipher);

	(void)kuzma_ctr_acpkm_xor(&mac->master, keys, keys, KUZMA_KEY_BYTES + block);
	kuzma_set_key(&mac->section_key, backend, keys);
	memcpy(mac->final_key, keys + KUZMA_KEY_BYTES, block);
	mac->section_left = mac->section_bytes;
	wipe_bytes(keys, sizeof keys);
}

/* Whether the master key has keystream for all the sections that so many more bytes begin. */
static bool has_keys(struct kuzma_mac_acpkm *mac, uint64_t bytes)
{
	uint64_t beyond = bytes > mac->section_left ? bytes - mac->section_left : 0;
	uint64_t sections = beyond / mac->section_bytes + (beyond % mac->section_bytes > 0);
	uint64_t bytes_each = KUZMA_KEY_BYTES + block_bytes_of(&mac->master.section_key);

	/* The state may have been moved since the last call. */
	mac->master.ctr.context = &mac->master.section_key;
	return sections <= UINT64_MAX / bytes_each && kuzma_ctr_has_room(&mac->master.ctr, sections * bytes_each);
}

static void absorb(void *state, const uint8_t *data, size_t bytes)
{
	struct kuzma_mac_acpkm *mac = state;
	size_t block = block_bytes_of(&mac->master.section_key);

	while (bytes > 0) {
		if (mac->section_left == 0)
			next_section(mac);
		size_t part = bytes < mac->section_left ? bytes : (size_t)mac->section_left;
		kuzma_chain(&mac->section_key, mac->chain, NULL, data, part / block);
		data += part;
		bytes -= part;
		mac->section_left -= part;
	}
}

enum kuzma_status kuzma_mac_acpkm_update(struct kuzma_mac_acpkm *mac, const uint8_t *data, size_t bytes)
{
	enum kuzma_status status = check(mac);

	if (status != KUZMA_OK || bytes == 0)
		return status;
	if (data == NULL)
		return KUZMA_ERROR_ARGUMENT;

	size_t block = block_bytes_of(&mac->master.section_key);

	if (!has_keys(mac, kuzma_mac_ready(mac->pending_bytes, bytes, block)))
		return KUZMA_ERROR_LIMIT;
	kuzma_mac_take(mac->pending, &mac->pending_bytes, block, data, bytes, absorb, mac);
	return KUZMA_OK;
}

static enum kuzma_status finish(struct kuzma_mac_acpkm *mac, const uint8_t *tag, size_t tag_bytes)
{
	enum kuzma_status status = check(mac);

	if (status == KUZMA_OK)
		status = kuzma_check_tag(&mac->master.section_key, tag, tag_bytes);
	if (status == KUZMA_OK && mac->section_left == 0 && !has_keys(mac, 1))
		status = KUZMA_ERROR_LIMIT;
	if (status != KUZMA_OK)
		return status;
	if (mac->section_left == 0)
		next_section(mac);
	kuzma_mac_finish(&mac->section_key, mac->final_key, mac->chain, mac->pending, mac->pending_bytes);
	mac->finished = 1;
	return KUZMA_OK;
}

enum kuzma_status kuzma_mac_acpkm_final(struct kuzma_mac_acpkm *mac, uint8_t *tag, size_t tag_bytes)
{
	enum kuzma_status status = finish(mac, tag, tag_bytes);

	if (status == KUZMA_OK)
		memcpy(tag, mac->chain, tag_bytes);
	return status;
}

enum kuzma_status kuzma_mac_acpkm_verify(struct kuzma_mac_acpkm *mac, const uint8_t *tag, size_t tag_bytes)
{
	enum kuzma_status status = finish(mac, tag, tag_bytes);

	return status == KUZMA_OK ? kuzma_compare_tag(mac->chain, tag, tag_bytes) : status;
}

enum kuzma_status kuzma_mac_acpkm_message(const struct kuzma_backend *backend, const uint8_t *key, size_t key_bytes,
                                          uint64_t section_bytes, uint64_t master_section_bytes, uint8_t *tag,
                                          size_t tag_bytes, const uint8_t *data, size_t bytes)
{
	struct kuzma_mac_acpkm mac;
	enum kuzma_status status =
		kuzma_mac_acpkm_init(&mac, backend, key, key_bytes, section_bytes, master_section_bytes);

	if (status == KUZMA_OK)
		status = kuzma_check_tag(&mac.master.section_key, tag, tag_bytes);
	if (status == KUZMA_OK)
		status = kuzma_mac_acpkm_update(&mac, data, bytes);
	if (status == KUZMA_OK)
		status = kuzma_mac_acpkm_final(&mac, tag, tag_bytes);
	kuzma_wipe(&mac.section_key);
	wipe_bytes(&mac, sizeof mac);
	return status;
}
