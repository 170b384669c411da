//! The things that a target is made of: how each is made, and how it is taken away.
//!
//! Taking away asks first whether the thing is there and is stend's own, so it may be done twice, or for a thing that was never made.
//! Every command runs under a lock on the ledger and only while the ledger is there: what a killed stend had just started either
//! ends before the next one looks, or does nothing.

use serde::{Deserialize, Serialize};
use stend_model::target::Layout;

use crate::host::Command;

/// One thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "thing")]
pub(super) enum Thing {
    /// A directory, which must not be there before.
    Directory { path: String },
    /// A RAM disk.
    Tmpfs { path: String, bytes: u64 },
    /// A sparse file.
    SparseFile { path: String, bytes: u64 },
    /// A loop device on a file.
    Loop { file: String, direct: bool },
    /// A btrfs over disks.
    Btrfs { disks: Vec<Disk>, layout: Layout, uuid: String },
    /// That btrfs, mounted.
    Mount { disks: Vec<Disk>, path: String },
    /// A file with all its space, which btrfs overwrites in place.
    LunFile { path: String, bytes: u64, in_btrfs: bool },
    /// Random bytes all over a LUN. What is taken away is the LUN itself.
    Filling { path: String, bytes: u64, direct: bool },
    /// The control groups of one controller.
    Cgroups { paths: Vec<String> },
    /// nbdkit, which exports the files of a directory.
    Server { socket: String, pid_file: String, directory: String, cgroups: Vec<String> },
}

/// A disk of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Disk {
    /// The loop device on this file.
    File(String),
    /// A block device.
    Device(String),
}

/// Runs `"$@"` under the lock. Status 75: the ledger is gone, so nothing is to be made or taken away any more.
const UNDER_LEDGER: &str = r#"
PATH=$PATH:/usr/sbin:/sbin
ledger=$1
shift
[ -e "$ledger" ] || exit 75
exec 9<"$ledger"
flock 9 || exit
[ -e "$ledger" ] || exit 75
"$@" 9<&-
"#;

/// The loop device on the file `$1`, if there is one.
const LOOP_OF: &str = r#"
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
const DEVICES_OF: &str = r#"
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

const TMPFS: &str = r#"mount -t tmpfs -o "size=$2,mode=0700,nosuid,nodev" stend "$1""#;
const BTRFS: &str = r#"mkfs.btrfs -q -f -U "$1" -d "$2" -m "$3" $devices"#;
/// All devices are named, so that no daemon needs to have found them.
const MOUNT: &str = r#"
options=nosuid,nodev,noatime
for device in $devices; do
    options=$options,device=$device
    last=$device
done
mount -t btrfs -o "$options" "$last" "$1"
"#;
/// The attribute takes effect on an empty file only.
const LUN_FILE: &str = r#"
: >"$1" || exit
[ "$3" = false ] || chattr +C "$1" || exit
fallocate -l "$2" "$1"
"#;
/// The shell itself goes into the control groups and becomes the server.
const SERVER: &str = r#"
socket=$1 pid=$2 directory=$3
shift 3
for cgroup; do
    echo $$ >"$cgroup/cgroup.procs" || exit
done
exec nbdkit --unix "$socket" --pidfile "$pid" file dir="$directory"
"#;

/// An instrument that was ended a moment ago may still hold it.
const UNMOUNT: &str = r#"
tries=0
while mountpoint -q "$1"; do
    said=$(umount "$1" 2>&1) && continue
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { echo "$said" >&2; exit 1; }
    sleep 0.1
done
"#;
/// The kernel detaches a device that is in use only when its last user is gone.
const DETACH: &str = r#"
tries=0
while device=$(loop_of "$1"); do
    said=$(losetup -d "$device" 2>&1)
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { echo "${said:-$device is in use}" >&2; exit 1; }
    loop_of "$1" >/dev/null && sleep 0.1
