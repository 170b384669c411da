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
ok 'the version is that of the header' \
	grep -q "PIPE_WRITER_VERSION \"$(pkg-config --modversion pipe_writer)\"" "$prefix/include/pipe_writer.h"

# shellcheck disable=SC2046,SC2086 # the words of pkg-config and of CFLAGS are separate words
{
	ok 'the example links with the shared library' \
		$cc $CFLAGS "examples/count.c" $(pkg-config --cflags --libs pipe_writer) -o "$work/shared"
	ok 'the example links with the static library' \
		$cc $CFLAGS "examples/count.c" $(pkg-config --cflags pipe_writer) "$lib/libpipe_writer.a" -pthread -o "$work/static"
	case $cc in *clang*) plus=clang++ ;; *) plus=g++ ;; esac
	if command -v $plus >/dev/null; then
		printf '#include <pipe_writer.h>\nint main() { pipe_writer *w; return pipe_writer_open(&w, -1, nullptr) == 9 ? 0 : 1; }\n' >"$work/plus.cc"
		ok 'C++ takes the header' $plus $CFLAGS -Wall -Wextra -Werror -pedantic "$work/plus.cc" $(pkg-config --cflags --libs pipe_writer) -o "$work/plus"
		ok 'and links' env LD_LIBRARY_PATH="$lib" "$work/plus"
	fi
}
seq 1 500000 >"$work/expected"
LD_LIBRARY_PATH="$lib" "$work/shared" 500000 | cat >"$work/counted"
ok 'the example counts, into a pipe' cmp "$work/expected" "$work/counted"
"$work/static" 500000 >"$work/counted"
ok 'and into a file' cmp "$work/expected" "$work/counted"
ok 'it needs the shared library' sh -c "! '$work/shared' 1"
ok 'a reader that has enough ends it quietly' sh -c "[ \"\$('$work/static' 1000000000 2>&1 | head -n 1)\" = 1 ]"

# The same by CMake.
if command -v cmake >/dev/null; then
	cat >"$work/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(example C)
find_package(pipe_writer 0.1 REQUIRED)
add_executable(cmake_shared $PWD/examples/count.c)
target_link_libraries(cmake_shared pipe_writer::pipe_writer)
add_executable(cmake_static $PWD/examples/count.c)
target_link_libraries(cmake_static pipe_writer::static)
END
	ok 'CMake finds it' cmake -S "$work" -B "$work/cmake" -D pipe_writer_DIR="$lib/cmake/pipe_writer" -D CMAKE_C_COMPILER="$cc" -D CMAKE_C_FLAGS="$CFLAGS"
	ok 'and links both libraries' cmake --build "$work/cmake"
	ok 'the programs run' sh -c "'$work/cmake/cmake_shared' 1 | cat && '$work/cmake/cmake_static' 1 | cat"
	sed 's/0.1 REQUIRED/0.2 REQUIRED/' "$work/CMakeLists.txt" >"$work/other" && mv "$work/other" "$work/CMakeLists.txt"
	ok 'another version is refused' sh -c "! cmake -S '$work' -B '$work/other' -D pipe_writer_DIR='$lib/cmake/pipe_writer'"
else
	skip 'CMake' 'there is no cmake here'
fi
# The names that programs, the loader and the linker ask for.
version=$(pkg-config --modversion pipe_writer)
ok 'the library says its name' sh -c "readelf -d '$lib/libpipe_writer.so.$version' | grep -q 'SONAME.*\[libpipe_writer.so.0\]'"
ok 'the loader finds it' [ "$(readlink "$lib/libpipe_writer.so.0")" = "libpipe_writer.so.$version" ]
ok 'the linker finds it' [ "$(readlink "$lib/libpipe_writer.so")" = libpipe_writer.so.0 ]
# What is exported is what the header declares: no more, no less.
grep -o '\bpipe_writer_[a-z_0-9]*(' "$prefix/include/pipe_writer.h" | tr -d '(' | sort -u >"$work/declared"
nm -D --defined-only "$lib/libpipe_writer.so" | sed -n 's/.* T \(pipe_writer_[a-z_0-9]*\)@@PIPE_WRITER_0$/\1/p' | sort -u >"$work/exported"
ok 'exported are the declared functions, with a version' cmp "$work/declared" "$work/exported"
ok 'there are some' [ -s "$work/exported" ]
grep -o '\bpipe_writer_[a-z_0-9]*' "$prefix/share/man/man3/pipe_writer.3" | sort -u | comm -23 "$work/declared" - >"$work/unnamed"
ok "the manual names them all: $(head -n 3 "$work/unnamed" | tr '\n' ' ')" [ ! -s "$work/unnamed" ]
# And nothing in the static library can meet the names of a program. (Sanitizers add names with two underscores.)
nm -g --defined-only "$lib/libpipe_writer.a" | sed -n 's/.* [A-TV-Z] //p' |
	grep -v -e '^pipe_writer_' -e '^__' >"$work/foreign"
ok "all names begin with pipe_writer_: $(head -n 3 "$work/foreign" | tr '\n' ' ')" [ ! -s "$work/foreign" ]
finish
