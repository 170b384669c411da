#!/bin/sh
# The bars of the storage stand, a short form of each: fio under stend as fast as fio alone, the rig of the articles made, loaded and taken
# down with nothing left, and how long that takes.
# Usage: storage.sh STEND PROBE TABLE [PAIRS [SCALE]] <FOUND
#   STEND, PROBE: the programs. FOUND: what `cargo bench --bench storage` printed, if anything. Writes TABLE-bars.csv, TABLE-bars.md, TABLE-vostok.csv and TABLE-vostok.md, and prints the bars.
#   PAIRS of each target, an even number; each is fio under stend and fio alone, and the next one is the other way round.
#   SCALE of vostok-2021's 2400 seconds a repeat. What needs root, btrfs or nbdkit is left out by name where they are not.
set -eu
stend=$1
probe=$2
table=$3
pairs=${4:-12}
scale=${5:-0.0025}
here=$(cd "$(dirname "$0")" && pwd)
pool=$here/../../../targets/vostok-small.toml
work=$(mktemp -d)
memory=
export STEND_STORE="$work/store" STEND_WORK="$work/work" STEND_PROBE="$probe" NO_COLOR=1
target=

end() {
	[ -z "$target" ] || "$stend" rig down --name "$target" >&2 || true
	rm -rf "$work" ${memory:+"$memory"}
}
trap end EXIT
trap 'exit 130' INT TERM

die() {
	echo "storage.sh: $*" >&2
	exit 1
}

seconds_since() { # START
	awk -v start="$1" -v now="$(date +%s.%N)" 'BEGIN { printf "%.3f", now - start }'
}

# Both print operations a second, and nanoseconds of processor time for each. Of the newest run's only repeat, whatever the gates say: fio
# alone is judged by none.
under_stend() { # JOB
	"$stend" run --fio "$1" --repeats 1 --even-if-unfit --quiet >"$work/out" 2>&1 || [ $? -eq 3 ] || die "$(cat "$work/out")"
	"$stend" show last --json | jq -er '.run.repeats | last.report | select(.check == "passed")
		| "\(.work.operations / .wall_ns * 1e9)|\(.cpu_ns / .work.operations)"' || die "$1 under stend: $(cat "$work/out")"
}

# The same by fio's own report: version 3 of its lines, where 6 is KiB and 9 milliseconds of reading, 88 and 89 the processor time in user
# mode and in the kernel, in percent of all jobs' time.
alone() { # JOB
	(cd "$work" && fio --output-format=terse --terse-version=3 "$1") >"$work/out" 2>&1 || die "$1 alone: $(cat "$work/out")"
	awk -F ';' -v jobs="$(grep -c '^\[.*[0-9a-z]\]' "$1")" '$1 == 3 { operations = $6 / 4; wall = $9; share = $88 + $89 }
		END {
			if (!operations || !wall || !share) exit 1
			printf "%.1f|%.3f\n", operations / wall * 1e3, share / 100 * wall * 1e6 * (jobs - 1) / operations
		}' "$work/out" || die "$1 alone: $(cat "$work/out")"
}

# pair NAME JOB: ratios to $work/ratios, a line a pair. Both go once before, unmeasured.
pair() {
	under_stend "$2" >/dev/null
	alone "$2" >/dev/null
	pair=0
	while [ $pair -lt "$pairs" ]; do
		pair=$((pair + 1))
		echo "storage: fio under stend and alone, $1, pair $pair of $pairs" >&2
		if [ $((pair % 2)) -eq 1 ]; then
			with=$(under_stend "$2")
			without=$(alone "$2")
		else
			without=$(alone "$2")
			with=$(under_stend "$2")
		fi
		echo "$1|$with|$without" >>"$work/pairs"
	done
}

job() { # FILE SECTIONS...: a job that takes two seconds and a half, of 4 KiB at random
	file=$1
	shift
	{
		printf '[global]\nthread=1\ngroup_reporting=1\nrw=randread\nbs=4k\niodepth=32\nramp_time=500ms\nruntime=2s\ntime_based=1\nsize=100m\n'
		printf '%s\n' "$@"
	} >"$work/$file"
}

# left NAME: what there is of targets and of this directory, of all kinds that targets are made of.
left() {
	losetup --list --noheadings --output BACK-FILE | grep -F "$work" || true
	grep -F "$work" /proc/mounts || true
	find /sys/fs/cgroup -maxdepth 2 -type d -name "stend-$1-*"
	pgrep -a nbdkit | grep -F "$work" || true
	find "$STEND_WORK" -mindepth 1 ! -name '*.lock' ! -name targets 2>/dev/null || true
}

: >"$work/pairs"
if [ -t 0 ]; then : >"$work/found"; else cat >"$work/found"; fi
for program in fio jq; do command -v $program >/dev/null || die "there is no $program here: apt-get install $program"; done

# In memory: a disk that is shared with others may differ from itself by a factor of seventy, and stend is to be seen, not they.
memory=$(mktemp -d -p /dev/shm)
fio --name=layout --filename="$memory/lun" --rw=write --bs=1m --size=100m --refill_buffers=1 >/dev/null
job file.fio '[load]' ioengine=libaio "filename=$memory/lun"
fio --parse-only "$work/file.fio" >/dev/null 2>&1 || die 'fio does not take the job'
pair 'a file in memory' "$work/file.fio"
job null.fio '[load]' ioengine=null
pair 'null engine' "$work/null.fio"

