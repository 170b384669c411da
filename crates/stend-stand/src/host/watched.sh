# shellcheck shell=sh
# Stands behind the functions of remove.sh. Runs a command, and ends it with all that it started when standard input ends, as it does when a link drops or a lab is killed. It takes a
# shell and nothing else. $1: a directory that is removed unless all goes well, or nothing. The rest: the command.
directory=$1
shift
exec 3<&0 </dev/null
"$@" 3<&- &
command=$!

# Once more: what is being ended may still have been writing there.
remove_directory() {
    [ -z "$directory" ] || { cd / && { remove "$directory" || remove "$directory"; }; }
}

# shellcheck disable=SC2317 # the trap calls it
ended() {
    trap '' TERM
    exec 2>/dev/null
    # Our process group is ours to end if we lead it, as sshd and stend see to.
    # shellcheck disable=SC2086 # it is many words
    read -r line </proc/$$/stat && set -- ${line##*) } && [ "$3" = $$ ] && command=0
    kill "$command"
    remove_directory
    [ "$command" != 0 ] || kill -KILL 0
    exit 143
}
trap ended TERM

{
    while read -r _; do :; done
    kill $$
} <&3 3<&- >/dev/null 2>&1 &
watch=$!
status=0
wait "$command" || status=$?
# What some shells say of a job that was ended is of no use to anybody.
exec 2>/dev/null
trap '' TERM
# Not by a signal that a shell which has just begun takes for its parent's.
kill -KILL "$watch"
[ $status = 0 ] || remove_directory
exit $status
