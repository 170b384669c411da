#!/bin/sh
# The GOST engine of OpenSSL as an instrument of stend, through `openssl speed`.
# Usage: gost_engine.sh ALGORITHM encrypt|decrypt BYTES     for example: gost_engine.sh kuznyechik-ctr encrypt 16384
set -u
algorithm=$1
direction=$2
bytes=$3
here=$(cd "$(dirname "$0")" && pwd)
export OPENSSL_CONF="$here/gost_engine.cnf"
words="-seconds 1 -bytes $bytes -evp $algorithm -mr"
[ "$direction" = decrypt ] && words="-decrypt $words"

# The engine itself, before the clock runs: the first block that CTR gives for zeros is that of the published model.
key=8899aabbccddeeff0011223344556677fedcba98765432100123456789abcdef
if ! printf '\0' | openssl enc -e -kuznyechik-ctr -K $key -iv 1234567890abcef0 >/dev/null 2>&1; then
    echo "the GOST engine is not there: apt-get install libengine-gost-openssl" >&2
    exit 2
fi
coded=$(printf '\021\042\063\104\125\146\167\000\377\356\335\314\273\252\231\210' |
    openssl enc -e -kuznyechik-ctr -K $key -iv 1234567890abcef0 2>/dev/null | od -An -tx1 | tr -d ' \n')
check=failed
[ "$coded" = f195d8bec10ed1dbd57b5fa240bda1b8 ] && check=passed

version=$(openssl version | cut -d' ' -f2)
printf '{"event":"begin","wire":1,"instrument":"openssl speed with the GOST engine","version":"%s","parameters":{"algorithm":"%s","direction":"%s","size":%s}}\n' \
    "$version" "$algorithm" "$direction" "$bytes"
begin=$(date +%s%N)
# shellcheck disable=SC2086 # the words are separate
said=$(openssl speed $words 2>&1)
end=$(date +%s%N)
# "+R:5010:kuznyechik-ctr:1.000000": so many calls in so many seconds of processor time.
result=$(printf '%s\n' "$said" | sed -n 's/^+R:\([0-9]*\):.*:\([0-9.]*\)$/\1 \2/p')
if [ -z "$result" ]; then
    printf '%s\n' "$said" | tail -n 1 >&2
    exit 1
fi
printf '%s\n' "$result" | awk -v bytes="$bytes" -v wall=$((end - begin)) -v check=$check '{
    printf "{\"event\":\"repeat\",\"n\":0,\"wall_ns\":%d,\"cpu_ns\":%.0f,\"work\":{\"bytes\":%.0f,\"operations\":%d},", wall, $2 * 1e9, $1 * bytes, $1
    printf "\"check\":\"%s\",\"evidence\":\"CTR of GOST R 34.13-2015, appendix A.1.2, first block\"}\n", check
}'
echo '{"event":"end","repeats":1}'
