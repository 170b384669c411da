#!/bin/sh
# How many mistakes the tests find: those of setup/mutants.txt, and those that cargo-mutants makes in chosen files of the Rust half,
# every fourth of them. Names the survivors, and fails where less than 95 % of all are caught.
# Usage: setup/test_mutants.sh TARGET
# SHARD=1/4: another fourth of those of cargo-mutants; 0/1: all, which takes hours.
set -u

target=$1
mkdir -p "$target/mutants"
target=$(cd "$target" && pwd)
out=$target/mutants
caught=0
survived=0
status=0

echo 'mutants: setup/mutants.txt'
setup/mutants.sh "$target" >"$out/list" 2>&1 || status=1
grep -v '^caught: ' "$out/list"
sum=$(grep '^mutants: ' "$out/list" | tail -n 1)
caught=$(printf %s "$sum" | sed -n 's/^mutants: \([0-9]*\) caught.*/\1/p')
survived=$(printf %s "$sum" | sed -n 's/.* \([0-9]*\) survived.*/\1/p')

cargo install --quiet --locked cargo-mutants --version 27.1.0 --root "$out" --target-dir "$out/build" || exit
PATH=$out/bin:$PATH
# Some mistakes make lists without an end.
# shellcheck disable=SC3045 # dash has it
ulimit -v $((12 << 20))

# rust PACKAGE 'FILE…' TEST-ARGUMENT…: which of its files are changed, and which of its tests look. All of them would take minutes for
# each mistake. From which end the statistics count is left out: it changes nothing of what they find, only how soon.
rust() {
    package=$1
    files=$2
    shift 2
    echo "mutants: $package"
    set -- -- "$@"
    for file in $files; do
        [ -f "crates/$package/src/$file" ] || { echo "mutants: there is no crates/$package/src/$file" >&2; status=1; }
        set -- --file "crates/$package/src/$file" "$@"
    done
    rm -rf "${out:?}/$package"
    mkdir "$out/$package"
    cargo mutants --package "$package" --shard "${SHARD:-0/4}" --sharding round-robin \
        --exclude-re 'in from_the_nearer_end' --output "$out/$package" --no-shuffle --jobs 1 --minimum-test-timeout 60 --timeout-multiplier 20 --colors never "$@" \
        >"$out/$package/said" 2>&1
    ended=$?
    said=$out/$package/mutants.out
    # 0: all caught, 2: some missed, 3: some hung; anything else is no result.
    case $ended in 0 | 2 | 3) ;; *) status=1 ;; esac
    [ -s "$said/caught.txt" ] || { tail -n 20 "$out/$package/said"; status=1; return; }
    sed 's/^/survived: /' "$said/missed.txt"
    caught=$((caught + $(cat "$said/caught.txt" "$said/timeout.txt" | wc -l)))
    survived=$((survived + $(wc -l <"$said/missed.txt")))
}
rust stend-stats 'effect.rs false_discovery.rs student.rs verdict.rs' --test it -- --skip calibration --skip power
rust stend-model 'suite/gates.rs plan.rs identity.rs' --lib --tests
rust stend-lab 'run/gates.rs run/rate.rs' --lib
rust stend-store 'blob.rs' --lib

echo "mutants: $caught caught, $survived survived"
[ "$status" -eq 0 ] && [ $((caught * 100)) -ge $(((caught + survived) * 95)) ]
