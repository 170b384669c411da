# shellcheck shell=sh
# For the scripts here: counts what is asked, in a folder $work that goes at the end.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# ok NAME COMMAND...: it succeeds.
ok() {
	name=$1
	shift
	if "$@" >/dev/null 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "failed: $name: $*" >&2
	fi
}

# skip NAME REASON: where CI is set everything must be there.
skip() {
	echo "skipped: $1: $2" >&2
	[ -z "${CI:-}" ] || failed=$((failed + 1))
}

finish() {
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
}
