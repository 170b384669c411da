#!/bin/sh
# A suite measured without a lab: a line a repeat, and what ends in between goes on.
. "$(dirname "$0")/common.sh"

# What it starts of itself may need an emulator.
STEND_PROBE=$probe
STEND_WORK=$work/used
# Whatever else measures on this machine while this is tested.
STEND_LOCK=$work/machine.lock
export STEND_PROBE STEND_WORK STEND_LOCK

# A load that is made as often as there are lines in `free`, and then waits.
cat >"$work/load" <<'END'
#!/bin/sh
echo >>"$1/called"
while [ "$(wc -l <"$1/called")" -gt "$(wc -l <"$1/free")" ]; do sleep 0.05; done
printf '{"event":"begin","wire":1,"instrument":"load"}\n{"event":"repeat","wall_ns":1,"work":{"bytes":1},"check":"passed"}\n{"event":"end"}\n'
echo 'to the "user"' >&2
END
chmod +x "$work/load"

plan() { # FILE STEPS WORD...: STEPS of one command
	file=$1
	steps=$2
	shift 2
	{
		printf '{"plan": 1, "stend_version": "0", "seed": 1, "skipped": [],\n "suite": {"name": "tried", "title": "a \\"b\\" \\u00e9"},\n'
		printf ' "sample_hertz": 20, "most_failures_in_a_row": 3,\n'
		printf ' "questions": [{"name": "one", "directory": "/", "words": ["sh", "-c", "pwd; echo no >&2; exit 3"], "timeout_ns": 60000000000}],\n'
		printf ' "commands": [{"scenario": "only", "by_probe": false, "needs": [], "timeout_ns": 600000000000, "words": ['
		comma=
		for word; do
			printf '%s"%s"' "$comma" "$word"
			comma=', '
		done
		printf ']}],\n "steps": ['
		comma=
		while [ "$steps" -gt 0 ]; do
			printf '%s{"command": 0, "phase": "measured", "number": 0}' "$comma"
			comma=', '
			steps=$((steps - 1))
		done
		printf ']}\n'
	} >"$file"
}
attempts() { grep -c '"event":"attempt"' "$1"; }
mkdir "$work/here"
printf '\n\n' >"$work/here/free"
plan "$work/plan" 4 "$work/load" "$work/here"

"$probe" run "$work/plan" >"$work/result" 2>"$work/said" </dev/null &
runner=$!
ok 'two repeats are made' wait_for sh -c "[ \"\$(grep -c event.:.attempt '$work/result')\" -eq 2 ]"
ok 'and written as soon as they have ended' [ -d "/proc/$runner" ]
"$probe" run "$work/plan" >"$work/other" 2>"$work/err" </dev/null
ok 'nobody measures beside it' [ $? -eq 4 ]
ok 'and who does is said' grep -q 'another stend measures on this machine ([^ ]*@[^ ]*, process [0-9]*, since [0-9-]* [0-9:]* UTC); wait for it (the lock is /.*)$' "$work/err"
ok 'what is made is for the user alone' [ -z "$(find "$work/used" -type d ! -perm 700)" ]
kill -INT "$runner"
wait "$runner"
ok 'interrupted' [ $? -eq 130 ]
ok 'and how to go on is said' grep -q '2 of 4 repeats. Go on with: stend-probe run .*plan --continue' "$work/said"
ok 'each line is JSON' "$json_check" "$work/result"
ok 'the plan is the first one' sh -c "sed -n 1p '$work/result' | grep -q '\"plan\":{\"plan\":1,.*\"title\":\"a .\"b.\" .u00e9\"}'"
ok 'what was asked is answered' grep -q '"question":"one","in_time":true,"exit":3,"output":"/.u000a","error_output":"no.u000a"' "$work/result"
ok 'what the load said is kept' grep -q '"error_output":"to the ."user.".u000a"' "$work/result"
ok 'with what the guard counted' grep -q '"output":".*event.":."usage' "$work/result"
ok 'nothing is left' [ "$(ls "$work/used")" = in-use.lock ]

# As a run that was killed leaves it.
mkdir -p "$work/used/carried/stand-ins"
ln -s nowhere "$work/used/carried/stand-ins/sync"
echo 1 >"$work/used/carried/guard.pid"
printf '{"event":"attempt","st' >>"$work/result"
printf '\n\n\n\n\n\n\n\n' >"$work/here/free"
"$probe" run "$work/plan" --continue "$work/result" 2>"$work/said" </dev/null
ok 'it goes on' [ $? -eq 0 ]
ok 'without what was cut off' grep -q 'was cut off' "$work/said"
ok 'and without what was left' [ "$(ls "$work/used")" = in-use.lock ]
ok 'until all is made' [ "$(attempts "$work/result")" -eq 4 ]
ok 'in one file of JSON' "$json_check" "$work/result"
ok 'in two sessions' [ "$(grep -c '"event":"session"' "$work/result")" -eq 2 ]
ok 'each step once' [ "$(sed -n 's/.*"event":"attempt","step":\([0-9]*\).*/\1/p' "$work/result" | sort -u | wc -l)" -eq 4 ]
before=$(wc -c <"$work/result")
"$probe" run "$work/plan" --quiet --continue "$work/result" 2>"$work/said" </dev/null
ok 'nothing is made twice' [ "$(attempts "$work/result")" -eq 4 ]
ok 'and nothing written' [ "$(wc -c <"$work/result")" -eq "$before" ]
ok 'and nothing said' [ ! -s "$work/said" ]
status 'a result that is complete' 0 "$probe" run "$work/plan" --continue "$work/result"
ok 'is said to be' grep -q 'result is complete, with 4 of 4 repeats; nothing was made. Carry it back, and there: stend import ' "$work/err"

