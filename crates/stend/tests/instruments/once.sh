#!/bin/sh
# An instrument that fails the first time.
# Usage: once.sh FILE. FILE is there when it has been started.
set -eu
if ! [ -e "$1" ]; then
    : >"$1"
    echo 'not yet' >&2
    exit 1
fi
echo '{"event":"begin","wire":1,"instrument":"once.sh"}'
echo '{"event":"repeat","wall_ns":1000000,"work":{"bytes":1000},"check":"passed"}'
echo '{"event":"end"}'
