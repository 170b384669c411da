#!/bin/sh
# The program morse: what it prints, its status, and how it ends when its input or its output does.
# Usage: program.sh BUILD
. "$(dirname "$0")/common.sh"
build=$(cd "$1" && pwd)
starter morse "$build/bin/morse"
morse=$work/morse
tab=$(printf '\t')

# gives NAME EXPECTED COMMAND...: with standard input from $work/in.
gives() {
	name=$1
	printf '%b' "$2" >"$work/expected"
	shift 2
	"$@" <"$work/in" >"$work/out" 2>"$work/err"
	got=$?
	ok "$name: status 0" [ "$got" -eq 0 ]
	ok "$name: output" cmp "$work/expected" "$work/out"
	ok "$name: nothing on standard error" [ ! -s "$work/err" ]
}

# refuses NAME STATUS LINE COMMAND...: the line is all of standard error, after "morse: ".
refuses() {
	name=$1
	expected=$2
	line=$3
	shift 3
	"$@" <"$work/in" >"$work/out" 2>"$work/err"
	got=$?
	ok "$name: status $got, not $expected" [ "$got" -eq "$expected" ]
	printf 'morse: %s\n' "$line" >"$work/expected"
	ok "$name: $(cat "$work/err")" cmp "$work/expected" "$work/err"
}

# status NAME EXPECTED COMMAND...: on a usage error, one line on standard error and nothing on standard output.
status() {
	name=$1
	expected=$2
	shift 2
	"$@" >"$work/out" 2>"$work/err" </dev/null
	got=$?
	ok "$name: status $got, not $expected" [ "$got" -eq "$expected" ]
	[ "$expected" -ne 2 ] || ok "$name: one line" sh -c "[ \$(wc -l <'$work/err') -eq 1 ] && ! [ -s '$work/out' ]"
}

# ---- Coding.
printf 'What hath God wrought?\n' >"$work/in"
gives encode '.-- .... .- - / .... .- - .... / --. --- -.. / .-- .-. --- ..- --. .... - ..--..\n' "$morse" encode
gives 'encode -' '.-- .... .- - / .... .- - .... / --. --- -.. / .-- .-. --- ..- --. .... - ..--..\n' "$morse" encode -
cp "$work/out" "$work/in"
gives decode 'WHAT HATH GOD WROUGHT?\n' "$morse" decode
printf 'привет' >"$work/in"
gives 'Russian' '.--. .-. .. .-- . -' "$morse" encode --alphabet ru
gives 'Russian, with =' '.--. .-. .. .-- . -' "$morse" encode --alphabet=ru
printf 'a & b' >"$work/in"
gives extensions '.- / .-... / -...' "$morse" encode --extensions
gives lossy '.- / ..--.. / -...' "$morse" encode --lossy
gives 'lossy, another' '.- / - / -...' "$morse" encode --lossy=t
gives 'lossy, nothing' '.- / / -...' "$morse" encode --lossy=
printf '.- ........ -...' >"$work/in"
gives 'lossy, decode' 'A�B' "$morse" decode --lossy
gives 'lossy, decode, another' 'A*B' "$morse" decode '--lossy=*'
refuses 'strict again' 1 "standard input:1:4: ........ is no code of the alphabet itu, byte offset 3; --lossy replaces what cannot be coded" \
	"$morse" decode --lossy --strict

# ---- Files: one after the other, as if they were one.
printf 'ab' >"$work/1"
printf 'cd\n\303' >"$work/2"
printf '\251\n!' >"$work/3"
: >"$work/empty"
printf 'cd\ne' >"$work/in"
gives 'a file and standard input' '.- -... -.-. -..\n.' "$morse" encode "$work/1" "$work/empty" -
refuses 'the place is that of the file' 1 "$work/3:2:1: '!' (U+0021) is not in the alphabet itu, byte offset 2; --extensions takes it" \
	"$morse" encode "$work/1" "$work/2" "$work/3"
refuses 'a character that ends nowhere' 1 \
	"$work/2:2:1: the byte c3 is no UTF-8, byte offset 3; iconv -t UTF-8 converts text, --lossy replaces it" "$morse" encode "$work/1" "$work/2"