plan "$work/failing" 5 sh -c 'exit 1'
"$probe" run "$work/failing" >"$work/failed" 2>"$work/said" </dev/null
ok 'what fails is not all' [ $? -eq 3 ]
ok 'it is given up after three times' [ "$(attempts "$work/failed")" -eq 3 ]
ok 'which is said' grep -q 'only failed again and again, and is given up' "$work/said"
before=$(wc -c <"$work/failed")
status 'and stays given up' 3 "$probe" run "$work/failing" --continue "$work/failed"
ok 'with nothing more to do' grep -q 'is complete, with 3 of 5 repeats' "$work/err"
ok 'and nothing more written' [ "$(wc -c <"$work/failed")" -eq "$before" ]

# Whoever wrote the plan may want the terminal to do something. Root is told first what is started.
plan "$work/hostile" 1 sh -c "exit 1; # $(printf '\302\233\342\200\256')"
sed 's/"only"/"one \\u001b[31m\\u009b\\u202e\\u2066\\u2028\\u200fred\\u00e9"/' "$work/hostile" >"$work/hostile.plan"
"$probe" run "$work/hostile.plan" >"$work/failed" 2>"$work/said" </dev/null
ok 'its names are said' grep -q "^1/1 one ?\[31m?????red$(printf '\303\251')\$" "$work/said"
ok 'and nothing that a terminal acts on' [ "$(tr -d '\n' <"$work/said" | LC_ALL=C tr -cd '\000-\037\177\200-\237' | wc -c)" -eq 0 ]
if [ "$(id -u)" -eq 0 ]; then
	ok 'root learns what it starts' sh -c "sed -n 1p '$work/said' | grep -q 'as root, and not part of stend: .*hostile.plan starts sh -c exit 1'"
	ok 'and what it asks' grep -q 'hostile.plan starts sh -c pwd; echo no >&2; exit 3$' "$work/said"
	"$probe" run "$work/hostile.plan" --quiet >"$work/failed" 2>"$work/said" </dev/null
	ok 'also who wants to hear only what goes wrong' grep -q 'hostile.plan starts sh -c exit 1' "$work/said"
fi

# Of what it has started only so much is kept.
plan "$work/loud" 1 sh -c "tr '\\\\0' y </dev/zero"
"$probe" run "$work/loud" >"$work/failed" 2>"$work/said" </dev/null
ok 'what prints without end is ended' [ $? -eq 3 ]
# Beside it there are samples, of a busy machine more.
ok 'and 64 MiB of it are kept' [ "$(($(tr -cd y <"$work/failed" | wc -c) >> 20))" -eq 64 ]
rm "$work/failed"
dd if=/dev/zero of="$work/long" bs=1 count=1 seek=64M 2>/dev/null
status 'a plan of more than 64 MiB' 2 "$probe" run "$work/long"
ok 'is not read' grep -q 'longer than 64 MiB' "$work/err"
status 'nor is a device' 2 "$probe" run /dev/zero

plan "$work/absent" 1 no-such-program-here
status 'where nothing can be measured' 4 "$probe" run "$work/absent"
ok 'it says why' grep -q 'no scenario of tried can be measured here: no-such-program-here is missing' "$work/err"
sed 's/"needs": \[\]/"needs": [], "processors": 4000000000/' "$work/plan" >"$work/wide"
status 'where there are too few processors' 4 "$probe" run "$work/wide"
ok 'it says how many' grep -q 'no scenario of tried can be measured here: it takes 4000000000 processors, and [0-9]* ' "$work/err"
sed 's/"plan": 1/"plan": 1.5/' "$work/plan" >"$work/bad"
status 'a plan with a mistake' 2 "$probe" run "$work/bad"
ok 'says where' grep -q "$work/bad:1:10: " "$work/err"
status 'another plan' 2 "$probe" run "$work/failing" --continue "$work/result"
ok 'is said' grep -q 'is the result of another plan' "$work/err"
status 'no plan' 2 "$probe" run
status 'two plans' 2 "$probe" run "$work/plan" "$work/plan"
STEND_WORK=relative
status 'no place for files' 2 "$probe" run "$work/plan"
STEND_WORK=$work/plan/below
status 'a place that cannot be' 4 "$probe" run "$work/plan"
ok 'names the variable' grep -q 'set STEND_WORK' "$work/err"

# What others may write, or put another directory in the place of, is not worked in, and nothing is made there.
mkdir -m 777 "$work/open"
for STEND_WORK in "$work/open" "$work/open/below"; do
	status 'a directory that others may write' 2 "$probe" run "$work/absent"
	ok 'it is named, and what to do' grep -q "$work/open can be written by others.*chmod go-w" "$work/err"
done
ok 'nothing was made' [ -z "$(ls "$work/open")" ]
chmod 1777 "$work/open"
STEND_WORK=$work/open
status 'a sticky one' 2 "$probe" run "$work/absent"
if [ "$(id -u)" -eq 0 ]; then
	chown 65534 "$work/open"
	chmod 755 "$work/open"
else
	STEND_WORK=/usr
fi
status 'a directory of another user' 2 "$probe" run "$work/absent"
ok 'whose it is' grep -q 'belongs to another user' "$work/err"
finish
