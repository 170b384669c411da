#!/bin/sh
# Whether the tests find mistakes: makes each of tests/mutants.txt in a copy of the sources, and runs the tests that are named with it.
# Usage: mutants.sh [--changes | WORD]; with a word only those that have it. Says how many were caught, which survived, and ends with
# status 1 if a line makes no change or does not compile. --changes: only whether each line makes a change, which takes no build.
here=$(cd "$(dirname "$0")/../.." && pwd)
word=${1:-}
only_changes=
[ "$word" != --changes ] || { only_changes=1 word=; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tab=$(printf '\t')
caught=0
survived=0
broken=0

# Not what was built here.
tar -c -C "$here" --exclude='build' --exclude='build-*' kuzma pipe-writer morse probe | tar -x -C "$work"
cd "$work" || exit

# build FOLDER TARGET...
build() {
	make -s -j"$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)" -C "$@" BUILD=b >"$work/log" 2>&1
}

# passes TEST: a script of the probe, or a program in the folder of the file. One that hangs has found something too.
passes() {
	case $1 in
	probe/*) (cd probe && CC=cc CFLAGS=-O2 timeout -k 5 300 sh "${1#*/}" b) ;;
	*) (cd "$folder" && AGREEMENT_STEP=97 timeout -k 5 300 "b/tests/$1") ;;
	esac >"$work/said" 2>&1 </dev/null
}

while IFS=$tab read -r what file script tests; do
	case $what in '#'* | '') continue ;; esac
	case "$what $file" in *"$word"*) ;; *) continue ;; esac
	sed -e "$script" "$here/$file" >"$file"
	folder=${file%%/*}
	programs=$(for test in $tests; do case $test in *.sh) ;; *) echo "b/tests/$test" ;; esac; done)
	found=
	# shellcheck disable=SC2086 # words
	if cmp -s "$file" "$here/$file"; then
		echo "no change: $what"
		broken=$((broken + 1))
	elif [ -n "$only_changes" ]; then
		:
	elif ! { [ -z "$programs" ] || build "$folder" $programs; } ||
		! { case $tests in *probe/*) build probe all b/tests/json_check ;; esac; }; then
		echo "does not compile: $what"
		grep -m 3 'error' "$work/log"
		broken=$((broken + 1))
	else
		for test in $tests; do
			passes "$test" || { found=$test && break; }
		done
		if [ -n "$found" ]; then
			caught=$((caught + 1))
			echo "caught by $found: $what"
		else
			survived=$((survived + 1))
			echo "survived: $what ($file)"
		fi
	fi
	cp "$here/$file" "$file"
done <"$here/probe/tests/mutants.txt"
[ -n "$only_changes" ] || echo "mutants: $caught caught, $survived survived, $broken could not be made"
[ "$broken" -eq 0 ]
