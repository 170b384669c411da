/* CBC encryption, CFB encryption, OFB and the MAC of many messages at once. Each message has a lane: one block of state.
 * A step takes every lane on by one block with one call of the backend, which sees independent blocks. */
#include "modes/modes.h"

/* As many lanes as fill the widest batches. */
#define LANE_BYTES 1024u
#define LANES_MAX (LANE_BYTES / KUZMA_MAGMA_BLOCK_BYTES)
/* So many steps go between two visits to the messages, a cache line of each: messages that lie at equal distances share
 * few sets of the cache, and a line is gone before its next block is wanted. */
#define VISIT_BYTES 64u
#define STEPS_MAX (VISIT_BYTES / KUZMA_MAGMA_BLOCK_BYTES)

/* So many messages are held against all others at a time, to see that none overlaps another: 12 KiB. */
#define SORTED_MAX 512u

enum many_mode { CBC, CFB, OFB, MAC };

struct lanes {
	const struct kuzma_context *context;
	enum many_mode mode;
	size_t active;
	size_t tag_bytes;
	uint8_t chain[LANE_BYTES];
	/* The blocks of all lanes, step by step. */
	uint8_t text[STEPS_MAX][LANE_BYTES];
	const uint8_t *input[LANES_MAX];
	uint8_t *output[LANES_MAX];
	size_t steps[LANES_MAX];
	const struct kuzma_message *message[LANES_MAX];
	/* What does not fill a block, and of a MAC the last block, goes through here in a step of its own. */
	bool at_last[LANES_MAX];
	uint8_t last[LANE_BYTES];
	uint8_t final_key[KUZMA_BLOCK_BYTES_MAX];
};

static size_t last_bytes(const struct lanes *lanes, const struct kuzma_message *message)
{
	size_t block = block_bytes_of(lanes->context), rest = message->bytes % block;

	return lanes->mode == MAC && rest == 0 && message->bytes > 0 ? block : rest;
}

static bool has_last_step(const struct lanes *lanes, const struct kuzma_message *message)
{
	return lanes->mode == MAC || last_bytes(lanes, message) > 0;
}

static void begin_last(struct lanes *lanes, size_t lane)
{
	const struct kuzma_message *message = lanes->message[lane];
	size_t block = block_bytes_of(lanes->context), bytes = last_bytes(lanes, message);
	const uint8_t *from = bytes == 0 ? lanes->final_key : message->input + (message->bytes - bytes);
	uint8_t *last = lanes->last + lane * block;

	if (lanes->mode == MAC) {
		kuzma_mac_last_block(last, lanes->final_key, from, bytes, block);
	} else {
		memset(last, 0, block);
		memcpy(last, from, bytes);
	}
	lanes->input[lane] = last;
	lanes->output[lane] = last;
	lanes->steps[lane] = 1;
	lanes->at_last[lane] = true;
}

static void begin(struct lanes *lanes, size_t lane, const struct kuzma_message *message)
{
	size_t block = block_bytes_of(lanes->context);

	lanes->message[lane] = message;
	lanes->input[lane] = message->input;
	lanes->output[lane] = message->output;
	lanes->steps[lane] = (message->bytes - last_bytes(lanes, message)) / block;
	lanes->at_last[lane] = false;
	if (lanes->mode == MAC)
		memset(lanes->chain + lane * block, 0, block);
	else
		memcpy(lanes->chain + lane * block, message->iv, block);
	if (lanes->steps[lane] == 0)
		begin_last(lanes, lane);
}

static void end(struct lanes *lanes, size_t lane)
{
	const struct kuzma_message *message = lanes->message[lane];
	size_t block = block_bytes_of(lanes->context), rest = message->bytes % block;

	if (lanes->mode == MAC)
		memcpy(message->output, lanes->chain + lane * block, lanes->tag_bytes);
	else if (lanes->mode == CBC)
		memcpy(message->iv, lanes->chain + lane * block, block);
	else if (rest > 0)
		memcpy(message->output + message->bytes - rest, lanes->last + lane * block, rest);
}

