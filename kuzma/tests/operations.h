/* Every mode behind one shape, so that tests can go through all of them. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include "harness.h"
#include "kuzma.h"

struct call {
	const struct kuzma_context *context;
	const uint8_t *key; /* the 32 bytes that the context was made of */
	const uint8_t *iv;  /* KUZMA_IV_BYTES_MAX bytes; each mode takes what it needs from the start */
	size_t iv_blocks;   /* of CBC, CFB and OFB */
	uint8_t *output;
	const uint8_t *input;
	size_t bytes;
	bool whole;         /* by the call for a whole message, where the mode has one */
	uint64_t *split;    /* not NULL: in pieces of random lengths (of whole blocks, where the mode wants them) */
	uint8_t tag[16];    /* of MAC and MGM; otherwise the register after the call, or zeros */
};

struct operation {
	const char *name;
	bool whole_blocks;
	bool no_output; /* only a tag */
	enum kuzma_status (*run)(struct call *call);
};

/* Ends with a name of NULL. */
extern const struct operation operations[];

#endif
