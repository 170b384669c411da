#!/bin/sh
# The command line: help, version, and one clear line for what is wrong.
. "$(dirname "$0")/common.sh"

for words in --help --version 'info --help' 'cipher --help' 'copy --help' 'pipe --help' 'switch --help' 'sample --help' 'loop --help' 'guard --help'; do
	# shellcheck disable=SC2086
	status "$words" 0 "$probe" $words
	ok "$words prints" [ -s "$work/out" ]
done
"$probe" pipe --help >"$work/help"
ok 'help: all that an option takes' grep -q -- '^  --writer write|.*|send-zerocopy$' "$work/help"
for words in '' nothing --nothing --check; do
	# shellcheck disable=SC2086
	status "'$words'" 2 "$probe" $words
done

# Every line a wrong command line. With --check the answer is the same, and comes without measuring.
while read -r words; do
	# shellcheck disable=SC2086
	status "'$words'" 2 "$probe" $words
	# shellcheck disable=SC2086
	status "'$words', --check" 2 "$probe" ${words%% *} --check ${words#* }
done <<'END'
info --nothing
info --seconds
info --seconds=
info --seconds 0
info --seconds 11
info --seconds -1
info extra
loop
loop --bytes 512
loop --device /dev/null --bytes 100
loop --device /dev/null extra
cipher --nothing
cipher --cipher aes
cipher --cipher kuz
cipher --cipher=
cipher --mode kuznyechik|magma
cipher --mode xts
cipher --mode mac --direction decrypt
cipher --mode key --size 48
cipher --mode ctr-acpkm --section 20
cipher --mode ctr-acpkm --section 0
cipher --messages 0
cipher --messages 1048577
cipher --direction both
cipher --size
cipher --size x
cipher --size 0
cipher --size 17
cipher --size 1e6
cipher --size 1025GiB
cipher --size 99999999999999999999
cipher --cipher magma --size 12
cipher --alignment 64
cipher --alignment -1
cipher --alignment 1.5
cipher --seconds 0
cipher --seconds 1x
cipher --seconds 61m
cipher --threads 0
cipher --threads 1025
cipher --repeats 0
cipher --repeats 1000001
cipher --backend none
cipher --cipher magma --backend gfni
cipher --backend=
cipher --list-backends=1
cipher extra
cipher -- extra
copy --method other
copy --method memcpy|words
copy --method words --alignment 4
copy --method nontemporal
copy --method nontemporal-sse2 --alignment 8
copy --method nontemporal-avx512 --alignment 32
copy --operation move
copy --operation load --method memcpy
copy --operation load --method rep-movsb
copy --operation load --method nontemporal-avx2
copy --size 3
copy --size 1
copy --size 2TB
copy --alignment 64
copy --seconds 0ns
copy --huge-pages maybe
copy --repeats many
copy extra
pipe --writer read
pipe --reader write
pipe --chunk 7
pipe --chunk 12
pipe --chunk 2GiB
pipe --pipe-size 0
pipe --pipe-size many
pipe --pipe-size 2GiB
pipe --pipe-size=
pipe --seconds 2h
pipe --cores three
pipe --huge-pages 1
pipe --fill some
pipe --verify none
pipe --writer vmsplice-constant --fill full
pipe --writer vmsplice-constant --fill touch
pipe --writer vmsplice-fresh --fill none
pipe --reader splice-null --verify all
pipe --verify full
pipe --transport udp
pipe --transport tcp --writer vmsplice-fresh
pipe --transport tcp --reader tee
pipe --transport tcp --pipe-size 64KiB
pipe --transport unix-stream --pipe-size max
pipe --transport shared-memory --writer writev
pipe --transport shared-memory --reader splice-null
pipe --writer send-zerocopy
pipe --transport unix-stream --writer send-zerocopy
pipe --writer vmsplice-gift --chunk 4104
pipe --writer vmsplice-gift --fill none
pipe --writer tee-constant --chunk 8
pipe --writer tee-constant --fill full
pipe --writer splice-file --fill touch
pipe --repeats 0
pipe extra
switch --method swap
switch --method pipe|futex
switch --cores two
switch --cores different
switch --method ucontext --cores different
switch --seconds 0
switch --repeats 0
switch extra
sample --hertz 0
sample --hertz 101
sample --hertz 1.5
sample --hertz
sample --seconds 0
sample --seconds 9000h
sample --nothing
sample extra
guard --timeout 0
guard --timeout x -- true
guard --timeout 9000h -- true
guard --nothing -- true
guard --directory
guard --timeout 1
guard --
END
status 'guard' 2 "$probe" guard
status 'a value of two lines' 2 "$probe" cipher --cipher 'two
lines'
ok 'a value of two lines: what and what would be right' grep -q '^stend-probe cipher: --cipher two?lines: must be one of kuznyechik|magma$' "$work/err"

# --check measures nothing, also where there is much to measure.
for words in info 'cipher --seconds 1h --size 1024GiB --repeats 1000' 'copy --method avx512 --size 1024GiB --seconds 1h' \
	'pipe --seconds 1h --pipe-size max --cores different' \
	'switch --seconds 1h --method futex --cores different' sample 'guard -- /no/such/program'; do
	# shellcheck disable=SC2086
	status "'$words', --check" 0 timeout 10 "$probe" ${words%% *} --check ${words#"${words%% *}"}
	ok "'$words', --check: silent" [ ! -s "$work/out" ]
done
# More than any machine has, and than 32 bits can count: refused, not cut to what fits.
status 'cipher too large' 4 "$probe" cipher --size 1024GiB
status 'copy too large' 4 "$probe" copy --size 1024GiB
# Input and output of every thread, source and target: each alone would fit.
if [ -r /proc/meminfo ]; then
	thousandth=$(($(sed -n 's/^MemTotal: *\([0-9]*\) kB$/\1/p' /proc/meminfo) / 16 * 16))
	status 'cipher, all threads too large' 4 timeout 5 "$probe" cipher --threads 1024 --size $thousandth
	status 'cipher, input and output too large' 4 timeout 5 "$probe" cipher --size $((thousandth * 8 / 10))KiB
	status 'copy, source and target too large' 4 timeout 5 "$probe" copy --size $((thousandth * 12 / 10))KiB
else
	skip 'all buffers together' 'there is no /proc/meminfo'
fi
status 'no loop device' 1 "$probe" loop --device /dev/null --bytes 512
ok 'no loop device: said' grep -q '/dev/null is no loop device' "$work/err"
status 'pipe too large' 4 "$probe" pipe --pipe-size 1GiB
# A suite names the backends of all architectures: those that this one lacks are refused as that, not as a mistake.
for pair in $(sed -n 's/^[[:space:]]*&kuzma_\([a-z]*\)_\(.*\),$/\1:\2/p' ../kuzma/src/backend.c | tr _ -); do
	cipher=${pair%:*}
	backend=${pair#*:}
	status "$cipher, $backend, --check" 0 "$probe" cipher --check --cipher "$cipher" --backend "$backend"
	case $("$probe" cipher --list-backends | grep "\"$cipher\",\"backend\":\"$backend\"") in
	*'"supported":true'*) expected=0 ;;
	*) expected=4 ;;
	esac
	status "$cipher, $backend" "$expected" "$probe" cipher --cipher "$cipher" --backend "$backend" --size 1KiB --seconds 1ms
done
ok 'all backends were tried' [ "${pair:-}" = magma:compact ]
"$probe" info >"$work/info"
ok 'info is one JSON object' "$json_check" --whole "$work/info"
"$probe" cipher --list-backends >"$work/backends"
ok 'backends are JSON lines' "$json_check" "$work/backends"
ok 'compact is there for both' sh -c "[ \$(grep -c '\"backend\":\"compact\",\"supported\":true' '$work/backends') -eq 2 ]"
# Results that nobody can get are an error, and no file that is opened later may stand in their place.
for command in 'info --seconds 1ms' 'copy --seconds 1ms' 'pipe --seconds 1ms' 'cipher --seconds 1ms' 'sample --seconds 0.1'; do
	# shellcheck disable=SC2086 # the words are meant to be split
	"$probe" $command >&- 2>"$work/err" </dev/null
	ok "no standard output: $command" [ $? -eq 1 ]
	ok "no standard output, in one line: $command" sh -c "[ \$(wc -l <'$work/err') -eq 1 ]"
done
finish
