/* Published vectors: RFC 7801 section 5, RFC 8891 appendix A, GOST R 34.13-2015 annex A. */
#include "../src/kuznyechik/transforms.h"
#include "harness.h"
#include "kuzma.h"

uint32_t magma_t(uint32_t word);
uint32_t magma_g(uint32_t key, uint32_t word);
void magma_expand_key(uint32_t round_keys[32], const uint8_t key[32]);

static const char kuznyechik_key[] = "8899aabbccddeeff0011223344556677fedcba98765432100123456789abcdef";
static const char magma_key[] = "ffeeddccbbaa99887766554433221100f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

static void chain(const char *name, void (*transform)(uint8_t *), void (*inverse)(uint8_t *), const char *const *values)
{
	uint8_t block[16];

	for (unsigned i = 0; i < 4; i++) {
		from_hex(block, values[i]);
		transform(block);
		CHECK(equals_hex(block, values[i + 1]), "%s of %s", name, values[i]);
		if (inverse != NULL) {
			inverse(block);
			CHECK(equals_hex(block, values[i]), "inverse %s of %s", name, values[i + 1]);
		}
	}
}

static void kuznyechik_parts(void)
{
	static const char *const s[] = {
		"ffeeddccbbaa99881122334455667700", "b66cd8887d38e8d77765aeea0c9a7efc", "559d8dd7bd06cbfe7e7b262523280d39",
		"0c3322fed531e4630d80ef5c5a81c50b", "23ae65633f842d29c5df529c13f5acda",
	};
	static const char *const r[] = {
		"00000000000000000000000000000100", "94000000000000000000000000000001", "a5940000000000000000000000000000",
		"64a59400000000000000000000000000", "0d64a594000000000000000000000000",
	};
	static const char *const l[] = {
		"64a59400000000000000000000000000", "d456584dd0e3e84cc3166e4b7fa2890d", "79d26221b87b584cd42fbc4ffea5de9a",
		"0e93691a0cfc60408b7b68f66b513c13", "e6a8094fee0aa204fd97bcb0b44b8580",
	};
	static const char *const keys[] = {
		"8899aabbccddeeff0011223344556677", "fedcba98765432100123456789abcdef", "db31485315694343228d6aef8cc78c44",
		"3d4553d8e9cfec6815ebadc40a9ffd04", "57646468c44a5e28d3e59246f429f1ac", "bd079435165c6432b532e82834da581b",
		"51e640757e8745de705727265a0098b1", "5a7925017b9fdd3ed72a91a22286f984", "bb44e25378c73123a5f32f73cdb6e517",
		"72e9dd7416bcf45b755dbaa88e4a4043",
	};
	uint8_t key[32], round_keys[10][16];

	kuznyechik_transforms_prepare();
	chain("S", kuznyechik_s, kuznyechik_s_inverse, s);
	chain("R", kuznyechik_r, NULL, r);
	chain("L", kuznyechik_l, kuznyechik_l_inverse, l);
	from_hex(key, kuznyechik_key);
	kuznyechik_expand_key(round_keys, key);
	for (unsigned i = 0; i < 10; i++)
		CHECK(equals_hex(round_keys[i], keys[i]), "Kuznyechik round key %u", i + 1);
}

static void magma_parts(void)
{
	static const uint32_t t[] = { 0xfdb97531u, 0x2a196f34u, 0xebd9f03au, 0xb039bb3du, 0x68695433u };
	static const uint32_t g[][3] = {
		{ 0x87654321u, 0xfedcba98u, 0xfdcbc20cu }, { 0xfdcbc20cu, 0x87654321u, 0x7e791a4bu },
		{ 0x7e791a4bu, 0xfdcbc20cu, 0xc76549ecu }, { 0xc76549ecu, 0x7e791a4bu, 0x9791c849u },
	};
	static const uint32_t words[8] = {
		0xffeeddccu, 0xbbaa9988u, 0x77665544u, 0x33221100u, 0xf0f1f2f3u, 0xf4f5f6f7u, 0xf8f9fafbu, 0xfcfdfeffu,
	};
	uint8_t key[32];
	uint32_t round_keys[32];

	for (unsigned i = 0; i < 4; i++) {
		CHECK(magma_t(t[i]) == t[i + 1], "t(%08x)", (unsigned)t[i]);
		CHECK(magma_g(g[i][0], g[i][1]) == g[i][2], "g[%08x](%08x)", (unsigned)g[i][0], (unsigned)g[i][1]);
	}
	from_hex(key, magma_key);
	magma_expand_key(round_keys, key);
	for (unsigned i = 0; i < 32; i++)
		CHECK(round_keys[i] == words[i < 24 ? i % 8 : 31 - i], "Magma round key %u", i + 1);
}

