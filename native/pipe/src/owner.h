/* Which process a writer belongs to, told without a system call. */
#ifndef PIPE_WRITER_OWNER_H
#define PIPE_WRITER_OWNER_H

/* A number that differs between a process and its children by fork(): whoever keeps it can tell later whether it
 * is still in the same process. Children by a bare clone() are not told apart; they have no memory of a writer
 * either. */
unsigned pipe_writer_owner_here(void);

#endif
