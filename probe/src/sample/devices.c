/* Disks, networks and temperatures. Formats: Documentation/admin-guide/iostats.rst, proc(5),
 * Documentation/hwmon/sysfs-interface.rst of the kernel. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "sample/sources.h"

enum { SECTOR_BYTES = 512 }; /* in /proc/diskstats, whatever the disk has */

/* The first line of root + path. */
static bool read_line(const char *root, const char *path, char *line, size_t bytes)
{
	struct source_file file;
	bool read;

	source_file_make(&file, root, path);
	read = source_file_read(&file);
	if (read) {
		size_t length = strcspn(file.text, "\n");
		snprintf(line, bytes, "%.*s", (int)length, file.text);
	}
	source_file_free(&file);
	return read;
}

/* Names stay unique: a second "coretemp" becomes "coretemp_2". */
static void add_temperature(struct sample_devices *devices, const char *path, const char *name)
{
	struct temperature temperature;
	char plain[64];

	source_file_make(&temperature.file, devices->root, path);
	if (!source_file_read(&temperature.file)) {
		source_file_free(&temperature.file);
		return;
	}
	metric_name(plain, sizeof plain, name, strlen(name));
	for (unsigned n = 1;; n++) {
		bool taken = false;

		if (n == 1)
			snprintf(temperature.name, sizeof temperature.name, "thermal.%s", plain);
		else
			snprintf(temperature.name, sizeof temperature.name, "thermal.%s_%u", plain, n);
		for (size_t i = 0; i < devices->temperature_count; i++)
			taken |= strcmp(devices->temperatures[i].name, temperature.name) == 0;
		if (!taken)
			break;
	}
	struct temperature *larger =
		realloc(devices->temperatures, (devices->temperature_count + 1) * sizeof *devices->temperatures);
	if (larger == NULL)
		fail(EXIT_BROKEN, "out of memory");
	devices->temperatures = larger;
	devices->temperatures[devices->temperature_count++] = temperature;
}

static void find_hwmon(struct sample_devices *devices, const char *monitor)
{
	char path[192], chip[48], label[48], name[128];

	snprintf(path, sizeof path, "/sys/class/hwmon/%.32s/name", monitor);
	if (!read_line(devices->root, path, chip, sizeof chip))
		snprintf(chip, sizeof chip, "%.32s", monitor);
	for (unsigned i = 1; i <= 64; i++) {
		snprintf(path, sizeof path, "/sys/class/hwmon/%.32s/temp%u_label", monitor, i);
		if (!read_line(devices->root, path, label, sizeof label))
			snprintf(label, sizeof label, "temp%u", i);
		snprintf(name, sizeof name, "%s_%s", chip, label);
		snprintf(path, sizeof path, "/sys/class/hwmon/%.32s/temp%u_input", monitor, i);
		add_temperature(devices, path, name);
	}
}

static void find_zone(struct sample_devices *devices, const char *zone)
{
	char path[192], type[48];

	snprintf(path, sizeof path, "/sys/class/thermal/%.32s/type", zone);
	if (!read_line(devices->root, path, type, sizeof type))
		snprintf(type, sizeof type, "%.32s", zone);
	snprintf(path, sizeof path, "/sys/class/thermal/%.32s/temp", zone);
	add_temperature(devices, path, type);
}

static int by_name(const struct dirent **left, const struct dirent **right)
{
	/* Shorter first, so that zone 10 comes after zone 2. */
	size_t a = strlen((*left)->d_name), b = strlen((*right)->d_name);

	return a != b ? (a > b) - (a < b) : strcmp((*left)->d_name, (*right)->d_name);
}

