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
		# So much that cbc, cfb and ofb are checked in parts. An emulator takes seconds for each; it does one below.
		[ -n "${RUN:-}" ] ||
			run "cipher $cipher $mode, long" "$probe" cipher --cipher "$cipher" --mode "$mode" --size 4500000 --seconds 1ns
	done
done
run 'cipher of one block' "$probe" cipher --size 16 --seconds 1ms
run 'cipher in threads' "$probe" cipher --size 64KiB --threads 3 --seconds 5ms
# Checked in parts too. An emulator takes half a minute for what a processor does in a tenth of a second.
run 'cipher, one pass' "$probe" cipher --size "$([ -n "${RUN:-}" ] && echo 4500000 || echo 70MB)" --seconds 1ns
# What this build and processor have must run; what they lack must be refused.
"$probe" info --seconds 1ms >"$work/info"
for pair in memcpy: words: bytes: sse2:sse2 avx2:avx2 avx512:avx512f neon:asimd rep-movsb:sse2 nontemporal-sse2:sse2 \
	nontemporal-avx2:avx2 nontemporal-avx512:avx512f nontemporal-neon:asimd; do
	method=${pair%%:*}
	for operation in copy load store; do
		name="$operation, $method"
		case $operation:$method in
		load:memcpy | load:bytes | load:rep-movsb | load:nontemporal-*)
			status "$name" 2 "$probe" copy --method "$method" --operation load
			continue
			;;
		esac
		if [ -z "${pair#*:}" ] || grep -q "\"${pair#*:}\"" "$work/info"; then
			run "$name" "$probe" copy --method "$method" --operation $operation --size 100006 --seconds 5ms
			run "$name at 0" "$probe" copy --method "$method" --operation $operation --size 2 --seconds 1ms
		else
			status "$name, which is not there" 4 "$probe" copy --method "$method" --operation $operation
		fi
	done
done
ok "what the kernel offers is said" grep -q "\"ktls\": *\(true\|false\)" "$work/info"
run 'copy at 1' "$probe" copy --alignment 1 --size 1M --huge-pages yes --seconds 5ms
run 'load at 8' "$probe" copy --operation load --method words --alignment 8 --size 77777 --seconds 5ms
run 'store at 3, odd' "$probe" copy --operation store --alignment 3 --size 1 --seconds 1ms

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
