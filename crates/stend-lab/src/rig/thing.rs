//! The things that a target is made of: how each is made, and how it is taken away.
//!
//! Taking away asks first whether the thing is there and is stend's own, so it may be done twice, or for a thing that was never made.
//! Every command runs under a lock on the ledger and only while the ledger is there, by the name that it has for making or for taking
//! away: what a killed stend had just started either ends before the next one begins to take away, or does nothing.

use serde::{Deserialize, Serialize};

use super::control_group::Confined;
use super::faults::{Front, Spare};
use super::layout::btrfs::{FileSystem, Mounted};
use super::layout::{lvm, md, zfs};
use super::scheduler::Scheduler;
use super::served::Served;
use super::shell::{Disk, LOOP_OF, plain, shell};
use super::transport::nbd::Nbdkit;
use super::transport::{iscsi, nfs, nvme};
use stend_stand::host::Command;

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
    Btrfs(FileSystem),
    /// That btrfs, mounted.
    Mount(Mounted),
    /// A file with all its space; `in_btrfs`: btrfs overwrites it in place.
    LunFile { path: String, bytes: u64, in_btrfs: bool },
    /// Random bytes all over a LUN. What is taken away is the LUN itself.
    Filling { path: String, bytes: u64, direct: bool },
    /// The I/O scheduler of the disks.
    Scheduler(Scheduler),
    /// The control groups of one controller, of which one may keep it to some processors.
    Cgroups {
        paths: Vec<String>,
        #[serde(default)]
        confined: Option<Confined>,
    },
    /// nbdkit, which exports the files of a directory.
    Server(Nbdkit),
    /// An md array over disks.
    MdArray(md::Array),
    /// Partitions of that array.
    MdPartitions(md::Partitions),
    /// An LVM volume group over disks.
    VolumeGroup(lvm::Group),
    /// A logical volume in it.
    LogicalVolume(lvm::Volume),
    /// A ZFS pool over disks.
    ZfsPool(zfs::Pool),
    /// A volume in it.
    ZfsVolume(zfs::Volume),
    /// tgtd, which exports LUNs by iSCSI.
    Tgtd(iscsi::Tgtd),
    /// qemu-storage-daemon, which brings LUNs from iSCSI to NBD.
    IscsiBridge(iscsi::Bridge),
    /// A session of the kernel with an iSCSI target.
    IscsiSession(iscsi::Login),
    /// LUNs that the kernel exports and imports by NVMe over TCP.
    NvmeSubsystem(nvme::Subsystem),
    /// A directory that the kernel exports by NFS.
    NfsExport(nfs::Export),
    /// That directory, mounted by NFS.
    NfsImport(nfs::Import),
    /// A disk for the place of one that dies.
    Spare(Spare),
    /// nbdkit between the load and a controller, which waits for one that was killed.
    Front(Front),
    /// A disk's file by way of a process.
    Served(Served),
}

/// A thing that has a file of its own.
pub(super) trait Made {
    /// The command that makes it.
    fn making(&self, ledger: &str) -> Command;

    /// The command that takes it away, if there is something to take away.
    fn taking_away(&self, ledger: &str) -> Option<Command>;

