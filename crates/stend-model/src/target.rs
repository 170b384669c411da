//! Targets: the storage that is set up for a run and loaded by it, as a person describes it in TOML or by flags.
//!
//! A target has LUNs. What they lie on is files in a directory, block devices, or a pool: disks with redundancy, cut into
//! LUNs, which controllers export over a transport. `docs/guide/storage.md` draws it and explains the keys.

mod error;
mod options;
mod text;
pub mod vm;

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use error::{Mistake, TargetError};
pub use options::ranges;
pub use text::TargetText;

use crate::machine::Tool;
use crate::quantity::Size;

/// A target, ready to be set up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// What the LUNs lie on.
    pub storage: Storage,
    /// How many LUNs there are.
    pub luns: u32,
    /// The size of each, in whole MiB; as much as the smallest device has if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lun_size: Option<Size>,
    /// Whether each LUN is written over once before it is loaded. What was never written is read as zeros, at the speed of memory.
    pub fill: bool,
    /// Whether LUNs in a btrfs have checksums. They are copied on write then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checksums: bool,
    /// How the LUNs reach the load.
    pub transport: Transport,
    /// With iscsi: who speaks it on the load's side. Known when the machine has been looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initiator: Option<Initiator>,
    /// Processes that export the LUNs, each its share; 0 where the transport needs none.
    pub controllers: u32,
    /// Threads of each controller's nbdkit; its own number if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// nbdkit's filters and their parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
    /// Mount options of a pool by btrfs, beside the usual.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mount_options: Vec<String>,
    /// The I/O scheduler of the disks; the kernel's own choice if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// The processors of the controllers: a list for all, or one for each with a space between; all processors if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<String>,
    /// The serial numbers of the devices that may be overwritten, as the user typed them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub destructive: Vec<String>,
}

/// A target as a run had it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetOfRun {
    /// What was asked for, with the LUNs' size in any case.
    #[serde(flatten)]
    pub target: Target,
    /// What it was made of.
    pub medium: Medium,
    /// The programs that make it and serve it; runs of old versions do not say.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, Tool>,
    /// Its name, if it stood before the run and was left standing after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// What a target's bytes lie on in the end: what its figures are figures of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Medium {
    /// Files in memory.
    Memory,
    /// Files on a file system of this type. Which caches lie below it cannot be seen.
    Files(String),
    /// Block devices.
    Devices,
}

/// What a target's LUNs lie on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Storage {
    /// Files in a directory, one for each LUN.
    File {
        /// Where they lie.
        r#where: Where,
    },
    /// Block devices, each of which is a LUN.
    Device {
        /// Their paths.
        devices: Vec<String>,
    },
    /// Disks with redundancy, cut into LUNs.
    Pool {
        /// What the disks are.
        disks: Disks,
        /// How the data are spread over them.
        layout: Layout,
        /// What spreads them; the first that the machine has, if not given.
        #[serde(default = "btrfs")]
        manager: Option<Manager>,
    },
}

/// What a target was made by that was stored before there was a choice.
#[expect(clippy::unnecessary_wraps, reason = "it stands for a field that may be missing")]
fn btrfs() -> Option<Manager> {
    Some(Manager::Btrfs)
}

/// The disks of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Disks {
    /// Sparse files, each behind a loop device.
    Files {
        /// How many.
        count: u32,
        /// The size of each.
        size: Size,
        /// Where they lie.
        r#where: Where,
    },
    /// Block devices, by their paths.
    Devices(Vec<String>),
}

/// Where files lie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Where {
    /// In the directory for runs' files.
    Work,
    /// In a directory of their own in this one.
    Directory(String),
    /// On a RAM disk of their own.
    Tmpfs,
}

/// What kind of storage a target has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Files in a directory.
    File,
    /// Block devices.
    Device,
    /// Disks with redundancy.
    Pool,
}

/// How a pool's data are spread over its disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Striped, without redundancy.
    Stripe,
    /// Each piece on two disks.
    Mirror,
    /// Striped over pairs of disks that mirror each other.
    Raid10,
}

/// The volume manager of a pool: what spreads the data over the disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Manager {
    /// A btrfs over all disks, with a file for each LUN.
    Btrfs,
    /// An md array of all disks (mdadm), with a partition for each LUN.
    Md,
    /// An LVM volume group of all disks, with a logical volume for each LUN.
    Lvm,
    /// A ZFS pool of all disks, with a volume (zvol) for each LUN.
    Zfs,
}

