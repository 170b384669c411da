#include "backend.h"

#include <string.h>

/* Fastest first: the default is the first that is supported. */
static const struct kuzma_backend *const kuznyechik_backends[] = {
#ifdef KUZMA_X86
	&kuzma_kuznyechik_avx512,
#endif
	&kuzma_kuznyechik_table,
	&kuzma_kuznyechik_compact,
};

static const struct kuzma_backend *const magma_backends[] = {
	&kuzma_magma_table,
	&kuzma_magma_compact,
};

const struct kuzma_backend *kuzma_backend_at(enum kuzma_cipher cipher, size_t index)
{
	if (cipher == KUZMA_KUZNYECHIK && index < sizeof kuznyechik_backends / sizeof *kuznyechik_backends)
		return kuznyechik_backends[index];
	if (cipher == KUZMA_MAGMA && index < sizeof magma_backends / sizeof *magma_backends)
		return magma_backends[index];
	return NULL;
}

const struct kuzma_backend *kuzma_backend_by_name(enum kuzma_cipher cipher, const char *name)
{
	const struct kuzma_backend *backend;

	if (name == NULL)
		return NULL;
	for (size_t i = 0; (backend = kuzma_backend_at(cipher, i)) != NULL; i++)
		if (strcmp(backend->name, name) == 0)
			return backend;
	return NULL;
}

const struct kuzma_backend *kuzma_backend_default(enum kuzma_cipher cipher)
{
	const struct kuzma_backend *backend;

	for (size_t i = 0; (backend = kuzma_backend_at(cipher, i)) != NULL; i++)
		if (kuzma_backend_supported(backend))
			return backend;
	return NULL;
}

const char *kuzma_backend_name(const struct kuzma_backend *backend)
{
	return backend == NULL ? NULL : backend->name;
}

enum kuzma_cipher kuzma_backend_cipher(const struct kuzma_backend *backend)
{
	return backend->cipher;
}

bool kuzma_backend_supported(const struct kuzma_backend *backend)
{
	return backend != NULL && (backend->supported == NULL || backend->supported());
}

bool kuzma_backend_constant_time(const struct kuzma_backend *backend)
{
	return backend != NULL && backend->constant_time;
}

size_t kuzma_block_bytes(enum kuzma_cipher cipher)
{
	switch (cipher) {
	case KUZMA_KUZNYECHIK: return KUZMA_KUZNYECHIK_BLOCK_BYTES;
	case KUZMA_MAGMA: return KUZMA_MAGMA_BLOCK_BYTES;
	}
	return 0;
}

const char *kuzma_cipher_name(enum kuzma_cipher cipher)
{
	switch (cipher) {
	case KUZMA_KUZNYECHIK: return "kuznyechik";
	case KUZMA_MAGMA: return "magma";
	}
	return NULL;
}
