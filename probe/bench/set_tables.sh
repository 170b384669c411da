#!/bin/sh
# Puts generated tables into a document: what stands between the lines `<!-- data/NAME -->` and `<!-- /data/NAME -->` becomes
# the file data/NAME beside it, if there is one. Usage: set_tables.sh DOCUMENT
set -eu
new=$(mktemp)
trap 'rm -f "$new"' EXIT
awk -v folder="$(dirname "$1")" '
/^<!-- \/data\/.* -->$/ { kept = 0; inside = 0 }
!inside || kept { print }
/^<!-- data\/.* -->$/ {
	file = folder "/" $2; inside = 1; kept = 1
	while ((getline line <file) > 0) { print line; kept = 0 }
}
END { if (inside) { print "set_tables.sh: a table has no end" | "cat >&2"; exit 1 } }' "$1" >"$new"
cat "$new" >"$1"
