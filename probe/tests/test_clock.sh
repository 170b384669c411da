#!/bin/sh
# The time, told when asked.
. "$(dirname "$0")/common.sh"

number() { # NAME FILE LINE
	sed -n "$3p" "$2" | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"
}

printf '\n\n\n' | "$probe" clock >"$work/told"
ok 'an answer for each line' [ "$(wc -l <"$work/told")" -eq 3 ]
ok 'each is JSON' "$json_check" "$work/told"
ok 'time goes on' [ "$(number monotonic_ns "$work/told" 1)" -lt "$(number monotonic_ns "$work/told" 3)" ]
now=$(date +%s)
told=$(number realtime_ns "$work/told" 2)
ok 'it is the time that it is' [ $((now - told / 1000000000)) -lt 60 ]
printf '\n' | "$probe" clock --ahead 1h >"$work/ahead"
ahead=$(number realtime_ns "$work/ahead" 1)
ok 'an hour ahead' [ $(((ahead - told) / 1000000000 / 60)) -ge 60 ]
"$probe" clock </dev/null >"$work/none"
ok 'nothing for nothing' [ ! -s "$work/none" ]
"$probe" clock extra </dev/null 2>"$work/err"
ok 'nothing may follow' [ $? -eq 2 ]
finish
