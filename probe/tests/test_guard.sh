#!/bin/sh
# The guard: whatever happens, nothing goes on running.
# shellcheck disable=SC2016 # the guarded shell is to expand it, not this one
. "$(dirname "$0")/common.sh"

# Usage lines must be JSON and hold the text.
usage() { # NAME TEXT
	ok "$1: usage is JSON" "$json_check" "$work/usage"
	ok "$1: usage" grep -q "^{\"event\":\"usage\",.*$2" "$work/usage"
}

# gone NAME PIDFILE: that process has ended (a zombie has, unless threads of it go on).
gone() {
	pid=$(cat "$2")
	ok "$1: the process is known" [ -n "$pid" ]
	ok "$1: the process is gone" sh -c "! kill -0 $pid 2>/dev/null ||
		{ grep -q '^State:[[:space:]]*Z' /proc/$pid/status && [ \$(ls /proc/$pid/task | wc -l) -eq 1 ]; }"
}

# A standard input that stays open: this shell holds the other end.
mkfifo "$work/open"
exec 3<>"$work/open"

"$probe" guard -- sh -c 'exit 7' <"$work/open" >"$work/usage" 2>"$work/err"
ok 'status is passed on' [ $? -eq 7 ]
usage 'status' '"exit":7[,}]'

"$probe" guard -- sh -c 'cat; echo out; echo err >&2' <"$work/open" >"$work/all" 2>"$work/err"
ok 'stdin is /dev/null, stdout inherited' sh -c "head -n 1 '$work/all' | grep -qx out"
ok 'stderr inherited' grep -qx err "$work/err"

"$probe" guard -- sh -c 'kill -9 $$' <"$work/open" >"$work/usage"
ok 'signal gives 128 + number' [ $? -eq 137 ]
usage 'signal' '"signal":9[,}]'

"$probe" guard -- /no/such/program <"$work/open" >"$work/usage" 2>"$work/err"
ok 'not found gives 127' [ $? -eq 127 ]
usage 'not found' '"exit":127[,}]'
ok 'not found: one line' sh -c "[ \$(wc -l <'$work/err') -eq 1 ]"

"$probe" guard --directory / -- pwd <"$work/open" >"$work/all"
ok 'directory' sh -c "head -n 1 '$work/all' | grep -qx /"
"$probe" guard --directory /no/such -- pwd <"$work/open" >"$work/usage" 2>"$work/err"
ok 'no directory gives 127' [ $? -eq 127 ]

"$probe" guard --timeout 0.2 -- sleep 10000 <"$work/open" >"$work/usage"
ok 'timeout gives 128 + TERM' [ $? -eq 143 ]
usage 'timeout' '"signal":15,"timed_out":true[,}]'

# TERM is ignored, also by the child: KILL after two seconds. A busy machine may need long to come to the trap.
for timeout in 0.1 1 10 60; do
	rm -f "$work/pid"
	"$probe" guard --timeout $timeout -- sh -c "trap '' TERM; echo \$\$ >'$work/pid'; while :; do sleep 1; done" \
		<"$work/open" >"$work/usage" 2>"$work/err"
	got=$?
	[ ! -s "$work/pid" ] || break
done
ok 'TERM ignored: KILL' [ "$got" -eq 137 ]
usage 'TERM ignored' '"signal":9,"timed_out":true[,}]'
gone 'TERM ignored' "$work/pid"

# Standard input closes when the command runs.
rm -f "$work/pid" "$work/pid2"
wait_for [ -s "$work/pid2" ] | "$probe" guard -- sh -c "echo \$\$ >'$work/pid'; sleep 10000 & echo \$! >'$work/pid2'; wait" >"$work/usage" 2>"$work/err"
usage 'input closed' '"signal":15[,}]'
gone 'input closed' "$work/pid"
gone 'input closed, grandchild' "$work/pid2"
rm -f "$work/pid"
wait_for [ -s "$work/pid" ] | "$probe" guard -- sh -c "trap '' TERM; echo \$\$ >'$work/pid'; while :; do sleep 1; done" >"$work/usage" 2>"$work/err"
usage 'input closed, TERM ignored' '"signal":9[,}]'
gone 'input closed, TERM ignored' "$work/pid"

