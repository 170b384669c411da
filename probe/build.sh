#!/bin/sh
# Builds stend-probe where there are a shell and a C compiler, and nothing else: no make, no sed, not even mkdir.
# Usage: build.sh [FLAGS...]
#   CC: the compiler, cc if not given. OUTPUT: an existing directory, as seen from the folder above this script's, build if not given;
#   its stend-probe is the program.
#   JOBS: how many files are compiled at once, 1 if not given. SOURCES: what the program says of the sources that it was built of; if not given, the
#   file sources.digest.
#   FLAGS come after -std=c11 -O2. With -DKUZMA_NO_INTRINSICS -DSTEND_NO_INTRINSICS no file uses instructions beyond the baseline.
set -eu
case $0 in */*) cd "${0%/*}" ;; esac
cd ..
compiler=${CC:-cc}
output=${OUTPUT:-build}
flags="-std=c11 -O2 $*"
# Compilers at work: process=source, each followed by a space.
running=
# What they leave half done when they are ended lies there too. In English, whatever the user speaks.
TMPDIR=$output LC_ALL=C
export TMPDIR LC_ALL

stop() {
	for one in $running; do kill "${one%%=*}" 2>/dev/null || :; done
}
trap 'stop; exit 143' INT TERM HUP

die() {
	stop
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

# Which instructions a file may use, by its folder and the start of its name: instructions.mk of its library says it.
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
	done <"${1%%/*}/instructions.mk"
}

if [ -z "${SOURCES:-}" ] && [ -r sources.digest ]; then read -r SOURCES <sources.digest; fi
[ -d "$output" ] || die "$output is no directory; make it first"
$compiler --version >/dev/null 2>&1 || $compiler -v >/dev/null 2>&1 || die "$compiler is no compiler here; set CC"
machine=$($compiler -dumpmachine 2>/dev/null) || machine=
version=$($compiler --version 2>/dev/null) || version=
version=${version%%
*}
{
	printf '#define BUILD_COMPILER "%s"\n' "$(escaped "$version")"
	printf '#define BUILD_FLAGS "%s"\n' "$(escaped "${flags% }")"
	printf '#define BUILD_SOURCES "%s"\n' "${SOURCES:-}"
} >"$output/build_info.h"

# Waits for the compiler that was started first. Where several are at work, what is compiled is said on standard output.
finish_one() {
	source=${running%% *}
	process=${source%%=*} source=${source#*=}
	status=0
	wait "$process" || status=$?
	running=${running#* }
	[ "$status" -le 128 ] || die "$compiler was ended by signal $((status - 128)) while it compiled $source"
	[ "$status" -eq 0 ] || die "$compiler does not compile $source"
	[ -z "${JOBS:-}" ] || echo "compiled $source"
}

set --
waiting=0
for source in kuzma/src/*.c kuzma/src/*/*.c kuzma/src/*/*/*.c pipe-writer/src/*.c probe/src/*.c probe/src/*/*.c probe/src/*/*/*.c; do
	[ -e "$source" ] || continue
	# Each / becomes _, so that no folder has to be made.
	object=
	rest=${source%.c}
	while [ "$rest" != "${rest#*/}" ]; do
		object=${object}${rest%%/*}_
		rest=${rest#*/}
	done
	object=$output/$object$rest.o
	# As the libraries' Makefiles do for what is also a shared library: the program is to be the same.
	case $source in
	kuzma/*) own="-Ikuzma/include -Ikuzma/src -fPIC -fvisibility=hidden" ;;
	pipe-writer/*) own="-Ipipe-writer/include -fPIC -fvisibility=hidden" ;;
	*) own="-Ikuzma/include -Ipipe-writer/include -Iprobe/src" ;;
	esac
	# shellcheck disable=SC2046,SC2086 # flags are words
	$compiler $flags -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 $own -I"$output" $(instructions "$source") -c "$source" -o "$object" &
	running="$running$!=$source "
	echo "compiling $source"
	set -- "$@" "$object"
	waiting=$((waiting + 1))
	[ "$waiting" -lt "${JOBS:-1}" ] || { finish_one && waiting=$((waiting - 1)); }
done
while [ -n "$running" ]; do finish_one; done
for object; do
	[ -s "$object" ] || die "$compiler says that all is well, and did not write $object; is it a C compiler?"
done
echo "compiling stend-probe"
# shellcheck disable=SC2086
$compiler $flags -o "$output/stend-probe" "$@" -pthread -lm || die "$compiler does not link stend-probe"
[ -s "$output/stend-probe" ] || die "$compiler says that all is well, and did not write stend-probe; is it a C compiler?"
