#!/bin/sh
# An instrument that lasts a while, so that there is something to be sampled.
# Usage: lasting.sh SECONDS
set -eu
echo '{"event":"begin","wire":1,"instrument":"lasting.sh"}'
sleep "$1"
echo '{"event":"repeat","wall_ns":1000000,"work":{"bytes":1000},"check":"passed"}'
echo '{"event":"end"}'
