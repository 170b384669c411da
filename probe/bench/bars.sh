#!/bin/sh
# All bars of pipes, Morse code and Fizz Buzz in one run, other people's programs beside: for each its target, the median of
# the rounds, their spread (median absolute deviation), and whether it is met. What is compared is measured in turns, within
# a round, on one core; speeds are by processor time.
# Usage: bars.sh BUILD PEERS TABLE [ROUNDS]
#   BUILD: with stend-probe, pipe-writer/bench/bench, morse/bench/memory, morse/bin/morse. PEERS: release/stend-peer-morse and bin/ripmors.
#   Writes TABLE.csv and TABLE.md, and prints the latter.
set -eu
build=$1
peers=$2
table=$3
rounds=${4:-15}
probe=$build/stend-probe
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
core=$(awk '/^Cpus_allowed_list:/ { sub(/[-,].*/, "", $2); print $2 }' /proc/self/status)
# The same one if there is no other.
other_core=$(awk '/^Cpus_allowed_list:/ { sub(/.*[-,]/, "", $2); print $2 }' /proc/self/status)
samples=$work/samples

die() {
	echo "bars.sh: $*" >&2
	exit 1
}

# field NAME: a number from the events on standard input.
field() { sed -n "s/.*\"$1\":\\([0-9][0-9]*\\).*/\\1/p" | head -n 1; }

# sample NAME A B [C D]: A / B, or that as a part of C / D.
sample() {
	awk -v name="$1" -v a="$2" -v b="$3" -v c="${4:-1}" -v d="${5:-1}" '
		BEGIN { if (a <= 0 || b <= 0 || c <= 0 || d <= 0) exit 1; printf "%s %.6g\n", name, a / b / (c / d) }' >>"$samples" ||
		die "$1: nothing was measured"
}

# The pipe writer: its own bench, a round at a time, so that each ratio is one of the same moment.
pipe_writer() {
	"$build/pipe-writer/bench/bench" --rounds 1 --cores one >"$work/pipes"
	rate() { sed -n "s/^$1 *-> $2 *\\([0-9.]*\\) .*/\\1/p" "$work/pipes"; }
	for reader in read splice; do
		plain=$(rate 'write() 64K, pipe 64K' $reader)
		sample "fresh $reader" "$(rate 'writer, fresh' $reader)" "$plain"
		sample "ring $reader" "$(rate 'writer, ring' $reader)" "$plain"
		bare=$(rate 'vmsplice() and nothing else' $reader)
		sample "bare $reader" "$bare" "$plain"
		sample "ring share $reader" "$(rate 'writer, ring' $reader)" "$bare"
	done
	sample fallback "$(rate 'writer, write 64K, pipe 64K' read)" "$(rate 'write() 64K, pipe 64K' read)"
}

# filter SOURCE_CORE INPUT COMMAND: the input eight times through a filter, and who reads from it. Sets bytes and ns, the time of
# both. Where the source runs matters: from another core its bytes come through other caches, and each full pipe that is read
# wakes that core.
filter() {
	mkfifo "$work/fifo"
	taskset -c "$1" cat "$2" "$2" "$2" "$2" "$2" "$2" "$2" "$2" >"$work/fifo" &
	"$probe" guard -- taskset -c "$core" sh -c "$3 <'$work/fifo' | cat >/dev/null" </dev/null >"$work/usage" || die "it failed: $3"
	wait $!
	rm "$work/fifo"
	bytes=$(($(wc -c <"$2") * 8))
	ns=$(($(field user_ns <"$work/usage") + $(field system_ns <"$work/usage")))
}

# ratio NAME INPUT OURS THEIRS: all on one core; and, where there is another, with the source on that.
ratio() {
	filter "$core" "$2" "$4"
	sample "$1, peer" "$bytes" "$ns"
	their_ns=$ns
	filter "$core" "$2" "$3"
	sample "$1" "$bytes" "$ns"
	sample "$1, ratio" "$their_ns" "$ns"
	[ "$other_core" != "$core" ] || return 0
	filter "$other_core" "$2" "$4"
	their_ns=$ns
	filter "$other_core" "$2" "$3"
	sample "$1, source apart" "$their_ns" "$ns"
}

