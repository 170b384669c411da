#!/bin/sh
# `stend-probe pipe`: every writer with every reader over every transport moves each byte to its place, or is refused in one
# line. What is not safe is shown not to be.
. "$(dirname "$0")/common.sh"

writers='write writev vmsplice-fresh vmsplice-ring vmsplice-gift vmsplice-constant tee-constant splice-file io-uring send-zerocopy'
readers='read readv splice-null splice-pipe tee splice-file read-enlarged'

# Whether the ends go with the transport; said here once more, as the documentation has it.
fits() { # TRANSPORT WRITER READER
	case $1:$2 in
	pipe:send-zerocopy | fifo:send-zerocopy) return 1 ;;
	pipe:* | fifo:*) return 0 ;;
	tcp:send-zerocopy | unix-*:write | unix-*:writev | unix-*:io-uring | tcp:write | tcp:writev | tcp:io-uring)
		case $3 in read | readv) return 0 ;; esac ;;
	shared-memory:write) [ "$3" = read ] && return 0 ;;
	esac
	return 1
}

# A ring whose pages are written again while a reader keeps them, or the pipe does, which is larger than it was.
unsafe() { # WRITER READER
	[ "$1" = vmsplice-ring ] && { [ "$2" = splice-pipe ] || [ "$2" = tee ] || [ "$2" = read-enlarged ]; }
}

# An instrument that must find its own stream corrupt; which shows when enough was sent that pages are used again.
corrupt() { # NAME COMMAND...: without --seconds
	name=$1
	shift
	for seconds in 10ms 100ms 1s 10s; do
		"$@" --seconds $seconds >"$work/lines" 2>"$work/err" </dev/null
		got=$?
		! grep -q '"check":"passed"' "$work/lines" || continue
		break
	done
	ok "$name: status" [ "$got" -eq 0 ]
	json "$name"
	ok "$name: corrupt, and how much" grep -q '"check":"corrupt","wrong":[1-9][0-9]*,"words":[1-9]' "$work/lines"
}

# Some kernels, containers and emulators have no io_uring and no MSG_ZEROCOPY: then the refusal must be right, and is told
# once.
: >"$work/told"
run_or_refuse() { # NAME COMMAND...
	name=$1
	shift
	"$@" >"$work/out" 2>"$work/err" </dev/null
	if [ $? -eq 4 ]; then
		status "$name: refused" 4 "$@"
		if ! grep -qxF -f "$work/err" "$work/told"; then
			emulated "pipe: $(sed -n 's/.*--writer \([a-z-]*\):.*/\1/p' "$work/err")" \
				'qemu-user has not its calls; that it is refused in one line is tested' || cat "$work/err" >&2
		fi
		cat "$work/err" >>"$work/told"
	else
		run "$name" "$@"
	fi
}

for transport in pipe fifo unix-stream unix-seqpacket tcp shared-memory; do
	for writer in $writers; do
		for reader in $readers; do
			name="$transport, $writer to $reader"
			words="--transport $transport --writer $writer --reader $reader --chunk 16KiB"
			[ "$reader" = splice-null ] || words="$words --verify all"
			# shellcheck disable=SC2086
			if ! fits "$transport" "$writer" "$reader"; then
				status "$name" 2 "$probe" pipe --transport "$transport" --writer "$writer" --reader "$reader"
			elif unsafe "$writer" "$reader"; then
				corrupt "$name" "$probe" pipe $words
			else
				case $writer in
				io-uring | send-zerocopy) run_or_refuse "$name" "$probe" pipe $words --seconds 10ms ;;
				*) run "$name" "$probe" pipe $words --seconds 10ms ;;
				esac
			fi
		done
	done
done
corrupt 'a sample finds it too' "$probe" pipe --writer vmsplice-ring --reader splice-pipe --chunk 16KiB

# Chunks less than a page, no whole pages, as large as the pipe, larger; pipes of other sizes.
for writer in write writev vmsplice-fresh vmsplice-ring vmsplice-constant splice-file; do
	for reader in read splice-pipe; do
		unsafe "$writer" "$reader" && continue
		for chunk in 8 10000 64KiB 200KiB; do
			run "pipe, $writer to $reader, chunk $chunk" "$probe" pipe --writer "$writer" --reader "$reader" \
				--chunk "$chunk" --seconds 5ms --verify all
		done
	done
done
for writer in vmsplice-gift tee-constant; do
	for chunk in 4096 192KiB; do
		run "pipe, $writer, chunk $chunk" "$probe" pipe --writer "$writer" --reader read --chunk "$chunk" --seconds 5ms \
			--verify all
	done
done
for writer in write vmsplice-fresh vmsplice-ring tee-constant; do
	run "pipe, $writer, a pipe of a page" "$probe" pipe --writer "$writer" --pipe-size 4096 --seconds 10ms --verify all
	run "pipe, $writer, the largest pipe" "$probe" pipe --writer "$writer" --pipe-size max --chunk 128KiB --huge-pages yes \
		--seconds 20ms --verify all
done
run 'pipe, touched' "$probe" pipe --fill touch --verify all --chunk 12000 --seconds 5ms
run 'pipe, ring, flat' "$probe" pipe --writer vmsplice-ring --fill flat --verify all --chunk 12000 --seconds 5ms
run 'pipe, ring, touched' "$probe" pipe --writer vmsplice-ring --fill touch --verify all --chunk 12000 --seconds 5ms
for writer in write vmsplice-fresh vmsplice-ring; do
	run "pipe, $writer, Fizz Buzz" "$probe" pipe --writer "$writer" --fill fizz-buzz --chunk 10000 --seconds 5ms --verify all
	ok "pipe, $writer, Fizz Buzz: every byte" grep -q '"check":"every_byte","bytes":[1-9]' "$work/lines"
	run "pipe, $writer, Fizz Buzz to nobody" "$probe" pipe --writer "$writer" --reader splice-null --fill fizz-buzz --seconds 5ms
