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
ok 'the version is that of the header' grep -q "KUZMA_VERSION \"$(pkg-config --modversion kuzma)\"" "$prefix/include/kuzma.h"

# shellcheck disable=SC2046,SC2086 # the words of pkg-config and of CFLAGS are separate words
{
	ok 'the example links with the shared library' \
		$cc $CFLAGS "examples/seal_records.c" $(pkg-config --cflags --libs kuzma) -o "$work/shared"
	ok 'and runs' env LD_LIBRARY_PATH="$lib" "$work/shared"
	ok 'it needs the shared library' sh -c "! '$work/shared'"
	ok 'the example links with the static library' \
		$cc $CFLAGS "examples/seal_records.c" $(pkg-config --cflags kuzma) "$lib/libkuzma.a" -pthread -o "$work/static"
	ok 'and runs' "$work/static"
	ok 'what looks for leftovers links with the shared library' \
		$cc $CFLAGS -std=c11 -D_GNU_SOURCE "tests/leftovers.c" -Itests $(pkg-config --cflags --libs kuzma) -pthread -o "$work/leftovers"
	ok 'which leaves no key and no plaintext on the stack' env LD_LIBRARY_PATH="$lib" "$work/leftovers"
	case $cc in *clang*) plus=clang++ ;; *) plus=g++ ;; esac
	if command -v $plus >/dev/null; then
		printf '#include <kuzma.h>\nint main() { return kuzma_block_bytes(KUZMA_MAGMA) == 8 ? 0 : 1; }\n' >"$work/plus.cc"
		ok 'C++ takes the header' $plus $CFLAGS -Wall -Wextra -Werror -pedantic "$work/plus.cc" $(pkg-config --cflags --libs kuzma) -o "$work/plus"
		ok 'and links' env LD_LIBRARY_PATH="$lib" "$work/plus"
	fi
}
# The same by CMake.
if command -v cmake >/dev/null; then
	cat >"$work/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(example C)
find_package(kuzma 0.1 REQUIRED)
add_executable(cmake_shared $PWD/examples/seal_records.c)
target_link_libraries(cmake_shared kuzma::kuzma)
add_executable(cmake_static $PWD/examples/seal_records.c)
target_link_libraries(cmake_static kuzma::static)
END
	ok 'CMake finds it' cmake -S "$work" -B "$work/cmake" -D kuzma_DIR="$lib/cmake/kuzma" -D CMAKE_C_COMPILER="$cc" -D CMAKE_C_FLAGS="$CFLAGS"
	ok 'and links both libraries' cmake --build "$work/cmake"
	ok 'the programs run' sh -c "'$work/cmake/cmake_shared' && '$work/cmake/cmake_static'"
	sed 's/0.1 REQUIRED/0.2 REQUIRED/' "$work/CMakeLists.txt" >"$work/other" && mv "$work/other" "$work/CMakeLists.txt"
	ok 'another version is refused' sh -c "! cmake -S '$work' -B '$work/other' -D kuzma_DIR='$lib/cmake/kuzma'"
else
	skip 'CMake' 'there is no cmake here'
fi
# The names that programs, the loader and the linker ask for.
version=$(pkg-config --modversion kuzma)
ok 'the library says its name' sh -c "readelf -d '$lib/libkuzma.so.$version' | grep -q 'SONAME.*\[libkuzma.so.0\]'"
ok 'the loader finds it' [ "$(readlink "$lib/libkuzma.so.0")" = "libkuzma.so.$version" ]
ok 'the linker finds it' [ "$(readlink "$lib/libkuzma.so")" = libkuzma.so.0 ]
# What is exported is what the header declares: no more, no less.
grep -o '\bkuzma_[a-z_0-9]*(' "$prefix/include/kuzma.h" | tr -d '(' | sort -u >"$work/declared"
nm -D --defined-only "$lib/libkuzma.so" | sed -n 's/.* T \(kuzma_[a-z_0-9]*\)@@KUZMA_0$/\1/p' | sort -u >"$work/exported"
ok 'exported are the declared functions, with a version' cmp "$work/declared" "$work/exported"
ok 'there are some' [ -s "$work/exported" ]
grep -o '\bkuzma_[a-z_0-9]*' "$prefix/share/man/man3/kuzma.3" | sort -u | comm -23 "$work/declared" - >"$work/unnamed"
ok "the manual names them all: $(head -n 3 "$work/unnamed" | tr '\n' ' ')" [ ! -s "$work/unnamed" ]
# All else is reached directly, also from other files: no object asks for a name that the linker might have to look for elsewhere.
readelf -sW "$lib/libkuzma.a" >"$work/symbols"
awk '$7 == "UND" && $8 ~ /^kuzma_/ && $6 != "HIDDEN" { print $8 }' "$work/symbols" | sort -u | comm -23 - "$work/declared" >"$work/indirect"
ok "names of the library's own are hidden where they are used: $(head -n 3 "$work/indirect" | tr '\n' ' ')" [ ! -s "$work/indirect" ]
ok 'objects ask each other for names' grep -q ' UND kuzma_' "$work/symbols"
# And nothing in the static library can meet the names of a program. (Sanitizers add names with two underscores.)
nm -g --defined-only "$lib/libkuzma.a" | sed -n 's/.* [A-TV-Z] //p' | grep -v -e '^kuzma_' -e '^__' >"$work/foreign"
ok "all names begin with kuzma_: $(head -n 3 "$work/foreign" | tr '\n' ' ')" [ ! -s "$work/foreign" ]
finish
