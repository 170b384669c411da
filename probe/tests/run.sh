#!/bin/sh
# Runs the test programs and every script; then names those that failed; the last line is the sum: "N passed, N failed".
# Usage: tests/run.sh BUILD PROGRAM..., from the folder of the Makefile. The programs are named, since in an old BUILD lie some whose sources
# are gone. RUN names an emulator that they are started with; what is skipped then must be what tests/emulated.txt lists, no more and no less.
# One that hangs is ended with all that it started, and counts as failed, as does one that leaves a process behind. TEST_SECONDS says when,
# 600 if not given, times PATIENCE: single steps take long on a busy machine.
build=$1
shift
limit=$((${TEST_SECONDS:-600} * ${PATIENCE:-1}))
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
	printf '%-34s %s passed, %s failed\n' "$1:" "$p" "$f"
	passed=$((passed + p))
	failed=$((failed + f))
	if [ -s "$4" ]; then
		echo "$1: left behind, and ended:" >&2
		cat "$4" >&2
		f=$((f + 1))
		failed=$((failed + 1))
	fi
	[ "$f" -eq 0 ] || failing="$failing $1"
}

# All side by side; what they say comes in their order. The scripts come first, since they wait much, and two more run at a time
# than there are processors. SCRIPTS: only these.
said=$(mktemp -d)
# Where tests write what they skip.
SKIPPED=$said/skipped
export SKIPPED
: >"$SKIPPED"
trap 'rm -rf "$said"' EXIT
{
	for script in ${SCRIPTS:-tests/test_*.sh}; do
		[ -e "$script" ] && printf '%s\n' "$script"
	done
	for program; do printf '%s\n' "$program"; done
} >"$said/tests"
mkdir "$said/of"
# shellcheck disable=SC2016 # the inner shell is to expand it
<"$said/tests" xargs -P $(($(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1) + 2)) -I '{}' sh -c '
	said=$1/of/$(printf %s "$2" | tr / _)
	# Whatever it starts has this in its environment.
	mark=STEND_TEST=$said.
	case $2 in
	*.sh) env "$mark" $3 sh "$2" "$5" ;;
	*) env "$mark" $3 $4 "$2" ;;
	esac </dev/null >"$said.out"
	echo $? >"$said.status"
	tries=$6
	# By what is found, not by the status: that tells of processes too that ended meanwhile.
	while left=$(grep -lsF "$mark" /proc/[0-9]*/environ); [ -n "$left" ] && [ $((tries -= 1)) -gt 0 ]; do sleep 0.1; done
	for one in $left; do
		pid=${one#/proc/} pid=${pid%/environ}
		tr "\\0" " " <"/proc/$pid/cmdline" && echo && kill -KILL "$pid"
	done >"$said.left" 2>/dev/null' sh "$said" '{}' "$ended_in_time" "${RUN:-}" "$build" \
	$((100 * ${PATIENCE:-1}))
while read -r test; do
	file=$said/of/$(printf %s "$test" | tr / _)
	case $test in tests/test_*) name=$test ;; *) name=$(basename "$test") ;; esac
	count "$name" "$(cat "$file.out")" "$(cat "$file.status")" "$file.left"
done <"$said/tests"
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
