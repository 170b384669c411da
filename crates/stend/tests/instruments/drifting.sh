#!/bin/sh
# An instrument whose times are made, not measured: they grow from one call to the next, tremble, and are SLOWER times as long.
# So tests know what is in them. Usage: drifting.sh FILE GROWTH TREMBLE; FILE counts the calls.
set -eu
echo '{"event":"begin","wire":1,"instrument":"drifting.sh"}'
echo >>"$1"
wall=$(awk -v calls="$(wc -l <"$1")" -v growth="$2" -v tremble="$3" -v slower="${SLOWER:-1}" 'BEGIN {
    # Weyl numbers: spread evenly, the same in every run, and unlike from one call to the next.
    share = calls * 0.6180339887 - int(calls * 0.6180339887)
    printf "%d", 1e6 * (1 + growth * calls) * (1 + tremble * (share - 0.5)) * slower
}')
echo '{"event":"repeat","wall_ns":'"$wall"',"work":{"bytes":1000000},"check":"passed"}'
echo '{"event":"end"}'
