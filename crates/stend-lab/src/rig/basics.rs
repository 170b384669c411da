//! Directories, files, RAM disks and loop devices, and what LUNs are filled with.

use serde::{Deserialize, Serialize};

use super::shell::{LOOP_OF, plain, shell};
use super::thing::Made;
use stend_stand::host::Command;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "thing")]
pub(super) enum Basic {
    /// A directory, which must not be there before.
    Directory { path: String },
    /// A RAM disk.
    Tmpfs { path: String, bytes: u64 },
    /// A sparse file.
    SparseFile { path: String, bytes: u64 },
    /// A loop device on a file.
    Loop { file: String, direct: bool },
    /// A file with all its space; `in_btrfs`: btrfs overwrites it in place.
    LunFile { path: String, bytes: u64, in_btrfs: bool },
    /// Random bytes all over a LUN. What is taken away is the LUN itself.
    Filling { path: String, bytes: u64, direct: bool },
}

const TMPFS: &str = r#"mount -t tmpfs -o "size=$2,mode=0700,nosuid,nodev" stend "$1""#;
/// The attribute takes effect on an empty file only.
const LUN_FILE: &str = r#"
: >"$1" || exit
[ "$3" = false ] || chattr +C "$1" || exit
fallocate -l "$2" "$1"
"#;
/// fio makes the directories of a path even where it may make no file, so it gets none: one that a killed stend had started must not make
/// a directory again that was taken away.
const FILL: &str = r#"
cd "${1%/*}" || exit
exec fio --name=fill --filename="${1##*/}" --size="$2" --direct="$3" --rw=write --bs=1M --ioengine=psync --refill_buffers=1 \
    --end_fsync=1 --allow_file_create=0 --thread=1 --eta=never --output=/dev/null
"#;
/// An instrument that was ended a moment ago may still hold it.
pub(super) const UNMOUNT: &str = r#"
while mountpoint -q "$1"; do
    # A pool that is being rebuilt or scrubbed is not left alone before the end of that.
    [ "$(stat -f -c %T "$1")" != btrfs ] || { btrfs replace cancel "$1"; btrfs scrub cancel "$1"; } >/dev/null 2>&1
    said=$(umount "$1" 2>&1) && continue
    again "$said"
done
"#;
/// The number of a loop device keeps the scheduler of whoever had it before, as of a run that was killed; a new one has none.
pub(super) const ATTACH: &str = r#"
attach() {
    device=$(losetup --find --show "--direct-io=$2" "$1") || return
    { echo none >"/sys/block/${device##*/}/queue/scheduler"; } 2>/dev/null
    echo "$device"
}
"#;
/// The kernel detaches a device that is in use only when its last user is gone.
pub(super) const DETACH: &str = r#"
while device=$(loop_of "$1"); do
    said=$(losetup -d "$device" 2>&1)
    loop_of "$1" >/dev/null || break
    again "${said:-$device is in use}"
done
"#;
/// In a pool that btrfs lets only be read after errors nothing can be removed; it goes with the pool.
const IN_FAILED_POOL: &str = r#"
in_failed_pool() { [ -d "${1%/*}" ] && [ ! -w "${1%/*}" ] && [ "$(stat -f -c %T "${1%/*}")" = btrfs ]; }
"#;
const REMOVE_FILE: &str = r#"
in_failed_pool "$1" || exec rm -f "$1"
"#;
const REMOVE_DIRECTORY: &str = r#"
! in_failed_pool "$1" || exit 0
[ ! -d "$1" ] || rmdir "$1" && exit
inside=$(ls -A "$1" | head -n 5 | tr '\n' ' ')
[ -z "$inside" ] || echo "it holds ${inside% }" >&2
exit 1
"#;

impl Made for Basic {
    fn making(&self, ledger: &str) -> Command {
        let script = |script: &str, arguments: &[&str]| shell(ledger, script, arguments);
        match self {
            Self::Directory { path } => plain(ledger, &["mkdir", "-m700", path]),
            Self::Tmpfs { path, bytes } => script(TMPFS, &[path, &bytes.to_string()]),
            Self::SparseFile { path, bytes } => plain(ledger, &["truncate", "-s", &bytes.to_string(), path]),
            Self::Loop { file, direct } => {
                script(&format!("{ATTACH}attach \"$1\" \"$2\""), &[file, if *direct { "on" } else { "off" }])
            }
            Self::LunFile { path, bytes, in_btrfs } => {
                script(LUN_FILE, &[path, &bytes.to_string(), if *in_btrfs { "true" } else { "false" }])
            }
            Self::Filling { path, bytes, direct } => {
                script(FILL, &[path, &bytes.to_string(), if *direct { "1" } else { "0" }])
            }
        }
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        let script = |script: &str, path: &str| Some(shell(ledger, script, &[path]));
        match self {
            // Only an empty one: what else is in it is not stend's.
            Self::Directory { path } => script(&format!("{IN_FAILED_POOL}{REMOVE_DIRECTORY}"), path),
            Self::Tmpfs { path, .. } => script(UNMOUNT, path),
            Self::SparseFile { path, .. } | Self::LunFile { path, .. } => {
                script(&format!("{IN_FAILED_POOL}{REMOVE_FILE}"), path)
            }
            Self::Loop { file, .. } => script(&format!("{LOOP_OF}{DETACH}exit 0"), file),
            Self::Filling { .. } => None,
        }
    }

    fn in_words(&self) -> String {
        match self {
            Self::Directory { path } => format!("the directory {path}"),
            Self::Tmpfs { path, .. } => format!("the RAM disk {path}"),
            Self::SparseFile { path, .. } | Self::LunFile { path, .. } => format!("the file {path}"),
            Self::Loop { file, .. } => format!("the loop device on {file}"),
            Self::Filling { path, .. } => format!("the contents of {path}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_stand::host::{Host as _, Local};

    /// What a killed stend had started may come to its work when the target is gone.
    #[test]
    fn a_filling_that_comes_late_makes_nothing_again() {
        if !stend_testing::have("fio") {
            return;
        }
        let base = tempfile::tempdir().unwrap();
        let at = |name: &str| base.path().join(name).display().to_string();
        std::fs::create_dir(at("pool")).unwrap();
        std::fs::write(at("pool/lun0"), vec![0; 4096]).unwrap();
        std::fs::write(at("ledger"), "").unwrap();
        // It is gone at the last moment before fio begins.
        std::fs::write(at("fio"), format!("#!/bin/sh\nrm -r '{}'\nPATH=${{PATH#*:}} exec fio \"$@\"\n", at("pool")))
            .unwrap();
        std::fs::set_permissions(at("fio"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let filling = Basic::Filling { path: at("pool/lun0"), bytes: 4096, direct: false };
        let mut command = filling.making(&at("ledger"));
        let path = format!("{}:{}", base.path().display(), std::env::var("PATH").unwrap());
        command.environment.insert("PATH".into(), path);
        assert_ne!(Local.run(&command).unwrap().exit, Some(0));
        assert!(!base.path().join("pool").exists());
    }
}
