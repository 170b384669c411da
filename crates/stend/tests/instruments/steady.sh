#!/bin/sh
# An instrument written in sh: it counts bytes through wc and says so on the wire.
# Usage: steady.sh MEBIBYTES
set -eu
now() { date +%s%N; }
bytes=$(($1 * 1048576))
echo '{"event":"begin","wire":1,"instrument":"steady.sh","version":"1","parameters":{"mebibytes":'"$1"'}}'
start=$(now)
counted=$(head -c "$bytes" /dev/zero | wc -c)
end=$(now)
echo '{"event":"sample","t_ns":'"$end"',"metric":"counted_bytes","value":'"$counted"'}'
check=failed
[ "$counted" -eq "$bytes" ] && check=passed
echo '{"event":"repeat","wall_ns":'"$((end - start + 1))"',"work":{"bytes":'"$bytes"'},"check":"'"$check"'","evidence":"wc counted '"$counted"'"}'
echo '{"event":"end","repeats":1}'
