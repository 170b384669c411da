# shellcheck shell=sh
# Builds stend-probe where its sources were put, $1, and gives that directory its name, $2, when all is well. The rest: flags. CC and SOURCES as
# for probe/build.sh.
building=$1 name=$2
shift 2
cd "$building" || exit
JOBS=$(getconf _NPROCESSORS_ONLN 2>/dev/null) || JOBS=1
export JOBS
sh ./probe/build.sh "$@" || exit
./build/stend-probe --version >/dev/null || {
    echo "build.sh: what $CC built does not run here" >&2
    exit 1
}
# What this machine lacks of small programs.
./build/stend-probe stand-in build/stand-ins || exit
PATH=$PATH:$building/build/stand-ins
# Another stend may have been quicker: then its build is as good.
if "$name/build/stend-probe" --version >/dev/null 2>&1; then
    rm -rf "$building"
else
    rm -rf "$name" && mv "$building" "$name"
fi
