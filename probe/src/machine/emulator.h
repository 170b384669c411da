#ifndef STEND_EMULATOR_H
#define STEND_EMULATOR_H

/* What translates this program's instructions instead of a processor that has them: qemu-user, qemu-system, or the name of
 * another translator's file. NULL: nothing that shows itself. What was measured then says nothing of any machine's speed. */
const char *emulator(void);

#endif
