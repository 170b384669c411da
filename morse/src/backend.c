#include "backend.h"

#include <stdlib.h>
#include <string.h>

/* Fastest first: the default is the first that is supported. */
static const struct morse_backend *const backends[] = {
#ifdef MORSE_X86
	&morse_avx512,
	&morse_avx2,
#endif
#ifdef MORSE_ARM
	&morse_neon,
#endif
	&morse_portable,
};

const struct morse_backend *morse_backend_at(size_t index)
{
	return index < sizeof backends / sizeof *backends ? backends[index] : NULL;
}

const struct morse_backend *morse_backend_by_name(const char *name)
{
	const struct morse_backend *backend;

	if (name == NULL)
		return NULL;
	for (size_t i = 0; (backend = morse_backend_at(i)) != NULL; i++)
		if (strcmp(backend->name, name) == 0)
			return backend;
	return NULL;
}

/* Not where the program runs with more rights than its caller has, as far as the C library can tell. */
static const char *forced_name(void)
{
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
	return secure_getenv("MORSE_BACKEND");
#else
	return getenv("MORSE_BACKEND");
#endif
}

const struct morse_backend *morse_backend_default(void)
{
	const struct morse_backend *backend = morse_backend_by_name(forced_name());

	if (morse_backend_supported(backend))
		return backend;
	for (size_t i = 0; (backend = morse_backend_at(i)) != NULL; i++)
		if (morse_backend_supported(backend))
			return backend;
	return &morse_portable;
}

const char *morse_backend_name(const struct morse_backend *backend)
{
	return backend == NULL ? NULL : backend->name;
}

bool morse_backend_supported(const struct morse_backend *backend)
{
	return backend != NULL && (backend->supported == NULL || backend->supported());
}
