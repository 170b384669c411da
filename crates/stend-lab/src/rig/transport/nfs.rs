//! NFS over TCP on this machine: the kernel's server exports the directory of the LUNs, and its client mounts it. Written after
//! exportfs(8), exports(5) and nfs(5).

use serde::{Deserialize, Serialize};

use super::{Carrier, Known, Luns, PLAIN};
use crate::rig::ability::{Missing, Need};
use crate::rig::basics::UNMOUNT;
use crate::rig::plan::Planning;
use crate::rig::shell::shell;
use crate::rig::thing::Made;
use crate::rig::thing::Thing;
use crate::rig::{Up, layout};
use stend_stand::host::Command;

/// A directory that is exported to this machine alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rig) struct Export {
    pub(in crate::rig) directory: String,
    /// What the server knows it by, because not every file system has a number of its own.
    pub(in crate::rig) uuid: String,
}

/// That directory, mounted by NFS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rig) struct Import {
    pub(in crate::rig) directory: String,
    pub(in crate::rig) path: String,
}

pub(super) const KNOWN: Known = Known {
    need: Need {
        programs: &[("exportfs", "nfs-kernel-server"), ("mount.nfs", "nfs-common")],
        kernel: &[("nfsd", ""), ("nfs", "")],
    },
    root_for: Some("exports and mounts"),
    lack: |host| {
        let threads = host.read_text("/proc/fs/nfsd/threads").unwrap_or_default();
        (threads.trim().parse().unwrap_or(0) == 0).then_some(Missing::NfsServer)
    },
    plan,
    ..PLAIN
};

fn plan(planning: &mut Planning<'_>, luns: Luns) -> Up {
    let directory = luns.directory;
    let uuid = layout::uuid(planning.ground.token);
    planning.things.push(Thing::Transport(Carrier::NfsExport(Export { directory: directory.clone(), uuid })));
    let path = planning.directory("nfs");
    planning.things.push(Thing::Transport(Carrier::NfsImport(Import { directory, path: path.clone() })));
    Up { luns: (0..planning.target.luns).map(|lun| format!("{path}/lun{lun}")).collect(), ..Up::default() }
}

const EXPORT: &str = r#"exportfs -o "rw,sync,no_root_squash,no_subtree_check,fsid=$2" "127.0.0.1:$1""#;
const UNEXPORT: &str = r#"! exportfs -s | grep -qF "$1 " || exportfs -u "127.0.0.1:$1""#;
const MOUNT: &str = r#"mount -t nfs -o vers=4.2,proto=tcp,nosuid,nodev,noatime "127.0.0.1:$1" "$2""#;

impl Made for Export {
    fn making(&self, ledger: &str) -> Command {
        shell(ledger, EXPORT, &[&self.directory, &self.uuid])
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        Some(shell(ledger, UNEXPORT, &[&self.directory]))
    }

    fn in_words(&self) -> String {
        format!("the NFS export of {}", self.directory)
    }
}

impl Made for Import {
    fn making(&self, ledger: &str) -> Command {
        shell(ledger, MOUNT, &[&self.directory, &self.path])
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        Some(shell(ledger, UNMOUNT, &[&self.path]))
    }

    fn in_words(&self) -> String {
        format!("the NFS mount {}", self.path)
    }
}
