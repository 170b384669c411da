/* Energy and power. Formats: Documentation/power/powercap/powercap.rst and Documentation/hwmon/sysfs-interface.rst of the kernel. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "sample/sources.h"

/* Unsigned microjoules or microwatts in a line of its own. */
static bool read_micro(struct source_file *file, uint64_t *value)
{
	const char *at;

	if (!source_file_read(file) || file->text[0] < '0' || file->text[0] > '9')
		return false;
	at = file->text;
	*value = take_number(&at);
	return true;
}

static bool read_name(const char *root, const char *path, char *name, size_t bytes)
{
	struct source_file file;
	bool read;

	source_file_make(&file, root, path);
	read = source_file_read(&file);
	if (read)
		metric_name(name, bytes, file.text, strcspn(file.text, "\n"));
	source_file_free(&file);
	return read && *name != '\0';
}

static bool is_known(const struct sample_energy *energy, const char *name)
{
	for (size_t i = 0; i < energy->count; i++)
		if (strcmp(energy->all[i].name, name) == 0)
			return true;
	return false;
}

/* What is there and cannot be read is said: counters of energy are root's, since 2020. */
static void add(struct sample_energy *energy, const char *path, const char *name, bool is_power, uint64_t range)
{
	struct energy_sensor sensor = { .is_power = is_power, .range = range };
	size_t room = sizeof sensor.name - sizeof "_99", length;

	source_file_make(&sensor.file, energy->root, path);
	if (!read_micro(&sensor.file, &sensor.last)) {
		int descriptor = open(sensor.file.path, O_RDONLY | O_CLOEXEC);

		if (descriptor >= 0)
			close(descriptor);
		else if (errno == EACCES || errno == EPERM) {
			energy->refusal = errno;
			snprintf(energy->refused, sizeof energy->refused, "%.120s", path);
		}
		source_file_free(&sensor.file);
		return;
	}
	sensor.total = sensor.last;
	snprintf(sensor.name, sizeof sensor.name, "%s.%.*s", is_power ? "power" : "energy", (int)room - 8, name);
	length = strlen(sensor.name);
	for (unsigned n = 2; is_known(energy, sensor.name) && n < 100; n++)
		snprintf(sensor.name + length, sizeof sensor.name - length, "_%u", n);
	struct energy_sensor *larger = realloc(energy->all, (energy->count + 1) * sizeof *energy->all);
	if (larger == NULL)
		fail(EXIT_BROKEN, "out of memory");
	energy->all = larger;
	energy->all[energy->count++] = sensor;
}

/* A zone such as intel-rapl:0, "package-0", or one within it such as intel-rapl:0:1, "dram". Processors of AMD have the same. */
static void find_zone(struct sample_energy *energy, const char *zone)
{
	char path[192], own[48], parent[48] = "", name[112];
	const char *within = strchr(zone, ':');
	struct source_file range;
	uint64_t most = 0;

	/* The same counters once more, by another way. */
	if (strstr(zone, "-mmio") != NULL)
		return;
	snprintf(path, sizeof path, "/sys/class/powercap/%.48s/name", zone);
	if (!read_name(energy->root, path, own, sizeof own))
		return;
	if (within != NULL && (within = strchr(within + 1, ':')) != NULL) {
		snprintf(path, sizeof path, "/sys/class/powercap/%.*s/name", (int)(within - zone), zone);
		read_name(energy->root, path, parent, sizeof parent);
	}
	snprintf(name, sizeof name, "rapl.%s%s%s", parent, *parent != '\0' ? "." : "", own);
	snprintf(path, sizeof path, "/sys/class/powercap/%.48s/max_energy_range_uj", zone);
	source_file_make(&range, energy->root, path);
	read_micro(&range, &most);
	source_file_free(&range);
	snprintf(path, sizeof path, "/sys/class/powercap/%.48s/energy_uj", zone);
	add(energy, path, name, false, most);
}

static void find_monitor(struct sample_energy *energy, const char *monitor)
{
	static const struct {
		const char *kind, *file;
		bool is_power;
	} kinds[] = { { "energy", "input", false }, { "power", "input", true }, { "power", "average", true } };
	char path[192], chip[48], label[48], name[112];

	snprintf(path, sizeof path, "/sys/class/hwmon/%.32s/name", monitor);
	if (!read_name(energy->root, path, chip, sizeof chip))
		snprintf(chip, sizeof chip, "%.32s", monitor);
	for (unsigned kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
		for (unsigned i = 1; i <= 64; i++) {
			/* An average only where there is no input. */
			snprintf(path, sizeof path, "%s/sys/class/hwmon/%.32s/power%u_input", energy->root, monitor, i);
			if (kind == 2 && access(path, F_OK) == 0)
				continue;
			snprintf(path, sizeof path, "/sys/class/hwmon/%.32s/%s%u_label", monitor, kinds[kind].kind, i);
			if (!read_name(energy->root, path, label, sizeof label))
				snprintf(label, sizeof label, "%s%u", kinds[kind].kind, i);
			snprintf(name, sizeof name, "%s_%s", chip, label);
			snprintf(path, sizeof path, "/sys/class/hwmon/%.32s/%s%u_%s", monitor, kinds[kind].kind, i, kinds[kind].file);
			add(energy, path, name, kinds[kind].is_power, 0);
		}
	}
}

static int by_name(const struct dirent **left, const struct dirent **right)
{
	/* Shorter first, so that a zone comes before those within it, and 10 after 2. */
	size_t a = strlen((*left)->d_name), b = strlen((*right)->d_name);

	return a != b ? (a > b) - (a < b) : strcmp((*left)->d_name, (*right)->d_name);
}

static void find_all(struct sample_energy *energy, const char *directory,
                     void (*find)(struct sample_energy *, const char *))
{
	struct dirent **entries;
	char path[512];

	snprintf(path, sizeof path, "%s%s", energy->root, directory);
	int count = scandir(path, &entries, NULL, by_name);
	for (int i = 0; i < count; i++) {
		if (entries[i]->d_name[0] != '.')
			find(energy, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

void sample_energy_make(struct sample_energy *energy, const char *root, struct json *missing)
{
	*energy = (struct sample_energy){ .root = root };
	find_all(energy, "/sys/class/powercap", find_zone);
	find_all(energy, "/sys/class/hwmon", find_monitor);
	if (*energy->refused != '\0')
		missing_file(missing, "energy", energy->refused, strerror(energy->refusal));
	else if (energy->count == 0)
		missing_in(missing, "energy", "/sys/class/powercap", "/sys/class/hwmon");
}

void sample_energy_add_readings(struct sample_energy *energy, struct sample_line *line)
{
	for (size_t i = 0; i < energy->count; i++) {
		struct energy_sensor *sensor = &energy->all[i];
		uint64_t value;

		if (!read_micro(&sensor->file, &value))
			continue;
		if (sensor->is_power) {
			sample_line_add_milli(line, sensor->name, "_watts", (int64_t)(value / 1000));
			continue;
		}
		/* A counter begins anew behind its range; at 200 W one of 2^32 µJ does so each 21 s. */
		if (value >= sensor->last)
			sensor->total += value - sensor->last;
		else if (sensor->range >= sensor->last)
			sensor->total += sensor->range - sensor->last + value;
		else
			sensor->total += value;
		sensor->last = value;
		sample_line_add_milli(line, sensor->name, "_joules_total", (int64_t)(sensor->total / 1000));
	}
}

void sample_energy_free(struct sample_energy *energy)
{
	for (size_t i = 0; i < energy->count; i++)
		source_file_free(&energy->all[i].file);
	free(energy->all);
}
