#!/bin/sh
# Installs the Debian packages that a purpose needs and that are missing; says what and why.
# Usage: setup/packages.sh run|test|cross|operations|bench|profile
#
# As root, or where sudo asks for no password, it installs. Otherwise it prints the one command and goes on: what cannot be
# measured without them is then skipped by name. Where CI is set nothing may be skipped, so it fails and names what is missing.
set -u

purpose=${1:-}
# Ubuntu has perf in a package of another name.
perf=linux-perf
# Ubuntu has no package of Chromium that works without snap, and Node of it may be too old; the tests say what to do.
browser='
chromium:chromium:the report is tested in a real browser
node:nodejs npm:the tests of the report in a browser are driven by it
npm:npm:it fetches what those tests need'
# What an emulator runs must say so.
emulated='
qemu-aarch64-static:qemu-user-static:runs programs of other processors
aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu libc6-dev-arm64-cross:the C code is tested as aarch64'
# Not every release has it.
tarantool='
tarantool:tarantool:databases are measured with the real Tarantool'
# Of any version of clang; Ubuntu has it in clang's own packages.
fuzzer='
/usr/lib/llvm-*/lib/clang/*/lib/*/libclang_rt.fuzzer-*.a:libclang-rt-dev:what reads input is fuzzed'
if grep -qs '^ID=ubuntu' /etc/os-release; then
    perf=linux-tools-generic
    browser=
    fuzzer=
    tarantool=
fi
# program (or file, with its path or the pattern of one):package:what it is for
case $purpose in
run)
    wanted='fio:fio:the storage scenarios
openssl:openssl:the OpenSSL scenarios
gzip:gzip:the compression scenarios'
    ;;
test)
    wanted='fio:fio:the fio adapter is tested with the real fio
