# The command line: help, version, and one clear line for what is wrong.
. "$(dirname "$0")/common.sh"

for words in --help --version 'info --help' 'cipher --help' 'copy --help' 'pipe --help' 'sample --help' 'guard --help'; do
	# shellcheck disable=SC2086
	status "$words" 0 "$probe" $words
	ok "$words prints" [ -s "$work/out" ]
done
for words in '' nothing --nothing 'cipher --nothing' 'cipher --cipher aes' 'cipher --cipher kuz' 'cipher --size 17' \
	'cipher --size' 'cipher --mode mac --direction decrypt' 'cipher --mode key --size 48' \
	'cipher --mode ctr-acpkm --section 20' 'cipher --messages 0' 'cipher --size x' 'cipher --size 0' 'cipher --alignment 64' 'cipher --alignment -1' \
	'cipher --seconds 0' 'cipher --seconds 1x' 'cipher --threads 0' 'cipher --repeats 0' 'cipher --backend none' \
	'cipher extra' 'cipher --list-backends=1' 'copy --method other' 'copy --size 3' 'copy --method words --alignment 4' \
	'copy --method memcpy|words' 'pipe --chunk 7' 'pipe --pipe-size 0' 'pipe --pipe-size many' 'pipe --cores three' \
	'pipe --writer vmsplice-constant --fill full' 'pipe --writer vmsplice-fresh --fill none' \
	'pipe --reader splice-null --verify full' 'sample --hertz 0' 'sample --hertz 101' 'sample --hertz 1.5' guard \
	'guard --timeout x -- true' 'guard --nothing -- true'; do
	# shellcheck disable=SC2086
	status "'$words'" 2 "$probe" $words
done
status 'pipe too large' 4 "$probe" pipe --pipe-size 1GiB
"$probe" info >"$work/info"
ok 'info is one JSON object' "$json_check" --whole "$work/info"
"$probe" cipher --list-backends >"$work/backends"
ok 'backends are JSON lines' "$json_check" "$work/backends"
ok 'compact is there for both' sh -c "[ \$(grep -c '\"backend\":\"compact\",\"supported\":true' '$work/backends') -eq 2 ]"
finish
