#!/bin/sh
# The tables of docs/design/pipes.md from the CSV of a run of the suite `pipes`.
# Usage: suite_tables.sh RUN.csv, as `stend compare RUN --format csv` prints it. Writes beside it, for RUN.csv,
#   RUN-copies.md, copies, loads and stores by size; RUN-pairs.md, every writer with every reader; RUN-streams.md, the rest.
set -eu
awk -v base="${1%.csv}" '
# The scenario stands in quotes if it has commas.
NR > 1 {
	if (substr($0, 1, 1) == "\"") { split($0, quoted, "\""); name = quoted[2]; rest = substr($0, length(name) + 4) }
	else { name = $0; sub(/,.*/, "", name); rest = substr($0, length(name) + 2) }
	split(rest, field, ",")
	if (field[5] == "column" || field[11] == "" || field[6] != "run") next
	if (!(name in known)) { known[name] = 1; names[++count] = name }
	median[name, field[1]] = field[11]; spread[name, field[1]] = field[16]
}
function giga(name, metric) { return (name, metric) in median ? sprintf("%.3g", median[name, metric] / 1e9) : "–" }
function once(list, n, what) { for (i = 1; i <= n; i++) if (list[i] == what) return n; list[n + 1] = what; return n + 1 }
function share(name, ceiling) { return median[ceiling, cpu] > 0 ? sprintf("%.0f %%", 100 * median[name, cpu] / median[ceiling, cpu]) : "–" }
function head(first, column, columns,    line, rule, j) {
	line = "| " first " |"; rule = "|---|"
	for (j = 1; j <= columns; j++) { line = line " " column[j] " |"; rule = rule "---:|" }
	print line "\n" rule >out
}
END {
	cpu = "throughput per CPU-second"; wall = "throughput"
	first = "ceiling, copy in the first cache"; ram = "ceiling, copy in RAM"
	for (k = 1; k <= count; k++) {
		name = names[k]
		if (name ~ /^(copy|load only|store only), /) {
			split(name, part, ", ")
			rows = once(row, rows, part[1] ", " part[2]); sizes = once(size, sizes, part[3])
		} else if (name ~ /^[a-z-]+ to [a-z-]+$/) {
			split(name, part, " to ")
			writers = once(writer, writers, part[1]); readers = once(reader, readers, part[2])
		} else if (name !~ /^ceiling/) others[++other] = name
	}
	out = base "-copies.md"
	head("GB/s", size, sizes)
	for (k = 1; k <= rows; k++) {
		line = "| " row[k] " |"
		for (j = 1; j <= sizes; j++) line = line " " giga(row[k] ", " size[j], wall) " |"
		print line >out
	}
	out = base "-pairs.md"
	head("GB/CPU-s, both ends", reader, readers)
	for (k = 1; k <= writers; k++) {
		line = "| " writer[k] " |"
		for (j = 1; j <= readers; j++) {
			name = writer[k] " to " reader[j]
			line = line (giga(name, cpu) == "–" ? " – |" : sprintf(" %s ±%.0f %% (%s) |", giga(name, cpu), 100 * spread[name, cpu], share(name, ram)))
		}
		print line >out
	}
	out = base "-streams.md"
	print "| | GB/CPU-s, both ends | spread | GB/s | sleeps a chunk | of a copy in the first cache | of a copy in RAM |" >out
	print "|---|---:|---:|---:|---:|---:|---:|" >out
	for (k = 1; k <= other; k++) {
		name = others[k]; sleeps = (name, "sleeps per chunk") in median ? sprintf("%.3g", median[name, "sleeps per chunk"]) : ""
		printf "| %s | %s | ±%.1f %% | %s | %s | %s | %s |\n", name, giga(name, cpu), 100 * spread[name, cpu], giga(name, wall), sleeps, \
			share(name, first), share(name, ram) >out
	}
}' "$1"