/* Moves the last lane into the place of one that has ended. */
static void close_gap(struct lanes *lanes, size_t lane)
{
	size_t block = block_bytes_of(lanes->context), from = --lanes->active;

	if (from == lane)
		return;
	memcpy(lanes->chain + lane * block, lanes->chain + from * block, block);
	memcpy(lanes->last + lane * block, lanes->last + from * block, block);
	lanes->input[lane] = lanes->at_last[from] ? lanes->last + lane * block : lanes->input[from];
	lanes->output[lane] = lanes->at_last[from] ? lanes->last + lane * block : lanes->output[from];
	lanes->steps[lane] = lanes->steps[from];
	lanes->message[lane] = lanes->message[from];
	lanes->at_last[lane] = lanes->at_last[from];
}

/* Inlined with a constant block and mode. */
static inline void visit(struct lanes *lanes, size_t steps, size_t block, enum many_mode mode)
{
	const struct kuzma_context *context = lanes->context;
	size_t bytes = lanes->active * block;

	for (size_t lane = 0; lane < lanes->active; lane++) {
		for (size_t step = 0; step < steps; step++)
			memcpy(lanes->text[step] + lane * block, lanes->input[lane] + step * block, block);
		lanes->input[lane] += steps * block;
	}
	for (size_t step = 0; step < steps; step++) {
		uint8_t *text = lanes->text[step];

		if (mode == CBC || mode == MAC)
			xor_bytes(lanes->chain, lanes->chain, text, bytes);
		context->backend->encrypt_blocks(context->state, lanes->chain, lanes->chain, lanes->active);
		if (mode == CFB || mode == OFB)
			xor_bytes(text, text, lanes->chain, bytes);
		if (mode == CFB)
			memcpy(lanes->chain, text, bytes);
		if (mode == CBC)
			memcpy(text, lanes->chain, bytes);
	}
	if (mode == MAC)
		return;
	for (size_t lane = 0; lane < lanes->active; lane++) {
		for (size_t step = 0; step < steps; step++)
			memcpy(lanes->output[lane] + step * block, lanes->text[step] + lane * block, block);
		lanes->output[lane] += steps * block;
	}
}

static inline void steps_of(struct lanes *lanes, size_t steps, size_t block, enum many_mode mode)
{
	const size_t most = VISIT_BYTES / block;

	for (; steps >= most; steps -= most)
		visit(lanes, most, block, mode);
	if (steps > 0)
		visit(lanes, steps, block, mode);
}

static void take_steps(struct lanes *lanes, size_t steps)
{
	bool magma = block_bytes_of(lanes->context) == 8;

	switch (lanes->mode) {
	case CBC: magma ? steps_of(lanes, steps, 8, CBC) : steps_of(lanes, steps, 16, CBC); break;
	case CFB: magma ? steps_of(lanes, steps, 8, CFB) : steps_of(lanes, steps, 16, CFB); break;
	case OFB: magma ? steps_of(lanes, steps, 8, OFB) : steps_of(lanes, steps, 16, OFB); break;
	case MAC: magma ? steps_of(lanes, steps, 8, MAC) : steps_of(lanes, steps, 16, MAC); break;
	}
}

static void run(struct lanes *lanes, const struct kuzma_message *messages, size_t count)
{
	size_t lanes_max = LANE_BYTES / block_bytes_of(lanes->context), next = 0;

	for (;;) {
		for (; lanes->active < lanes_max && next < count; next++)
			if (messages[next].bytes > 0 || lanes->mode == MAC)
				begin(lanes, lanes->active++, &messages[next]);
		if (lanes->active == 0)
			break;

		size_t steps = lanes->steps[0];
		for (size_t lane = 1; lane < lanes->active; lane++)
			steps = lanes->steps[lane] < steps ? lanes->steps[lane] : steps;
		take_steps(lanes, steps);
		/* From the last to the first, so that a lane that moves has been looked at. */
		for (size_t lane = lanes->active; lane-- > 0;) {
			lanes->steps[lane] -= steps;
			if (lanes->steps[lane] > 0)
				continue;
			if (!lanes->at_last[lane] && has_last_step(lanes, lanes->message[lane])) {
				begin_last(lanes, lane);
				continue;
			}
			end(lanes, lane);
			close_gap(lanes, lane);
		}
	}
}

