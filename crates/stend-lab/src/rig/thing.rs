//! The things that a target is made of: how each is made, and how it is taken away.
//!
//! Taking away asks first whether the thing is there and is stend's own, so it may be done twice, or for a thing that was never made.
//! Every command runs under a lock on the ledger and only while the ledger is there, by the name that it has for making or for taking
//! away: what a killed stend had just started either ends before the next one begins to take away, or does nothing. Only what then waits for
//! a server to be ready has no lock: it makes nothing, and is ended with the server.

use super::basics::Basic;
use super::control_group::Groups;
use super::conversion::OfConversion;
use super::faults::{Front, Spare};
use super::layout::btrfs::{FileSystem, Mounted};
use super::layout::{lvm, md, zfs};
use super::scheduler::Scheduler;
use super::served::Served;
use super::servers::OfServer;
use super::shell::Disk;
use super::transport::Carrier;
use stend_stand::host::Command;

/// How a thing is made and taken away.
pub(super) trait Made {
    /// The command that makes it.
    fn making(&self, ledger: &str) -> Command;

    /// The command that takes it away, if there is something to take away.
    fn taking_away(&self, ledger: &str) -> Option<Command>;

    /// What it is, for messages.
    fn in_words(&self) -> String;
}

/// An enum of things that are made each in its own way. `others`: variants that are such an enum themselves; the ledger has them without a name.
macro_rules! things {
    ($(#[$meta:meta])* $visible:vis enum $all:ident { $($name:ident($made:ty),)* } others { $($other:ident($of:ty),)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "snake_case", tag = "thing")]
        $visible enum $all {
            $($name($made),)*
            $(#[serde(untagged)] $other($of),)*
        }

        impl $all {
            fn made(&self) -> &dyn $crate::rig::thing::Made {
                match self {
                    $(Self::$name(made) => made,)*
                    $(Self::$other(made) => made,)*
                }
            }
        }

        impl $crate::rig::thing::Made for $all {
            fn making(&self, ledger: &str) -> stend_stand::host::Command {
                self.made().making(ledger)
            }

            fn taking_away(&self, ledger: &str) -> Option<stend_stand::host::Command> {
                self.made().taking_away(ledger)
            }

            fn in_words(&self) -> String {
                self.made().in_words()
            }
        }
    };
}
pub(in crate::rig) use things;

things! {
    /// One thing.
    pub(super) enum Thing {
        Btrfs(FileSystem),
        Mount(Mounted),
        Scheduler(Scheduler),
        Cgroups(Groups),
        MdArray(md::Array),
        MdPartitions(md::Partitions),
        VolumeGroup(lvm::Group),
        LogicalVolume(lvm::Volume),
        ZfsPool(zfs::Pool),
        ZfsVolume(zfs::Volume),
        Spare(Spare),
        Front(Front),
        Served(Served),
    }
    others {
        Basic(Basic),
        Transport(Carrier),
        Server(OfServer),
        Conversion(OfConversion),
    }
}

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
            Self::Front(_)
                | Self::Transport(Carrier::Server(_))
                | Self::Basic(Basic::Loop { .. })
                | Self::Mount(_)
                | Self::Btrfs(_)
                | Self::Served(_)
        )
    }
}
