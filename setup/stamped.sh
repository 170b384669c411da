#!/bin/sh
# Runs a check, unless it has passed before with all that it depends on as it is now.
# Usage: setup/stamped.sh NAME INPUT... -- COMMAND...
#   INPUT is a file or a folder, of which the contents count, or +PROGRAM, of which the version counts. The command itself,
#   CFLAGS, the processor's features and the kernel always count.
#
# Under CI a check skips nothing. What has passed there holds everywhere, and what has passed elsewhere does not hold there.
#
# Stamps lie in STEND_STAMPS, in ~/.cache/stend-checks/stamps if that is not set. Where it is empty (STEND_STAMPS= make test), every
# check is made.
set -u

name=$1
shift
stamps=${STEND_STAMPS-${XDG_CACHE_HOME:-${HOME:-/nowhere}/.cache}/stend-checks/stamps}

# All that counts, as text.
inputs() {
    echo "$name; CFLAGS=${CFLAGS:-}; $(uname -srm)"
    sed -n '/^flags[^:]*:/{p;q}' /proc/cpuinfo
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        case $1 in
        +*) echo "$1: $(command -v "${1#+}") $("${1#+}" --version 2>&1 | head -n 2)" ;;
        # What a build leaves among the sources is not theirs.
        *) find "$1" -type d -name 'build*' -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum ;;
        esac
        shift
    done
    echo "$*"
}

stamp=
if [ -n "$stamps" ] && mkdir -p "$stamps" 2>/dev/null; then
    stamp=$stamps/$(printf %s "$name" | tr ' /' '__')-$(inputs "$@" | sha256sum | cut -c 1-32)
    whole=$stamp-whole
    [ -z "${CI:-}" ] || stamp=$whole
    for made in "$stamp" "$whole"; do
        if [ -e "$made" ]; then
            echo "$name: unchanged since it passed on $(cat "$made"); STEND_STAMPS= checks it again"
            exit 0
        fi
    done
fi
while [ "$1" != -- ]; do shift; done
shift
"$@" || exit
[ -z "$stamp" ] || { date '+%Y-%m-%d %H:%M' >"$stamp.$$" && mv "$stamp.$$" "$stamp"; } || :
# Those of three months ago are of sources that nobody has any more.
[ -z "$stamp" ] || find "$stamps" -type f -mtime +90 -delete 2>/dev/null || :
