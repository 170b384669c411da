#!/bin/sh
# An instrument for tests of noise: what it reports is given, and it counts the machine's time itself, in a file that the test has mounted
# as /proc/stat. During every second invocation others use the processors, and it takes longer the more they do.
# Usage: disturbed.sh STAT.
set -eu
echo '{"event":"begin","wire":1,"instrument":"disturbed.sh"}'
read -r cpu user nice system idle others <"$1"
echo >>"$1.called"
number=$(($(wc -l <"$1.called")))
# In ticks, of which a processor has 100 a second.
foreign=$((number % 2 == 0 ? 100 + number : 0))
user=$((user + foreign)) idle=$((idle + 400 - foreign))
echo "$cpu $user $nice $system $idle $others
cpu0 0 0 0 0
cpu1 0 0 0 0" >"$1"
echo '{"event":"repeat","wall_ns":'"$((1000000000 + foreign * 2000000 + number * 10000))"',"work":{"bytes":1000},"check":"passed"}'
echo '{"event":"end"}'
