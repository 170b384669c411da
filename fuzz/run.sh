#!/bin/sh
# Fuzzes all that reads what others wrote: fuzz/run.sh TARGET [NAME...], with TARGET the folder of what is built. Each of the
# fuzz targets, or of those named, until it has made FUZZ_RUNS runs or FUZZ_SECONDS are over. A panic, a run that takes ten
# seconds, or one that takes the process beyond 256 MiB of memory fails; the input is kept in TARGET/fuzz/.
set -u

runs=${FUZZ_RUNS:-10000000}
seconds=${FUZZ_SECONDS:-60}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/fuzz" && folder=$(cd "$1/fuzz" && pwd) || exit
shift

# libFuzzer itself is C++.
command -v c++ >/dev/null || export CXX=clang++
# What `cargo fuzz --sanitizer none` gives to rustc. With --target the build scripts do without.
flags='--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares'
machine=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS=$flags "${CARGO:-cargo}" build --quiet --release --locked --target "$machine" --target-dir "$folder/build" \
    --manifest-path "$here/Cargo.toml" || exit
if [ $# -eq 0 ]; then
    for source in "$here"/fuzz_targets/*.rs; do
        name=${source##*/}
        set -- "$@" "${name%.rs}"
    done
fi

failed=
for name; do
    corpus=$folder/corpus/$name
    rm -rf "$corpus"
    mkdir -p "$corpus"
    seeds=$here/seeds/$name
    # Files in git are texts.
    if [ "$name" = packed_export ]; then
        seeds=$folder/seeds
        rm -rf "$seeds" && mkdir "$seeds"
        for seed in "$here/seeds/export"/*; do
            { cat "$seed" && printf '{"end":{"sha256":"%s"}}\n' "$(sha256sum <"$seed" | cut -d ' ' -f 1)"; } |
                gzip -n >"$seeds/${seed##*/}.gz"
        done
    fi
    began=$(date +%s)
    if "$folder/build/$machine/release/$name" -seed=1 -runs="$runs" -max_total_time="$seconds" -timeout=10 \
        -rss_limit_mb=256 -malloc_limit_mb=256 -max_len=16384 -len_control=20 -print_final_stats=1 \
        -artifact_prefix="$folder/$name-" "$corpus" "$seeds" >"$folder/$name.log" 2>&1; then
        made=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$name.log")
        peak=$(sed -n 's/^stat::peak_rss_mb: *//p' "$folder/$name.log")
        echo "fuzz: $name: $made runs in $(($(date +%s) - began)) s, at most $peak MiB, nothing found"
    else
        failed="$failed $name"
        echo "fuzz: $name failed; $folder/$name.log" >&2
        grep -E '^thread .* panicked|^ERROR|^==.*ERROR|^SUMMARY|Test unit written' "$folder/$name.log" >&2
    fi
done
[ -z "$failed" ]