# stream FILL READER: Fizz Buzz or less through a ring, both ends on one core. Sets bytes, ns of both ends, reader_ns.
stream() {
	"$probe" pipe --writer vmsplice-ring --fill "$1" --reader "$2" --chunk 256KiB --pipe-size 512KiB --huge-pages yes \
		--cores same --seconds 0.2 >"$work/stream"
	grep -q '"check":"passed"' "$work/stream" || die "stream, $1 to $2: $(cat "$work/stream")"
	bytes=$(field bytes <"$work/stream")
	ns=$(field cpu_ns <"$work/stream")
	reader_ns=$(field reader_cpu_ns <"$work/stream")
	sample "$1 $2" "$bytes" "$ns"
}

fizz_buzz() {
	for reader in splice-null read; do
		stream flat $reader
		flat_bytes=$bytes
		flat_ns=$ns
		flat_reader_ns=$reader_ns
		stream fizz-buzz $reader
		sample "share $reader" "$bytes" "$ns" "$flat_bytes" "$flat_ns"
	done
	taskset -c "$core" sh -c "'$probe' fizzbuzz --bytes 2GB --writer two-buffers --pipe-size 512KiB |
		'$probe' fizzbuzz --verify --bytes 2GB" >"$work/verify" || die "fizzbuzz --verify: $(cat "$work/verify")"
	bytes=$(field bytes <"$work/verify")
	ns=$(field cpu_ns <"$work/verify")
	sample verify "$bytes" "$ns"
	sample 'read alone' "$flat_bytes" "$flat_reader_ns"
	sample 'share verify' "$bytes" "$ns" "$flat_bytes" "$flat_reader_ns"
}

# Words of all lengths, lines of about 70; the same each time.
awk 'BEGIN {
	count = split("the of and to in a is that for it as was with be by on not he his but at are this have an had they you were " \
		"their one all we can her has there been if more when will would who so no source licence notice conditions software " \
		"warranty distribution permission particular purpose provided copyright", word, " ")
	state = 7
	for (bytes = 0; bytes < 16000000; bytes += length(line) + 1) {
		for (line = ""; length(line) < 62;) {
			state = (state * 69069 + 1) % 4294967296
			line = line (line == "" ? "" : " ") word[int(state / 65536) % count + 1] (int(state / 256) % 9 == 0 ? "," : "")
		}
		print line "."
	}
}' >"$work/text"
ours=$build/morse/bin/morse
theirs=$peers/bin/ripmors
"$ours" encode "$work/text" >"$work/code"
if [ -x "$theirs" ]; then
	"$theirs" -e ascii <"$work/text" | cmp - "$work/code" || die 'ripmors encodes otherwise'
	"$theirs" -d standard <"$work/code" >"$work/theirs"
	"$ours" decode "$work/code" | cmp - "$work/theirs" || die 'ripmors decodes otherwise'
	rm "$work/theirs"
fi

: >"$samples"
round=0
while [ $round -lt "$rounds" ]; do
	round=$((round + 1))
	echo "bars: round $round of $rounds" >&2
	pipe_writer
	if [ -x "$theirs" ]; then
		ratio encoding "$work/text" "'$ours' encode" "'$theirs' -e ascii"
		ratio decoding "$work/code" "'$ours' decode" "'$theirs' -d standard"
	fi
	fizz_buzz
done
# Half as many: its rounds are many short ones, and the peer takes long.
set -- -j -r $(((rounds + 1) / 2))
[ ! -x "$peers/release/stend-peer-morse" ] || set -- "$@" -p "$peers/release/stend-peer-morse"
"$build/morse/bench/memory" "$@" >"$work/morse"

# A line for each bar: what, unit, target, by which samples; after | what also meets it, and after || what stands beside: two speeds
# and a ratio.
# Of the Morse coder in memory the medians are its bench's own, of texts of 16 KiB and of their code.
cat >"$work/bars" <<'BARS'
pipe writer, fresh to read, as write()|x|3|fresh read
pipe writer, fresh to splice, as write()|x|3|fresh splice
pipe writer, ring to read, as write()|x|4.5|ring read|ring share read|bare read
pipe writer, ring to splice, as write()|x|4.5|ring splice|ring share splice|bare splice
pipe writer, fallback, as write()|x|0.97|fallback
Morse, encoding in memory, text in|GB/s|10|@English, lines of 70:encode:
Morse, decoding in memory, code in|GB/s|12|@English, lines of 70:decode:
Morse, Russian, encoding in memory, text in|GB/s|5|@Russian, lines of 70:encode:
Morse, Russian, decoding in memory, code in|GB/s|5|@Russian, lines of 70:decode:
Morse, portable, encoding in memory, text in|GB/s|2|@English, lines of 70:encode:portable
Morse, portable, decoding in memory, code in|GB/s|2|@English, lines of 70:decode:portable
Morse, encoding through pipes, as ripmors|x|3.5|encoding, ratio|||encoding|encoding, peer|encoding, source apart
Morse, decoding through pipes, as ripmors|x|8|decoding, ratio|||decoding|decoding, peer|decoding, source apart
Fizz Buzz into read()|GB/s|25|fizz-buzz read|share read|flat read
Fizz Buzz into splice()|GB/s|35|fizz-buzz splice-null|share splice-null|flat splice-null
Fizz Buzz checked behind read()|GB/s|20|verify|share verify|read alone
BARS

