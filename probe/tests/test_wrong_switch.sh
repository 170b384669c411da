#!/bin/sh
# The tests of coroutines can fail: each of these mistakes in the way to switch, made in a copy of the sources, is found.
. "$(dirname "$0")/common.sh"

cc=${CC:-cc}
architecture=$("$probe" --version | sed -n 's/^\([a-z0-9_]*\) -std=.*/\1/p')
case ${CFLAGS:-} in
*NO_INTRINSICS* | *__e2k__*) architecture=none ;;
*-fsanitize*)
	# What is wrong then, it says first; and it takes long.
	finish
	exit
	;;
esac
static=
[ -z "${RUN:-}" ] || static=-static
sources='switch/coroutine.c switch/assembly.c switch/setjmp.c switch/ucontext.c'

# Compiles the copy with its tests.
compile() {
	rm -f "$work/coroutines"
	# shellcheck disable=SC2086 # words
	(cd "$work/copy" && $cc -std=c11 ${CFLAGS:-} -O1 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I. -I"$here/../src" \
		$static -o "$work/coroutines" $sources "$here/coroutines.c" -pthread -lm) >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
}
here=$(cd "$(dirname "$0")" && pwd)

# A mistake may loop for ever: the limit is of processor time, which a busy machine does not use up, and many times what the
# tests need without a mistake, also in an emulator: a tenth of a second.
cat >"$work/runs" <<END
#!/bin/sh
ulimit -t 2
exec ${RUN:-} "$work/coroutines"
END
chmod +x "$work/runs"

# wrong NAME FILE SCRIPT: sed's, which must change something.
wrong() {
	rm -rf "$work/copy"
	mkdir "$work/copy"
	cp -R "$here/../src/switch" "$work/copy"
	sed -e "$3" "$here/../src/$2" >"$work/copy/$2"
	ok "$1: a change" sh -c "! cmp -s '$work/copy/$2' '$here/../src/$2'"
	ok "$1: it compiles" compile
	ok "$1: it is found" sh -c "! '$work/runs'"
}
mkdir "$work/copy"
cp -R "$here/../src/switch" "$work/copy"
ok 'without a mistake it compiles' compile
ok 'and is right' "$work/runs"

wrong 'a turn counted twice' switch/coroutine.h 's/pair->received++;  /pair->received += 2;/'
wrong 'no page that nobody may touch' switch/coroutine.c 's/mprotect(mapping, page, PROT_NONE) == 0 \&\& //'
wrong 'contexts whose signal mask is said to be shared' switch/ucontext.c 's/\.keeps_signal_mask = true/.keeps_signal_mask = false/'
wrong 'jumps that keep the signal mask' switch/setjmp.c 's/sigsetjmp(\([a-z]*\)->jump, 0)/sigsetjmp(\1->jump, 1)/'
case $architecture in
x86_64)
	wrong 'a register that is not kept' switch/x86_64.h 's/"r12", //'
	wrong 'a frame that is lost' switch/x86_64.h 's/"mov 8(%1), %%rbp/"xor %%ebp, %%ebp/'
	wrong 'a base that is lost' switch/x86_64.h 's/"mov %%rbx, 16(%0)/"nop/'
	wrong 'a rounding mode that stays' switch/x86_64.h 's/"ldmxcsr 32(%1)/"nop/'
	wrong 'an x87 control word that stays' switch/x86_64.h 's/"fldcw 36(%1)/"nop/'
	wrong 'a control word that is not looked at' switch/x86_64.h 's/"cmp 36(%0), %%ax/"cmp 36(%1), %%ax/'
	wrong 'half a control word that is looked at' switch/x86_64.h 's/"cmp 36(%0), %%ax/"cmpb 36(%0), %%al/'
	wrong 'a crooked stack' switch/x86_64.h 's/\.stack = stack_end,/.stack = stack_end - 8,/'
	;;
aarch64)
	wrong 'a register that is not kept' switch/aarch64.h 's/"x20",$//; s/"x21", //'
	wrong 'vectors that are not kept' switch/aarch64.h 's/"v8", "v9", "v10", "v11", //'
	wrong 'a base that is lost' switch/aarch64.h 's/"stp x19, x30, \[%0, #16\]/"str x30, [%0, #24]/'
	wrong 'a crooked stack' switch/aarch64.h 's/\.stack = stack_end,/.stack = stack_end - 8,/'
	;;
riscv64)
	wrong 'a register that is not kept' switch/riscv64.h 's/"s2", "s3", //'
	wrong 'a base that is lost' switch/riscv64.h 's/"sd s1, 16(%0)/"nop/'
	wrong 'a crooked stack' switch/riscv64.h 's/\.stack = stack_end,/.stack = stack_end - 8,/'
	;;
esac
finish