refuses 'a file that is not there' 1 "$work/none: No such file or directory" "$morse" encode "$work/1" "$work/none"
ok 'nothing was done' [ ! -s "$work/out" ]
printf 'kept' >"$work/kept"
refuses 'a file that is not there, into a file' 1 "$work/none: No such file or directory" \
	"$morse" encode "$work/1" "$work/none" -o "$work/kept"
ok 'the file is as it was' [ "$(cat "$work/kept")" = kept ]
refuses 'a folder' 1 "$work: Is a directory" "$morse" encode "$work"
gives 'a name that begins with -' '.- -...' sh -c "cd '$work' && cp 1 ./-1 && '$morse' encode -- -1"
gives 'into a file' '' "$morse" encode -o "$work/target" "$work/1"
ok 'it has the code' [ "$(cat "$work/target")" = '.- -...' ]
gives 'into a file, shorter' '' "$morse" decode "--output=$work/target2" "$work/target"
ok 'it has the text' [ "$(cat "$work/target2")" = AB ]
refuses 'onto itself' 2 "$work/1: it is the output as well, and would be lost; name another file for the output" \
	"$morse" encode "$work/1" -o "$work/1"
ok 'it is still there' [ "$(cat "$work/1")" = ab ]
refuses 'an error, into a file' 1 "$work/3:1:1: the byte a9 is no UTF-8, byte offset 0; iconv -t UTF-8 converts text, --lossy replaces it" \
	"$morse" encode "$work/3" -o "$work/half"
ok 'no half file is left' [ ! -e "$work/half" ]
printf 'ab*' >"$work/bad"
printf 'before' >"$work/behind"
ln -s behind "$work/link"
refuses 'an error, into a link' 1 "$work/bad:1:3: '*' (U+002A) is not in the alphabet itu, byte offset 2; --lossy replaces what cannot be coded" \
	"$morse" encode "$work/bad" -o "$work/link"
ok 'the link is still there' [ -L "$work/link" ]
ok 'and behind it is nothing half' [ ! -s "$work/behind" ]

# ---- Errors.
printf 'ab\r\n' >"$work/in"
refuses 'a carriage return' 1 "standard input:1:3: a carriage return is not in the alphabet itu, byte offset 2; remove them first, as in: tr -d '\\r'" \
	"$morse" encode
printf '.-\r\n' >"$work/in"
refuses 'a carriage return, decode' 1 \
	"standard input:1:3: a carriage return: code has '.', '-', '/', spaces and ends of lines only, byte offset 2; remove them first, as in: tr -d '\\r'" \
	"$morse" decode
printf 'a\tb' >"$work/in"
refuses 'a tab' 1 'standard input:1:2: a tab is not in the alphabet itu, byte offset 1; make spaces of them first, as in: expand -t 1' \
	"$morse" encode
printf 'a\033b' >"$work/in"
refuses 'a control character' 1 \
	'standard input:1:2: the control character U+001B is not in the alphabet itu, byte offset 1; --lossy replaces what cannot be coded' "$morse" encode
cp "$work/in" "$work/$(printf 'n\302\233m\033')"
refuses 'control characters in a name' 1 \
	"$work/n??m?:1:2: the control character U+001B is not in the alphabet itu, byte offset 1; --lossy replaces what cannot be coded" \
	"$morse" encode "$work/$(printf 'n\302\233m\033')"
printf 'ёж' >"$work/in"
refuses 'the other alphabet' 1 "standard input:1:1: 'ё' (U+0451) is not in the alphabet itu, byte offset 0; --alphabet ru takes it" \
	"$morse" encode
printf '.- .-.-' >"$work/in"
refuses 'a code of the other alphabet' 1 'standard input:1:4: .-.- is no code of the alphabet itu, byte offset 3; --alphabet ru takes it' \
	"$morse" decode
printf '.-\n.− -' >"$work/in"
refuses 'a dash that is none' 1 \
	"standard input:2:2: '−' (U+2212): code has '.', '-', '/', spaces and ends of lines only, byte offset 4; --lossy replaces what cannot be coded" \
	"$morse" decode

