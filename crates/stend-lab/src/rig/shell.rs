//! The shell that makes things and takes them away: under a lock on the ledger, and on disks by the names that they have there.

use serde::{Deserialize, Serialize};

use stend_stand::host::Command;

/// A disk of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::rig) enum Disk {
    /// The loop device on this file.
    File(String),
    /// A block device.
    Device(String),
}

/// Runs `"$@"` under the lock. Status 75: the ledger is gone, so nothing is to be made or taken away any more.
pub(in crate::rig) const UNDER_LEDGER: &str = r#"
PATH=$PATH:/usr/sbin:/sbin
ledger=$1
shift
[ -e "$ledger" ] || exit 75
exec 9<"$ledger"
flock 9 || exit
[ -e "$ledger" ] || exit 75
"$@" 9<&-
"#;

/// Waits for a moment; after so many times it says what did not come, and ends. `tries=0` begins anew. A busy disk may keep a device in use for
/// half a minute.
pub(in crate::rig) const AGAIN: &str = r#"
tries=0 most=600
again() {
    tries=$((tries + 1))
    [ "$tries" -lt "$most" ] || { echo "$@" >&2; exit 1; }
    sleep 0.1
}
"#;

/// The processes whose command lines, with spaces between the words, begin with `$begins`; `$word` is a part of it without spaces. And
/// how they are ended: by the signal `$1`, SIGTERM if not given; those that pass over it for long, by SIGKILL.
pub(in crate::rig) const SERVERS: &str = r#"
servers() {
    for at in $(grep -lF -e "$word" /proc/[0-9]*/cmdline 2>/dev/null); do
        case $(tr '\0' ' ' 2>/dev/null <"$at") in
        "$begins"*) at=${at#/proc/} && echo "${at%/cmdline}" ;;
        esac
    done
}
end_servers() {
    signal=${1:-TERM}
    while pids=$(servers) && [ -n "$pids" ]; do
        kill -s "$signal" $pids 2>/dev/null
        [ "$tries" -lt 50 ] || signal=KILL
        again "${begins%% *} does not end: process" $pids
    done
}
"#;

/// The loop device on the file `$1`, if there is one.
pub(in crate::rig) const LOOP_OF: &str = r#"
loop_of() {
    for at in /sys/block/loop*/loop/backing_file; do
        [ -e "$at" ] && IFS= read -r file 2>/dev/null <"$at" || continue
        if [ "$file" = "$1" ] || [ "$file" = "$1 (deleted)" ]; then
            at=${at%/loop/backing_file}
            printf '/dev/%s\n' "${at##*/}"
            return
        fi
    done
    return 1
}
"#;

/// Puts the disks' devices for their names: `file:PATH` or `device:PATH`, up to `--`.
pub(in crate::rig) const DEVICES_OF: &str = r#"
devices=
while [ "$1" != -- ]; do
    case $1 in
    file:*) device=$(loop_of "${1#file:}") || device= ;;
    *) device=${1#device:} ;;
    esac
    devices="$devices $device"
    shift
done
shift
"#;

pub(in crate::rig) fn plain(ledger: &str, words: &[&str]) -> Command {
    let words = ["sh", "-c", UNDER_LEDGER, "stend-target", ledger].into_iter().chain(words.iter().copied());
    Command::new(words)
}

pub(in crate::rig) fn shell(ledger: &str, script: &str, arguments: &[&str]) -> Command {
    plain(ledger, &[&["sh", "-c", &format!("{AGAIN}{script}"), "stend-target"], arguments].concat())
}

pub(in crate::rig) fn names(disks: &[Disk]) -> Vec<String> {
    let name = |disk: &Disk| match disk {
        Disk::File(path) => format!("file:{path}"),
        Disk::Device(path) => format!("device:{path}"),
    };
    disks.iter().map(name).collect()
}

/// The block devices among disks, which keep what is written to them when a target is taken down.
pub(in crate::rig) fn own_devices(disks: &[Disk]) -> impl Iterator<Item = &str> {
    disks.iter().filter_map(|disk| match disk {
        Disk::File(_) => None,
        Disk::Device(path) => Some(path.as_str()),
    })
}
