#include "operations.h"

/* The associated data of MGM in these tests. */
static const uint8_t associated[37] = "associated data, thirty-six bytes...";

static size_t block_of(const struct call *call)
{
	return kuzma_block_bytes(kuzma_backend_cipher(kuzma_context_backend(call->context)));
}

/* The length of the next piece: often short, and now and then none. */
static size_t next_piece(struct call *call, size_t done, size_t unit)
{
	size_t left = call->bytes - done, piece;

	if (call->split == NULL)
		return left;
	piece = (size_t)(random_next(call->split) % (random_next(call->split) % 4 == 0 ? 1500 : 40)) / unit * unit;
	return piece < left ? piece : left;
}

/* Calls `step` over the message, with the next `piece` bytes of `input` and `output`; a message of no bytes has one call too. */
#define IN_PIECES(unit, step)                                                         \
	do {                                                                          \
		const uint8_t *input = call->input;                                   \
		uint8_t *output = call->output;                                       \
		size_t done = 0, piece;                                               \
		(void)output;                                                         \
		do {                                                                  \
			piece = next_piece(call, done, unit);                         \
			enum kuzma_status step_status = (step);                       \
			if (step_status != KUZMA_OK)                                  \
				return step_status;                                   \
			done += piece;                                                \
			/* Where there is no message, nothing may be added to NULL. */ \
			if (piece > 0) {                                              \
				input += piece;                                       \
				output += piece;                                      \
			}                                                             \
		} while (done < call->bytes);                                         \
	} while (0)

static enum kuzma_status ecb_encrypt(struct call *call)
{
	IN_PIECES(block_of(call), kuzma_ecb_encrypt(call->context, output, input, piece));
	return KUZMA_OK;
}

static enum kuzma_status ecb_decrypt(struct call *call)
{
	IN_PIECES(block_of(call), kuzma_ecb_decrypt(call->context, output, input, piece));
	return KUZMA_OK;
}

static enum kuzma_status cbc_encrypt(struct call *call)
{
	uint8_t iv[KUZMA_IV_BYTES_MAX];
	size_t iv_bytes = call->iv_blocks * block_of(call);

	memcpy(iv, call->iv, sizeof iv);
	IN_PIECES(block_of(call), kuzma_cbc_encrypt(call->context, iv, iv_bytes, output, input, piece));
	memcpy(call->tag, iv, block_of(call));
	return KUZMA_OK;
}

static enum kuzma_status cbc_decrypt(struct call *call)
{
	uint8_t iv[KUZMA_IV_BYTES_MAX];
	size_t iv_bytes = call->iv_blocks * block_of(call);

	memcpy(iv, call->iv, sizeof iv);
	IN_PIECES(block_of(call), kuzma_cbc_decrypt(call->context, iv, iv_bytes, output, input, piece));
	memcpy(call->tag, iv, block_of(call));
	return KUZMA_OK;
}

static enum kuzma_status ctr(struct call *call)
{
	struct kuzma_ctr state;
	enum kuzma_status status;

	if (call->whole)
		return kuzma_ctr_message(call->context, call->iv, block_of(call) / 2, call->output, call->input, call->bytes);
	status = kuzma_ctr_init(&state, call->context, call->iv, block_of(call) / 2);
	if (status != KUZMA_OK)
		return status;
	IN_PIECES(1, kuzma_ctr_xor(&state, output, input, piece));
	return KUZMA_OK;
}

static enum kuzma_status feedback(struct call *call,
                                  enum kuzma_status (*step)(struct kuzma_feedback *, uint8_t *, const uint8_t *, size_t),
                                  enum kuzma_status (*message)(const struct kuzma_context *, const uint8_t *, size_t,
                                                               uint8_t *, const uint8_t *, size_t))
{
	struct kuzma_feedback state;
	size_t iv_bytes = call->iv_blocks * block_of(call);
	enum kuzma_status status;

	if (call->whole)
		return message(call->context, call->iv, iv_bytes, call->output, call->input, call->bytes);
	status = kuzma_feedback_init(&state, call->context, call->iv, iv_bytes);
	if (status != KUZMA_OK)
		return status;
	IN_PIECES(1, step(&state, output, input, piece));
	return KUZMA_OK;
}

static enum kuzma_status cfb_encrypt(struct call *call)
{
	return feedback(call, kuzma_cfb_encrypt, kuzma_cfb_encrypt_message);
}

static enum kuzma_status cfb_decrypt(struct call *call)
{
	return feedback(call, kuzma_cfb_decrypt, kuzma_cfb_decrypt_message);
}

static enum kuzma_status ofb(struct call *call)
{
	return feedback(call, kuzma_ofb_xor, kuzma_ofb_message);
}

static enum kuzma_status mac(struct call *call)
{
	struct kuzma_mac state;
	enum kuzma_status status;

	if (call->whole)
		return kuzma_mac_message(call->context, call->tag, block_of(call), call->input, call->bytes);
	status = kuzma_mac_init(&state, call->context);
	if (status != KUZMA_OK)
		return status;
	IN_PIECES(1, kuzma_mac_update(&state, input, piece));
	return kuzma_mac_final(&state, call->tag, block_of(call));
}

static enum kuzma_status ctr_acpkm(struct call *call)
{
	struct kuzma_ctr_acpkm state;
	const struct kuzma_backend *backend = kuzma_context_backend(call->context);
	size_t block = block_of(call);
	enum kuzma_status status;

