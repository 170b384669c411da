#!/bin/sh
# An instrument that marks so many moments. Usage: marked.sh MARKS
set -eu
echo '{"event":"begin","wire":1,"instrument":"marked.sh"}'
for number in $(seq "$1"); do
    echo '{"event":"mark","t_ns":'"$number"',"kind":"fault","label":"disk '"$number"' dies"}'
done
echo '{"event":"repeat","wall_ns":1,"work":{"bytes":1},"check":"passed"}'
echo '{"event":"end","repeats":1}'
