#!/bin/sh
# What `make install` puts down is enough for other people's programs, in C and in C++.
# For this machine only: an emulator has no libraries to link with.
. "$(dirname "$0")/../../probe/tests/common.sh"
installed morse include/morse.h lib/libmorse.a lib/pkgconfig/morse.pc bin/morse
ok 'the version is that of the header' grep -q "MORSE_VERSION \"$(pkg-config --modversion morse)\"" "$prefix/include/morse.h"
ok 'the program runs' sh -c "[ \"\$(echo sos | '$prefix/bin/morse' encode)\" = '... --- ...' ]"
cat >"$work/sos.c" <<'END'
#include <morse.h>
int main(void)
{
	struct morse_options options = { morse_alphabet_by_name("itu"), 0, 0 };
	unsigned char code[32];
	size_t written;

	return morse_encode(&options, code, sizeof code, &written, (const unsigned char *)"sos", 3, 0) == MORSE_OK && written == 11 ? 0 : 1;
}
END
# shellcheck disable=SC2046,SC2086 # the words of pkg-config and of CFLAGS are separate words
{
	ok 'a program links' $cc $CFLAGS "$work/sos.c" $(pkg-config --cflags --libs morse) -o "$work/sos"
	ok 'and runs' "$work/sos"
	if command -v g++ >/dev/null; then
		ok 'C++ takes the header' g++ $CFLAGS -Wall -Wextra -Werror -pedantic -x c++ "$work/sos.c" -x none \
			$(pkg-config --cflags --libs morse) -o "$work/plus"
		ok 'and links' "$work/plus"
	fi
}
# Nothing in the library can meet the names of a program. (Sanitizers add names with two underscores.)
nm -g --defined-only "$prefix/lib/libmorse.a" | sed -n 's/.* [A-TV-Z] //p' | grep -v -e '^morse_' -e '^__' >"$work/foreign"
ok "all names begin with morse_: $(head -n 3 "$work/foreign" | tr '\n' ' ')" [ ! -s "$work/foreign" ]
finish