done
exit 0
"#;
/// The kernel forgets the file system, which it would look for on these devices' numbers. A device that is not stend's own file loses
/// the file system's mark, if that is the one that stend made.
const FORGET: &str = r#"
for device in $devices; do
    btrfs device scan --forget "$device" >/dev/null 2>&1
done
for device; do
    [ "$(blkid -p -s UUID -o value "$device")" != "$uuid" ] || wipefs -q -a -t btrfs "$device" || exit
done
exit 0
"#;
const STOP_SERVER: &str = r#"
socket=$1 pid_file=$2
servers() {
    for at in $(grep -lF -e "$socket" /proc/[0-9]*/cmdline 2>/dev/null); do
        case $(tr '\0' ' ' 2>/dev/null <"$at") in
        "nbdkit --unix $socket "*) at=${at#/proc/} && echo "${at%/cmdline}" ;;
        esac
    done
}
tries=0
signal=TERM
while pids=$(servers) && [ -n "$pids" ]; do
    kill -s "$signal" $pids 2>/dev/null
    tries=$((tries + 1))
    [ "$tries" -lt 50 ] || signal=KILL
    [ "$tries" -lt 100 ] || { echo "nbdkit does not end: process" $pids >&2; exit 1; }
    sleep 0.05
done
rm -f "$socket" "$pid_file"
"#;
/// A process that has just ended may still be counted in its group.
const REMOVE_CGROUPS: &str = r#"
for group; do
    tries=0
    while [ -d "$group" ]; do
        said=$(rmdir "$group" 2>&1) && break
        tries=$((tries + 1))
        [ "$tries" -lt 100 ] || { echo "$said" >&2; exit 1; }
        sleep 0.05
    done
done
"#;

impl Thing {
    /// The command that makes it.
    pub(super) fn making(&self, ledger: &str) -> Command {
        let script = |script: &str, arguments: &[&str]| shell(ledger, script, arguments);
        match self {
            Self::Directory { path } => plain(ledger, &["mkdir", path]),
            Self::Tmpfs { path, bytes } => script(TMPFS, &[path, &bytes.to_string()]),
            Self::SparseFile { path, bytes } => plain(ledger, &["truncate", "-s", &bytes.to_string(), path]),
            Self::Loop { file, direct } => {
                let direct = if *direct { "--direct-io=on" } else { "--direct-io=off" };
                plain(ledger, &["losetup", "--find", "--show", direct, file])
            }
            Self::Btrfs { disks, layout, uuid } => {
                let (data, metadata) = profiles(*layout);
                let names = names(disks);
                let arguments = names.iter().map(String::as_str).chain(["--", uuid, data, metadata]);
                script(&format!("{LOOP_OF}{DEVICES_OF}{BTRFS}"), &arguments.collect::<Vec<_>>())
            }
            Self::Mount { disks, path } => {
                let names = names(disks);
                let arguments = names.iter().map(String::as_str).chain(["--", path]);
                script(&format!("{LOOP_OF}{DEVICES_OF}{MOUNT}"), &arguments.collect::<Vec<_>>())
            }
            Self::LunFile { path, bytes, in_btrfs } => {
                script(LUN_FILE, &[path, &bytes.to_string(), if *in_btrfs { "true" } else { "false" }])
            }
            Self::Filling { path, bytes, direct } => {
                let (path, size) = (format!("--filename={path}"), format!("--size={bytes}"));
                let direct = if *direct { "--direct=1" } else { "--direct=0" };
                // A file that is gone is not to be made anew.
                let options =
                    ["--rw=write", "--bs=1M", "--ioengine=psync", direct, "--refill_buffers=1", "--end_fsync=1"];
                let options =
                    [&options[..], &["--allow_file_create=0", "--thread=1", "--eta=never", "--output=/dev/null"]]
                        .concat();
                plain(ledger, &[&["fio", "--name=fill", &path, &size][..], &options].concat())
            }
            Self::Cgroups { paths } => {
                let words: Vec<_> = std::iter::once("mkdir").chain(paths.iter().map(String::as_str)).collect();
                plain(ledger, &words)
            }
            Self::Server { socket, pid_file, directory, cgroups } => {
                let arguments = [socket, pid_file, directory].into_iter().chain(cgroups).map(String::as_str);
                script(SERVER, &arguments.collect::<Vec<_>>())
            }
        }
    }