/usr/share/doc/fio/examples/*.fio:fio-examples:job files of other people are run
openssl:openssl:the openssl adapter is tested with the real openssl
gzip:gzip:the compressors are tested with the real gzip
pigz:pigz:with the real pigz
zstd:zstd:with the real zstd
brotli:brotli:and with the real brotli
/usr/lib/*/engines-3/gost.so:libengine-gost-openssl:the openssl adapter is tested with an engine
hdparm:hdparm:the hdparm adapter is tested with the real hdparm
clang:clang:the C code is checked with a second compiler
perf:'$perf':profiles are tested with the real perf
pkg-config:pkg-config:the installed library is found as other projects find theirs
cmake:cmake:and by CMake
prove:perl:what it prints of tests is read
pv:pv:pages that it moves from pipe to pipe must arrive as they were sent
shellcheck:shellcheck:the shell scripts are checked
mkfs.btrfs:btrfs-progs:pools are tested with the real btrfs
/sbin/mkfs.ext4:e2fsprogs:the store is tested on a disk whose power fails
busybox:busybox:machines that ssh reaches are tested with its shell and its tar
sshd:openssh-server:machines that ssh reaches are tested with the real sshd
ssh:openssh-client:and with the real ssh
pgrep:procps:what runs is looked for
bsd-csh:csh:so are machines whose login shell is no POSIX shell
fish:fish:so is another such shell
nbdinfo:libnbd-bin:the LUNs that controllers export are tested with the real NBD
nbdkit:nbdkit:controllers are tested with the real nbdkit
tgtd:tgt:controllers are tested with the real tgtd
nginx:nginx:servers are set up and loaded with the real nginx
wrk:wrk:by the real wrk
ab:apache2-utils:by the real ab
h2load:nghttp2-client:and by the real h2load
curl:curl:which is checked by curl
etcd:etcd-server:what lab nodes agree on is tested with the real etcd
/sbin/tc:iproute2:whose members and nodes are cut off from each other
redis-server:redis-server:databases are measured with the real Redis
/usr/lib/postgresql/*/bin/postgres:postgresql:and with the real PostgreSQL
python3:python3:by Python
/usr/lib/python3*/ensurepip:python3-venv:in virtual environments, too
qemu-system-x86_64:qemu-system-x86:virtual machines are set up with the real QEMU
qemu-img:qemu-utils:their disks are made by it
mmdebstrap:mmdebstrap:on images that it makes
newuidmap:uidmap:for users who are not root, too
/usr/sbin/libvirtd:libvirt-daemon-system:they are migrated by the real libvirt
qemu-storage-daemon:qemu-system-common:LUNs are brought from the real iSCSI to the load
/usr/lib/*/qemu/block-iscsi.so:qemu-block-extra:by its driver for iSCSI
/usr/lib/python3/dist-packages/aiosmtpd:python3-aiosmtpd:mail of the server is taken by a real SMTP server
snmptrapd:snmptrapd:its traps are read by the real snmptrapd
snmptranslate:snmp:and their MIB by Net-SNMP
prometheus:prometheus:its metrics are scraped by the real Prometheus
strace:strace:profiles are tested with the real strace
valgrind:valgrind:the ciphers are shown to take a time that does not depend on keys'$tarantool$emulated$browser$fuzzer
    ;;
cross)
    wanted=$emulated'
riscv64-linux-gnu-gcc:gcc-riscv64-linux-gnu libc6-dev-riscv64-cross:the C code is tested as riscv64
s390x-linux-gnu-gcc:gcc-s390x-linux-gnu libc6-dev-s390x-cross:the C code is tested as s390x, where the first byte is the highest
powerpc64le-linux-gnu-gcc:gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross:the C code is tested as ppc64le
i686-linux-gnu-gcc:gcc-i686-linux-gnu libc6-dev-i386-cross:the C code is tested in 32 bits'
    ;;
operations)
    wanted='mariadb:mariadb-client-core:each operation on guests is tried with the real MariaDB
/usr/bin/ganesha.nfsd:nfs-ganesha-vfs:with a disk on a real NFS server
/usr/sbin/showmount:nfs-common:which is asked for what it exports
/usr/sbin/rpcbind:rpcbind:and found by the port mapper'
    ;;
bench)
    wanted='clang:clang:the ciphers are measured by a second compiler
fio:fio:it is measured under stend beside itself alone
jq:jq:what stend measured of it is read
mkfs.btrfs:btrfs-progs:a pool is made, loaded and taken down
nbdkit:nbdkit:controllers export what lies on the pool
gostsum:libengine-gost-openssl gostsum:the ciphers are measured beside the GOST engine of OpenSSL
/usr/include/gnutls/crypto.h:libgnutls28-dev:the ciphers are measured beside GnuTLS
pv:pv:it shows which writers of a pipe survive a reader that keeps pages'
    ;;
profile)
    wanted='perf:'$perf':shows where the time goes, by function
strace:strace:counts system calls where perf is forbidden'
    ;;
*)
    echo "usage: setup/packages.sh run|test|cross|operations|bench|profile" >&2
    exit 2
    ;;
esac

# Sets packages and reasons to what is missing.
look() {
    packages=
    reasons=
    old_ifs=$IFS
    IFS='
'
    for line in $wanted; do
        program=${line%%:*}
        rest=${line#*:}
        # shellcheck disable=SC2086 # a pattern is to be expanded
        set -- $program
        if ! command -v "$1" >/dev/null 2>&1 && ! [ -e "$1" ]; then
            packages="$packages ${rest%%:*}"
            reasons="$reasons
  ${rest%%:*}: ${rest#*:}"
        fi
    done
    IFS=$old_ifs
}

# Ends, and says what is missing all the same.
end() {
    look
    [ -z "${CI:-}" ] || [ -z "$packages" ] || {
        echo "These packages are missing, and under CI nothing may be left out:$reasons" >&2
        exit 1
    }
    exit 0
}

look
[ -n "$packages" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        as_root='sudo -n'
    else
        as_root=impossible
    fi
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "Missing programs; install these with your system's package manager:$reasons" >&2
    end
fi
if [ "$as_root" = impossible ]; then
    echo "Missing packages:$reasons" >&2
    echo "To have them, run: sudo apt-get install -y --no-install-recommends$packages" >&2
    echo "Going on without them." >&2
    end
fi
echo "Installing packages:$reasons" >&2
# The services of new packages are not started: what needs one starts its own. If this script is killed, the file that says so says nothing more.
apt=$(command -v apt-get)
policy=${apt%/bin/*}/sbin/policy-rc.d
if [ -x "${policy%/*}/invoke-rc.d" ] && ! [ -e "$policy" ]; then
    trap '$as_root rm -f "$policy"' EXIT
    trap 'exit 1' HUP INT TERM
    # shellcheck disable=SC2016 # the other shell's
    $as_root sh -c 'printf "#!/bin/sh\n! kill -0 %s 2>/dev/null || exit 101\n" "$2" >"$1" && chmod 755 "$1"' sh "$policy" "$$"
fi
# apt-get says much that nobody needs, unless it fails.
log=$(mktemp)
# shellcheck disable=SC2086 # the words are meant to be split
if ! { $as_root apt-get update -qq &&
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages; } >"$log" 2>&1; then
    cat "$log" >&2
    echo "The packages could not be installed; going on without them." >&2
fi
rm -f "$log"
end
