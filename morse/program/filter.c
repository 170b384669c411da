#include "filter.h"

#include "complaint.h"
#include "fail.h"
#include "input.h"
#include "output.h"
#include "wave.h"

#include <unistd.h>

/* What is read at a time: it stays in the second-level cache together with what is made of it. */
enum { READ = 256 << 10 };

/* Enough for every call to go on, and not so little that calls are all it does. */
enum { LEAST_ROOM = 16 << 10 };

static uint8_t input[READ];

/* ---- One coder, whichever. */
struct coder {
	bool encode;
	struct morse_encoder encoder;
	struct morse_decoder decoder;
};

static enum morse_status coder_init(struct coder *coder, bool encode, const struct morse_options *options)
{
	coder->encode = encode;
	return encode ? morse_encoder_init(&coder->encoder, options) : morse_decoder_init(&coder->decoder, options);
}

static enum morse_status coder_update(struct coder *coder, uint8_t *output, size_t room, size_t *written,
                                      const uint8_t *bytes, size_t count, size_t *read)
{
	if (coder->encode)
		return morse_encoder_update(&coder->encoder, output, room, written, bytes, count, read);
	return morse_decoder_update(&coder->decoder, output, room, written, bytes, count, read);
}

static enum morse_status coder_finish(struct coder *coder, uint8_t *output, size_t room, size_t *written)
{
	if (coder->encode)
		return morse_encoder_finish(&coder->encoder, output, room, written);
	return morse_decoder_finish(&coder->decoder, output, room, written);
}

static struct morse_place coder_place(const struct coder *coder)
{
	return coder->encode ? morse_encoder_place(&coder->encoder) : morse_decoder_place(&coder->decoder);
}

/* ---- Where its output goes. Sound is made of code that is kept for a moment only. */
static uint8_t code[LEAST_ROOM];

static uint8_t *room_for(const struct job *job, size_t *room)
{
	if (!job->wave)
		return output_room(LEAST_ROOM, room);
	*room = sizeof code;
	return code;
}

static void add(const struct job *job, size_t bytes)
{
	if (job->wave)
		wave_add(code, bytes);
	else
		output_add(bytes);
}

static void stop_at(const struct job *job, const struct coder *coder, size_t open)
{
	/* What stands before the error is sent all the same: it is right. */
	output_flush();
	complain(job, coder->encode ? &coder->encoder.error : &coder->decoder.error, open);
}

static void code_bytes(const struct job *job, struct coder *coder, size_t count, size_t open)
{
	enum morse_status status = MORSE_OK;

	for (size_t at = 0; at < count;) {
		size_t room, written, read;
		uint8_t *to = room_for(job, &room);

		status = coder_update(coder, to, room, &written, input + at, count - at, &read);
		add(job, written);
		if (status != MORSE_OK)
			stop_at(job, coder, open);
		at += read;
	}
}

void filter_run(const struct job *job)
{
	struct coder coder;
	enum morse_status status = coder_init(&coder, job->encode, &job->options);
	size_t room, written;
	uint8_t *to;

	if (status != MORSE_OK)
		fail(EXIT_USAGE, "%s", morse_status_text(status));
	input_check(job->inputs, job->input_count, job->output);
	if (job->wave && job->output == NULL && isatty(STDOUT_FILENO))
		fail(EXIT_USAGE, "--wav: standard output is a terminal; name a file with -o, or send it to a player with |");
	output_open(job->output);
	if (job->wave)
		wave_begin(job->wpm, job->pitch);
	for (size_t i = 0; i < job->input_count; i++) {
		size_t count;

		input_open(i, coder_place(&coder));
		while ((count = input_read(input, sizeof input)) > 0) {
			code_bytes(job, &coder, count, i + 1);
			/* Who waits for a line gets it. Short pieces go on at once too, even if more waits: the reader then finds
			 * them in the second-level cache, which is worth more than fewer and larger commits. */
			if (count < sizeof input || !input_waits())
				output_flush();
		}
		input_close();
	}
	to = room_for(job, &room);
	status = coder_finish(&coder, to, room, &written);
	add(job, written);
	if (status != MORSE_OK)
		stop_at(job, &coder, job->input_count);
	if (job->wave)
		wave_end();
	output_close();
}