struct vector {
	enum kuzma_cipher cipher;
	const char *name, *key, *iv, *plain, *coded; /* iv NULL: ECB */
};

static const struct vector vectors[] = {
	{ KUZMA_KUZNYECHIK, "RFC 7801 5.5", kuznyechik_key, NULL, "1122334455667700ffeeddccbbaa9988",
	  "7f679d90bebc24305a468d42b9d4edcd" },
	{ KUZMA_MAGMA, "RFC 8891 A.3", magma_key, NULL, "fedcba9876543210", "4ee901e5c2d8ca3d" },
	{ KUZMA_KUZNYECHIK, "GOST R 34.13 A.1.1", kuznyechik_key, NULL,
	  "1122334455667700ffeeddccbbaa998800112233445566778899aabbcceeff0a"
	  "112233445566778899aabbcceeff0a002233445566778899aabbcceeff0a0011",
	  "7f679d90bebc24305a468d42b9d4edcdb429912c6e0032f9285452d76718d08b"
	  "f0ca33549d247ceef3f5a5313bd4b157d0b09ccde830b9eb3a02c4c5aa8ada98" },
	{ KUZMA_KUZNYECHIK, "GOST R 34.13 A.1.4", kuznyechik_key,
	  "1234567890abcef0a1b2c3d4e5f0011223344556677889901213141516171819",
	  "1122334455667700ffeeddccbbaa998800112233445566778899aabbcceeff0a"
	  "112233445566778899aabbcceeff0a002233445566778899aabbcceeff0a0011",
	  "689972d4a085fa4d90e52e3d6d7dcc272826e661b478eca6af1e8e448d5ea5ac"
	  "fe7babf1e91999e85640e8b0f49d90d0167688065a895c631a2d9a1560b63970" },
	{ KUZMA_MAGMA, "GOST R 34.13 A.2.1", magma_key, NULL,
	  "92def06b3c130a59db54c704f8189d204a98fb2e67a8024c8912409b17b57e41",
	  "2b073f0494f372a0de70e715d3556e4811d8d9e9eacfbc1e7c68260996c67efb" },
	{ KUZMA_MAGMA, "GOST R 34.13 A.2.4", magma_key, "1234567890abcdef234567890abcdef134567890abcdef12",
	  "92def06b3c130a59db54c704f8189d204a98fb2e67a8024c8912409b17b57e41",
	  "96d1b05eea683919aff76129abb937b95058b4a1c4bc001920b78b1a7cd7e667" },
};

static void run_vector(const struct vector *vector, const struct kuzma_backend *backend)
{
	static struct kuzma_context context;
	uint8_t key[32], iv[32], data[64];
	size_t bytes = from_hex(data, vector->plain), iv_bytes;
	const char *name = kuzma_backend_name(backend);

	from_hex(key, vector->key);
	CHECK(kuzma_init(&context, backend, key, sizeof key) == KUZMA_OK, "%s: init", name);
	if (vector->iv == NULL) {
		kuzma_ecb_encrypt(&context, data, data, bytes);
		CHECK(equals_hex(data, vector->coded), "%s encrypts %s", name, vector->name);
		kuzma_ecb_decrypt(&context, data, data, bytes);
		CHECK(equals_hex(data, vector->plain), "%s decrypts %s", name, vector->name);
	} else {
		iv_bytes = from_hex(iv, vector->iv);
		kuzma_cbc_encrypt(&context, iv, iv_bytes, data, data, bytes);
		CHECK(equals_hex(data, vector->coded), "%s encrypts %s", name, vector->name);
		from_hex(iv, vector->iv);
		kuzma_cbc_decrypt(&context, iv, iv_bytes, data, data, bytes);
		CHECK(equals_hex(data, vector->plain), "%s decrypts %s", name, vector->name);
	}
	kuzma_wipe(&context);
}

int main(void)
{
	const struct kuzma_backend *backend;

	kuznyechik_parts();
	magma_parts();
	for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++)
		for (size_t i = 0; (backend = kuzma_backend_at(vectors[v].cipher, i)) != NULL; i++)
			if (kuzma_backend_supported(backend))
				run_vector(&vectors[v], backend);
	return harness_finish();
}
