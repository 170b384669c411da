#!/bin/sh
# Whether the tests find mistakes: makes each of mutants.txt in a copy of the sources, and runs the tests that are named with it.
# Usage: setup/mutants.sh --changes | TARGET [WORD]
# TARGET is where the project was built; with WORD only those lines that have it. Says how many were caught, which survived, and ends
# with status 1 if a line makes no change or does not compile, or if a test fails without any.
# --changes: only whether each line makes a change, which takes no build.
here=$(cd "$(dirname "$0")/.." && pwd)
list=$here/setup/mutants.txt
tab=$(printf '\t')
caught=0
survived=0
broken=0

if [ "${1:-}" = --changes ]; then
    while IFS=$tab read -r what file script _; do
        case $what in '#'* | '') continue ;; esac
        sed -e "$script" "$here/$file" | cmp -s - "$here/$file" || continue
        echo "no change: $what"
        broken=1
    done <"$list"
    exit "$broken"
fi

mkdir -p "$1/mutants" || exit
target=$(cd "$1" && pwd)
work=$target/mutants
tree=$work/tree

# Not what was built here. With the times of now: cargo goes by them, and may have built a mistake there.
rm -rf "$tree"
mkdir "$tree"
tar -c -C "$here" --exclude=./target --exclude=./.git --exclude='build' --exclude='build-*' . | tar -x -m -C "$tree"
cd "$tree" || exit

# build FOLDER TARGET...
build() {
    make -s -j"$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)" -C "$@" BUILD=b >"$work/log" 2>&1 </dev/null
}

# in_time PROGRAM WORD...: ends it after five minutes. Where the system allows it, in a namespace, so that nothing is left of what a mistake
# leaves running; the first process there takes the place of a parent that has ended, so it is a shell.
apart=$(unshare --pid --fork --mount-proc true 2>/dev/null && echo 1)
in_time() {
    if [ -n "$apart" ]; then
        timeout -k 5 300 unshare --pid --fork --kill-child --mount-proc sh -c '"$@"; exit "$?"' sh "$@"
    else
        timeout -k 5 300 "$@"
    fi
}

# runs FOLDER TEST...: tests of the C half, one after the other until one fails: scripts of the probe, and programs in the folder. One that
# hangs has found something too. Status 0: all passed, 1: one did not, 2: they do not compile.
runs() {
    folder=$1
    shift
    programs=$(for test; do case $test in *.sh) ;; *) echo "b/tests/$test" ;; esac; done)
    # shellcheck disable=SC2086 # words
    [ -z "$programs" ] || build "$folder" $programs || return 2
    case $* in *probe/*) build probe all b/tests/json_check || return 2 ;; esac
    for test; do
        case $test in
        probe/*) (cd probe && export CC=cc CFLAGS=-O2 && in_time sh "${test#*/}" b) ;;
        *) (cd "$folder" && export AGREEMENT_STEP=97 && in_time "b/tests/$test") ;;
        esac >"$work/said" 2>&1 </dev/null || return 1
    done
}

# lab TEST...: the same of tests of the lab, by their names.
lab() {
    cargo test --locked --workspace --target-dir "$work/lab" --no-run --message-format=json-render-diagnostics \
        >"$work/tests.json" 2>"$work/log" </dev/null || return 2
    STEND_PROBE=$target/release/stend-probe "$work/lab/debug/test-runner" "$@" <"$work/tests.json" >"$work/said" 2>&1
}

# tested FILE TEST...: by the tests that look at this file.
tested() {
    file=$1
    shift
    case $file in
    crates/*) lab "$@" ;;
    *) runs "${file%%/*}" "$@" ;;
    esac
}

# Those lines that have the word.
awk -F '\t' -v word="${2:-}" '!/^(#|$)/ && (word == "" || index($1 " " $2, word))' "$list" >"$work/chosen"

# Without a mistake all must pass: a test that always fails finds none.
awk -F '\t' '{
    part = $2 ~ /^crates\// ? "crates/" : substr($2, 1, index($2, "/"))
    count = split($4, tests, " ")
    for (i = 1; i <= count; i++) if (!seen[part, tests[i]]++) of[part] = of[part] " " tests[i]
} END { for (part in of) print part of[part] }' "$work/chosen" >"$work/without"
while read -r part tests; do
    # shellcheck disable=SC2086 # words
    tested "$part" $tests && continue
    echo "without a mistake, these do not compile or one fails: $tests"
    grep -hE '^error|^---- |failed' "$work/log" "$work/said" | head -n 5
    exit 1
done <"$work/without"

while IFS=$tab read -r what file script tests; do
    sed -e "$script" "$here/$file" >"$file"
    if cmp -s "$file" "$here/$file"; then
        echo "no change: $what"
        broken=$((broken + 1))
    else
        # shellcheck disable=SC2086 # words
        tested "$file" $tests
        case $? in
        0) survived=$((survived + 1)) && echo "survived: $what ($file)" ;;
        1) caught=$((caught + 1)) && echo "caught: $what" ;;
        *)
            broken=$((broken + 1))
            echo "does not compile, or has no such test: $what"
            grep -hE -m 3 '^error|no test' "$work/log" "$work/said"
            ;;
        esac
    fi
    cat "$here/$file" >"$file"
done <"$work/chosen"
echo "mutants: $caught caught, $survived survived, $broken could not be made"
[ "$broken" -eq 0 ]
