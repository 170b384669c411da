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
ok 'the program runs' sh -c "[ \"\$(echo sos | '$prefix/bin/morse' encode)\" = '... --- ...' ]"
# shellcheck disable=SC2046,SC2086 # the words of pkg-config and of CFLAGS are separate words
{
	ok 'the example links with the shared library' $cc $CFLAGS examples/sos.c $(pkg-config --cflags --libs morse) -o "$work/shared"
	ok 'and runs' sh -c "[ \"\$(LD_LIBRARY_PATH='$lib' '$work/shared' sos)\" = '... --- ...' ]"
	ok 'it needs the shared library' sh -c "! '$work/shared'"
	ok 'the example links with the static library' \
		$cc $CFLAGS examples/sos.c $(pkg-config --cflags morse) "$lib/libmorse.a" -pthread -o "$work/static"
	ok 'and runs' "$work/static"
	if command -v g++ >/dev/null; then
		ok 'C++ takes the header' g++ $CFLAGS -Wall -Wextra -Werror -pedantic -x c++ examples/sos.c -x none \
			$(pkg-config --cflags --libs morse) -o "$work/plus"
		ok 'and links' env LD_LIBRARY_PATH="$lib" "$work/plus"
	fi
}
# What is exported is what the header declares: no more, no less.
grep -o '\bmorse_[a-z_0-9]*(' "$prefix/include/morse.h" | tr -d '(' | sort -u >"$work/declared"
nm -D --defined-only "$lib/libmorse.so" | sed -n 's/.* T \(morse_[a-z_0-9]*\)@@MORSE_0$/\1/p' | sort -u >"$work/exported"
ok 'exported are the declared functions, with a version' cmp "$work/declared" "$work/exported"
ok 'there are some' [ -s "$work/exported" ]
# And nothing in the static library can meet the names of a program. (Sanitizers add names with two underscores.)
nm -g --defined-only "$lib/libmorse.a" | sed -n 's/.* [A-TV-Z] //p' | grep -v -e '^morse_' -e '^__' >"$work/foreign"
ok "all names begin with morse_: $(head -n 3 "$work/foreign" | tr '\n' ' ')" [ ! -s "$work/foreign" ]
finish
