#!/bin/sh
# Every way of each instrument runs, passes its own check, and prints the wire.
. "$(dirname "$0")/common.sh"

for cipher in kuznyechik magma; do
	for backend in $("$probe" cipher --list-backends | grep "\"$cipher\"" | grep '"supported":true' |
		sed 's/.*"backend":"\([^"]*\)".*/\1/'); do
		for mode in ecb cbc ctr cfb ofb mac mgm ctr-acpkm mac-acpkm key; do
			run "cipher $cipher $mode $backend" "$probe" cipher --cipher "$cipher" --mode "$mode" \
				--backend "$backend" --size 4000 --alignment 3 --seconds 2ms
		done
		for mode in ecb cbc ctr cfb ofb mgm ctr-acpkm; do
			run "cipher $cipher $mode decrypt $backend" "$probe" cipher --cipher "$cipher" --mode "$mode" \
				--direction decrypt --backend "$backend" --size 4000 --seconds 2ms
		done
	done
	for mode in cbc cfb ofb mac mgm; do
		run "cipher $cipher $mode, messages" "$probe" cipher --cipher "$cipher" --mode "$mode" --messages 70 \
			--size 1008 --seconds 2ms
		run "cipher $cipher $mode, long" "$probe" cipher --cipher "$cipher" --mode "$mode" --size 1200000 --seconds 1ns
	done
done
run 'cipher of one block' "$probe" cipher --size 16 --seconds 1ms
run 'cipher in threads' "$probe" cipher --size 64KiB --threads 3 --seconds 5ms
run 'cipher, one pass' "$probe" cipher --size 70MB --seconds 1ns
# What this build and processor have must run; what they lack must be refused.
"$probe" info --seconds 1ms >"$work/info"
for pair in memcpy: words: bytes: sse2:sse2 avx2:avx2 avx512:avx512f rep-movsb:sse2 nontemporal:sse2; do
	method=${pair%%:*}
	if [ -z "${pair#*:}" ] || grep -q "\"${pair#*:}\"" "$work/info"; then
		run "copy $method" "$probe" copy --method "$method" --size 100006 --seconds 5ms
		run "copy $method at 16" "$probe" copy --method "$method" --size 2 --alignment 16 --seconds 1ms
	else
		status "copy $method, which is not there" 4 "$probe" copy --method "$method"
	fi
done
run 'copy at 1' "$probe" copy --alignment 1 --size 1M --huge-pages yes --seconds 5ms
for writer in write vmsplice-fresh vmsplice-constant; do
	for reader in read splice-null; do
		for chunk in 8 4096 10000 64KiB 256KiB; do
			run "pipe $writer $reader $chunk" "$probe" pipe --writer "$writer" --reader "$reader" --chunk "$chunk" \
				--seconds 5ms
		done
	done
done
run 'pipe, fresh, all bytes' "$probe" pipe --writer vmsplice-fresh --fill full --verify full --huge-pages yes \
	--chunk 2M --pipe-size max --seconds 20ms
run 'pipe, write, all bytes' "$probe" pipe --fill full --verify full --seconds 20ms --cores same
if [ "$(nproc)" -gt 1 ]; then
	run 'pipe, two cores' "$probe" pipe --cores different --pipe-size 1M --seconds 5ms
else
	status 'pipe, two cores of one' 4 "$probe" pipe --cores different
fi
run 'pipe, touched' "$probe" pipe --fill touch --verify full --chunk 12000 --seconds 5ms

"$probe" cipher --repeats 3 --seconds 1ms >"$work/lines"
ok 'three repeats' sh -c "[ \$(grep -c '\"event\":\"repeat\"' '$work/lines') -eq 3 ] && grep -q '\"repeats\":3' '$work/lines'"
if [ -c /dev/full ]; then
	"$probe" cipher --seconds 1ms >/dev/full 2>"$work/err"
	ok 'a full disk is told' [ $? -eq 1 ]
	ok 'in one line' sh -c "[ \$(wc -l <'$work/err') -eq 1 ]"
else
	skip 'a full disk' 'there is no /dev/full'
fi
finish
