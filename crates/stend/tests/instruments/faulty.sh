#!/bin/sh
# An instrument that goes wrong in the way that it is asked to.
# Usage: faulty.sh WAY
begin='{"event":"begin","wire":1,"instrument":"faulty.sh"}'
good='{"event":"repeat","wall_ns":1000000,"work":{"bytes":1000},"check":"passed"}'
end='{"event":"end"}'
case $1 in
rubbish) echo "$begin"; echo 'Segmentation fault (core dumped)'; echo "$good"; echo "$end" ;;
status) echo "$begin"; echo "$good"; echo "$end"; echo 'the pump is broken' >&2; exit 1 ;;
cannot) echo 'this machine has no pump' >&2; exit 4 ;;
# Whoever is ended may have any status.
late) trap 'exit 4' TERM; echo "$begin"; sleep 1000 & wait ;;
babbling) trap 'exit 2' TERM; echo "$begin"; echo 'Hello!'; sleep 1000 & wait ;;
hang) echo "$begin"; sleep 1000 ;;
stubborn) trap '' TERM; echo "$begin"; while :; do sleep 1; done ;;
flood) echo "$begin"; yes '{"event":"weather"}' | head -n 1000000; echo "$good"; echo "$end" ;;
killed) echo "$begin"; kill -9 $$ ;;
silent) ;;
wrong) echo "$begin"; echo '{"event":"repeat","wall_ns":1000000,"work":{"bytes":1000},"check":"failed","evidence":"3 bytes differ"}'; echo "$end" ;;
unchecked) echo "$begin"; echo '{"event":"repeat","wall_ns":1000000,"work":{"bytes":1000},"check":"none"}'; echo "$end" ;;
twice) echo "$begin"; echo "$good"; echo "$good"; echo "$end" ;;
leaving) echo "$begin"; sleep 1000 >/dev/null 2>&1 & echo "$good"; echo "$end" ;;
no-end) echo "$begin"; echo "$good" ;;
*) echo "faulty.sh: unknown way $1" >&2; exit 2 ;;
esac
