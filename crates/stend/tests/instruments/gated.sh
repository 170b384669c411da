#!/bin/sh
# An instrument for tests that act in the midst of a run: so many of its invocations go through at once, each later one only while
# the gate is open. So nobody has to be quick.
# Usage: gated.sh DIRECTORY FREE. DIRECTORY/waits is there when one has come to the gate, which DIRECTORY/open opens.
set -eu
echo '{"event":"begin","wire":1,"instrument":"gated.sh"}'
echo >>"$1/called"
if [ "$(wc -l <"$1/called")" -gt "$2" ]; then
    : >"$1/waits"
    while ! [ -e "$1/open" ]; do sleep 0.02; done
fi
echo '{"event":"repeat","wall_ns":1000000,"work":{"bytes":1000},"check":"passed"}'
echo '{"event":"end"}'
