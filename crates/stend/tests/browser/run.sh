#!/bin/sh
# Opens a report and the console in headless Chromium and uses them as people do. What it needs and is missing is named, with the command that
# installs it; then nothing is tested, which under CI is a failure.
# Usage: run.sh TARGET [PAGE…], where TARGET is the folder for what is built. With pages it measures instead how soon these are open.
set -eu

target=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
cargo=${CARGO:-cargo}

left_out() {
    echo "test-browser: skipped: $1" >&2
    [ -z "${CI:-}" ] || { echo "test-browser: under CI nothing may be left out" >&2; exit 1; }
    exit 0
}

browser=${CHROMIUM:-}
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v "$name" || :)
done
[ -n "$browser" ] || left_out 'no Chromium here: apt-get install -y chromium'
command -v node >/dev/null || left_out 'no Node here: apt-get install -y nodejs npm'
command -v npm >/dev/null || left_out 'no npm here: apt-get install -y npm'
major=$(node -p 'process.versions.node.split(".")[0]')
[ "$major" -ge 18 ] || left_out "Node 18 or newer is needed, and here is $(node --version)"

# The packages of the lock file, outside the sources; fetched again only when it changes.
packages=$target/browser
mkdir -p "$packages"
packages=$(cd "$packages" && pwd)
if ! cmp -s "$here/package-lock.json" "$packages/installed"; then
    cp "$here/package.json" "$here/package-lock.json" "$packages/"
    (cd "$packages" && npm ci --silent --no-audit --no-fund --ignore-scripts) ||
        left_out 'npm cannot fetch its packages: they come from the npm registry'
    cp "$here/package-lock.json" "$packages/installed"
fi

if [ $# -gt 0 ]; then
    STEND_BROWSER_MODULES=$packages CHROMIUM=$browser exec node "$here/open.mjs" "$@"
fi

STEND_SAMPLE_REPORTS=$packages "$cargo" test --quiet --locked --target-dir "$target" --workspace --lib \
    pages_to_be_looked_at -- --ignored >"$packages/log" 2>&1 || { cat "$packages/log" >&2; exit 1; }
# The program, built as the lab's own tests have it.
"$cargo" test --quiet --locked --target-dir "$target" --workspace --no-run >"$packages/log" 2>&1 || { cat "$packages/log" >&2; exit 1; }
target=$(cd "$target" && pwd)
STEND_REPORTS=$packages STEND_BROWSER_MODULES=$packages CHROMIUM=$browser STEND=$target/debug/stend STEND_REAL_PROBE=$target/release/stend-probe \
    node --test "$here/report.test.mjs" "$here/console.test.mjs"