static enum kuzma_status check_message(const struct kuzma_context *context, enum many_mode mode,
                                       const struct kuzma_message *message, size_t tag_bytes)
{
	enum kuzma_status status;

	if (mode == MAC) {
		status = kuzma_check_tag(context, message->output, tag_bytes);
		return status == KUZMA_OK && message->input == NULL && message->bytes > 0 ? KUZMA_ERROR_ARGUMENT : status;
	}
	if (mode == CBC && message->bytes % block_bytes_of(context) != 0)
		return KUZMA_ERROR_LENGTH;
	status = kuzma_check_buffers(message->output, message->input, message->bytes);
	return status == KUZMA_OK && message->iv == NULL ? KUZMA_ERROR_ARGUMENT : status;
}

/* Buffers that lie apart from all others. */
enum exclusive { OUTPUT, REGISTER };

struct extent {
	uintptr_t from, end;
	size_t owner;
};

static struct extent extent_of(const void *from, size_t bytes, size_t owner)
{
	return (struct extent){ (uintptr_t)from, (uintptr_t)from + bytes, owner };
}

static struct extent exclusive_extent(const struct kuzma_message *messages, size_t i, enum exclusive kind, size_t block,
                                      size_t tag_bytes)
{
	if (kind == REGISTER)
		return extent_of(messages[i].iv, tag_bytes > 0 ? 0 : block, i);
	return extent_of(messages[i].output, tag_bytes > 0 ? tag_bytes : messages[i].bytes, i);
}

/* Whether an extent meets one of those that are sorted and lie apart, other than its owner's where that is allowed. */
static bool meets(const struct extent *sorted, size_t count, struct extent extent, bool own_too)
{
	size_t low = 0, high = count;

	if (count == 0 || extent.from == extent.end || extent.end <= sorted[0].from || extent.from >= sorted[count - 1].end)
		return false;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (sorted[middle].from < extent.end)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low > 0 && sorted[low - 1].end > extent.from; low--)
		if (own_too || sorted[low - 1].owner != extent.owner)
			return true;
	return false;
}

/* `whole` grows to hold `extent`; whether that lies behind all that was in it. */
static bool behind(struct extent *whole, struct extent extent)
{
	bool is_behind = extent.from >= whole->end;

	if (extent.from == extent.end)
		return true;
	whole->from = extent.from < whole->from ? extent.from : whole->from;
	whole->end = extent.end > whole->end ? extent.end : whole->end;
	return is_behind;
}

static bool meet(struct extent one, struct extent other)
{
	return one.from < other.end && other.from < one.end;
}

/* What most programs do, and what is seen at once: outputs, initial values and the inputs that are no outputs each lie in a
 * place of their own, and the first two in the order of the messages. */
static bool lie_in_order(const struct kuzma_message *messages, size_t count, size_t block, size_t tag_bytes)
{
	struct extent outputs = { UINTPTR_MAX, 0, 0 }, registers = outputs, inputs = outputs;

	for (size_t i = 0; i < count; i++) {
		if (!behind(&outputs, exclusive_extent(messages, i, OUTPUT, block, tag_bytes)) ||
		    !behind(&registers, exclusive_extent(messages, i, REGISTER, block, tag_bytes)))
			return false;
		if (tag_bytes > 0 || messages[i].input != messages[i].output)
			(void)behind(&inputs, extent_of(messages[i].input, messages[i].bytes, i));
	}
	return !meet(outputs, registers) && !meet(outputs, inputs) && !meet(registers, inputs);
}

/* Shell's way, with the gaps that Ciura found: it takes no memory, and messages may come in any order. */
static void sort(struct extent *extents, size_t count)
{
	static const size_t gaps[] = { 301, 132, 57, 23, 10, 4, 1 };

	for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
		for (size_t i = gaps[g]; i < count; i++) {
			struct extent one = extents[i];
			size_t at = i;

			for (; at >= gaps[g] && extents[at - gaps[g]].from > one.from; at -= gaps[g])
				extents[at] = extents[at - gaps[g]];
			extents[at] = one;
		}
	}
}

