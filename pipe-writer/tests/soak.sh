#!/bin/sh
# A short run of what `make soak` runs long: every byte that arrives is looked at, whatever the reader does.
# SOAK_BYTES is the size of each case.
# Usage: soak.sh BUILD
. "$(dirname "$0")/common.sh"
build=$(cd "$1" && pwd)
starter soak "$build/tests/soak"
soak=$work/soak
bytes=${SOAK_BYTES:-30M}

for case in $("$soak" --list); do
	case $case in
	ring-splice) continue ;;
	*-pv)
		if ! command -v pv >/dev/null; then
			skip "$case" 'there is no pv here; on Debian: apt-get install -y pv'
			continue
		fi
		;;
	esac
	ok "$case" "$soak" --bytes "$bytes" "$case"
done
# The test itself: what a ring does to a reader that splices must be found.
"$soak" --bytes 50M ring-splice >"$work/out"
ok 'wrong bytes are found' [ $? -eq 1 ]
ok 'and counted' grep -Eq '^50000000 bytes, [1-9][0-9]* wrong$' "$work/out"
"$soak" --bytes 1M no-such-case >"$work/out" 2>&1
ok 'an unknown case' [ $? -eq 2 ]
"$soak" --bytes many >"$work/out" 2>&1
ok 'no size' [ $? -eq 2 ]
finish
