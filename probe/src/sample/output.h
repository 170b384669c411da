/* One `sample` event with many values, written without printf: it is most of what the sampler costs. */
#ifndef STEND_SAMPLE_OUTPUT_H
#define STEND_SAMPLE_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "wire/json.h"

struct sample_line {
	struct json json;
	size_t values;
};

void sample_line_open(struct sample_line *line, uint64_t t_ns);
/* The metric's name is prefix + suffix; neither may hold anything that JSON would want escaped. */
void sample_line_add(struct sample_line *line, const char *prefix, const char *suffix, uint64_t value);
/* value / 1000, with three digits behind the point. */
void sample_line_add_milli(struct sample_line *line, const char *prefix, const char *suffix, int64_t value);
/* Sends the line, unless nothing was added. */
void sample_line_close(struct sample_line *line);

/* Copies at most `bytes` - 1 characters; whatever is not a letter, digit or one of . - _ : becomes _. */
void metric_name(char *to, size_t bytes, const char *from, size_t length);

#endif
