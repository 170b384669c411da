#!/bin/sh
# GnuTLS as an instrument of stend: gnutls_peer.c, if its headers were there when `make bench-kuzma` built it.
# Usage: gnutls_peer.sh PROGRAM kuznyechik|magma ctr-acpkm|mac BYTES SECONDS
set -u
if [ ! -x "$1" ]; then
    echo "GnuTLS as a peer was not built: apt-get install libgnutls28-dev" >&2
    exit 2
fi
exec "$@"
