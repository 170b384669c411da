#!/bin/sh
# Puts generated tables into a document: what stands between the lines `<!-- FILE -->` and `<!-- /FILE -->` becomes that file, a path
# from the document's folder. Usage: set_tables.sh DOCUMENT
set -eu
new=$(mktemp)
trap 'rm -f "$new"' EXIT
awk -v folder="$(dirname "$1")" '
function die(why) { print "set_tables.sh: " why | "cat >&2"; failed = 1; exit 1 }
$0 == "<!-- /" file " -->" { file = "" }
!file { print }
/^<!-- [^\/ ][^ ]*\/[^ ]*\.md -->$/ {
	file = $2; lines = 0
	while ((getline line <(folder "/" file)) > 0) { print line; lines++ }
	if (!lines) die("there is no table in " folder "/" file)
}
END { if (file && !failed) die("a table has no end: " file) }' "$1" >"$new"
cat "$new" >"$1"
