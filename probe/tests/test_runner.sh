#!/bin/sh
# What runs the tests: one that hangs is ended with all that it started, and named.
. "$(dirname "$0")/common.sh"

runner=$(cd "$(dirname "$0")" && pwd)/run.sh
if ! command -v timeout >/dev/null; then
	skip 'a test that hangs' 'there is no timeout here'
	finish
	exit
fi
mkdir -p "$work/fake/tests" "$work/tests"
program() { # NAME TEXT
	printf '#!/bin/sh\n%s\n' "$2" >"$work/fake/tests/$1"
	chmod +x "$work/fake/tests/$1"
}
run() { # NAME...
	for name; do
		shift
		set -- "$@" "$work/fake/tests/$name"
	done
	(cd "$work" && RUN='' PATIENCE=1 TEST_SECONDS=10 sh "$runner" "$work/fake" "$@") >"$work/out" 2>"$work/err"
}
program good 'echo "3 passed, 0 failed"'
program hangs "sleep 1000 & echo \$! >'$work/child'; wait"
echo 'echo "2 passed, 0 failed"' >"$work/tests/test_after.sh"

run good hangs
ok 'it fails' [ $? -eq 1 ]
ok 'it says of what' grep -qx 'hangs: did not end within 10 s and was ended' "$work/err"
ok 'it names it at the end' grep -qx 'failing: hangs' "$work/out"
ok 'the others count' sh -c "tail -n 1 '$work/out' | grep -qx '5 passed, 1 failed'"
ok 'what it started is gone' wait_for sh -c "! kill -0 $(cat "$work/child")"

program leaves "setsid sh -c 'echo \$\$ >$work/child; exec sleep 1000' & while ! [ -s '$work/child' ]; do sleep 0.02; done
	echo '1 passed, 0 failed'"
: >"$work/child"
run good leaves
ok 'what is left behind is a failure' [ $? -eq 1 ]
ok 'and is named' grep -q 'sleep 1000' "$work/err"
ok 'so is who left it' grep -qx 'failing: leaves' "$work/out"
ok 'and it is gone' wait_for sh -c "! kill -0 $(cat "$work/child")"

# Both are still there, as a program is whose source is gone.
run good
ok 'without it all is well' [ $? -eq 0 ]
finish
