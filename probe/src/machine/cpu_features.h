/* The instruction sets of this processor, by name. */
#ifndef STEND_CPU_FEATURES_H
#define STEND_CPU_FEATURES_H

/* Calls `found` for each one that the processor and the system offer. Returns how it was found out: "cpuid",
 * "auxiliary vector", or "compiler" (what the build was made for: the processor may offer more). */
const char *features_list(void (*found)(void *argument, const char *name), void *argument);

#endif
