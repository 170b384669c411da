#!/bin/sh
# An emulated stend-probe says so wherever its results may be looked at, and one that a processor runs never does.
. "$(dirname "$0")/common.sh"

# says PROGRAM WORDS...: what it says of an emulator, by --version, info and the wire: the same three times, or nothing.
says() {
	"$@" --version >"$work/version" 2>"$work/err"
	"$@" info --seconds 1ms >"$work/info" 2>>"$work/err"
	"$@" switch --method call --seconds 1ms >"$work/wire" 2>>"$work/err"
	sed -n 's/^emulated by //p' "$work/version"
	sed -n 's/^  "emulator": *"\(.*\)",$/\1/p' "$work/info"
	sed -n 's/.*"build":{[^}]*"emulator":"\([^"]*\)"[,}].*/\1/p' "$work/wire"
}
thrice='qemu-user
qemu-user
qemu-user'

if [ -n "${RUN:-}" ]; then
	ok 'told three times' [ "$(says "$probe")" = "$thrice" ]
	finish
	exit
fi
ok 'it runs' "$probe" info --seconds 1ms
ok 'a processor runs it' [ -z "$(says "$probe")" ]
# However it is started, and whatever its name.
cp "$build/stend-probe" "$work/qemu-aarch64-static"
ok 'with the name of an emulator' [ -z "$(says "$work/qemu-aarch64-static")" ]
ln -s "$build/stend-probe" "$work/link"
ok 'by a link' [ -z "$(says "$work/link")" ]
ok 'by a relative path' [ -z "$(cd "$build" && says ./stend-probe)" ]
for loader in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 /lib/ld-linux-riscv64-lp64d.so.1; do
	! "$loader" "$build/stend-probe" --version >/dev/null 2>&1 || ok 'by the dynamic linker' [ -z "$(says "$loader" "$build/stend-probe")" ]
done
# Its file may be gone by now.
if [ -e /proc/self/fd ]; then
	cp "$build/stend-probe" "$work/gone"
	exec 9<"$work/gone"
	rm "$work/gone"
	ok 'without its file' [ -z "$(says /proc/self/fd/9)" ]
	ok 'which ran' grep -q '"event":"end"' "$work/wire"
	exec 9<&-
fi
# An emulator of this very architecture.
same=qemu-$(uname -m)-static
case ${CFLAGS:-} in
*-fsanitize*) ;; # its memory is where the emulator's is
*)
	if command -v "$same" >/dev/null; then
		ok 'an emulator of the same architecture is told' [ "$(says "$same" "$build/stend-probe")" = "$thrice" ]
	else
		skip 'an emulator of the same architecture' "there is no $same here; on Debian: apt-get install -y qemu-user-static"
	fi
	;;
esac
finish