if [ "$(id -u)" -eq 0 ] && grep -qw btrfs /proc/filesystems && command -v mkfs.btrfs nbdkit >/dev/null; then
	round=0
	while [ $round -lt 5 ]; do
		round=$((round + 1))
		echo "storage: target up and down, round $round of 5" >&2
		target=bench
		start=$(date +%s.%N)
		"$stend" rig up --name bench --target "$pool" --quiet >"$work/up"
		echo "making the target|$(seconds_since "$start")" >>"$work/found"
		if [ $round -eq 1 ]; then
			# Each LUN is a section: its address is an NBD URI.
			set --
			number=0
			grep -o 'nbd+unix:[^" ]*' "$work/up" >"$work/uris" || true
			while read -r uri; do
				number=$((number + 1))
				set -- "$@" "[lun$number]" ioengine=nbd "uri=$uri"
			done <"$work/uris"
			[ $number -gt 0 ] || die "the target says no address: $(cat "$work/up")"
			job pool.fio "$@"
			pair 'a pool' "$work/pool.fio"
		fi
		start=$(date +%s.%N)
		"$stend" rig down --name bench --quiet >/dev/null
		target=
		echo "taking the target down|$(seconds_since "$start")" >>"$work/found"
		left bench >"$work/left"
		echo "things left of the target|$(wc -l <"$work/left")" >>"$work/found"
	done
	echo "storage: vostok-2021 at scale $scale on the pool" >&2
	start=$(date +%s.%N)
	"$stend" run vostok-2021 --scale "$scale" --repeats 6 --time-budget 5min --set log_avg_msec=500 --target "$pool" --even-if-unfit --no-progress >&2 ||
		[ $? -eq 3 ] || die 'vostok-2021 on a pool'
	echo "vostok-2021 on the pool, 6 repeats|$(seconds_since "$start")" >>"$work/found"
	left "$("$stend" list --json | jq -r '.runs[0].id')" >"$work/left"
	echo "things left of the run|$(wc -l <"$work/left")" >>"$work/found"
	"$stend" compare last --format csv >"$table-vostok.csv"
	"$stend" compare last --format markdown >"$table-vostok.md"
else
	echo 'storage: the pool is left out: it takes root, btrfs in the kernel, mkfs.btrfs and nbdkit' >&2
fi

# What, unit, and between what the median is to be.
cat >"$work/bars" <<'BARS'
fio under stend as fio alone, a file in memory|x|0.98|1.02
fio under stend as fio alone, a file in memory, processor time|x||
fio under stend as fio alone, null engine|x|0.98|1.02
fio under stend as fio alone, null engine, processor time|x||
fio under stend as fio alone, a pool|x|0.98|1.02
fio under stend as fio alone, a pool, processor time|x||
making the target|s||
taking the target down|s||
things left of the target||0|0
vostok-2021 on the pool, 6 repeats|s|0|600
things left of the run||0|0
an hour of 8 LUNs, in the store|MB|0|20
an hour of 8 LUNs, its report|s|0|2
BARS
awk -F '|' -v csv="$table-bars.csv" '
function sort(list, n,    i, j, t) {
	for (i = 2; i <= n; i++) for (j = i; j > 1 && list[j] < list[j - 1]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
}
# How many of the smallest and of the largest lie outside of an interval that holds the median in at least 95 of 100 cases; -1: none does.
function outside(n,    k, i, sum, term) {
	term = 1; sum = 0
	for (i = 0; i < n; i++) term /= 2
	for (k = 0; k < n / 2; k++) {
		sum += 2 * term
		if (sum > 0.05) return k - 1
		term *= (n - k) / (k + 1)
	}
	return k - 1
}
FILENAME ~ /pairs$/ {
	name = "fio under stend as fio alone, " $1
	value[name, ++count[name]] = $2 / $4
	value[name ", processor time", count[name ", processor time"] = count[name]] = $3 / $5
	next
}
FILENAME ~ /found$/ { value[$1, ++count[$1]] = $2 + 0; next }
FNR == 1 {
	print "| what | to be | measured | interval of 95 % | of | met |"
	print "|---|---:|---:|---:|---:|---|"
	print "what,unit,least,most,median,interval low,interval high,minimum,maximum,number,met" >csv
}
{
	n = count[$1]
	unit = $2 == "x" ? " ×" : $2 == "" ? "" : " " $2
	bar = $3 == "" ? "" : $3 == $4 ? $3 : $3 == 0 ? "below " $4 unit : $3 " … " $4
	if (!n) { printf "| %s | %s | not measured | | | |\n", $1, bar; printf "\"%s\",%s,%s,%s,,,,,,0,\n", $1, $2, $3, $4 >csv; next }
	for (i = 1; i <= n; i++) list[i] = value[$1, i]
	sort(list, n)
	middle = n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
	k = outside(n)
	low = high = interval = ""
	if (k >= 0) { low = list[1 + k]; high = list[n - k]; interval = sprintf("%.3f … %.3f", low, high) }
	# Where the interval reaches into the bar, no miss is shown: a machine that varies by more than the bar is wide says nothing.
	met = $3 == "" ? "" : middle >= $3 && middle <= $4 ? "yes" : k >= 0 && low <= $4 && high >= $3 ? "unresolved" : "no"
	printf "| %s | %s | %s%s | %s | %d | %s |\n", $1, bar, sprintf(unit == "" ? "%g" : "%.3f", middle), unit, interval, n, met
	printf "\"%s\",%s,%s,%s,%.6g,%s,%s,%.6g,%.6g,%d,%s\n", $1, $2, $3, $4, middle, low, high, list[1], list[n], n, met >csv
	if (met == "no") missed++
}
END { exit missed > 0 }' "$work/pairs" "$work/found" "$work/bars" >"$table-bars.md" || missed=yes
cat "$table-bars.md"
[ -z "${missed:-}" ] || die 'a bar is not met'