"$probe" guard -- sleep 0.1 </dev/null >"$work/usage"
ok '/dev/null is not closed' [ $? -eq 0 ]
"$probe" guard -- sleep 100000 <&- >"$work/usage"
ok 'no input at all is' [ $? -eq 143 ]

# The command ends, and something that it started holds its output, and would for longer than any test lasts. A reader of that
# output gets to the end of it all the same.
# left NAME SCRIPT [USAGE]: SCRIPT writes the process's number to the file $PIDFILE and ends with status 3. The usage has the
# text. Of a guard that waits for such a process all these would hang, so the first is the last.
left() {
	rm -f "$work/pid" "$work/status"
	{ PIDFILE=$work/pid "$probe" guard -- sh -c "$2" <"$work/open"; echo $? >"$work/status"; } 2>"$work/err" | cat >"$work/usage" &
	reader=$!
	tries=$((1000 * ${PATIENCE:-1}))
	while kill -0 $reader 2>/dev/null && [ "$tries" -gt 0 ]; do
		tries=$((tries - 1))
		sleep 0.02
	done
	if [ "$tries" -eq 0 ]; then
		kill -KILL "$(cat "$work/pid")"
		ok "$1: the output ends" false
		finish
		exit
	fi
	wait $reader
	usage "$1" "${3:-}"
	ok "$1: status" [ "$(cat "$work/status")" -eq 3 ]
	usage "$1" '"exit":3,"left_running":true[,}]'
	gone "$1" "$work/pid"
}
left 'background' 'sleep 10000 & echo $! >"$PIDFILE"; exit 3'
if ! emulated 'guard: what left its process group' 'qemu-user 7 refuses to let a process adopt orphans, so it is lost'; then
	left 'session of its own' \
		'setsid sh -c "echo \$\$ >\"$PIDFILE\"; exec sleep 10000" & while ! [ -s "$PIDFILE" ]; do sleep 0.01; done; exit 3'
	left 'daemon, forked twice' \
		'setsid sh -c "(sleep 10000 & echo \$! >\"$PIDFILE\") &" & while ! [ -s "$PIDFILE" ]; do sleep 0.01; done; exit 3'
	left 'daemon that ignores TERM' \
		'setsid sh -c "(trap \"\" TERM; sleep 10000 & echo \$! >\"$PIDFILE\") &" & while ! [ -s "$PIDFILE" ]; do sleep 0.01; done; exit 3'
	# Each that is killed leaves the next one: only looking again finds it.
	cat >"$work/chain.sh" <<'END'
