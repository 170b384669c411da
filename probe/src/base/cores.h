/* Which cores the two ends of a load run on. */
#ifndef STEND_CORES_H
#define STEND_CORES_H

/* `cores` is the value of an option --cores: "any" gives -1 and -1, "same" one allowed core twice, "different" two. Ends the
 * program with one line where this machine has no such cores. */
void cores_choose(const char *cores, int chosen[2]);

/* Keeps the calling thread on that core; below 0: does nothing. */
void core_pin(int core);

#endif
