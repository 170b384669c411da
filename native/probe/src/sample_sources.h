/* Where the samples come from. Each group opens its files once and adds its values to a line. */
#ifndef STEND_SAMPLE_SOURCES_H
#define STEND_SAMPLE_SOURCES_H

#include "json.h"
#include "sample_output.h"
#include "source_file.h"

struct frequency {
	struct source_file file;
	char name[24]; /* "cpu12" */
};

struct sample_system {
	uint64_t tick_ns; /* the unit of /proc/stat */
	struct source_file stat, memory, vm, load;
	struct source_file pressure[3];
	struct frequency *frequencies;
	size_t frequency_count;
};

/* `root` is what stands in front of /proc and /sys; what is not there goes to `missing`, an open JSON object. */
void sample_system_make(struct sample_system *system, const char *root, struct json *missing);
/* One group each: they differ much in what they cost. */
void sample_system_add_processors(struct sample_system *system, struct sample_line *line);
void sample_system_add_memory(struct sample_system *system, struct sample_line *line);
void sample_system_add_swap(struct sample_system *system, struct sample_line *line);
void sample_system_add_pressure(struct sample_system *system, struct sample_line *line);
/* Some kernels interrupt each processor for it. */
void sample_system_add_frequencies(struct sample_system *system, struct sample_line *line);
void sample_system_free(struct sample_system *system);

struct disk {
	char name[64], prefix[80];
	bool whole;
};

struct temperature {
	struct source_file file;
	char name[96];
};

struct sample_devices {
	const char *root;
	struct source_file disks_file, networks_file;
	struct disk *disks; /* all that were seen, with what they are */
	size_t disk_count;
	struct temperature *temperatures;
	size_t temperature_count;
};

void sample_devices_make(struct sample_devices *devices, const char *root, struct json *missing);
void sample_devices_add_disks(struct sample_devices *devices, struct sample_line *line);
void sample_devices_add_networks(struct sample_devices *devices, struct sample_line *line);
/* A sensor behind a slow bus takes milliseconds. */
void sample_devices_add_temperatures(struct sample_devices *devices, struct sample_line *line);
void sample_devices_free(struct sample_devices *devices);

#endif
