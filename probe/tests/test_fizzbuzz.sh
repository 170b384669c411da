#!/bin/sh
# Fizz Buzz through real pipes: what is right passes, whoever carries it, and what is wrong or missing is found and named.
. "$(dirname "$0")/common.sh"

# carried NAME STATUS WORDS COMMAND...: the output of a writer, through a shell command, into the check.
carried() {
	name=$1
	expected=$2
	words=$3
	writer=$4
	shift 4
	"$probe" fizzbuzz --bytes 3MB --writer "$writer" | sh -c "$*" |
		"$probe" fizzbuzz --verify --bytes 3MB >"$work/lines" 2>"$work/err"
	got=$?
	ok "$name: exit status $got instead of $expected" [ "$got" -eq "$expected" ]
	json "$name"
	ok "$name: $words" grep -q "$words" "$work/lines"
}

"$probe" fizzbuzz --bytes 1MB >"$work/expected"
awk 'BEGIN { for (i = 1; i <= 200000; i++) print i % 15 == 0 ? "FizzBuzz" : i % 3 == 0 ? "Fizz" : i % 5 == 0 ? "Buzz" : i }' \
	>"$work/awk"
ok 'as awk prints it' sh -c "head -c 1000000 '$work/awk' | cmp -s - '$work/expected'"
"$probe" fizzbuzz --offset 500000 --bytes 1000 >"$work/piece"
ok 'from the middle' sh -c "tail -c +500001 '$work/expected' | head -c 1000 | cmp -s - '$work/piece'"

for writer in write fresh; do
	# Where vmsplice() is missing there is only write().
	"$probe" fizzbuzz --bytes 1 --writer "$writer" 2>/dev/null | grep -q 1 || {
		skip "writer $writer" 'this system has no vmsplice()'
		continue
	}
	carried "$writer, cat" 0 '"check":"every_byte","bytes":3000000}' "$writer" cat
	carried "$writer, small reads" 0 '"check":"every_byte","bytes":3000000}' "$writer" 'dd bs=1000 status=none'
	carried "$writer, cut off" 1 '"check":"other_length","bytes":2000000,"wanted":3000000}' "$writer" 'head -c 2000000'
	carried "$writer, a byte lost" 1 '"check":"wrong_from","byte":1234,' "$writer" 'head -c 1234; dd bs=1 count=1 of=/dev/null 2>/dev/null; cat'
	carried "$writer, a letter changed" 1 '"line":150[0-9]*,.*"wrong":1,"bytes":3000000}' "$writer" \
		"sed '1500s/Fizz/Fuzz/'"
	carried "$writer, nothing came" 1 '"check":"other_length","bytes":0,' "$writer" 'cat >/dev/null'
	if command -v pv >/dev/null 2>&1; then
		carried "$writer, pv, which moves pages on" 0 '"check":"every_byte","bytes":3000000}' "$writer" 'pv -q'
	else
		skip "$writer through pv" 'there is no pv'
	fi
	# Who reads a little and goes away is no error.
	("$probe" fizzbuzz --writer "$writer"; echo $? >"$work/status") | head -c 100000 >"$work/head"
	ok "$writer: a reader that goes away" [ "$(cat "$work/status")" -eq 0 ]
	ok "$writer: what it got" sh -c "head -c 100000 '$work/expected' | cmp -s - '$work/head'"
done