impl Manager {
    /// All, in the order in which a machine is asked for them: btrfs is in most kernels and takes one package; md and LVM are in
    /// most kernels too; ZFS is built apart from the kernel and takes a large part of the memory for its cache.
    pub const ALL: [Self; 4] = [Self::Btrfs, Self::Md, Self::Lvm, Self::Zfs];

    /// Whether it can spread data over so many disks in this way; the error says what would be right.
    pub fn takes(self, layout: Layout, disks: usize) -> Result<(), Mistake> {
        match (self, layout) {
            (Self::Md | Self::Zfs, Layout::Mirror) if disks > 2 => Err(Mistake::WideMirror { manager: self, disks }),
            (Self::Lvm | Self::Zfs, Layout::Raid10) if disks % 2 == 1 => {
                Err(Mistake::OddDisks { manager: self, disks })
            }
            _ => Ok(()),
        }
    }

    /// Whether LUNs are files in it, and not block devices.
    pub fn has_files(self) -> bool {
        self == Self::Btrfs
    }
}

impl fmt::Display for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Btrfs => "btrfs",
            Self::Md => "md",
            Self::Lvm => "lvm",
            Self::Zfs => "zfs",
        })
    }
}

impl Layout {
    /// The fewest disks that it takes.
    pub fn least_disks(self) -> u32 {
        match self {
            Self::Stripe | Self::Mirror => 2,
            Self::Raid10 => 4,
        }
    }

    /// How often each byte is stored.
    pub fn copies(self) -> u64 {
        match self {
            Self::Stripe => 1,
            Self::Mirror | Self::Raid10 => 2,
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stripe => "stripe",
            Self::Mirror => "mirror",
            Self::Raid10 => "raid10",
        })
    }
}

/// How the LUNs reach the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// The kernel's own block devices, or files; no process stands between.
    Local,
    /// NBD over a Unix socket, served by nbdkit.
    Nbd,
    /// iSCSI over TCP on this machine, served by tgtd.
    Iscsi,
    /// NVMe over TCP on this machine, served by the kernel.
    NvmeTcp,
    /// NFS over TCP on this machine, served by the kernel.
    Nfs,
}

impl Transport {
    /// All that there are.
    pub const ALL: [Self; 5] = [Self::Local, Self::Nbd, Self::Iscsi, Self::NvmeTcp, Self::Nfs];

    /// Whether processes export the LUNs, which are the controllers then.
    pub fn has_controllers(self) -> bool {
        matches!(self, Self::Nbd | Self::Iscsi)
    }
}

/// Who speaks iSCSI on the load's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Initiator {
    /// The kernel: each LUN is a block device.
    Kernel,
    /// qemu-storage-daemon with libiscsi: each LUN is exported once more, by NBD, to the load.
    Qemu,
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Local => "local",
            Self::Nbd => "nbd",
            Self::Iscsi => "iscsi",
            Self::NvmeTcp => "nvme-tcp",
            Self::Nfs => "nfs",
        })
    }
}

impl Target {
    /// The block devices that it overwrites.
    pub fn devices(&self) -> &[String] {
        match &self.storage {
            Storage::Device { devices } | Storage::Pool { disks: Disks::Devices(devices), .. } => devices,
            Storage::File { .. } | Storage::Pool { .. } => &[],
        }
    }

