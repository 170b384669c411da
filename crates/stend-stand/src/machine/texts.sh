# shellcheck shell=sh
# What collect.sh and check.sh share. They print what a machine says of itself, every line as `name:text`, and on standard error why something
# cannot be read: `gone: name`, `denied: name`, or `absent: command: program`. It takes a POSIX shell and cat, and nothing else: where there is no grep, a machine is the same
# machine. Runs in the root directory.
LC_ALL=C
export LC_ALL

# Whether a file can be read. A pattern that nothing matches is a file that is not there.
readable() {
    if [ ! -e "$1" ]; then
        echo "gone: $1" >&2
        return 1
    elif [ ! -r "$1" ] || [ -d "$1" ]; then
        echo "denied: $1" >&2
        return 1
    fi
}

# Lines that come on standard input, with a name before each.
named() {
    while IFS= read -r line || [ -n "$line" ]; do
        printf '%s:%s\n' "$1" "$line"
    done
}

# The first line of a small file of sysfs into `line`. The shell reads byte by byte, to which some files there give nothing at all
# (lists of processors since Linux 5.15); only then is another process worth its time.
first() {
    line=
    [ -r "$1" ] || return
    IFS= read -r line 2>/dev/null <"$1"
    [ -n "$line" ] || line=$(cat "$1" 2>/dev/null)
}

# A file of one line that no other has, to stand between files that one cat reads.
between=proc/sys/kernel/random/boot_id
mark=$(cat $between 2>/dev/null)

# All lines of some files, whose names have no spaces. By cat, since byte by byte files of /proc/sys give the first one alone; by one for all, since
# starting one takes longer than all that it reads.
texts() {
    rest=
    for file; do
        readable "$file" && rest="$rest$file "
    done
    if [ -z "$mark" ]; then
        for file in $rest; do
            # shellcheck disable=SC2002 # the file need not be readable after all
            cat "$file" 2>/dev/null | named "$file"
        done
        return
    fi
    set --
    for file in $rest; do
        set -- "$@" "$file" $between
    done
    [ $# -eq 0 ] || cat "$@" 2>/dev/null | while IFS= read -r line || [ -n "$line" ]; do
        case $line in
        "$mark") rest=${rest#* } ;;
        *"$mark")
            printf '%s:%s\n' "${rest%% *}" "${line%"$mark"}"
            rest=${rest#* }
            ;;
        *) printf '%s:%s\n' "${rest%% *}" "$line" ;;
        esac
    done
}

# The lines of a file that one of some patterns matches.
matching() {
    file=$1
    shift
    readable "$file" || return
    while IFS= read -r line; do
        for pattern; do
            # shellcheck disable=SC2254 # it is a pattern
            case $line in $pattern)
                printf '%s:%s\n' "$file" "$line"
                break
                ;;
            esac
        done
    done 2>/dev/null <"$file"
}

# The lines of many small files, to be counted by the reader. $1: a pattern; $2: their name, the pattern if not given.
tally() {
    name=${2:-$1}
    # shellcheck disable=SC2086 # it is a pattern
    set -- $1
    readable "$1" && cat "$@" 2>/dev/null | named "tally $name"
}

# What a command prints.
output() {
    if command -v "$1" >/dev/null 2>&1; then
        "$@" 2>&1 </dev/null | named "$*"
    else
        echo "absent: $*: $1" >&2
    fi
}
