#!/bin/sh
# build.sh makes the program that make makes, byte for byte: else a machine measured from afar would differ from one measured here by
# where its code lies.
. "$(dirname "$0")/common.sh"

told() { sed -n "s/^#define BUILD_$1 \"\(.*\)\"\$/\1/p" "$build/build_info.h"; }
flags=$(told FLAGS)
if ! emulated 'build.sh beside make' 'an emulator gets a static program, and build.sh links as the compiler does by itself'; then
	case $flags in
	# It knows no other: sanitizers have flags of their own.
	'-std=c11 -O2'*)
		mkdir "$work/output"
		# shellcheck disable=SC2086 # flags are words
		OUTPUT=$work/output SOURCES=$(told SOURCES) JOBS=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1) \
			sh "$(dirname "$0")/../build.sh" ${flags#-std=c11 -O2} >"$work/said" 2>&1 || cat "$work/said" >&2
		ok 'build.sh makes what make makes' cmp "$build/stend-probe" "$work/output/stend-probe"
		;;
	esac
fi
finish
