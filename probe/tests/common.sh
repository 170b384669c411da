#!/bin/sh
# For the other scripts: `. "$(dirname "$0")/common.sh"`; the build folder is $1.
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# What starts a program of the build: RUN names an emulator where this machine cannot do it by itself. A script, so that
# it is one word for everybody.
starter() { # NAME PROGRAM
	printf '#!/bin/sh\nexec %s "%s" "$@"\n' "${RUN:-}" "$2" >"$work/$1"
	chmod +x "$work/$1"
}
starter stend-probe "$build/stend-probe"
starter json_check "$build/tests/json_check"
# shellcheck disable=SC2034 # for the other scripts
probe=$work/stend-probe
json_check=$work/json_check

# ok NAME CONDITION...: CONDITION is a command.
ok() {
	name=$1
	shift
	if "$@" >/dev/null 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "failed: $name: $*" >&2
	fi
}

# wait_for COMMAND...: until it succeeds; longer than the slowest machine needs, but not for ever: PATIENCE says how many times
# as long as usual, where it is known that the machine is slow.
wait_for() {
	tries=$((6000 * ${PATIENCE:-1}))
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.02
	done
}

# lines_of FILE COUNT: whether it has at least so many.
lines_of() {
	[ "$(wc -l <"$1")" -ge "$2" ]
}

# status NAME EXPECTED COMMAND...: and on a usage error exactly one line on standard error, nothing on standard output.
status() {
	name=$1
	expected=$2
	shift 2
	"$@" >"$work/out" 2>"$work/err" </dev/null
	got=$?
	if [ "$got" -ne "$expected" ]; then
		failed=$((failed + 1))
		echo "failed: $name: exit status $got instead of $expected: $*" >&2
		return
	fi
	if [ "$expected" -eq 2 ] || [ "$expected" -eq 4 ]; then
		if [ "$(wc -l <"$work/err")" -ne 1 ] || [ -s "$work/out" ]; then
			failed=$((failed + 1))
			echo "failed: $name: not exactly one line: $*" >&2
			return
		fi
	fi
	passed=$((passed + 1))
}

# skip NAME REASON: for what this machine cannot be asked. Where CI is set everything must be there.
skip() {
	echo "skipped: $1: $2" >&2
	[ -z "${CI:-}" ] || {
		failed=$((failed + 1))
		echo "failed: $1: under CI nothing may be skipped" >&2
	}
}

# emulated NAME REASON: whether an emulator runs the programs; then NAME is skipped, and tests/emulated.txt must list it.
emulated() {
	[ -n "${RUN:-}" ] || return 1
	echo "skipped under an emulator: $1: $2" >&2
	[ -z "${SKIPPED:-}" ] || echo "$1: $2" >>"$SKIPPED"
}

# json NAME: what the last command printed must be lines of JSON. `finish` looks at all of them at once: to start a program takes
# most of the time under an emulator and under sanitizers.
json() {
	{
		printf '\036%s\n' "$1"
		cat "$work/lines"
	} >>"$work/json"
}

# run NAME COMMAND...: an instrument. Valid lines, one begin first, one repeat that passed, one end last.
run() {
	name=$1
	shift
	"$@" >"$work/lines" 2>"$work/err" </dev/null
	got=$?
	ok "$name: status" [ "$got" -eq 0 ]
	json "$name"
	# One program for all of them: under an emulator and under sanitizers this is done thousands of times.
	missing=$(awk '
		NR == 1 { begins = index($0, "{\"event\":\"begin\",\"wire\":1,") == 1 }
		index($0, "{\"event\":\"repeat\",") == 1 { repeats++ }
		index($0, "\"check\":\"passed\"") { passes = 1 }
		{ last = $0 }
		END {
			if (!begins) print "a begin first"
			if (repeats != 1) print "one repeat"
			if (!passes) print "a check that passed"
			if (last != "{\"event\":\"end\",\"repeats\":1}") print "an end last"
		}' "$work/lines" 2>&1)
	ok "$name: its lines${missing:+ lack $missing}" [ -z "$missing" ]
}

finish() {
	if [ -e "$work/json" ]; then
		if "$json_check" "$work/json" >&2; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			echo "failed: lines are JSON" >&2
		fi
	fi
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
}