# ---- The command line. One line each, and status 2.
refuses 'no words' 2 "encode, decode, alphabets or backends? 'morse --help' has more" "$morse"
while IFS=$tab read -r words line; do
	# shellcheck disable=SC2086
	refuses "'$words'" 2 "$line" "$morse" $words
done <<END
foo	foo: there is no such command; there are encode, decode, alphabets and backends
encode --foo	encode: --foo: there is no such option; 'morse --help' has all
encode -x	encode: -x: there is no such option; 'morse --help' has all
encode --alphabet	encode: --alphabet: a value is missing; 'morse --help' has all options
encode --alphabet=	encode: --alphabet: a value is missing; 'morse --help' has all options
encode --alphabet fr	encode: --alphabet fr: must be itu or ru
encode --strict=1	encode: --strict: takes no value
encode -o	encode: -o: a value is missing; 'morse --help' has all options
encode --wpm 20	encode: --wpm: needs --wav
decode --wav	decode: --wav: only encode makes sound
encode --wav --wpm 0	encode: --wpm 0: must be a whole number from 1 to 200
encode --wav --wpm 201	encode: --wpm 201: must be a whole number from 1 to 200
encode --wav --wpm 99999999999999999999	encode: --wpm 99999999999999999999: must be a whole number from 1 to 200
encode --wav --wpm 2x	encode: --wpm 2x: must be a whole number from 1 to 200
encode --wav --pitch=20	encode: --pitch 20: must be a whole number from 50 to 5000
encode --backend none	encode: --backend none: there is none of that name; 'morse backends' lists them
encode --lossy=!	the replacement is not one character that can be written
decode --lossy=ab	the replacement is not one character that can be written
alphabets itu	alphabets: itu: takes no words
END
for words in --help 'encode --help' 'decode --help' --version alphabets backends; do
	# shellcheck disable=SC2086
	status "'$words'" 0 "$morse" $words
	ok "'$words' prints" [ -s "$work/out" ]
done
"$morse" alphabets >"$work/out"
ok 'alphabets: a letter' grep -qx "itu${tab}É${tab}\.\.-\.\." "$work/out"
ok 'alphabets: one that shares a code' grep -qx "ru${tab}Ё${tab}\.${tab}decoded as Е" "$work/out"
ok 'alphabets: all of tables.txt' [ "$(grep -c "^itu$tab" "$work/out")" -eq "$(grep -c '^itu ' tests/tables.txt)" ]
ok 'alphabets: all of tables.txt, Russian' \
	[ "$(grep -c "^ru-extended$tab" "$work/out")" -eq "$(grep -c '^ru' tests/tables.txt)" ]

# ---- Backends: all that run here give the same.
awk 'BEGIN { srand(7); for (i = 0; i < 60000; i++) { r = rand(); printf "%s", r < .02 ? "\n" : r < .2 ? " " : sprintf("%c", 65 + 26 * rand()) } }' \
	>"$work/text"
"$morse" encode --backend portable "$work/text" >"$work/code"
ok 'there and back' sh -c "'$morse' decode --backend portable '$work/code' | cmp - '$work/text'"
"$morse" backends >"$work/backends"
ok 'there are backends' grep -q '^portable' "$work/backends"
while IFS=$tab read -r name note; do
	[ "$note" != 'not on this processor' ] || continue
	"$morse" encode --backend "$name" "$work/text" | cmp - "$work/code" || echo "$name" >>"$work/differ"
	MORSE_BACKEND=$name "$morse" decode "$work/code" | cmp - "$work/text" || echo "$name" >>"$work/differ"
done <"$work/backends" 2>/dev/null
ok 'all backends give the same' [ ! -e "$work/differ" ]
ok 'MORSE_BACKEND is the default' sh -c "MORSE_BACKEND=portable '$morse' --version | grep -q '(portable)'"

