#!/bin/sh
# An instrument for tests that disturb some repeats and leave others alone: each invocation asks before it works, and waits for an answer, so
# nobody has to be quick. The work is counting in the shell, all of it the processor's.
# Usage: asking.sh DIRECTORY STEPS. DIRECTORY/asked.N is there when the N-th invocation asks; DIRECTORY/answered.N lets it go on.
set -eu
now() { date +%s%N; }
echo '{"event":"begin","wire":1,"instrument":"asking.sh"}'
echo >>"$1/called"
number=$(($(wc -l <"$1/called")))
: >"$1/asked.$number"
while ! [ -e "$1/answered.$number" ]; do sleep 0.02; done
start=$(now)
left=$2
while [ "$left" -gt 0 ]; do left=$((left - 1)); done
end=$(now)
echo '{"event":"repeat","wall_ns":'"$((end - start + 1))"',"work":{"bytes":'"$2"'},"check":"passed"}'
echo '{"event":"end"}'
