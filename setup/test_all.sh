#!/bin/sh
# All tests, also those that take long: setup/test_all.sh TARGET, as root. What passed is noted in .ci/test-all, whatever came before it.
set -u

target=$1
note=.ci/test-all
commit=$(git rev-parse --short=12 HEAD 2>/dev/null) || commit=unknown
[ -z "$(git status --porcelain 2>/dev/null)" ] || commit="$commit and changes"
began=$(date +%s)
failed=

part() { # NAME COMMAND...
    name=$1
    shift
    echo "test-all: $name"
    start=$(date +%s)
    "$@" || failed="$failed, $name"
    echo "test-all: $name: $((($(date +%s) - start + 30) / 60)) min"
}

# Patience costs nothing where all goes well.
export CI=1 STEND_STAMPS='' PATIENCE=4
part 'the tests' make --no-print-directory --keep-going test
# In one, because they mostly wait: for disks, for machines, and half an hour for members that die.
part 'kills, members that die, every deed, example and operation' env KILLS=100 CHAOS=1800 EVERY_DEED=1 EVERY_EXAMPLE=1 \
    EVERY_OPERATION=1 PATIENCE=12 make --no-print-directory test-lab \
    ONLY='killed:: serve::killed_ cluster:: faults::what_ fio_examples:: clusters:: guests::'
part 'other processors and compilers' make --no-print-directory test-cross CROSS='aarch64 riscv64 s390x powerpc64le i686 plain elbrus-macros'
part 'every length' env AGREEMENT_STEP=1 "$target/native/cc/kuzma/tests/agreement"
part 'fuzzing' make --no-print-directory fuzz-native FUZZ_SECONDS=120
part 'fuzzing of what the lab reads' fuzz/run.sh "$target"
part '100 GB through pipes' make --no-print-directory soak-pipe
part 'calibration' cargo run --quiet --release --locked --target-dir "$target" --package stend-stats --example calibration
part 'storage' make --no-print-directory bench-storage

minutes=$((($(date +%s) - began + 30) / 60))
processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
if [ -n "$failed" ]; then
    echo "test-all failed:${failed#,}" >&2
    exit 1
fi
echo "passed on $(date +%Y-%m-%d) at $commit, in $minutes min on $(getconf _NPROCESSORS_ONLN) processors, ${processor:-unnamed}" >$note
cat $note
