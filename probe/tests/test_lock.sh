#!/bin/sh
# A lock that is held for a lab elsewhere: by one at a time, as long as standard input is open.
. "$(dirname "$0")/common.sh"

# A standard input that stays open: this shell holds the other end.
mkfifo "$work/open" "$work/said"
exec 3<>"$work/open"

"$probe" lock --file "$work/lock" --holder 'somebody@lab, process 7' <"$work/open" >"$work/said" &
holder=$!
read -r said <"$work/said"
ok 'it says when it has it' [ "$said" = locked ]
ok 'whoever wants it too is refused' sh -c "'$probe' lock --file '$work/lock' </dev/null 2>'$work/err'; [ \$? -eq 75 ]"
ok 'and told who has it' grep -q 'is held by somebody@lab, process 7$' "$work/err"
kill -9 "$holder"
wait "$holder" 2>/dev/null
ok 'a dead one holds nothing' sh -c "[ \"\$('$probe' lock --file '$work/lock' </dev/null)\" = locked ]"
"$probe" lock --file "$work/no/such/directory" </dev/null 2>"$work/err"
ok 'a file that cannot be is named' [ $? -eq 1 ]
ok 'in one line' grep -q 'cannot open .*/no/such/directory' "$work/err"
"$probe" lock </dev/null 2>"$work/err"
ok 'without a file' [ $? -eq 2 ]

# Where anybody may write, the file might be a trap that leads elsewhere.
: >"$work/elsewhere"
ln -s "$work/elsewhere" "$work/trap"
"$probe" lock --shared --file "$work/trap" </dev/null >"$work/out" 2>"$work/err"
ok 'a link is not followed' [ $? -eq 1 ]
ok 'which is said' grep -q 'symbolic link' "$work/err"

mkfifo "$work/fifo"
"$probe" lock --shared --file "$work/fifo" </dev/null >"$work/out" 2>"$work/err"
ok 'nor is anything but a file taken' [ $? -eq 1 ]

# Nothing is written over somebody's data, nor is it removed.
for shared in '' --shared; do
	for data in precious 'stend' ' '; do
		printf '%s' "$data" >"$work/data"
		# shellcheck disable=SC2086 # no word, or one
		printf 'remove\n' | "$probe" lock $shared --file "$work/data" >"$work/out" 2>"$work/err"
		ok "a file with \"$data\" is refused${shared:+, shared}" [ $? -eq 1 ]
		ok 'which is said' grep -q "cannot open $work/data: it holds data" "$work/err"
		ok 'and it stays as it was' [ "$(cat "$work/data")" = "$data" ]
	done
done

# Its file is removed by who holds it, and what waits for the old file gets the new one.
mkdir "$work/own"
printf 'remove\n' | "$probe" lock --file "$work/own/lock" >"$work/said-of-it"
ok 'who holds it removes its file' sh -c "[ ! -e '$work/own/lock' ] && [ \"\$(cat '$work/said-of-it')\" = 'locked
removed' ]"
ok 'and the empty directory' [ ! -e "$work/own" ]
mkdir "$work/own"
: >"$work/own/precious"
printf 'remove\n' | "$probe" lock --file "$work/own/lock" >/dev/null
ok 'but none that holds anything' [ -e "$work/own/precious" ]
rm "$work/own/precious"
printf 'remove\n' | "$probe" lock --shared --file "$work/own/lock" >/dev/null
ok 'nor that of a lock that users share' sh -c "[ -d '$work/own' ] && [ ! -e '$work/own/lock' ]"
finish