done
run 'pipe, Fizz Buzz, a sample' "$probe" pipe --writer vmsplice-ring --fill fizz-buzz --chunk 24000 --seconds 20ms
ok 'pipe, Fizz Buzz, a sample: and says so' grep -q '"and":"blocks"},{"check":"full_before","bytes":[1-9]' "$work/lines"
corrupt 'pipe, a ring whose pages are carried on, Fizz Buzz' "$probe" pipe --writer vmsplice-ring --reader splice-pipe --fill fizz-buzz
run 'pipe, more than once' "$probe" pipe --writer vmsplice-fresh --reader tee --verify sample --chunk 256KiB --seconds 20ms
run 'shared memory, small' "$probe" pipe --transport shared-memory --pipe-size 4096 --chunk 24 --seconds 5ms --verify all
run 'shared memory, large' "$probe" pipe --transport shared-memory --pipe-size 4MiB --chunk 1MiB --seconds 20ms --verify all
run 'tcp, large' "$probe" pipe --transport tcp --chunk 1MiB --seconds 20ms --verify all
run 'seqpacket, small' "$probe" pipe --transport unix-seqpacket --chunk 8 --seconds 5ms --verify all
status 'seqpacket, a message too large' 4 "$probe" pipe --transport unix-seqpacket --chunk 16MiB
run_or_refuse 'tcp, zerocopy, large' "$probe" pipe --transport tcp --writer send-zerocopy --chunk 1MiB --seconds 20ms --verify all
run 'pipe, one core' "$probe" pipe --cores same --seconds 20ms --verify all
run 'shared memory, one core' "$probe" pipe --transport shared-memory --cores same --seconds 20ms --verify all
if [ "$(nproc)" -gt 1 ]; then
	run 'pipe, two cores' "$probe" pipe --cores different --pipe-size 1M --seconds 5ms
else
	status 'pipe, two cores of one' 4 "$probe" pipe --cores different
fi

# What both ends have used.
for seconds in 20ms 200ms 2s; do
	run 'counts' "$probe" pipe --cores same --seconds $seconds
	voluntary=$(sed -n 's/.*"switches_voluntary":\([0-9]*\).*/\1/p' "$work/lines")
	[ "${voluntary:-0}" -le 10 ] || break # on a busy machine the time may be over after a turn or two
done
for count in writer_cpu_ns reader_cpu_ns switches_voluntary writer_switches_involuntary; do
	ok "counts: $count" grep -q "\"$count\":[0-9]" "$work/lines"
done
for count in timeslices wakeups; do
	ok "counts: $count, or why not" grep -q "\"writer_$count\":[0-9]\|\"missing\":{.*\"writer_$count\":\"" "$work/lines"
done
if ! emulated 'pipe: two ends on one core take turns' 'an emulator may be too slow to be interrupted between turns'; then
	ok 'two ends on one core take turns' [ "${voluntary:-0}" -gt 10 ]
fi

# Nothing stays behind: no descriptors, no names, no processes.
for ends in 'write read' 'tee-constant tee' 'splice-file splice-file' 'vmsplice-fresh splice-pipe'; do
	# shellcheck disable=SC3045 # dash and bash have it
	(ulimit -n 30 && "$probe" pipe --transport fifo --writer "${ends% *}" --reader "${ends#* }" --seconds 1ms --repeats 15) \
		>"$work/lines" 2>"$work/err"
	ok "no descriptors are lost: $ends" sh -c "[ \$(grep -c '\"check\":\"passed\"' '$work/lines') -eq 15 ]"
done
mkdir "$work/names"
TMPDIR=$work/names run 'fifo elsewhere' "$probe" pipe --transport fifo --seconds 5ms
ok 'no name is left' rmdir "$work/names"
TMPDIR=$work/nowhere status 'fifo nowhere' 4 "$probe" pipe --transport fifo

find_writer() { # OF: its child, in $writer
	writer=$(cat "/proc/$1/task/$1/children" 2>/dev/null)
	[ -n "$writer" ]
}
for transport in pipe tcp shared-memory; do
	for victim in writer reader; do
		: >"$work/lines"
		# Checked in full, so that there is no rehearsal before, with a writer of its own.
		"$probe" pipe --transport $transport --seconds 1h --verify all >"$work/lines" 2>"$work/err" &
		reader=$!
		writer=
		if [ ! -e "/proc/$$/task/$$/children" ]; then
			kill $reader
			skip "$transport, $victim killed" 'this system does not tell the children of a process'
			continue
		fi
		# Before the first line there was another one, for a trial.
		wait_for lines_of "$work/lines" 1 && wait_for find_writer $reader
		if [ $victim = writer ]; then
			# shellcheck disable=SC2086
			kill -9 $writer
			wait $reader
			ok "$transport, writer killed: status" [ $? -eq 1 ]
			ok "$transport, writer killed: one line" sh -c "[ \$(wc -l <'$work/err') -eq 1 ]"
		else
			kill -9 $reader
			wait $reader 2>/dev/null
			wait_for [ ! -d "/proc/${writer% }" ]
			ok "$transport, reader killed: the writer is gone" [ ! -d "/proc/${writer% }" ]
		fi
	done
done
finish
