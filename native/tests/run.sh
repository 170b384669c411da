#!/bin/sh
# Runs every test program and script; then names those that failed; the last line is the sum: "N passed, N failed".
# Usage: tests/run.sh BUILD, from the folder of the Makefile. RUN names an emulator that the programs are started with; what
# is skipped then must be what tests/emulated.txt lists, no more and no less.
# One that hangs is ended with all that it started, and counts as failed; TEST_SECONDS says when, 1200 if not given: single steps take
# long on a busy machine.
build=$1
limit=${TEST_SECONDS:-1200}
passed=0
failed=0
failing=

# TERM, and ten seconds later KILL, to all of its process group. Where there is no timeout nobody watches.
ended_in_time=
if command -v timeout >/dev/null; then ended_in_time="timeout -k 10 $limit"; fi

count() { # NAME OUTPUT STATUS
	last=$(printf '%s\n' "$2" | tail -n 1)
	p=$(printf '%s\n' "$last" | sed -n 's/^\([0-9]*\) passed, [0-9]* failed$/\1/p')
	f=$(printf '%s\n' "$last" | sed -n 's/^[0-9]* passed, \([0-9]*\) failed$/\1/p')
	if [ "$3" -eq 124 ] || [ "$3" -eq 137 ]; then
		echo "$1: did not end within $limit s and was ended" >&2
		p=${p:-0}
		f=1
	elif [ -z "$p" ]; then
		echo "$1: ended with status $3 and without a result" >&2
		p=0
		f=1
	elif [ "$3" -ne 0 ] && [ "$f" -eq 0 ]; then
		echo "$1: status $3" >&2
		f=1
	fi
	printf '%-24s %s passed, %s failed\n' "$1:" "$p" "$f"
	passed=$((passed + p))
	failed=$((failed + f))
	[ "$f" -eq 0 ] || failing="$failing $1"
}

# The programs side by side, as many as there are processors; what they say comes in their order. The scripts look at times, at what goes
# on running and at how busy the machine is, so they run one by one.
said=$(mktemp -d)
# Where tests write what they skip.
SKIPPED=$said/skipped
export SKIPPED
: >"$SKIPPED"
trap 'rm -rf "$said"' EXIT
for program in "$build"/tests/*; do
	case $program in *.d | */json_check) continue ;; esac
	printf '%s\n' "$program"
done >"$said/programs"
# shellcheck disable=SC2016 # the inner shell is to expand it
<"$said/programs" xargs -P "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)" -I '{}' sh -c '
	name=$(basename "$2")
	$3 $4 "$2" </dev/null >"$1/$name.out"
	echo $? >"$1/$name.status"' sh "$said" '{}' "$ended_in_time" "${RUN:-}"
while read -r program; do
	name=$(basename "$program")
	count "$name" "$(cat "$said/$name.out")" "$(cat "$said/$name.status")"
done <"$said/programs"
# SCRIPTS: only these.
for script in ${SCRIPTS:-tests/test_*.sh */tests/test_*.sh}; do
	[ -e "$script" ] || continue
	# shellcheck disable=SC2086 # its options are words
	output=$($ended_in_time sh "$script" "$build" </dev/null)
	count "$(basename "$script")" "$output" $?
done
if [ -n "${RUN:-}" ]; then
	sort -u "$SKIPPED" >"$said/found"
	# Those of all emulators, and those of this one, which stand behind its name.
	sed -n -e '/^#/d' -e 's/^\* //p' -e "s/^$(basename "$RUN" -static) //p" "${EMULATED:-tests/emulated.txt}" | sort -u >"$said/listed"
	for difference in '-23:skipped, and not in tests/emulated.txt' '-13:in tests/emulated.txt, and not skipped'; do
		comm "${difference%%:*}" "$said/found" "$said/listed" >"$said/difference"
		while read -r what; do
			echo "${difference#*:}: $what" >&2
			failed=$((failed + 1))
			case $failing in *' skips') ;; *) failing="$failing skips" ;; esac
		done <"$said/difference"
	done
fi
[ -z "$failing" ] || echo "failing:$failing"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