    /// The bytes of all its files, and where they lie; nothing if it lies on devices.
    pub fn files(&self) -> Option<(u64, &Where)> {
        match &self.storage {
            Storage::File { r#where } => {
                Some((u64::from(self.luns).saturating_mul(self.lun_size.map_or(0, |size| size.0)), r#where))
            }
            Storage::Pool { disks: Disks::Files { count, size, r#where }, .. } => {
                Some((u64::from(*count).saturating_mul(size.0), r#where))
            }
            Storage::Device { .. } | Storage::Pool { .. } => None,
        }
    }

    /// Where its files lie, if it has any.
    pub fn place_mut(&mut self) -> Option<&mut Where> {
        match &mut self.storage {
            Storage::File { r#where } | Storage::Pool { disks: Disks::Files { r#where, .. }, .. } => Some(r#where),
            Storage::Device { .. } | Storage::Pool { .. } => None,
        }
    }

    /// What spreads a pool's data, if it is a pool and that is known.
    pub fn manager(&self) -> Option<Manager> {
        match &self.storage {
            Storage::Pool { manager, .. } => *manager,
            Storage::File { .. } | Storage::Device { .. } => None,
        }
    }

    /// Whether the load reaches the LUNs by NBD, where they have no paths.
    pub fn behind_nbd(&self) -> bool {
        match self.transport {
            Transport::Nbd => true,
            Transport::Iscsi => self.initiator != Some(Initiator::Kernel),
            Transport::Local | Transport::NvmeTcp | Transport::Nfs => false,
        }
    }

    /// Whether threads of the kernel or processes beside the load do a part of its work, so that their CPU time is not the load's.
    pub fn works_beside_the_load(&self) -> bool {
        matches!(self.storage, Storage::Pool { .. }) || self.transport != Transport::Local
    }

    /// The processors of a controller, if it is not to use all.
    pub fn processors_of(&self, controller: u32) -> Option<&str> {
        let lists: Vec<_> = self.processors.as_deref()?.split_whitespace().collect();
        lists.get(controller as usize).or(lists.first()).copied()
    }

    /// What it is by the keys of a description, each with its value.
    pub fn settings(&self) -> BTreeMap<&'static str, String> {
        let mut settings = BTreeMap::from([
            ("luns", self.luns.to_string()),
            ("fill", self.fill.to_string()),
            ("transport", self.transport.to_string()),
            ("controllers", self.controllers.to_string()),
            ("filters", self.filters.join(",")),
            ("mount_options", self.mount_options.join(",")),
        ]);
        let kind = match &self.storage {
            Storage::File { r#where } => {
                settings.insert("where", r#where.to_string());
                "file"
            }
            Storage::Device { .. } => "device",
            Storage::Pool { disks, layout, manager } => {
                settings.insert("layout", layout.to_string());
                settings.extend(manager.map(|manager| ("manager", manager.to_string())));
                if let Disks::Files { count, size, r#where } = disks {
                    let of_files = [count.to_string(), size.to_string(), r#where.to_string()];
                    settings.extend(["disks", "disk_size", "where"].into_iter().zip(of_files));
                }
                "pool"
            }
        };
        settings.insert("kind", kind.into());
        settings.insert("devices", self.devices().join(","));
        settings.extend(self.lun_size.map(|size| ("lun_size", size.to_string())));
        settings.extend(self.threads.map(|threads| ("threads", threads.to_string())));
        settings.extend(self.scheduler.clone().map(|scheduler| ("scheduler", scheduler)));
        settings.extend(self.processors.clone().map(|processors| ("processors", processors)));
        settings.retain(|_, value| !value.is_empty());
        settings
    }

    /// The number of the controller that has this LUN: neighbours go to different ones.
    pub fn controller_of(&self, lun: u32) -> u32 {
        lun % self.controllers.max(1)
    }
}

/// The target in a line: `12 disks of 256MiB (tmpfs), btrfs raid10, 8 LUNs of 115MiB, nbd from 2 controllers`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.storage {
            Storage::File { r#where } => write!(f, "files ({where})")?,
            Storage::Device { devices } => f.write_str(&devices.join(" "))?,
            Storage::Pool { disks, layout, manager } => {
                match disks {
                    Disks::Files { count, size, r#where } => write!(f, "{count} disks of {size} ({where}), ")?,
                    Disks::Devices(devices) => write!(f, "{} disks ({}), ", devices.len(), devices.join(" "))?,
                }
                if let Some(manager) = manager {
                    write!(f, "{manager} ")?;
                }
                write!(f, "{layout}")?;
            }
        }
        write!(f, ", {} {}", self.luns, if self.luns == 1 { "LUN" } else { "LUNs" })?;
        if let Some(size) = self.lun_size {
            write!(f, " of {size}")?;
        }
        if self.checksums {
            f.write_str(" with checksums")?;
        }
        write!(f, ", {}", self.transport)?;
        match self.controllers {
            0 => {}
            1 => f.write_str(" from 1 controller")?,
            many => write!(f, " from {many} controllers")?,
        }
        let settings = self.settings();
        for key in ["threads", "filters", "processors", "scheduler", "mount_options"] {
            if let Some(value) = settings.get(key) {
                write!(f, ", {} {value}", key.replace('_', " "))?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Where {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Work => f.write_str("the directory for runs' files"),
            Self::Directory(path) => f.write_str(path),
            Self::Tmpfs => f.write_str("tmpfs"),
        }
    }
}
