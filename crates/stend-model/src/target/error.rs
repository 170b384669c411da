//! What is wrong with a target's description, in words that tell what would be right.

use thiserror::Error;

use super::options::{FILTERS, LAST_PROCESSOR, LONGEST_VALUE, MOST_WORDS, MOUNT_OPTIONS};
use super::text::{LEAST_DISK, MOST_DISKS};
use super::{Layout, Manager, Transport};
use crate::quantity::Size;

const GIBIBYTE: u64 = 1 << 30;

/// A target that cannot be used. The message says where and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TargetError {
    /// In a file.
    #[error("{file}:{line}:{column}: {mistake}")]
    InFile {
        /// The file as the user knows it.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong, and what would be right.
        #[source]
        mistake: Mistake,
    },
    /// In a flag, or where nothing was said at all.
    #[error("{flag}: {mistake}")]
    InFlag {
        /// The flag, with its dashes.
        flag: String,
        /// What is wrong, and what would be right.
        #[source]
        mistake: Mistake,
    },
}

/// What is wrong with a target's description.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Mistake {
    /// It is no TOML, or no description, or a key does not take a value; what the parser said.
    #[error("{said}")]
    Unread {
        /// In one line.
        said: String,
    },
    /// The file cannot be read.
    #[error("{file} cannot be read: {said}")]
    NoFile {
        /// The file as the user knows it.
        file: String,
        /// What the system said.
        said: String,
    },
    /// A guest would have too little memory to boot.
    #[error("{size} is less than {least}")]
    LittleMemory {
        /// What it would have.
        size: Size,
        /// The least.
        least: Size,
    },
    /// QEMU would not take it as a machine's name.
    #[error("\"{0}\" is no machine of QEMU; `qemu-system-x86_64 -machine help` lists them")]
    NoMachine(String),
    /// A guest would have more disks than slots.
    #[error("there are {disks} disks; it may be 0 to {most}")]
    ManyDisks {
        /// How many.
        disks: usize,
        /// The most.
        most: usize,
    },
    /// A guest's disk is no LUN.
    #[error("\"{0}\" is no LUN of a rig; write the rig's name and the LUN's number: pool/lun0")]
    NoLun(String),
    /// A disk cannot be mounted there.
    #[error("\"{0}\" is no place for a disk; give a path such as /srv/data, of letters, digits, dots and dashes")]
    NoMountPoint(String),
    /// A LUN is used as it is.
    #[error("a LUN is used as it is; leave out \"format\"")]
    LunHasNoFormat,
    /// A guest's disk is neither made nor there.
    #[error("a disk has either a size, such as 1GiB, or is from a LUN, such as pool/lun0")]
    SizeOrFrom,
    /// A key is set to nothing.
    #[error("it has no value after the =")]
    NoValue,
    /// Devices may be overwritten, and there are none.
    #[error("\"{0}\" is for devices, and this target has none")]
    NothingToDestroy(String),
    /// The kind of storage has no such key.
    #[error("{owner} has no \"{key}\"{instead}")]
    Foreign {
        /// What has no such key: `a target of files`.
        owner: &'static str,
        /// The key.
        key: &'static str,
        /// What to do, behind a comma or a semicolon.
        instead: &'static str,
    },
    /// A number is out of bounds.
    #[error("it is {value}; it may be {least} to {most}")]
    OutOfBounds {
        /// The number.
        value: u32,
        /// The least that it may be.
        least: u32,
        /// The most.
        most: u32,
    },
    /// A size is too small for anything.
    #[error("{0} is less than 1MiB")]
    LessThanMebibyte(Size),
    /// A size is no whole number of MiB.
    #[error("{size} is not a whole number of MiB; write {below}MiB or {above}MiB", above = .below + 1)]
    NotWhole {
        /// The size.
        size: Size,
        /// The whole MiB in it.
        below: u64,
    },
    /// There are too few devices, or too many.
    #[error("there are {0} devices; it may be 1 to {MOST_DISKS}")]
    Devices(usize),
    /// A device is none.
    #[error("\"{0}\" is no block device; its path begins with /dev/")]
    NoDevice(String),
    /// A word or a device is named twice.
    #[error("\"{0}\" stands there twice")]
    Twice(String),
    /// A target of devices names none.
    #[error("a target of devices needs \"devices\", such as [\"/dev/nvme1n1\"]")]
    NoDevices,
    /// Files lie at no place that can be used.
    #[error("\"{0}\" is neither an absolute path nor \"tmpfs\"")]
    NoPlace(String),
    /// A path leads somewhere else than it seems.
    #[error("\"{0}\" goes through \"..\"; write the path that it leads to")]
    Upwards(String),
    /// A path holds what programs do not take.
    #[error("the path {path:?} holds {bad:?}, which fio and mount do not take; use another")]
    BadPath {
        /// The path.
        path: String,
        /// What it holds.
        bad: char,
    },
    /// A disk is too small.
    #[error("{0} is too small for a disk; it must be at least {LEAST_DISK}")]
    SmallDisk(Size),
    /// A pool has too few disks for its layout, or too many.
    #[error(
        "{layout} of {count} disks cannot be made; it takes {least} to {MOST_DISKS}",
        least = .layout.least_disks()
    )]
    Disks {
        /// The layout.
        layout: Layout,
        /// How many disks there are.
        count: u32,
    },
    /// A volume manager mirrors onto all disks.
    #[error(
        "a mirror by {manager} has each byte on every disk, and here on two of {disks}; take 2 disks, or layout = \"raid10\""
    )]
    WideMirror {
        /// The manager.
        manager: Manager,
        /// How many disks there are.
        disks: usize,
    },
    /// A volume manager mirrors pairs of disks, and one disk is alone.
    #[error("raid10 by {manager} is made of pairs, and {disks} disks are none; take one more or less")]
    OddDisks {
        /// The manager.
        manager: Manager,
        /// How many disks there are.
        disks: usize,
    },
    /// How large the LUNs of devices are is not said.
    #[error("a pool of devices needs \"lun_size\", such as \"100GiB\"")]
    NoLunSize,
    /// The LUNs do not fit into the pool.
    #[error(
        "{luns} LUNs of {size} are {wanted}, and {layout} of these disks holds less than {holds}",
        wanted = in_gibibytes(.size.0.saturating_mul(*.luns)), holds = in_gibibytes(*.holds)
    )]
    LunsTooLarge {
        /// How many.
        luns: u64,
        /// The size of each.
        size: Size,
        /// The pool's layout.
        layout: Layout,
        /// What the pool holds, in bytes.
        holds: u64,
    },
    /// So many LUNs do not fit into the pool, however small.
    #[error("{0} LUNs of 1MiB do not fit into the pool")]
    TooManyLuns(u64),
    /// Devices are to be exported.
    #[error("devices are loaded as they are; only files and pools are exported by {0}")]
    DevicesExported(Transport),
    /// There are no controllers that could be counted.
    #[error(
        "with the transport \"{0}\" no process exports anything, so there are no controllers; \
         leave this out, or set transport = \"nbd\""
    )]
    NoControllers(Transport),
    /// There are controllers without a LUN.
    #[error("{controllers} controllers cannot share {luns} LUNs; it must be 1 to {luns}, one LUN each at least")]
    Controllers {
        /// How many.
        controllers: u32,
        /// How many LUNs they share.
        luns: u32,
    },
    /// There are no files that NFS could export.
    #[error("nfs exports files, and LUNs by {0} are block devices; set manager = \"btrfs\"")]
    NoFiles(Manager),
    /// The LUNs have no checksums.
    #[error("only LUNs in a btrfs have them; set manager = \"btrfs\"")]
    NoChecksums,
    /// Something is said to nbdkit, which is not there.
    #[error("they are nbdkit's, and the transport is \"{0}\"; leave this out, or set transport = \"nbd\"")]
    NoNbdkit(Transport),
    /// There are no controllers that could be kept on processors.
    #[error(
        "they are the controllers', and with the transport \"{0}\" there are none; leave this out, or set transport = \"nbd\""
    )]
    NobodysProcessors(Transport),
    /// A pool is not mounted.
    #[error("a pool by {0} is not mounted; leave this out, or set manager = \"btrfs\"")]
    PoolNotMounted(Manager),
    /// Files and devices are not mounted.
    #[error("only pools are mounted; leave this out, or set manager = \"btrfs\"")]
    NotMounted,
    /// There are no disks that could have a scheduler.
    #[error("files have no disks of their own; leave this out, or set kind = \"pool\"")]
    NoDisks,
    /// There are too many words.
    #[error("there are {0} of them; it may be {MOST_WORDS} at most")]
    Words(usize),
    /// There is no such filter.
    #[error("there is no filter {0:?} here; there are {all}", all = FILTERS.map(|(name, _)| name).join(", "))]
    NoFilter(String),
    /// No filter that stands there has such a parameter.
    #[error("{name:?} is no parameter of a filter that stands there; {}", taken(.known))]
    NoParameter {
        /// The parameter.
        name: String,
        /// The parameters that these filters take.
        known: Vec<&'static str>,
    },
    /// There is no such mount option.
    #[error("there is no mount option {0:?} here; there are {all}", all = MOUNT_OPTIONS.join(", "))]
    NoMountOption(String),
    /// A parameter or an option has a value that is not handed on.
    #[error("{name}={value:?}: a value has 1 to {LONGEST_VALUE} letters, digits and any of {also}")]
    Value {
        /// The parameter or option.
        name: String,
        /// Its value.
        value: String,
        /// What else than letters and digits it may have.
        also: &'static str,
    },
    /// There is no such scheduler.
    #[error("{0:?} is no name of a scheduler; such are none, mq-deadline, kyber and bfq")]
    NoScheduler(String),
    /// A list of processors is none.
    #[error(
        "{0:?} is no list of processors such as 0-3,8, with numbers up to {LAST_PROCESSOR}; lists of several controllers are separated by a space"
    )]
    NoProcessors(String),
    /// There are more lists of processors than controllers, or fewer.
    #[error(
        "there are {lists} lists of processors for {controllers} controllers; give one list for all, or one for each"
    )]
    Processors {
        /// How many lists.
        lists: usize,
        /// How many controllers.
        controllers: u32,
    },
}

fn in_gibibytes(bytes: u64) -> String {
    format!("{:.2} GiB", bytes as f64 / GIBIBYTE as f64)
}

fn taken(parameters: &[&str]) -> String {
    match parameters.join(", ") {
        none if none.is_empty() => "none of these filters takes a parameter".to_owned(),
        all => format!("these filters take {all}"),
    }
}