trap '' TERM
[ "$1" -gt 0 ] || { echo $$ >"$PIDFILE"; exec sleep 10000; }
setsid sh "$0" $(($1 - 1)) &
wait
END
	left 'chain of sessions' "setsid sh '$work/chain.sh' 5 & while ! [ -s \"\$PIDFILE\" ]; do sleep 0.01; done; exit 3"

	# Its main thread has ended, so that it looks like a zombie; the other one goes on.
	cat >"$work/headless.c" <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void *go_on(void *argument)
{
	FILE *file = fopen(argument, "w");
	sleep(1);
	fprintf(file, "%d\n", (int)getpid());
	fclose(file);
	sleep(10000);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	setsid();
	signal(SIGTERM, SIG_IGN);
	if (argc == 2 && pthread_create(&thread, NULL, go_on, argv[1]) == 0)
		pthread_exit(NULL);
	return 1;
}
END
	# shellcheck disable=SC2086 # the words of CFLAGS are separate words
	ok 'a program without its main thread' ${CC:-cc} $CFLAGS "$work/headless.c" -pthread -o "$work/headless"
	left 'main thread ended' "'$work/headless' \"\$PIDFILE\" & while ! [ -s \"\$PIDFILE\" ]; do sleep 0.01; done; exit 3"

	# In a process namespace with the /proc of the outer one: what cannot be found is told as that.
	if unshare --user --map-root-user --pid --fork true 2>/dev/null; then
		STARTED=$work/started unshare --user --map-root-user --pid --fork "$probe" guard -- sh -c \
			'setsid sh -c ": >\"$STARTED\"; exec sleep 10000" & while ! [ -e "$STARTED" ]; do sleep 0.01; done; exit 3' \
			<"$work/open" >"$work/usage" 2>"$work/err"
		ok 'namespace: status' [ $? -eq 3 ]
		usage 'namespace' '"exit":3,"left_running":true[,}]'
		ok 'namespace: one line says why' grep -qx "stend-probe guard: /proc is not .* cannot be found; going on without it" "$work/err"
	else
		skip 'a process namespace' 'this system lets nobody make one'
	fi

	# CPU time counts until the command's end, and until then also that of what it leaves running.
	# It begins when the command ends, which closes the pipe that it reads.
	mkfifo "$work/held"
	left 'busy afterwards' "(trap '' TERM; cat '$work/held'; while :; do :; done) & echo \$! >\"\$PIDFILE\"
		exec 4>'$work/held'; exit 3" '"user_ns":[0-9]\{1,8\},'
	# Until the loop has used fifteen ticks of 10 ms, however long that takes.
	left 'busy before' '(while :; do :; done) & echo $! >"$PIDFILE"
		while [ "$(cut -d " " -f 14 /proc/$!/stat)" -lt 15 ]; do sleep 0.05; done; exit 3' '"user_ns":[1-9][0-9]\{8,\},'

	# What ends by itself soon after is left to do so, and its output is kept.
	# A busy machine may make it too late again and again, but not always.
	tries=$((100 * ${PATIENCE:-1}))
	while [ $((tries -= 1)) -gt 0 ]; do
		"$probe" guard -- sh -c '(sleep 0.02; echo late) & exit 0' <"$work/open" >"$work/all"
		! grep -q left_running "$work/all" || continue
		break
	done
	ok 'late output is kept' sh -c "head -n 1 '$work/all' | grep -qx late"
	ok 'late output is nothing left' sh -c "! grep -q left_running '$work/all'"

	# The same processes when the guard ends the command itself.
	# The time that the command has is longer from try to try: a busy machine may need much to come as far.
	for timeout in 100 1000 10000 60000; do
		rm -f "$work/pid"
		PIDFILE=$work/pid "$probe" guard --timeout ${timeout}ms -- sh -c \
			'setsid sh -c "trap \"\" TERM; echo \$\$ >\"$PIDFILE\"; while :; do sleep 1; done" & wait' \
			<"$work/open" >"$work/usage" 2>"$work/err"
		[ ! -s "$work/pid" ] || break
	done
	usage 'timeout, session of its own' '"signal":15,"timed_out":true[,}]'
	gone 'timeout, session of its own' "$work/pid"
	rm -f "$work/pid"
	wait_for [ -s "$work/pid" ] | PIDFILE=$work/pid "$probe" guard -- sh -c 'setsid sh -c "echo \$\$ >\"$PIDFILE\"; exec sleep 10000" & wait' >"$work/usage"
	gone 'input closed, session of its own' "$work/pid"
fi

# The guard itself gets TERM; INT it ignores.
rm -f "$work/pid"
"$probe" guard -- sh -c "echo \$\$ >'$work/pid'; exec sleep 10000" <"$work/open" >"$work/usage" &
guard=$!
wait_for [ -s "$work/pid" ]
kill -INT $guard
sleep 0.1
ok 'INT is ignored' kill -0 $guard
kill -TERM $guard
wait $guard
ok 'TERM: status' [ $? -eq 143 ]
usage 'TERM' '"signal":15[,}]'
gone 'TERM' "$work/pid"