    /// What it is, for messages.
    fn in_words(&self) -> String;
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
/// Version 1 takes no process into a group before the group has memory nodes, which are in a file that the root of version 2 lacks.
const MAKE_CGROUPS: &str = r#"
confined=$1 processors=$2
shift 2
mkdir "$@" || exit
[ -n "$confined" ] || exit 0
above=${confined%/*}
[ ! -e "$above/cpuset.mems" ] || cat "$above/cpuset.mems" >"$confined/cpuset.mems" || exit
echo "$processors" >"$confined/cpuset.cpus"
"#;
/// A process that has just ended may still be counted in its group.
const REMOVE_CGROUPS: &str = r#"
for group; do
    tries=0
    while [ -d "$group" ]; do
        said=$(rmdir "$group" 2>&1) && break
        again "$said"
    done
done
"#;

impl Thing {
    /// The disks of the pool, if it is what spreads data over them.
    pub(super) fn pools_disks(&self) -> &[Disk] {
        match self {
            Self::Btrfs(pool) => &pool.disks,
            Self::MdArray(pool) => &pool.disks,
            Self::VolumeGroup(pool) => &pool.disks,
            Self::ZfsPool(pool) => &pool.disks,
            _ => &[],
        }
    }

    /// Whether it is gone when the power fails: whatever is not on a disk.
    pub(super) fn is_of_the_moment(&self) -> bool {
        matches!(
            self,
            Self::Front(_) | Self::Server(_) | Self::Loop { .. } | Self::Mount(_) | Self::Btrfs(_) | Self::Served(_)
        )
    }

    /// The command that makes it.
    pub(super) fn making(&self, ledger: &str) -> Command {
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
            Self::Cgroups { paths, confined } => {
                let [group, processors] =
                    confined.as_ref().map_or(["", ""], |confined| [&confined.group, &confined.processors]);
                let words: Vec<_> = [group, processors].into_iter().chain(paths.iter().map(String::as_str)).collect();
                script(MAKE_CGROUPS, &words)
            }
            Self::Scheduler(made) => made.making(ledger),
            Self::Btrfs(made) => made.making(ledger),
            Self::Mount(made) => made.making(ledger),
            Self::Server(made) => made.making(ledger),
            Self::MdArray(made) => made.making(ledger),
            Self::MdPartitions(made) => made.making(ledger),
            Self::VolumeGroup(made) => made.making(ledger),
            Self::LogicalVolume(made) => made.making(ledger),
            Self::ZfsPool(made) => made.making(ledger),
            Self::ZfsVolume(made) => made.making(ledger),
            Self::Tgtd(made) => made.making(ledger),
            Self::IscsiBridge(made) => made.making(ledger),
            Self::IscsiSession(made) => made.making(ledger),
            Self::NvmeSubsystem(made) => made.making(ledger),
            Self::NfsExport(made) => made.making(ledger),
            Self::NfsImport(made) => made.making(ledger),
            Self::Spare(made) => made.making(ledger),
            Self::Front(made) => made.making(ledger),
            Self::Served(made) => made.making(ledger),
        }
    }

    /// The command that takes it away, if there is something to take away.
    pub(super) fn taking_away(&self, ledger: &str) -> Option<Command> {
        let script = |script: &str, arguments: &[&str]| Some(shell(ledger, script, arguments));
        match self {
            // Only an empty one: what else is in it is not stend's.
            Self::Directory { path } => script(&format!("{IN_FAILED_POOL}{REMOVE_DIRECTORY}"), &[path]),
            Self::Tmpfs { path, .. } => script(UNMOUNT, &[path]),
            Self::SparseFile { path, .. } | Self::LunFile { path, .. } => {
                script(&format!("{IN_FAILED_POOL}{REMOVE_FILE}"), &[path])
            }
            Self::Loop { file, .. } => script(&format!("{LOOP_OF}{DETACH}exit 0"), &[file]),
            Self::Filling { .. } => None,
            Self::Scheduler(made) => made.taking_away(ledger),
            Self::Cgroups { paths, .. } => {
                script(REMOVE_CGROUPS, &paths.iter().map(String::as_str).collect::<Vec<_>>())
            }
            Self::Btrfs(made) => made.taking_away(ledger),
            Self::Mount(made) => made.taking_away(ledger),
            Self::Server(made) => made.taking_away(ledger),
            Self::MdArray(made) => made.taking_away(ledger),
            Self::MdPartitions(made) => made.taking_away(ledger),
            Self::VolumeGroup(made) => made.taking_away(ledger),
            Self::LogicalVolume(made) => made.taking_away(ledger),
            Self::ZfsPool(made) => made.taking_away(ledger),
            Self::ZfsVolume(made) => made.taking_away(ledger),
            Self::Tgtd(made) => made.taking_away(ledger),
            Self::IscsiBridge(made) => made.taking_away(ledger),
            Self::IscsiSession(made) => made.taking_away(ledger),
            Self::NvmeSubsystem(made) => made.taking_away(ledger),
            Self::NfsExport(made) => made.taking_away(ledger),
            Self::NfsImport(made) => made.taking_away(ledger),
            Self::Spare(made) => made.taking_away(ledger),
            Self::Front(made) => made.taking_away(ledger),
            Self::Served(made) => made.taking_away(ledger),
        }
    }

    /// What it is, for messages.
    pub(super) fn in_words(&self) -> String {
        match self {
            Self::Directory { path } => format!("the directory {path}"),
            Self::Tmpfs { path, .. } => format!("the RAM disk {path}"),
            Self::SparseFile { path, .. } | Self::LunFile { path, .. } => format!("the file {path}"),
            Self::Loop { file, .. } => format!("the loop device on {file}"),
            Self::Filling { path, .. } => format!("the contents of {path}"),
            Self::Scheduler(made) => made.in_words(),
            Self::Cgroups { paths, .. } => format!("the control groups {}", paths.join(", ")),
            Self::Btrfs(made) => made.in_words(),
            Self::Mount(made) => made.in_words(),
            Self::Server(made) => made.in_words(),
            Self::MdArray(made) => made.in_words(),
            Self::MdPartitions(made) => made.in_words(),
            Self::VolumeGroup(made) => made.in_words(),
            Self::LogicalVolume(made) => made.in_words(),
            Self::ZfsPool(made) => made.in_words(),
            Self::ZfsVolume(made) => made.in_words(),
            Self::Tgtd(made) => made.in_words(),
            Self::IscsiBridge(made) => made.in_words(),
            Self::IscsiSession(made) => made.in_words(),
            Self::NvmeSubsystem(made) => made.in_words(),
            Self::NfsExport(made) => made.in_words(),
            Self::NfsImport(made) => made.in_words(),
            Self::Spare(made) => made.in_words(),
            Self::Front(made) => made.in_words(),
            Self::Served(made) => made.in_words(),
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
        let filling = Thing::Filling { path: at("pool/lun0"), bytes: 4096, direct: false };
        let mut command = filling.making(&at("ledger"));
        let path = format!("{}:{}", base.path().display(), std::env::var("PATH").unwrap());
        command.environment.insert("PATH".into(), path);
        assert_ne!(Local.run(&command).unwrap().exit, Some(0));
        assert!(!base.path().join("pool").exists());
    }
}