# ---- Ends of all kinds. A pipeline whose reader goes away early ends quietly, as others do: by SIGPIPE.
yes 'the quick brown fox' 2>/dev/null | head -n 200000 >"$work/long"
"$morse" encode "$work/long" >"$work/long_code"
ok 'a long text' [ "$(wc -c <"$work/long_code")" -gt 10000000 ]
for stop in 0 1 100000; do
	{
		"$morse" encode "$work/long" 2>"$work/err"
		echo $? >"$work/got"
	} | head -c "$stop" >"$work/out"
	ok "head -c $stop: by SIGPIPE, not $(cat "$work/got")" [ "$(cat "$work/got")" -eq 141 ]
	ok "head -c $stop: quiet" [ ! -s "$work/err" ]
	ok "head -c $stop: the right beginning" cmp -n "$stop" "$work/out" "$work/long_code"
done
{
	trap '' PIPE
	"$morse" encode "$work/long" 2>"$work/err"
	echo $? >"$work/got"
} | head -c 1 >"$work/out"
ok 'SIGPIPE ignored by the caller: the same' [ "$(cat "$work/got")" -eq 141 ]
if [ -c /dev/full ]; then
	printf 'sos' >"$work/in"
	for target in '>/dev/full' '-o /dev/full'; do
		sh -c "'$morse' encode $target" <"$work/in" 2>"$work/err"
		got=$?
		ok "$target: status $got, not 1" [ "$got" -eq 1 ]
		ok "$target: $(cat "$work/err")" grep -q 'No space left on device$' "$work/err"
	done
	ok '/dev/full is still there' [ -c /dev/full ]
	for words in --help alphabets; do
		sh -c "'$morse' $words >/dev/full" 2>"$work/err"
		ok "$words >/dev/full" [ $? -eq 1 ]
	done
else
	skip 'a full disk' 'there is no /dev/full'
fi
sh -c "'$morse' encode <&-" 2>"$work/err"
ok 'standard input closed' [ $? -eq 1 ]
ok "standard input closed: $(cat "$work/err")" grep -qx 'morse: standard input: Bad file descriptor' "$work/err"
sh -c "'$morse' encode '$work/1' >&-" 2>"$work/err"
ok 'standard output closed' [ $? -eq 1 ]
ok "standard output closed: $(cat "$work/err")" grep -qx 'morse: standard output: Bad file descriptor' "$work/err"
# Who types a line sees its code before the next.
mkfifo "$work/fifo"
rm -f "$work/out"
"$morse" encode <"$work/fifo" >"$work/out" &
exec 3>"$work/fifo"
printf 'e\n' >&3
tries=$((6000 * ${PATIENCE:-1}))
while ! [ -s "$work/out" ] && [ $((tries -= 1)) -gt 0 ]; do sleep 0.02; done
ok 'a line comes while the input is open' [ "$(cat "$work/out")" = . ]
exec 3>&-
wait $!
ok 'and then the end' [ $? -eq 0 ]
# Killed in the midst: what is in the pipe is a beginning of the right bytes.
{
	"$morse" encode "$work/long" "$work/long" &
	sleep 0.05
	kill -9 $!
	wait $!
} 2>/dev/null | cat >"$work/out"
cat "$work/long_code" "$work/long_code" >"$work/expected"
ok 'killed: what came is right' cmp -n "$(wc -c <"$work/out")" "$work/out" "$work/expected"
ok 'through pipes' sh -c "cat '$work/long' | '$morse' encode | '$morse' decode | tr A-Z a-z | cmp - '$work/long'"

# ---- Sound. What it sounds like, tests/sound.c hears.
printf 'sos' >"$work/in"
refuses 'sound of what cannot be coded' 1 "$work/3:1:1: the byte a9 is no UTF-8, byte offset 0; iconv -t UTF-8 converts text, --lossy replaces it" \
	"$morse" encode --wav "$work/3" -o "$work/sound"
ok 'no half sound is left' [ ! -e "$work/sound" ]
{ printf 'before' && "$morse" encode --wav; } <"$work/in" >"$work/sound"
ok 'sizes are patched behind what was there' [ "$(od -An -tu4 -j 46 -N 4 "$work/sound" | tr -d ' ')" -eq $(($(wc -c <"$work/sound") - 50)) ]
: >"$work/sound"
"$morse" encode --wav <"$work/in" >>"$work/sound"
ok 'sizes stay unknown when appending' [ "$(od -An -tx4 -j 40 -N 4 "$work/sound" | tr -d ' ')" = ffffffff ]
finish