# The guard is killed outright: nothing can be done in it, so only its death by closed input is promised.
"$probe" guard -- sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done' <"$work/open" >"$work/usage"
ok 'user time is counted' sh -c "grep -q '\"user_ns\":[1-9]' '$work/usage'"
ok 'memory is counted' sh -c "grep -q '\"max_rss_bytes\":[1-9]' '$work/usage'"
if [ -r /proc/stat ]; then
	ok 'the machine was busy' sh -c "grep -q '\"machine\":{\"busy_ns\":[1-9][0-9]*,\"idle_ns\":[0-9]*,\"steal_ns\":[0-9]*,\"cpus\":[1-9]' '$work/usage'"
else
	skip 'the machine was busy' 'there is no /proc/stat'
fi

# What the machine did meanwhile, of a made /proc/stat that the command changes: all work is busy, also that of nice programs and
# interrupts, and time that the hypervisor took away is neither busy nor idle.
printf 'cpu  100 20 30 4000 50 6 7 8 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\nintr 1\n' >"$work/stat"
printf 'cpu  105 23 32 4011 51 7 8 12 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\nintr 1\n' >"$work/later"
if unshare --user --map-root-user --mount true 2>/dev/null; then
	unshare --user --map-root-user --mount sh -c 'mount --bind "$1/stat" /proc/stat && exec "$2" guard -- cp "$1/later" "$1/stat"' \
		sh "$work" "$probe" <"$work/open" >"$work/usage"
	tick=$((1000000000 / $(getconf CLK_TCK)))
	usage 'a made machine' "\"busy_ns\":$((12 * tick)),\"idle_ns\":$((12 * tick)),\"steal_ns\":$((4 * tick)),\"cpus\":2"
else
	skip 'a made machine' 'this system lets nobody mount anything'
fi

# The clock is set meanwhile. That would disturb the whole machine, so a library says it of a clock that was not.
cat >"$work/step.c" <<'END'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
	long status = syscall(SYS_clock_gettime, clock, now);

	if (clock == CLOCK_REALTIME && access(getenv("STEP_FILE"), F_OK) == 0)
		now->tv_sec -= 7;
	return (int)status;
}
END
# step_ns: of the usage line.
step_ns() {
	sed -n 's/.*"clock_step_ns":\(-\{0,1\}[0-9]*\)[,}].*/\1/p' "$work/usage"
}
"$probe" guard -- true <"$work/open" >"$work/usage"
ok 'a clock that nobody set' sh -c "[ '$(step_ns)' -gt -5000000 ] && [ '$(step_ns)' -lt 5000000 ]"
export STEP_FILE="$work/stepped"
if ! emulated 'guard: a clock that was set' 'a static program under an emulator takes no library that says so' && ${CC:-cc} -shared -fPIC -o "$work/step.so" "$work/step.c" 2>"$work/err" &&
	LD_PRELOAD=$work/step.so "$probe" --version >/dev/null 2>&1; then
	LD_PRELOAD=$work/step.so "$probe" guard -- sh -c ': >"$STEP_FILE"' <"$work/open" >"$work/usage"
	usage 'a clock that was set' '"clock_step_ns":-[67]'
	ok 'a clock that was set, by 7 s' sh -c "[ '$(step_ns)' -gt -7005000000 ] && [ '$(step_ns)' -lt -6995000000 ]"
fi

"$probe" guard --pid-file "$work/guard.pid" -- cp "$work/guard.pid" "$work/seen" <"$work/open" >"$work/usage"
ok 'its number is in a file meanwhile' grep -qx '[0-9]*' "$work/seen"
ok 'and the file goes' [ ! -e "$work/guard.pid" ]
"$probe" guard --pid-file "$work/guard.pid" -- sh -c 'echo 1 >"$1"' sh "$work/guard.pid" <"$work/open" >"$work/usage"
ok 'a file that another guard was given stays' [ "$(cat "$work/guard.pid")" = 1 ]
finish
