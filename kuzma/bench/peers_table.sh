#!/bin/sh
# The table of docs/inside.md from the CSV of a run of peers.toml. Usage: peers_table.sh RUN.csv
# Throughput in MB (10^6 bytes) per second of processor time; after it the spread, the median absolute deviation.
set -eu
clock=$("$(dirname "$0")/../../target/native/gcc/stend-probe" info | sed -n 's/.*"hz": *\([0-9.]*\).*/\1/p' | head -n 1)
awk -v clock="$clock" '
NR > 1 {
    split($0, quoted, "\"")
    parts = split(quoted[2], words, ", ")
    if (parts != 3) next
    split(substr($0, length(quoted[2]) + 4), field, ",")
    row = words[2] " " words[3]
    if (!(row in seen)) { seen[row] = 1; rows[++count] = row }
    value[row, words[1]] = field[11]
    spread[row, words[1]] = field[16]
}
function cell(row, name) {
    if (value[row, name] == "") return "–"
    return sprintf("%.0f ±%.1f %%", value[row, name] / 1e6, 100 * spread[row, name])
}
# Of CTR-ACPKM there may be no peer: GOST engine and GnuTLS need not be here.
function ratio(a, b, digits) { return b + 0 > 0 ? sprintf("%.*f", digits, a / b) : "–" }
function larger(a, b) { return a + 0 > b + 0 ? a + 0 : b + 0 }
END {
    print "| | kuzma, gcc | cycles/B | kuzma, clang | cycles/B | kuzma in RustCrypto modes | RustCrypto | GOST engine | GnuTLS | kuzma ÷ best peer |"
    print "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for (i = 1; i <= count; i++) {
        row = rows[i]
        ours = value[row, "kuzma (gcc)"]; clang = value[row, "kuzma (clang)"]
        peer = larger(larger(value[row, "rustcrypto"], value[row, "gost-engine"]), value[row, "gnutls"])
        name = row
        sub(/-decrypt/, ", decryption", name)
        printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", name, cell(row, "kuzma (gcc)"), ratio(clock, ours, 2),
            cell(row, "kuzma (clang)"), ratio(clock, clang, 2), cell(row, "kuzma-rustcrypto"), cell(row, "rustcrypto"),
            cell(row, "gost-engine"), cell(row, "gnutls"), ratio(larger(ours, clang), peer, 1)
    }
}' "$1"
