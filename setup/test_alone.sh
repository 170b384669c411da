#!/bin/sh
# Each library builds, tests and installs itself where nothing else of this project is; morse then takes pipe-writer as it is installed.
set -u

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PKG_CONFIG_PATH="$work/usr/lib/pkgconfig"
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
failed=

alone() { # LIBRARY TARGET...
    library=$1
    shift
    mkdir "$work/$library"
    cp -R "$library" "$work/$library/"
    make -s -k -j"$jobs" -C "$work/$library/$library" BUILD=fresh PREFIX="$work/usr" "$@" install || failed="$failed $library"
}
alone kuzma run-multiply run-vectors run-install
alone pipe-writer run-writer run-install
# For pipe-writer.
export LD_LIBRARY_PATH="$work/usr/lib"
alone morse run-tables run-program run-install
for file in bin/morse lib/libkuzma.so lib/libpipe_writer.so.0 lib/libmorse.a lib/cmake/kuzma/kuzma-config.cmake share/man/man3/pipe_writer.3; do
    [ -e "$work/usr/$file" ] || failed="$failed $file"
done
[ -z "$failed" ] || echo "failed: alone:$failed" >&2
[ -z "$failed" ]