    /// The command that takes it away, if there is something to take away.
    pub(super) fn taking_away(&self, ledger: &str) -> Option<Command> {
        let script = |script: &str, arguments: &[&str]| Some(shell(ledger, script, arguments));
        match self {
            // Only an empty one: what else is in it is not stend's.
            Self::Directory { path } => script(r#"[ ! -d "$1" ] || rmdir "$1""#, &[path]),
            Self::Tmpfs { path, .. } | Self::Mount { path, .. } => script(UNMOUNT, &[path]),
            Self::SparseFile { path, .. } | Self::LunFile { path, .. } => Some(plain(ledger, &["rm", "-f", path])),
            Self::Loop { file, .. } => script(&format!("{LOOP_OF}{DETACH}"), &[file]),
            Self::Btrfs { disks, uuid, .. } => {
                let names = names(disks);
                let own = disks.iter().filter_map(|disk| match disk {
                    Disk::File(_) => None,
                    Disk::Device(path) => Some(path.as_str()),
                });
                let arguments = names.iter().map(String::as_str).chain(["--", uuid]).chain(own);
                script(&format!("{LOOP_OF}{DEVICES_OF}uuid=$1\nshift\n{FORGET}"), &arguments.collect::<Vec<_>>())
            }
            Self::Filling { .. } => None,
            Self::Cgroups { paths } => script(REMOVE_CGROUPS, &paths.iter().map(String::as_str).collect::<Vec<_>>()),
            Self::Server { socket, pid_file, .. } => script(STOP_SERVER, &[socket, pid_file]),
        }
    }

    /// What it is, for messages.
    pub(super) fn in_words(&self) -> String {
        match self {
            Self::Directory { path } => format!("the directory {path}"),
            Self::Tmpfs { path, .. } => format!("the RAM disk {path}"),
            Self::SparseFile { path, .. } | Self::LunFile { path, .. } => format!("the file {path}"),
            Self::Loop { file, .. } => format!("the loop device on {file}"),
            Self::Btrfs { disks, layout, .. } => format!("the btrfs {layout} of {} disks", disks.len()),
            Self::Mount { path, .. } => format!("the mount {path}"),
            Self::Filling { path, .. } => format!("the contents of {path}"),
            Self::Cgroups { paths } => format!("the control groups {}", paths.join(", ")),
            Self::Server { socket, .. } => format!("nbdkit on {socket}"),
        }
    }
}

fn plain(ledger: &str, words: &[&str]) -> Command {
    Command::new(["sh", "-c", UNDER_LEDGER, "stend-target", ledger].into_iter().chain(words.iter().copied()))
}

fn shell(ledger: &str, script: &str, arguments: &[&str]) -> Command {
    plain(ledger, &[&["sh", "-c", script, "stend-target"], arguments].concat())
}

fn names(disks: &[Disk]) -> Vec<String> {
    let name = |disk: &Disk| match disk {
        Disk::File(path) => format!("file:{path}"),
        Disk::Device(path) => format!("device:{path}"),
    };
    disks.iter().map(name).collect()
}

/// btrfs's profiles of data and metadata. Without its metadata a pool is nothing, so they are always kept twice.
fn profiles(layout: Layout) -> (&'static str, &'static str) {
    match layout {
        Layout::Stripe => ("raid0", "raid1"),
        Layout::Mirror => ("raid1", "raid1"),
        Layout::Raid10 => ("raid10", "raid10"),
    }
}