awk -v csv="$table.csv" '
function median(list, n,    i, j, t) { # sorts
	for (i = 2; i <= n; i++) for (j = i; j > 1 && list[j] < list[j - 1]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
	return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}
function of(name,    i, n, list, away) { # sets middle, spread, least, most, number
	n = count[name]; number = n
	if (n == 0) return 0
	for (i = 1; i <= n; i++) list[i] = value[name, i]
	middle = median(list, n); least = list[1]; most = list[n]
	for (i = 1; i <= n; i++) away[i] = value[name, i] > middle ? value[name, i] - middle : middle - value[name, i]
	spread = median(away, n) / middle
	return 1
}
function member(line, name,    text) {
	if (!match(line, "\"" name "\":\"?[^\",}]*(, lines of 70)?")) return ""
	text = substr(line, RSTART, RLENGTH); sub(/^"[a-z_]*":"?/, "", text)
	return text
}
# The fastest backend through the coders, or the one that is named.
function coder(which,    part) {
	split(which, part, ":")
	number = 0; middle = 0
	for (i = 1; i <= lines; i++) {
		if (member(morse[i], "corpus") != part[1] || member(morse[i], "direction") != part[2]) continue
		if (member(morse[i], "bytes") > 60000) continue
		if (morse[i] ~ /"coder":"ripmors"/) { beside = sprintf("ripmors %.2f", member(morse[i], "median_bytes_per_cpu_second") / 1e9); continue }
		if (morse[i] ~ /, alone"/ || (part[3] != "" && member(morse[i], "coder") != part[3])) continue
		if (member(morse[i], "median_bytes_per_cpu_second") / 1e9 <= middle) continue
		middle = member(morse[i], "median_bytes_per_cpu_second") / 1e9
		spread = member(morse[i], "median_absolute_deviation")
		most = member(morse[i], "best_bytes_per_cpu_second") / 1e9; least = ""; number = member(morse[i], "rounds")
	}
	return number > 0
}
FILENAME ~ /samples$/ { name = $0; sub(/ [^ ]*$/, "", name); value[name, ++count[name]] = $NF + 0; next }
FILENAME ~ /morse$/ { morse[++lines] = $0; next }
FNR == 1 {
	print "| bar | target | measured | spread | met | share of the ceiling | beside |"
	print "|---|---:|---:|---:|---|---:|---|"
	print "bar,unit,target,median,spread,least,most,rounds,met,share of ceiling,ceiling,beside" >csv
}
{
	split($0, part, "|")
	unit = part[2] == "x" ? "×" : part[2]
	beside = share = ceiling = ""
	if (!(part[4] ~ /^@/ ? coder(substr(part[4], 2)) : of(part[4]))) {
		printf "| %s | %s %s | not measured | | | | |\n", part[1], part[3], unit
		printf "\"%s\",%s,%s,,,,,0,,,,\n", part[1], part[2], part[3] >csv
		next
	}
	m = middle; s = spread; lo = least; hi = most; n = number
	if (part[5] != "") { of(part[5]); share = middle; of(part[6]); ceiling = middle }
	if (part[7] != "") { of(part[7]); beside = sprintf("%.2f", middle); of(part[8]); beside = beside sprintf(" and %.2f GB/s in", middle) }
	if (part[9] != "" && of(part[9])) beside = beside sprintf("; source on another core: %.3g ×", middle)
	met = m >= part[3] ? "yes" : share >= 0.9 ? "by the ceiling" : "no"
	printf "| %s | %s %s | %.3g %s | ±%.1f %% | %s | %s | %s |\n", part[1], part[3], unit, m, unit, 100 * s, met, \
		share == "" ? "" : sprintf("%.0f %% of %.1f", 100 * share, ceiling), beside
	printf "\"%s\",%s,%s,%.6g,%.4f,%s,%.6g,%d,%s,%s,%s,\"%s\"\n", part[1], part[2], part[3], m, s, lo, hi, n, met, share, ceiling, beside >csv
}' "$samples" "$work/morse" "$work/bars" >"$table.md"
cat "$table.md"
