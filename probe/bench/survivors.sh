#!/bin/sh
# Which writers of Fizz Buzz survive which readers: every byte is looked at, and the table has the share of wrong ones, the
# median of the runs and, where they differ, from the least to the most.
# Usage: survivors.sh BUILD TABLE [RUNS [PROGRAM...]]
#   BUILD: of probe/, with stend-probe. Writes TABLE.csv and TABLE.md, and prints the latter.
#   PROGRAM: any command that prints Fizz Buzz to standard output gets rows too, and is ended when enough was read.
set -eu
build=$1
table=$2
runs=${3:-5}
if [ $# -gt 3 ]; then shift 3; else shift $#; fi
probe=$build/stend-probe
bytes=${SURVIVORS_BYTES:-200000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# tell NAME READER: what --verify has found.
tell() {
	wrong=$(sed -n 's/.*"work":{"bytes":\([0-9]*\).*"wrong_bytes":\([0-9]*\).*/\1 \2/p' "$work/lines")
	if [ "${wrong% *}" != "$bytes" ]; then
		echo "survivors.sh: $1 to $2: ${wrong:-nothing} instead of $bytes bytes: $(cat "$work/err")" >&2
		exit 1
	fi
	echo "$1|$2|${wrong#* }" >>"$work/results"
}

# row NAME COMMAND: through every reader.
row() {
	for reader in read cat splice-file read-enlarged splice-pipe tee pv; do
		case $reader in
		cat) between='| cat' end=read ;;
		pv)
			command -v pv >/dev/null || continue
			between='| pv -q' end=read ;;
		*) between='' end=$reader ;;
		esac
		run=0
		while [ $run -lt "$runs" ]; do
			run=$((run + 1))
			sh -c "$2 2>/dev/null $between | '$probe' fizzbuzz --verify --most $bytes --reader $end" \
				>"$work/lines" 2>"$work/err" || true
			tell "$1" $reader
		done
	done
}

: >"$work/results"
ours="'$probe' fizzbuzz --bytes $bytes"
row 'write()' "$ours --writer write"
row 'fresh memory (pipe-writer)' "$ours --writer fresh"
row 'ring that asks (pipe-writer)' "$ours --writer ring"
row 'one buffer, written again at once, pipe of 64 KiB' "$ours --writer one-buffer"
row 'two buffers in turn, pipe of 64 KiB' "$ours --writer two-buffers"
row 'two buffers in turn, pipe of 1 MiB' "$ours --writer two-buffers --pipe-size 1MiB"
row 'two buffers in turn, small pages, pipe of 64 KiB' "$ours --writer two-buffers --huge-pages no"
row 'two buffers in turn as gifts, pipe of 64 KiB' "$ours --writer two-buffers-gift"
row 'two buffers in turn as gifts, pipe of 1 MiB' "$ours --writer two-buffers-gift --pipe-size 1MiB"
for program in "$@"; do
	row "\`$program\`" "$program"
done

awk -F '|' -v all="$bytes" -v csv="$table.csv" '
{
	if (!($1 in known)) { known[$1] = 1; writers[++w] = $1 }
	if (!($2 in known)) { known[$2] = 1; readers[++r] = $2 }
	value[$1, $2, ++count[$1, $2]] = 100 * $3 / all
}
function cell(writer, reader,    n, i, j, t, list) {
	n = count[writer, reader]
	if (n == 0) return "–"
	for (i = 1; i <= n; i++) list[i] = value[writer, reader, i]
	for (i = 2; i <= n; i++) for (j = i; j > 1 && list[j] < list[j - 1]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
	t = n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
	printf "\"%s\",%s,%d,%.4f,%.4f,%.4f\n", writer, reader, n, t, list[1], list[n] >csv
	if (list[n] == 0) return "0"
	if (list[n] - list[1] < 1) return sprintf("**%.0f %%**", t)
	return sprintf("**%.0f %%** (%.0f to %.0f)", t, list[1], list[n])
}
END {
	print "writer,reader,runs,median wrong %,least,most" >csv
	line = "| writer |"; rule = "|---|"
	for (j = 1; j <= r; j++) { line = line " " readers[j] " |"; rule = rule "---|" }
	print line "\n" rule
	for (i = 1; i <= w; i++) {
		line = "| " writers[i] " |"
		for (j = 1; j <= r; j++) line = line " " cell(writers[i], readers[j]) " |"
		print line
	}
}' "$work/results" >"$table.md"
cat "$table.md"
