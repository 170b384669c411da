#!/bin/sh
# What `make install` puts down is enough for other people's programs, in C and in C++, static and shared.
# Usage: install.sh PREFIX, from this library's folder; its libraries are in PREFIX/lib64. CC and CFLAGS are those that built it.
. "$(dirname "$0")/common.sh"
prefix=$(cd "$1" && pwd)
cc=${CC:-cc}
lib=$prefix/lib64
command -v pkg-config >/dev/null || {
	skip 'the installed library' 'there is no pkg-config here'
	finish
	exit
}
# The files name /opt/…, where this is not.
export PKG_CONFIG_PATH="$lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="${prefix%/opt/*}"
ok 'the version is that of the header' grep -q "MORSE_VERSION \"$(pkg-config --modversion morse)\"" "$prefix/include/morse.h"
"$prefix/bin/morse" --help | grep -o -e '--[a-z][a-z]*' | sort -u >"$work/options"
sed 's/\\-/-/g' "$prefix/share/man/man1/morse.1" | grep -o -e '--[a-z][a-z]*' | sort -u >"$work/named"
ok 'the manual has the options of --help' cmp "$work/options" "$work/named"
ok 'the program runs' sh -c "[ \"\$(echo sos | '$prefix/bin/morse' encode)\" = '... --- ...' ]"
# shellcheck disable=SC2046,SC2086 # the words of pkg-config and of CFLAGS are separate words
{
	ok 'the example links with the shared library' $cc $CFLAGS examples/sos.c $(pkg-config --cflags --libs morse) -o "$work/shared"
	ok 'and runs' sh -c "[ \"\$(LD_LIBRARY_PATH='$lib' '$work/shared' sos)\" = '... --- ...' ]"
	ok 'it needs the shared library' sh -c "! '$work/shared'"
	ok 'the example links with the static library' \
		$cc $CFLAGS examples/sos.c $(pkg-config --cflags morse) "$lib/libmorse.a" -pthread -o "$work/static"
	ok 'and runs' "$work/static"
	case $cc in *clang*) plus=clang++ ;; *) plus=g++ ;; esac
	if command -v $plus >/dev/null; then
		ok 'C++ takes the header' $plus $CFLAGS -Wall -Wextra -Werror -pedantic -x c++ examples/sos.c -x none \
			$(pkg-config --cflags --libs morse) -o "$work/plus"
		ok 'and links' env LD_LIBRARY_PATH="$lib" "$work/plus"
	fi
}
# The same by CMake.
if command -v cmake >/dev/null; then
	cat >"$work/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(example C)
find_package(morse 0.1 REQUIRED)
add_executable(cmake_shared $PWD/examples/sos.c)
target_link_libraries(cmake_shared morse::morse)
add_executable(cmake_static $PWD/examples/sos.c)
target_link_libraries(cmake_static morse::static)
END
	ok 'CMake finds it' cmake -S "$work" -B "$work/cmake" -D morse_DIR="$lib/cmake/morse" -D CMAKE_C_COMPILER="$cc" -D CMAKE_C_FLAGS="$CFLAGS"
	ok 'and links both libraries' cmake --build "$work/cmake"
	ok 'the programs run' sh -c "'$work/cmake/cmake_shared' && '$work/cmake/cmake_static'"
	sed 's/0.1 REQUIRED/0.2 REQUIRED/' "$work/CMakeLists.txt" >"$work/other" && mv "$work/other" "$work/CMakeLists.txt"
	ok 'another version is refused' sh -c "! cmake -S '$work' -B '$work/other' -D morse_DIR='$lib/cmake/morse'"
else
	skip 'CMake' 'there is no cmake here'
fi
# The names that programs, the loader and the linker ask for.
version=$(pkg-config --modversion morse)
ok 'the library says its name' sh -c "readelf -d '$lib/libmorse.so.$version' | grep -q 'SONAME.*\[libmorse.so.0\]'"
ok 'the loader finds it' [ "$(readlink "$lib/libmorse.so.0")" = "libmorse.so.$version" ]
ok 'the linker finds it' [ "$(readlink "$lib/libmorse.so")" = libmorse.so.0 ]
# What is exported is what the header declares: no more, no less.
grep -o '\bmorse_[a-z_0-9]*(' "$prefix/include/morse.h" | tr -d '(' | sort -u >"$work/declared"
nm -D --defined-only "$lib/libmorse.so" | sed -n 's/.* T \(morse_[a-z_0-9]*\)@@MORSE_0$/\1/p' | sort -u >"$work/exported"
ok 'exported are the declared functions, with a version' cmp "$work/declared" "$work/exported"
ok 'there are some' [ -s "$work/exported" ]
grep -o '\bmorse_[a-z_0-9]*' "$prefix/share/man/man3/morse.3" | sort -u | comm -23 "$work/declared" - >"$work/unnamed"
ok "the manual names them all: $(head -n 3 "$work/unnamed" | tr '\n' ' ')" [ ! -s "$work/unnamed" ]
# And nothing in the static library can meet the names of a program. (Sanitizers add names with two underscores.)
nm -g --defined-only "$lib/libmorse.a" | sed -n 's/.* [A-TV-Z] //p' | grep -v -e '^morse_' -e '^__' >"$work/foreign"
ok "all names begin with morse_: $(head -n 3 "$work/foreign" | tr '\n' ' ')" [ ! -s "$work/foreign" ]
finish
