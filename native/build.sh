#!/bin/sh
# Builds stend-probe where there are a shell and a C compiler, and nothing else: no make, no sed, not even mkdir.
# Usage: build.sh [FLAGS...]
#   CC: the compiler, cc if not given. OUTPUT: an existing directory, ./build if not given; its stend-probe is the program.
#   FLAGS come after -std=c11 -O2. With -DKUZMA_NO_INTRINSICS -DSTEND_NO_INTRINSICS no file uses instructions beyond the baseline.
set -eu
case $0 in */*) cd "${0%/*}" ;; esac
compiler=${CC:-cc}
output=${OUTPUT:-build}
flags="-std=c11 -O2 $*"

die() {
	printf 'build.sh: %s\n' "$*" >&2
	exit 1
}

# In a C string.
escaped() {
	rest=$1
	while [ -n "$rest" ]; do
		tail=${rest#?}
		first=${rest%"$tail"}
		case $first in [\\\"]) printf '%s' "\\" ;; esac
		printf '%s' "$first"
		rest=$tail
	done
}

# Which instructions a file may use, by its folder and the start of its name.
instructions() {
	family=${1%/*}
	family=${family##*/}
	case $family:$machine:" $flags " in
	*NO_INTRINSICS*) return ;;
	x86:x86_64*:* | arm:aarch64*:* | arm:arm64*:*) ;;
	*) return ;;
	esac
	name=${1##*/}
	name=${name%%[_.]*}
	while read -r set _ wanted; do
		[ "$set" != "${family}_$name" ] || printf '%s' "$wanted"
	done <instructions.mk
}

[ -d "$output" ] || die "$output is no directory; make it first"
$compiler --version >/dev/null 2>&1 || $compiler -v >/dev/null 2>&1 || die "$compiler is no compiler here; set CC"
machine=$($compiler -dumpmachine 2>/dev/null) || machine=
version=$($compiler --version 2>/dev/null) || version=
version=${version%%
*}
{
	printf '#define BUILD_COMPILER "%s"\n' "$(escaped "$version")"
	printf '#define BUILD_FLAGS "%s"\n' "$(escaped "${flags% }")"
} >"$output/build_info.h"

set --
for source in kuzma/src/*.c kuzma/src/*/*.c kuzma/src/*/*/*.c fizzbuzz/src/*.c fizzbuzz/src/*/*.c pipe/src/*.c probe/src/*.c; do
	[ -e "$source" ] || continue
	# Each / becomes _, so that no folder has to be made.
	object=
	rest=${source%.c}
	while [ "$rest" != "${rest#*/}" ]; do
		object=${object}${rest%%/*}_
		rest=${rest#*/}
	done
	object=$output/$object$rest.o
	# shellcheck disable=SC2046,SC2086 # flags are words
	$compiler $flags -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Ifizzbuzz/include -Ikuzma/include -Ikuzma/src -Ipipe/include \
		-Iprobe/src -I"$output" $(instructions "$source") -c "$source" -o "$object" || die "$compiler does not compile $source"
	set -- "$@" "$object"
done
# shellcheck disable=SC2086
$compiler $flags -o "$output/stend-probe" "$@" -pthread -lm || die "$compiler does not link"
