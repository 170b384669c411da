/* Which process a writer belongs to, told without a system call. */
#ifndef PIPE_WRITER_OWNER_H
#define PIPE_WRITER_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

struct owner {
	pid_t process;
	unsigned char *mark; /* 1; a child finds 0. NULL: the system has no such memory */
};

void pipe_writer_owner_open(struct owner *owner);
bool pipe_writer_owner_is_here(const struct owner *owner);
void pipe_writer_owner_close(struct owner *owner);

#endif
