#!/bin/sh
# An instrument that says why it lacks what a metric is made of; or that has it all.
# Usage: lacking.sh [NAME WHY...]
missing='' observed='"latency_p99_ns":500,"controllers_cpu_ns":1000'
if [ $# -gt 0 ]; then
	name=$1
	shift
	missing='"'$name'":"'$*'"' observed=
fi
echo '{"event":"begin","wire":1,"instrument":"lacking.sh","version":"1","missing":{'"$missing"'}}'
echo '{"event":"repeat","wall_ns":1000000,"work":{"bytes":1},"observed":{'"$observed"'},"check":"passed","evidence":"one byte"}'
echo '{"event":"end","repeats":1}'
