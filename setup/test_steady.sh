#!/bin/bash
# Shows that no test depends on how fast or how busy the machine is: all that `make test` runs, once built, again and again beside
# busy loops, and in a control group that gets a fraction of a processor. Names what failed, in which round.
# BUSY=5, SLOW=3: how many rounds of each. LOGS: where what they say is kept.
set -u

busy_rounds=${BUSY:-5}
slow_rounds=${SLOW:-3}
logs=${LOGS:-$(mktemp -d)}
mkdir -p "$logs"
export CI=1 STEND_STAMPS=
# Below the loops' priority the C half would get next to nothing.
export NICE=

children=()
group=
clean() {
    [ ${#children[@]} -eq 0 ] || kill "${children[@]}" 2>/dev/null
    children=()
    # What is in it goes back to where this script is.
    [ -z "$group" ] || {
        while read -r process; do echo "$process" >"${group%/*}/cgroup.procs"; done <"$group/cgroup.procs"
        rmdir "$group"
    } 2>/dev/null
    group=
}
trap clean EXIT
trap 'exit 130' INT TERM

failures=0
round() { # NAME COMMAND...
    local name=$1 start=$SECONDS
    shift
    if "$@" >"$logs/$name" 2>&1; then
        echo "steady: $name: passed in $((SECONDS - start)) s"
        return 0
    fi
    failures=$((failures + 1))
    echo "steady: $name: failed after $((SECONDS - start)) s:"
    grep -hE '^failed: |^failing: |^not ok |did not end within' "$logs/$name" | sort -u | sed 's/^/  /'
    return 1
}
check=(make --no-print-directory --keep-going test)

# Built and run once without a load: what fails now has another reason.
round quiet "${check[@]}" || exit

for ((number = 1; number <= busy_rounds; number++)); do
    for _ in 1 2 3 4; do
        while :; do :; done &
        children+=($!)
    done
    PATIENCE=4 round "busy-$number" "${check[@]}"
    clean
done

# 30 ms of processor time in each 100, by either version of control groups.
slow() {
    if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
        group=/sys/fs/cgroup/stend-steady-$$
        mkdir "$group" && echo '30000 100000' >"$group/cpu.max"
    else
        group=/sys/fs/cgroup/cpu/stend-steady-$$
        mkdir "$group" && echo 100000 >"$group/cpu.cfs_period_us" && echo 30000 >"$group/cpu.cfs_quota_us"
    fi || return
    # shellcheck disable=SC2016 # the inner shell is to expand it
    PATIENCE=20 round "slow-$1" bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' bash "$group" "${check[@]}"
    clean
}
for ((number = 1; number <= slow_rounds; number++)); do
    slow $number || {
        failures=$((failures + 1))
        echo "steady: slow-$number: no control group can be made here; it takes root"
    }
done
rounds=$((busy_rounds + slow_rounds))
echo "steady: $failures of $rounds rounds failed; all that was said is in $logs"
[ "$failures" -eq 0 ]
