/* Sizes, places and numbers of pipe_writer.h as the C compiler has them, for the test in ffi.rs. */
#include <pipe_writer.h>

#define TYPE(type) \
	{ "sizeof " #type, sizeof(struct type) }, { "_Alignof " #type, _Alignof(struct type) }
#define FIELD(type, field) { #type "." #field, offsetof(struct type, field) }
#define NUMBER(name) { #name, (size_t)(name) }

extern const struct pipe_writer_layout {
	const char *name;
	size_t value;
} pipe_writer_layout[];

const struct pipe_writer_layout pipe_writer_layout[] = {
	TYPE(pipe_writer_options),
	FIELD(pipe_writer_options, policy),
	FIELD(pipe_writer_options, chunk_bytes),
	FIELD(pipe_writer_options, pipe_bytes),
	FIELD(pipe_writer_options, strict),
	FIELD(pipe_writer_options, no_wait),
	FIELD(pipe_writer_options, trap),
	FIELD(pipe_writer_options, small_pages),
	TYPE(pipe_writer_slab),
	FIELD(pipe_writer_slab, data),
	FIELD(pipe_writer_slab, bytes),
	TYPE(pipe_writer_statistics),
	FIELD(pipe_writer_statistics, bytes_spliced),
	FIELD(pipe_writer_statistics, bytes_written),
	FIELD(pipe_writer_statistics, bytes_teed),
	FIELD(pipe_writer_statistics, splices),
	FIELD(pipe_writer_statistics, regions),
	FIELD(pipe_writer_statistics, pages_again),
	FIELD(pipe_writer_statistics, not_again),
	{ "sizeof enum pipe_writer_policy", sizeof(enum pipe_writer_policy) },
	NUMBER(PIPE_WRITER_FRESH),
	NUMBER(PIPE_WRITER_RING),
	NUMBER(PIPE_WRITER_WRITE),
	{ NULL, 0 },
};
