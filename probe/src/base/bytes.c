#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

void bytes_add(struct bytes *bytes, const char *data, size_t length)
{
	if (bytes->capacity - bytes->length <= length) {
		size_t capacity = (bytes->length + length) * 2 + 256;
		char *larger = realloc(bytes->data, capacity);

		if (larger == NULL)
			fail(EXIT_BROKEN, "out of memory for %zu bytes of output", capacity);
		bytes->data = larger;
		bytes->capacity = capacity;
	}
	memcpy(bytes->data + bytes->length, data, length);
	bytes->length += length;
	bytes->data[bytes->length] = '\0';
}

void bytes_drop(struct bytes *bytes, size_t length)
{
	if (length == 0)
		return;
	bytes->length -= length;
	memmove(bytes->data, bytes->data + length, bytes->length + 1);
}

void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){ 0 };
}
