/* Which process a writer belongs to, told without a system call where the kernel helps. */
#ifndef PIPE_WRITER_OWNER_H
#define PIPE_WRITER_OWNER_H

/* A number that differs between a process and its children, however they were made: whoever keeps it can tell later
 * whether it is still in the same process. Children that share their parent's memory (vfork(), CLONE_VM) count as the
 * parent. */
unsigned pipe_writer_owner_here(void);

#endif