	if (call->whole)
		return kuzma_ctr_acpkm_message(backend, call->key, 32, call->iv, block / 2, 5 * block, call->output, call->input,
		                               call->bytes);
	status = kuzma_ctr_acpkm_init(&state, backend, call->key, 32, call->iv, block / 2, 5 * block);
	if (status != KUZMA_OK)
		return status;
	IN_PIECES(1, kuzma_ctr_acpkm_xor(&state, output, input, piece));
	kuzma_wipe_state(&state, sizeof state);
	return KUZMA_OK;
}

static enum kuzma_status mac_acpkm(struct call *call)
{
	struct kuzma_mac_acpkm state;
	const struct kuzma_backend *backend = kuzma_context_backend(call->context);
	size_t block = block_of(call);
	enum kuzma_status status;

	if (call->whole)
		return kuzma_mac_acpkm_message(backend, call->key, 32, 5 * block, 48, call->tag, block, call->input, call->bytes);
	status = kuzma_mac_acpkm_init(&state, backend, call->key, 32, 5 * block, 48);
	if (status != KUZMA_OK)
		return status;
	IN_PIECES(1, kuzma_mac_acpkm_update(&state, input, piece));
	return kuzma_mac_acpkm_final(&state, call->tag, block);
}

/* MGM wants a nonce whose first bit is 0. */
static void make_nonce(uint8_t nonce[16], const struct call *call)
{
	memcpy(nonce, call->iv, 16);
	nonce[0] &= 0x7f;
}

static enum kuzma_status mgm_begin(struct kuzma_mgm *state, struct call *call)
{
	uint8_t nonce[16];
	enum kuzma_status status;

	make_nonce(nonce, call);
	status = kuzma_mgm_init(state, call->context, nonce, block_of(call));
	if (status == KUZMA_OK && call->split != NULL) {
		size_t first = (size_t)(random_next(call->split) % sizeof associated);

		status = kuzma_mgm_associate(state, associated, first);
		if (status == KUZMA_OK)
			status = kuzma_mgm_associate(state, associated + first, sizeof associated - first);
	} else if (status == KUZMA_OK) {
		status = kuzma_mgm_associate(state, associated, sizeof associated);
	}
	return status;
}

static enum kuzma_status mgm_seal(struct call *call)
{
	struct kuzma_mgm state;
	uint8_t nonce[16];
	enum kuzma_status status;

	make_nonce(nonce, call);
	if (call->whole)
		return kuzma_mgm_seal(call->context, nonce, block_of(call), associated, sizeof associated, call->output,
		                      call->input, call->bytes, call->tag, block_of(call));
	status = mgm_begin(&state, call);
	if (status != KUZMA_OK)
		return status;
	IN_PIECES(1, kuzma_mgm_encrypt(&state, output, input, piece));
	return kuzma_mgm_final(&state, call->tag, block_of(call));
}

/* Takes the input for ciphertext, and makes the tag that belongs to it by a second way: sealing what it decrypts to. */
static enum kuzma_status mgm_open(struct call *call)
{
	static uint8_t plain[1 << 17], again[1 << 17];
	struct kuzma_mgm state;
	struct call sealing = *call;
	uint8_t nonce[16];
	enum kuzma_status status;

	if (call->bytes > sizeof plain)
		return KUZMA_ERROR_LENGTH;
	/* The keystream, from sealing zeros. */
	memset(plain, 0, call->bytes);
	sealing.input = plain;
	sealing.output = again;
	sealing.split = NULL;
	sealing.whole = false;
	if ((status = mgm_seal(&sealing)) != KUZMA_OK)
		return status;
	for (size_t i = 0; i < call->bytes; i++)
		plain[i] = again[i] ^ call->input[i];
	if ((status = mgm_seal(&sealing)) != KUZMA_OK)
		return status;

	memcpy(call->tag, sealing.tag, sizeof call->tag);
	make_nonce(nonce, call);
	if (call->whole)
		return kuzma_mgm_open(call->context, nonce, block_of(call), associated, sizeof associated, call->output,
		                      call->input, call->bytes, sealing.tag, block_of(call));
	status = mgm_begin(&state, call);
	if (status != KUZMA_OK)
		return status;
	IN_PIECES(1, kuzma_mgm_absorb(&state, input, piece));
	status = kuzma_mgm_verify(&state, sealing.tag, block_of(call));
	if (status != KUZMA_OK)
		return status;
	return kuzma_mgm_decrypt(&state, call->output, call->input, call->bytes);
}

const struct operation operations[] = {
	{ "ECB encryption", true, false, ecb_encrypt },
	{ "ECB decryption", true, false, ecb_decrypt },
	{ "CBC encryption", true, false, cbc_encrypt },
	{ "CBC decryption", true, false, cbc_decrypt },
	{ "CTR", false, false, ctr },
	{ "CFB encryption", false, false, cfb_encrypt },
	{ "CFB decryption", false, false, cfb_decrypt },
	{ "OFB", false, false, ofb },
	{ "MAC", false, true, mac },
	{ "CTR-ACPKM", false, false, ctr_acpkm },
	{ "OMAC-ACPKM", false, true, mac_acpkm },
	{ "MGM sealing", false, false, mgm_seal },
	{ "MGM opening", false, false, mgm_open },
	{ NULL, false, false, NULL },
};
