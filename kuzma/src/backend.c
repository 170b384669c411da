#include "backend.h"

#include <stdatomic.h>
#include <string.h>

/* Constant-time ones first, and of these the fastest first. */
static const struct kuzma_backend *const kuznyechik_backends[] = {
#ifdef KUZMA_X86
	&kuzma_kuznyechik_avx512,
	&kuzma_kuznyechik_gfni,
	&kuzma_kuznyechik_avx2,
	&kuzma_kuznyechik_ssse3,
#endif
#ifdef KUZMA_ARM
	&kuzma_kuznyechik_neon,
#endif
	&kuzma_kuznyechik_constant_time,
	&kuzma_kuznyechik_table,
	&kuzma_kuznyechik_compact,
};

static const struct kuzma_backend *const magma_backends[] = {
#ifdef KUZMA_X86
	&kuzma_magma_avx512,
	&kuzma_magma_avx2,
	&kuzma_magma_ssse3,
#endif
#ifdef KUZMA_ARM
	&kuzma_magma_neon,
#endif
	&kuzma_magma_constant_time,
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

static atomic_bool constant_time_required;

void kuzma_require_constant_time(void)
{
	atomic_store(&constant_time_required, true);
}

bool kuzma_backend_allowed(const struct kuzma_backend *backend)
{
	return backend->constant_time || !atomic_load_explicit(&constant_time_required, memory_order_relaxed);
}

static atomic_bool measuring_forbidden;

void kuzma_forbid_measuring(void)
{
	atomic_store(&measuring_forbidden, true);
}

bool kuzma_measuring_allowed(void)
{
	return !atomic_load_explicit(&measuring_forbidden, memory_order_relaxed);
}

const struct kuzma_backend *kuzma_backend_default(enum kuzma_cipher cipher)
{
	const struct kuzma_backend *backend;

	for (size_t i = 0; (backend = kuzma_backend_at(cipher, i)) != NULL; i++)
		if (backend->constant_time && kuzma_backend_supported(backend))
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
