#!/bin/sh
# `stend-probe switch`: each method runs and passes its own check, or is refused in one line; where each must be there is said
# here once more, as the documentation has it.
. "$(dirname "$0")/common.sh"

architecture=$("$probe" --version | sed -n 's/^\([a-z0-9_]*\) -std=.*/\1/p')
ok 'the architecture is known' [ -n "$architecture" ]
case $("$probe" --version) in
*NO_INTRINSICS*) architecture=none ;;
esac

there() { # METHOD
	case $1:$architecture in
	assembly:x86_64 | assembly:aarch64 | assembly:riscv64 | assembly-registers:x86_64) return 0 ;;
	assembly*) return 1 ;;
	# Its hardware stacks are not the program's to change.
	setjmp:e2k) return 1 ;;
	esac
}

for method in assembly assembly-registers setjmp ucontext call futex pipe eventfd; do
	if ! there $method; then
		status "$method, which is not there" 4 "$probe" switch --method $method --seconds 1ms
		ok "$method: why" grep -q "^stend-probe switch: --method $method: not on this machine ([a-z0-9_]*): " "$work/err"
		continue
	fi
	run "$method" "$probe" switch --method $method --seconds 5ms
	ok "$method: operations, and no bytes" grep -q '"work":{"operations":[1-9][0-9]*}' "$work/lines"
	ok "$method: both sides counted the same" grep -Eq '"check":"counted","here":([0-9]+),"there":\1}' "$work/lines"
	ok "$method: no time but some" grep -q '"cpu_ns":[1-9]' "$work/lines"
	cat "$work/lines" >>"$work/all"
	run "$method on one core" "$probe" switch --method $method --seconds 5ms --cores same
done
# One that was measured beside others' work may be unknown.
emulated 'switch: a clock' 'how fast an emulator is says nothing of a clock' ||
	ok 'a clock' grep -Eq '"clock_hz_(before|after)":[1-9]' "$work/all"
# Where a second core is allowed.
for method in futex pipe eventfd; do
	if [ "$(nproc)" -ge 2 ]; then
		run "$method on two cores" "$probe" switch --method $method --cores different --seconds 5ms
	else
		status "$method on two cores" 4 "$probe" switch --method $method --cores different --seconds 5ms
	fi
done
"$probe" switch --method call --repeats 3 --seconds 1ms >"$work/lines"
ok 'three repeats' sh -c "[ \$(grep -c '\"event\":\"repeat\"' '$work/lines') -eq 3 ] && grep -q '\"repeats\":3' '$work/lines'"
finish
