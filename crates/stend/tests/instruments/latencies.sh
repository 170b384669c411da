#!/bin/sh
# An instrument that counted latencies. Usage: latencies.sh COUNTS
# COUNTS is what stands behind "latency" on the wire: pairs, or the text of a histogram. The first latency of repeat N is N microseconds longer
# where COUNTS has the word EACH in its place, so that no two repeats are alike.
set -eu
counted=$(cat count 2>/dev/null || echo 0)
counted=$((counted + 1))
echo "$counted" >count
counts=$(printf %s "$1" | sed "s/EACH/$((100000 + counted * 1000))/")
echo '{"event":"begin","wire":1,"instrument":"latencies.sh"}'
echo '{"event":"repeat","wall_ns":1000000,"work":{"operations":40},"observed":{"latency_p50_ns":100000},"latencies":{"latency":'"$counts"'},"check":"passed"}'
echo '{"event":"end","repeats":1}'