/* Whether each buffer of that kind lies apart from all of the other messages. As there is no memory for all of them, so many
 * at a time are sorted, and all others looked up among them. */
static bool lie_apart(const struct kuzma_message *messages, size_t count, enum exclusive kind, size_t block, size_t tag_bytes)
{
	struct extent sorted[SORTED_MAX];

	for (size_t first = 0; first < count; first += SORTED_MAX) {
		size_t some = 0;

		for (size_t i = first; i < count && i - first < SORTED_MAX; i++) {
			struct extent extent = exclusive_extent(messages, i, kind, block, tag_bytes);

			if (extent.from != extent.end)
				sorted[some++] = extent;
		}
		sort(sorted, some);
		for (size_t i = 1; i < some; i++)
			if (sorted[i - 1].end > sorted[i].from)
				return false;
		for (size_t i = 0; i < count; i++) {
			struct extent input = extent_of(messages[i].input, messages[i].bytes, i);
			struct extent output = exclusive_extent(messages, i, OUTPUT, block, tag_bytes);
			struct extent iv = exclusive_extent(messages, i, REGISTER, block, tag_bytes);

			/* Of the message itself, output and input were looked at before. */
			if (meets(sorted, some, input, kind == REGISTER) || meets(sorted, some, output, kind == REGISTER) ||
			    meets(sorted, some, iv, kind == OUTPUT))
				return false;
		}
	}
	return true;
}

static enum kuzma_status many(const struct kuzma_context *context, enum many_mode mode,
                              const struct kuzma_message *messages, size_t count, size_t tag_bytes)
{
	struct lanes lanes;
	enum kuzma_status status = kuzma_check_context(context);

	if (status == KUZMA_OK && messages == NULL && count > 0)
		status = KUZMA_ERROR_ARGUMENT;
	for (size_t i = 0; i < count && status == KUZMA_OK; i++)
		status = check_message(context, mode, &messages[i], tag_bytes);
	if (status == KUZMA_OK && !lie_in_order(messages, count, block_bytes_of(context), tag_bytes) &&
	    (!lie_apart(messages, count, OUTPUT, block_bytes_of(context), tag_bytes) ||
	     !lie_apart(messages, count, REGISTER, block_bytes_of(context), tag_bytes)))
		status = KUZMA_ERROR_OVERLAP;
	if (status != KUZMA_OK || count == 0)
		return status;
	lanes.context = context;
	lanes.mode = mode;
	lanes.active = 0;
	lanes.tag_bytes = tag_bytes;
	if (mode == MAC)
		kuzma_mac_final_key(context, lanes.final_key);
	run(&lanes, messages, count);
	wipe_bytes(lanes.chain, sizeof lanes.chain);
	wipe_bytes(lanes.text, sizeof lanes.text);
	wipe_bytes(lanes.last, sizeof lanes.last);
	wipe_bytes(lanes.final_key, sizeof lanes.final_key);
	return KUZMA_OK;
}

enum kuzma_status kuzma_cbc_encrypt_many(const struct kuzma_context *context, const struct kuzma_message *messages,
                                         size_t count)
{
	return many(context, CBC, messages, count, 0);
}

enum kuzma_status kuzma_cfb_encrypt_many(const struct kuzma_context *context, const struct kuzma_message *messages,
                                         size_t count)
{
	return many(context, CFB, messages, count, 0);
}

enum kuzma_status kuzma_ofb_xor_many(const struct kuzma_context *context, const struct kuzma_message *messages,
                                     size_t count)
{
	return many(context, OFB, messages, count, 0);
}

enum kuzma_status kuzma_mac_many(const struct kuzma_context *context, const struct kuzma_message *messages,
                                 size_t count, size_t tag_bytes)
{
	return many(context, MAC, messages, count, tag_bytes);
}
