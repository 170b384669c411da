#!/bin/sh
# Cycles a byte of the suite `ciphers`, from the CSV of a run of it. Usage: backends_table.sh RUN.csv
set -eu
awk '
NR > 1 {
    split($0, quoted, "\"")
    split(substr($0, length(quoted[2]) + 4), field, ",")
    if (field[1] != "cycles per byte" || field[11] == "") next
    printf "| %s | %.2f | ±%.1f %% |\n", quoted[2], field[11], 100 * field[16]
}
BEGIN { print "| scenario | cycles/B, median | spread |"; print "|---|---:|---:|" }' "$1"
