#!/bin/sh
# A short run of every fuzz target, all at once, where clang has libFuzzer. Usage: test_fuzz.sh BUILD, from the folder of
# the Makefile. FUZZ_SECONDS says for how long (0: not at all); what made one fail is kept in BUILD-fuzz.
build=$1
seconds=${FUZZ_SECONDS:-5}
compiler=${FUZZ_CC:-clang}
folder=$build-fuzz
passed=0
failed=0

finish() {
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
	exit
}

if [ -n "${RUN:-}" ]; then
	# Fuzzing is of this machine's clang.
	[ -z "${SKIPPED:-}" ] || echo "fuzzing: libFuzzer's programs are not built for emulators" >>"$SKIPPED"
	finish
fi
[ "$seconds" -gt 0 ] || finish
mkdir -p "$folder"
echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return d != 0 && n > 9; }' >"$folder/tried.c"
if ! "$compiler" -fsanitize=fuzzer,address,undefined "$folder/tried.c" -o "$folder/tried" 2>/dev/null; then
	echo "skipped: fuzzing: there is no clang with libFuzzer here" >&2
	[ -z "${CI:-}" ] || failed=1
	finish
fi
if ! MAKEFLAGS='' "${MAKE:-make}" -s fuzz BUILD="$build" FUZZ_CC="$compiler" >"$folder/build.log" 2>&1; then
	tail -n 20 "$folder/build.log" >&2
	failed=1
	finish
fi

# Something to begin with: without it the fuzzer spends its time on a few bytes.
rm -rf "$folder/seeds"
mkdir "$folder/seeds"
for seed in 1 2 3 4 5 6 7 8; do
	# shellcheck disable=SC2059 # the digits are the format
	printf "$(awk -v seed="$seed" 'BEGIN { srand(seed); for (i = 0; i < 80 * seed; i++) printf "\\%03o", 256 * rand() }')" \
		>"$folder/seeds/$seed"
done
printf '{"a":[1,-2.5e3,"\\u0041\\ud83d\\ude00",true,false,null],"b":{"c":{}}}' >"$folder/seeds/json"
for target in "$folder"/fuzz/*; do
	name=$(basename "$target")
	{
		rm -rf "$folder/$name.corpus"
		mkdir "$folder/$name.corpus"
		"$target" -seed=1 -len_control=0 -max_len=700 -max_total_time="$seconds" -artifact_prefix="$folder/$name-" \
			"$folder/$name.corpus" "$folder/seeds" >"$folder/$name.log" 2>&1
		echo $? >"$folder/$name.status"
	} &
done
wait
for target in "$folder"/fuzz/*; do
	name=$(basename "$target")
	if [ "$(cat "$folder/$name.status")" = 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "fuzzing $name failed:" >&2
		grep -E 'not so|ERROR|runtime error|SUMMARY|Test unit' "$folder/$name.log" >&2
	fi
done
finish