# Which writers survive which readers. The last three reuse pages without asking, and some readers keep them.
vmsplice=yes
"$probe" fizzbuzz --bytes 1 --writer fresh 2>/dev/null | grep -q 1 || vmsplice=
mib=${RUN:+2}
mib=${mib:-20}
through() { # WRITER READER WORDS...: with these for the writer; 0, 1 or 4, and $work/lines
	writer=$1
	reader=$2
	shift 2
	"$probe" fizzbuzz --bytes "${mib}MiB" --writer "$writer" "$@" |
		"$probe" fizzbuzz --verify --bytes "${mib}MiB" --reader "$reader" >"$work/lines" 2>"$work/err"
}
for reader in read readv splice-pipe tee splice-file read-enlarged; do
	[ -n "$vmsplice" ] || [ "$reader" = read ] || [ "$reader" = readv ] || continue
	for writer in write fresh; do
		[ -n "$vmsplice" ] || [ "$writer" = write ] || continue
		through "$writer" "$reader"
		ok "$writer to $reader: status" [ $? -eq 0 ]
		ok "$writer to $reader: every byte" grep -q "\"check\":\"every_byte\",\"bytes\":$((mib * 1048576))}" "$work/lines"
		ok "$writer to $reader: no wrong bytes" grep -q '"wrong_bytes":0[,}]' "$work/lines"
	done
	[ -n "$vmsplice" ] || continue
	case $reader in
	read | readv | splice-file | read-enlarged)
		through ring "$reader"
		ok "ring, which asks, to $reader: status" [ $? -eq 0 ] ;;
	esac
	for writer in two-buffers two-buffers-gift; do
		case $reader in
		read | readv | splice-file)
			through "$writer" "$reader" --huge-pages no
			ok "$writer to $reader: status" [ $? -eq 0 ] ;;
		*)
			# Nothing makes the kernel go wrong; it is free to.
			wrong=
			for _ in 1 2 3 4 5; do
				through "$writer" "$reader" || { wrong=$?; break; }
			done
			case $wrong in
			'') echo "told: $writer to $reader: this kernel gave no wrong byte in 5 times $mib MiB" >&2 ;;
			*)
				ok "$writer to $reader: wrong bytes are found" [ "$wrong" -eq 1 ]
				ok "$writer to $reader: and counted" grep -q '"wrong_bytes":[1-9]' "$work/lines"
				json "$writer to $reader" ;;
			esac ;;
		esac
	done
done
if [ -n "$vmsplice" ]; then
	through one-buffer read
	ok 'one buffer, written again at once: wrong bytes are found' [ $? -eq 1 ]
	"$probe" fizzbuzz --pipe-size 4096 --writer two-buffers --bytes 1MB | cmp -s - "$work/expected"
	ok 'two buffers of a page' [ $? -eq 0 ]
	(timeout 20 "$probe" fizzbuzz; echo $? >"$work/status") | "$probe" fizzbuzz --verify --most 1MB >"$work/lines"
	ok 'the beginning of what has no end' grep -q '"check":"every_byte","bytes":1000000}' "$work/lines"
	ok 'the beginning of what has no end: the writer ends' [ "$(cat "$work/status")" -eq 0 ]
	(timeout 20 "$probe" fizzbuzz --writer two-buffers; echo $? >"$work/status") | head -c 100000 >"$work/head"
	ok 'two buffers, a reader that goes away' [ "$(cat "$work/status")" -eq 0 ]
	"$probe" fizzbuzz --writer two-buffers --bytes 100 >"$work/file" 2>"$work/err"
	ok 'two buffers into a file: refused' [ $? -eq 4 ]
	ok 'two buffers into a file: in one line' grep -q 'standard output is no pipe$' "$work/err"
	"$probe" fizzbuzz --verify --reader tee <"$work/expected" >"$work/lines" 2>"$work/err"
	ok 'tee from a file: refused' [ $? -eq 4 ]
	ok 'tee from a file: in one line' grep -q 'standard input is no pipe$' "$work/err"
fi
status 'a pipe of no size' 2 "$probe" fizzbuzz --pipe-size 0
status 'a reader that sees nothing' 2 "$probe" fizzbuzz --verify --reader splice-null

# Into a file: write(), chosen by itself.
"$probe" fizzbuzz --bytes 1MB >"$work/file"
ok 'a file' cmp -s "$work/expected" "$work/file"
if [ -c /dev/full ]; then
	"$probe" fizzbuzz --bytes 1MB >/dev/full 2>"$work/err"
	ok 'a full disk is told' [ $? -eq 1 ]
	ok 'in one line' sh -c "[ \$(wc -l <'$work/err') -eq 1 ]"
else
	skip 'a full disk' 'there is no /dev/full'
fi
"$probe" fizzbuzz --bytes 100 >&- 2>"$work/err"
ok 'no standard output: told' [ $? -eq 1 ]
ok 'no standard output: in one line' sh -c "[ \$(wc -l <'$work/err') -eq 1 ]"
status 'an offset beyond the end' 2 "$probe" fizzbuzz --offset 9000000000000000000
status 'an unknown backend' 4 "$probe" fizzbuzz --backend none
ok 'the portable backend' sh -c "'$probe' fizzbuzz --backend portable --bytes 1MB | cmp -s - '$work/expected'"
finish
