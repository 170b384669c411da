/* The system calls that put bytes into a descriptor, with all that they may answer. */
#ifndef PIPE_WRITER_TRANSFER_H
#define PIPE_WRITER_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum transfer_way { TRANSFER_WRITE, TRANSFER_VMSPLICE, TRANSFER_TEE };

/* Whether there is a vmsplice(): not on other systems than Linux, nor where a filter for system calls refuses it. */
bool pipe_writer_transfer_knows_vmsplice(int descriptor);

/* One attempt to move `bytes` bytes (`source`: memory, or the read end of a pipe for tee). Interrupted calls are made
 * again; where there is no room it waits if `wait`. *moved gets what went. 0, or an errno value with nothing moved:
 * EAGAIN only without `wait`; ENOTSUP if there is no vmsplice() or tee(). */
int pipe_writer_transfer_some(int descriptor, enum transfer_way way, const uint8_t *memory, int source,
                              size_t bytes, bool wait, size_t *moved);

/* Until all went. *moved is right after an error too. */
int pipe_writer_transfer_all(int descriptor, enum transfer_way way, const uint8_t *memory, size_t bytes,
                             bool wait, size_t *moved);

#endif
