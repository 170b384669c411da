/* Where the samples come from. Each group opens its files once and adds its values to a line. */
#ifndef STEND_SAMPLE_SOURCES_H
#define STEND_SAMPLE_SOURCES_H

#include "base/options.h"
#include "base/source_file.h"
#include "sample/output.h"
#include "wire/json.h"

/* Why something is not sampled, as a fact: a file that cannot be read, with what the system says of it, or places where there is nothing. */
void missing_file(struct json *missing, const char *name, const char *file, const char *said);
void missing_in(struct json *missing, const char *name, const char *one, const char *other);

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
	struct source_file *throttles; /* of each processor that counts them */
	size_t throttle_count;
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
void sample_system_add_throttles(struct sample_system *system, struct sample_line *line);
void sample_system_free(struct sample_system *system);

struct disk_set;

struct disk {
	char name[64], prefix[80];
	bool whole;
	bool empty; /* of no size when it had done so many operations */
	uint64_t operations;
	struct disk_set *set; /* whose sums it is part of; may be NULL */
};

/* Disks that are also summed under one name. */
struct disk_set {
	char name[64];
	size_t members; /* that were named */
	uint64_t columns[11];
	bool seen; /* in this reading */
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
	const struct option_pairs *named; /* disks of sets */
	struct disk_set *sets;
	size_t set_count;
	struct temperature *temperatures;
	size_t temperature_count;
};

/* Each pair names a set and a disk in it. */
void sample_devices_make(struct sample_devices *devices, const char *root, const struct option_pairs *sets,
                         struct json *missing);
void sample_devices_add_disks(struct sample_devices *devices, struct sample_line *line);
void sample_devices_add_networks(struct sample_devices *devices, struct sample_line *line);
/* A sensor behind a slow bus takes milliseconds. */
void sample_devices_add_temperatures(struct sample_devices *devices, struct sample_line *line);
void sample_devices_free(struct sample_devices *devices);

struct energy_sensor {
	struct source_file file;
	char name[128]; /* "energy.rapl.package-0", "power.ina226_power1" */
	bool is_power;  /* in microwatts; otherwise a counter of microjoules */
	uint64_t range; /* of a counter: the greatest value, behind which it begins anew; 0: not known */
	uint64_t last, total;
};

struct sample_energy {
	const char *root;
	struct energy_sensor *all;
	size_t count;
	char refused[128]; /* the last one that may not be read */
	int refusal; /* its errno */
};

void sample_energy_make(struct sample_energy *energy, const char *root, struct json *missing);
/* Some are read by a processor that has to be woken for it, some over a slow bus. */
void sample_energy_add_readings(struct sample_energy *energy, struct sample_line *line);
void sample_energy_free(struct sample_energy *energy);

/* A directory of a control group's, of either version, with the files there that count. */
struct control_group {
	char name[64];
	struct source_file usage, stat; /* cpuacct.usage and cpuacct.stat; version 1 */
	struct source_file cpu;         /* cpu.stat; CPU time in version 2 only, throttling in both */
	struct source_file memory;      /* memory.current, or memory.usage_in_bytes */
};

struct sample_groups {
	uint64_t tick_ns;
	struct control_group *all;
	size_t count;
};

/* Each pair names a group and one of its directories: in version 1 each hierarchy has one of its own. */
void sample_groups_make(struct sample_groups *groups, const char *root, const struct option_pairs *directories,
                        struct json *missing);
void sample_groups_add(struct sample_groups *groups, struct sample_line *line);
void sample_groups_free(struct sample_groups *groups);

struct seen_process {
	uint64_t id, parent;
	bool below; /* the guard, or below it */
};

/* The processes below a guard. */
struct sample_loader {
	const char *root;
	uint64_t tick_ns, page_bytes;
	struct source_file pid_file, forks;
	uint64_t forks_seen, searched_ns;
	char guard[24]; /* the guard's number; empty: none runs */
	struct source_file *stats; /* of the guard first */
	size_t count, capacity;
	struct seen_process *seen; /* all of the machine at the last search, by number */
	size_t seen_count;
};

/* `pid_file` holds the guard's number while it runs something; NULL: there is nothing to watch. */
void sample_loader_make(struct sample_loader *loader, const char *root, const char *pid_file);
void sample_loader_add(struct sample_loader *loader, struct sample_line *line);
void sample_loader_free(struct sample_loader *loader);

#endif
