/* The system calls that put bytes into a descriptor, with all that they may answer. */
#ifndef PIPE_WRITER_TRANSFER_H
#define PIPE_WRITER_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __linux__
#define PIPE_WRITER_LINUX 1
#else
#define PIPE_WRITER_LINUX 0
#endif

enum transfer_way { TRANSFER_WRITE, TRANSFER_VMSPLICE, TRANSFER_TEE };

/* One attempt to move `bytes` bytes (`source`: memory, or the read end of a pipe for tee). Interrupted calls are made
 * again; where there is no room it waits if `wait`. *moved gets what went. 0, or an errno value with nothing moved:
 * EAGAIN only without `wait`. */
int pipe_writer_transfer_some(int descriptor, enum transfer_way way, const uint8_t *memory, int source,
                              size_t bytes, bool wait, size_t *moved);

/* Until all went. *moved is right after an error too. */
int pipe_writer_transfer_all(int descriptor, enum transfer_way way, const uint8_t *memory, size_t bytes,
                             bool wait, size_t *moved);

#endif