static void find_all(struct sample_devices *devices, const char *directory, const char *prefix,
                     void (*find)(struct sample_devices *, const char *))
{
	struct dirent **entries;
	char path[512];

	snprintf(path, sizeof path, "%s%s", devices->root, directory);
	int count = scandir(path, &entries, NULL, by_name);
	for (int i = 0; i < count; i++) {
		if (strncmp(entries[i]->d_name, prefix, strlen(prefix)) == 0)
			find(devices, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static void make_sets(struct sample_devices *devices)
{
	for (size_t i = 0; i < devices->named->count; i++) {
		const struct option_pair *pair = &devices->named->all[i];
		struct disk_set *set = NULL;
		char name[sizeof set->name];

		metric_name(name, sizeof name, pair->name, pair->length);
		for (size_t known = 0; known < devices->set_count && set == NULL; known++)
			if (strcmp(devices->sets[known].name, name) == 0)
				set = &devices->sets[known];
		if (set == NULL) {
			struct disk_set *larger = realloc(devices->sets, (devices->set_count + 1) * sizeof *larger);
			if (larger == NULL)
				fail(EXIT_BROKEN, "out of memory");
			devices->sets = larger;
			set = &devices->sets[devices->set_count++];
			*set = (struct disk_set){ 0 };
			memcpy(set->name, name, sizeof name);
		}
		set->members++;
	}
}

void sample_devices_make(struct sample_devices *devices, const char *root, const struct option_pairs *sets,
                         struct json *missing)
{
	*devices = (struct sample_devices){ .root = root, .named = sets };
	make_sets(devices);
	source_file_make(&devices->disks_file, root, "/proc/diskstats");
	source_file_make(&devices->networks_file, root, "/proc/net/dev");
	if (!source_file_read(&devices->disks_file))
		missing_file(missing, "disk", "/proc/diskstats", "");
	if (!source_file_read(&devices->networks_file))
		missing_file(missing, "net", "/proc/net/dev", "");
	find_all(devices, "/sys/class/thermal", "thermal_zone", find_zone);
	find_all(devices, "/sys/class/hwmon", "hwmon", find_hwmon);
	if (devices->temperature_count == 0)
		missing_in(missing, "thermal", "/sys/class/thermal", "/sys/class/hwmon");
}

void sample_devices_free(struct sample_devices *devices)
{
	source_file_free(&devices->disks_file);
	source_file_free(&devices->networks_file);
	for (size_t i = 0; i < devices->temperature_count; i++)
		source_file_free(&devices->temperatures[i].file);
	free(devices->temperatures);
	free(devices->disks);
	free(devices->sets);
}

/* Its folder in /sys/block, where a slash in a name is written !. */
static void folder_of_disk(char *path, size_t bytes, const char *name)
{
	snprintf(path, bytes, "/sys/block/%s", name);
	for (char *at = path + strlen(path) - strlen(name); *at != '\0'; at++)
		if (*at == '/')
			*at = '!';
}

/* What has a folder of its own there is whole. */
static bool is_whole_disk(const struct sample_devices *devices, const char *name)
{
	char folder[128], path[512];

	if (strncmp(name, "ram", 3) == 0)
		return false;
	folder_of_disk(folder, sizeof folder, name);
	snprintf(path, sizeof path, "%s%s", devices->root, folder);
	return access(path, F_OK) == 0;
}

/* A loop or network block device that nothing is attached to, as distributions make many. Its size is asked again when it has done more
 * than when it was asked last. */
static bool is_empty_disk(const struct sample_devices *devices, struct disk *disk, uint64_t operations)
{
	char path[160], size[32];

	if (disk->empty && disk->operations == operations)
		return true;
	if (!disk->empty && disk->operations != UINT64_MAX)
		return false;
	folder_of_disk(path, sizeof path - sizeof "/size", disk->name);
	strcat(path, "/size");
	disk->empty = read_line(devices->root, path, size, sizeof size) && strcmp(size, "0") == 0;
	disk->operations = operations;
	return disk->empty;
}

static struct disk_set *set_of(struct sample_devices *devices, const char *disk)
{
	for (size_t i = 0; i < devices->named->count; i++) {
		const struct option_pair *pair = &devices->named->all[i];
		char name[sizeof devices->sets->name];

		if (strcmp(pair->value, disk) != 0)
			continue;
		metric_name(name, sizeof name, pair->name, pair->length);
		for (size_t n = 0; n < devices->set_count; n++)
			if (strcmp(devices->sets[n].name, name) == 0)
				return &devices->sets[n];
	}
	return NULL;
}

static struct disk *find_disk(struct sample_devices *devices, const char *name, size_t length, size_t guess)
{
	/* The order of the lines hardly ever changes. */
	for (size_t n = 0; n < devices->disk_count; n++) {
		struct disk *disk = &devices->disks[(guess + n) % devices->disk_count];
		if (strncmp(disk->name, name, length) == 0 && disk->name[length] == '\0')
			return disk;
	}
	struct disk *larger = realloc(devices->disks, (devices->disk_count + 1) * sizeof *devices->disks);
	if (larger == NULL)
		fail(EXIT_BROKEN, "out of memory");
	devices->disks = larger;
	struct disk *disk = &devices->disks[devices->disk_count++];
	char plain[64];
	snprintf(disk->name, sizeof disk->name, "%.*s", (int)length, name);
	metric_name(plain, sizeof plain, disk->name, strlen(disk->name));
	snprintf(disk->prefix, sizeof disk->prefix, "disk.%s", plain);
	disk->whole = is_whole_disk(devices, disk->name);
	disk->empty = false;
	disk->operations = UINT64_MAX; /* not asked yet */
	disk->set = set_of(devices, disk->name);
	return disk;
}

static void add_disk(struct sample_line *line, const char *prefix, const uint64_t *columns)
{
	sample_line_add(line, prefix, ".reads_total", columns[0]);
	sample_line_add(line, prefix, ".read_bytes_total", columns[2] * SECTOR_BYTES);
	sample_line_add(line, prefix, ".writes_total", columns[4]);
	sample_line_add(line, prefix, ".written_bytes_total", columns[6] * SECTOR_BYTES);
	sample_line_add(line, prefix, ".in_flight", columns[8]);
	sample_line_add(line, prefix, ".busy_ns_total", columns[9] * 1000000u);
	/* Time × operations in flight: its slope is the mean depth of the queue, also between two samples. */
	sample_line_add(line, prefix, ".queue_ns_total", columns[10] * 1000000u);
}

/* Of the time that the disks were busy, the mean: how much of a set is used, whatever its size. */
static void add_sets(struct sample_devices *devices, struct sample_line *line)
{
	for (size_t i = 0; i < devices->set_count; i++) {
		struct disk_set *set = &devices->sets[i];

		if (!set->seen)
			continue;
		set->columns[9] /= set->members;
		add_disk(line, set->name, set->columns);
		memset(set->columns, 0, sizeof set->columns);
		set->seen = false;
	}
}

/* major minor name reads merged sectors ms writes merged sectors ms in-flight busy-ms weighted-ms … */
void sample_devices_add_disks(struct sample_devices *devices, struct sample_line *line)
{
	size_t row = 0;

	if (!source_file_read(&devices->disks_file))
		return;
	for (const char *at = devices->disks_file.text; *at != '\0'; at = next_line(at), row++) {
		uint64_t columns[11];

		take_number(&at);
		take_number(&at);
		at = skip_spaces(at);
		size_t length = strcspn(at, " \t\n");
		if (length == 0 || length >= sizeof ((struct disk *)0)->name)
			continue;
		struct disk *disk = find_disk(devices, at, length, row);
		if (!disk->whole)
			continue;
		at += length;
		for (size_t i = 0; i < 11; i++)
			columns[i] = take_number(&at);
		if (disk->set != NULL) {
			for (size_t i = 0; i < 11; i++)
				disk->set->columns[i] += columns[i];
			disk->set->seen = true;
		}
		if (is_empty_disk(devices, disk, columns[0] + columns[4]))
			continue;
		/* Nor is one of interest that was never used. */
		if (strncmp(disk->name, "loop", 4) == 0 && columns[0] == 0 && columns[4] == 0)
			continue;
		add_disk(line, disk->prefix, columns);
	}
	add_sets(devices, line);
}

/* Two lines of headings, then "  eth0: bytes packets errs drop fifo frame compressed multicast bytes packets …" */
void sample_devices_add_networks(struct sample_devices *devices, struct sample_line *line)
{
	const char *at;

	if (!source_file_read(&devices->networks_file))
		return;
	for (at = next_line(next_line(devices->networks_file.text)); *at != '\0'; at = next_line(at)) {
		char plain[64], prefix[80];
		uint64_t columns[10];

		at = skip_spaces(at);
		/* The last colon: an alias has one in its name. */
		const char *end = at + strcspn(at, " \n"), *colon = end;
		while (colon > at && *colon != ':')
			colon--;
		if (colon == at)
			continue;
		metric_name(plain, sizeof plain, at, (size_t)(colon - at));
		snprintf(prefix, sizeof prefix, "net.%s", plain);
		at = colon + 1;
		for (size_t i = 0; i < 10; i++)
			columns[i] = take_number(&at);
		sample_line_add(line, prefix, ".received_bytes_total", columns[0]);
		sample_line_add(line, prefix, ".received_packets_total", columns[1]);
		sample_line_add(line, prefix, ".sent_bytes_total", columns[8]);
		sample_line_add(line, prefix, ".sent_packets_total", columns[9]);
	}
}

void sample_devices_add_temperatures(struct sample_devices *devices, struct sample_line *line)
{
	for (size_t i = 0; i < devices->temperature_count; i++) {
		struct temperature *temperature = &devices->temperatures[i];

		/* In thousandths of a degree, may be negative. A sensor that sleeps gives an error. */
		if (!source_file_read(&temperature->file))
			continue;
		const char *at = temperature->file.text;
		bool negative = *at == '-';
		at += negative;
		if (*at < '0' || *at > '9')
			continue;
		int64_t value = (int64_t)take_number(&at);
		sample_line_add_milli(line, temperature->name, "_celsius", negative ? -value : value);
	}
}
