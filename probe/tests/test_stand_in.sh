#!/bin/sh
# What stend-probe does in the place of small programs, each by a link of its name.
. "$(dirname "$0")/common.sh"

# Beside the program, since the links lead there.
links=$build/stand-ins-under-test
rm -rf "$links"
ok 'it makes its links' "$probe" stand-in "$links"
ok 'and again' "$probe" stand-in "$links"
status 'without a directory' 2 "$probe" stand-in
# shellcheck disable=SC2317 # ok calls it
stand_in() { # NAME ARGUMENTS...
	link=$links/$1
	shift
	${RUN:-} "$link" "$@"
}
says() { # EXPECTED NAME ARGUMENTS...
	expected=$1
	shift
	ok "$*" [ "$(stand_in "$@" 2>"$work/err")" = "$expected" ]
}
fails() { # NAME ARGUMENTS...
	called=$1
	stand_in "$@" >"$work/out" 2>"$work/err" </dev/null
	ok "$* fails" [ $? -ne 0 ]
	ok "$* says it in one line, by the name that it was called by" [ "$(grep -c "^$called: " "$work/err")" -eq 1 ]
}

printf 'one\ntwo' >"$work/file"
says "$(cat "$work/file")" cat "$work/file"
says "$(cat "$work/file" "$work/file")" cat "$work/file" "$work/file"
ok 'cat passes on what comes to it' [ "$(echo three | stand_in cat)" = three ]
fails cat "$work/missing"
says "$(uname -n)" uname -n
[ -n "${RUN:-}" ] || says "$(uname -m)" uname -m
says "$(getconf PAGESIZE)" getconf PAGESIZE
ok 'mkdir makes all above it' stand_in mkdir -p "$work/a/b/c" "$work/d"
ok 'they are there' [ -d "$work/a/b/c" ]
ok 'for the user alone' [ -z "$(find "$work/a" "$links" -type d ! -perm 700)" ]
ok 'mkdir of what is there' stand_in mkdir -p "$work/a/b/c"
fails mkdir -p "$work/file/x"
ok 'mv moves a directory' stand_in mv -f "$work/a" "$work/e"
ok 'it is there' [ -d "$work/e/b/c" ]
ok 'ln makes a link' stand_in ln -sfn "$work/file" "$work/link"
ok 'and another in its place' stand_in ln -sfn "$work/e" "$work/link"
ok 'that leads there' [ -d "$work/link/b" ]
ok 'sync of a file' stand_in sync "$work/file"
ok 'sleep' stand_in sleep 0.01
ok 'rm of what is not there' stand_in rm -rf "$work/missing"
: >"$work/e/b/kept"
ok 'rm removes a link and not what it leads to' stand_in rm -rf "$work/link"
ok 'which is there' [ -e "$work/e/b/kept" ]
ok 'rm removes all below' stand_in rm -rf "$work/e" "$work/d"
ok 'nothing is there' [ ! -e "$work/e" ]
# Blocks that are free come and go; all of them, and where they begin, do not.
fields() { # FILE
	while read -r _ all _ _ _ mount; do echo "$all $mount"; done <"$1" | tail -n 1
}
for directory in / /proc; do
	df -Pk "$directory" >"$work/theirs"
	stand_in df -Pk "$directory" >"$work/ours"
	ok "df of $directory" [ "$(fields "$work/ours")" = "$(fields "$work/theirs")" ]
done
fails df -Pk "$work/missing"
rm -rf "$links"
finish
