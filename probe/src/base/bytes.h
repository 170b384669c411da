/* Bytes that grow. */
#ifndef STEND_BYTES_H
#define STEND_BYTES_H

#include <stddef.h>

/* Ended by a zero byte, which does not count, once something was added. */
struct bytes {
	char *data;
	size_t length, capacity;
};

/* Ends the program if there is no memory for them. */
void bytes_add(struct bytes *bytes, const char *data, size_t length);
/* Takes away the first so many. */
void bytes_drop(struct bytes *bytes, size_t length);
void bytes_free(struct bytes *bytes);

#endif
