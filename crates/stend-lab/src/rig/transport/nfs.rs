//! NFS over TCP on this machine: the kernel's server exports the directory of the LUNs, and its client mounts it. Written after
//! exportfs(8), exports(5) and nfs(5).

use serde::{Deserialize, Serialize};

use crate::rig::shell::shell;
use crate::rig::thing::{Made, UNMOUNT};
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
