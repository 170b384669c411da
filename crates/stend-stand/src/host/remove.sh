# shellcheck shell=sh
# Removes what $1 names, with all that is in it. Where there is no rm yet, GNU's tar removes what it packs. What rm says is
# said in English, which the lab reads.
remove() {
    if [ ! -e "$1" ] && [ ! -h "$1" ]; then
        :
    elif command -v rm >/dev/null 2>&1; then
        LC_ALL=C rm -rf "$1"
    else
        tar -c -f /dev/null --remove-files "$1" 2>/dev/null || { echo "there is no rm here" >&2 && return 1; }
    fi
}
