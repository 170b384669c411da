//! Why there is no target: what was asked for wrongly, and what the machine cannot do.

use std::fmt;

use stend_instrument::FioError;
use stend_model::quantity::{Size, format_size};
use stend_model::server::UnknownPlace;
use stend_model::suite::Fault;
use stend_model::target::{Layout, Manager, Mistake, Transport};
use stend_stand::host::{HostError, Output};
use thiserror::Error;

use super::ability::Missing;
use super::check::{LONGEST_SOCKET, MEBIBYTE, MOST_OF_MEMORY};
use crate::run::prepare::install_command;

/// Why there is no target.
#[derive(Debug, Error)]
pub enum Refusal {
    /// It was asked for wrongly.
    #[error(transparent)]
    Usage(Box<Misuse>),
    /// This machine cannot have it.
    #[error(transparent)]
    Unusable(Box<Obstacle>),
    /// The user interrupted it.
    #[error("interrupted; what was half made is removed")]
    Interrupted,
}

impl From<Misuse> for Refusal {
    fn from(misuse: Misuse) -> Self {
        Self::Usage(misuse.into())
    }
}

impl From<Obstacle> for Refusal {
    fn from(obstacle: Obstacle) -> Self {
        Self::Unusable(obstacle.into())
    }
}

impl From<HostError> for Refusal {
    fn from(error: HostError) -> Self {
        Obstacle::Host(error).into()
    }
}

/// What was asked for wrongly, and what would be right.
#[derive(Debug, Error)]
pub enum Misuse {
    /// A scenario says where its files lie, which a target decides.
    #[error(
        "scenario \"{scenario}\" has a \"directory\" of its own, and a target has its LUNs elsewhere; leave out one of them"
    )]
    OwnDirectory {
        /// The scenario.
        scenario: String,
    },
    /// A scenario cannot load these LUNs.
    #[error("scenario \"{scenario}\" on this target: {error}")]
    Load {
        /// The scenario.
        scenario: String,
        /// Why.
        #[source]
        error: FioError,
    },
    /// Nothing in the suite loads LUNs.
    #[error(
        "suite \"{suite}\" has no scenario that loads a target; those of fio do, as in vostok-2021, and commands that name @lun0@"
    )]
    NothingLoads {
        /// The suite.
        suite: String,
    },
    /// A command names a LUN that there is not.
    #[error("scenario \"{scenario}\" loads lun{number}, and {}", match luns {
        None => BadFault::NoTarget.to_string(),
        Some(luns) => format!("the target has lun0 to lun{}; set luns = {}", luns.saturating_sub(1), number + 1),
    })]
    NamedLun {
        /// The scenario.
        scenario: String,
        /// The LUN's number.
        number: u32,
        /// How many the target has, if there is one.
        luns: Option<u32>,
    },
    /// The targets of two sides make a scenario two different works.
    #[error(
        "--ab: on the two targets scenario \"{scenario}\" would not do the same work: {parameter} is {} on one side and {} on the other; \
         set the same luns, lun_size and transport for both (--lun-size), or make two runs",
        sides[0].as_deref().unwrap_or("none"),
        sides[1].as_deref().unwrap_or("none")
    )]
    OtherWork {
        /// The scenario.
        scenario: String,
        /// The parameter that differs.
        parameter: String,
        /// Its value on each side.
        sides: [Option<String>; 2],
    },
    /// What a scenario prepares is lost when the target is made anew for the other side.
    #[error(
        "--ab: scenario \"{scenario}\" prepares its LUNs, and the target is made anew for each side, which loses that; make two \
         runs, or take a suite that prepares nothing, such as vostok-2021"
    )]
    Prepares {
        /// The scenario.
        scenario: String,
    },
    /// No target of this name stands.
    #[error(
        "no target of the name \"{name}\" stands; `stend rig up --name {name}` makes one, and `stend rig status` lists them"
    )]
    NotStanding {
        /// The name.
        name: String,
    },
    /// No virtual machine of this name stands.
    #[error(
        "no virtual machine of the name \"{name}\" stands; `stend rig up FILE --name {name}` makes one, and `stend rig status` lists them"
    )]
    NoGuest {
        /// The name.
        name: String,
    },
    /// A guest has ended.
    #[error("the virtual machine \"{name}\" is off; `stend rig start --name {name}` starts it")]
    GuestIsOff {
        /// Its name.
        name: String,
    },
    /// A guest runs.
    #[error("the virtual machine \"{name}\" runs already")]
    GuestRuns {
        /// Its name.
        name: String,
    },
    /// A guest runs, and what is asked for takes one that is off.
    #[error("the virtual machine \"{name}\" runs, and {why}; `stend rig stop --name {name}` shuts it down")]
    GuestIsOn {
        /// Its name.
        name: String,
        /// Why it has to be off.
        why: String,
    },
    /// A copy of a guest would write where the guest writes.
    #[error(
        "the virtual machine \"{name}\" has the LUN {disk} for a disk, and a clone would write there too; only disks that are files are copied"
    )]
    CloneOfLun {
        /// Its name.
        name: String,
        /// The LUN.
        disk: String,
    },
    /// A LUN cannot go with a guest.
    #[error(
        "the virtual machine \"{name}\" has the LUN {disk} for a disk, which stays on this machine; only disks that are files are sent"
    )]
    LunStays {
        /// Its name.
        name: String,
        /// The LUN.
        disk: String,
    },
    /// A guest has a disk without snapshots.
    #[error(
        "the virtual machine \"{name}\" has no snapshots, because a disk of it is {disk}; they take format=qcow2 for each disk"
    )]
    NoSnapshots {
        /// Its name.
        name: String,
        /// What the disk is.
        disk: String,
    },
    /// A guest has a snapshot of this name.
    #[error(
        "the virtual machine \"{name}\" has a snapshot \"{snapshot}\" already; `stend rig snapshot {snapshot} --name {name} --remove` removes it"
    )]
    SnapshotExists {
        /// The guest's name.
        name: String,
        /// The snapshot's name.
        snapshot: String,
    },
    /// A guest has no snapshot of this name.
    #[error("the virtual machine \"{name}\" has no snapshot \"{snapshot}\"; there is: {}", if there.is_empty() { "none".into() } else { there.join(", ") })]
    NoSnapshot {
        /// The guest's name.
        name: String,
        /// The snapshot's name.
        snapshot: String,
        /// Those that it has.
        there: Vec<String>,
    },
    /// A rig has fewer LUNs.
    #[error("rig {rig} has {luns} LUNs, counted from 0, and \"{rig}/lun{number}\" is none of them")]
    NoSuchLun {
        /// The rig.
        rig: String,
        /// The LUN's number.
        number: usize,
        /// How many it has.
        luns: usize,
    },
    /// LUNs are larger than the devices that they are.
    #[error("LUNs of {size} are asked for, and the smallest of {} has {}", devices.join(", "), format_size(*smallest))]
    SmallDevices {
        /// A LUN's size.
        size: Size,
        /// The devices.
        devices: Vec<String>,
        /// Bytes of the smallest.
        smallest: u64,
    },
    /// LUNs are larger than the pool that they lie on.
    #[error("{luns} LUNs of {size} are asked for, and {layout} of these disks holds less than {} MiB", holds / MEBIBYTE)]
    SmallPool {
        /// How many LUNs.
        luns: u32,
        /// A LUN's size.
        size: Size,
        /// The pool's layout.
        layout: Layout,
        /// Bytes that it holds at most.
        holds: u64,
    },
    /// Files cannot be written there.
    #[error("\"{directory}\" is no directory that can be written; make it first")]
    NoDirectory {
        /// Where.
        directory: String,
    },
    /// Two of the devices are one.
    #[error("{one} and {other} are the same device; name it once")]
    SameDevice {
        /// One of its names.
        one: String,
        /// The other.
        other: String,
    },
    /// A device is in use.
    #[error("{device} is in use ({user}); stend does not touch it, whatever is typed")]
    InUse {
        /// The device.
        device: String,
        /// By whom or as what.
        user: String,
    },
    /// A device cannot be confirmed.
    #[error(
        "{device} would be overwritten{}, and it has no serial number to confirm that with; take another device",
        and_it_holds(holds)
    )]
    NoSerial {
        /// The device.
        device: String,
        /// What lies on it.
        holds: Option<String>,
    },
    /// A device was not confirmed, or by a number that is not its own.
    #[error(
        "{device} would be overwritten{}{}; to allow that, type its serial number: --destructive SERIAL (`lsblk -dno SERIAL {device}` \
         shows it; of a loop device it is the path of its file)",
        and_it_holds(holds),
        typed.as_ref().map(|typed| format!(", and --destructive {typed} is not its serial number")).unwrap_or_default()
    )]
    Unconfirmed {
        /// The device.
        device: String,
        /// What lies on it.
        holds: Option<String>,
        /// The number that was typed and is of no device of the target.
        typed: Option<String>,
    },
    /// A typed serial number is of no device of the target.
    #[error("--destructive {typed}: none of the target's {devices} devices has this serial number")]
    UnknownSerial {
        /// The number.
        typed: String,
        /// How many devices the target has.
        devices: usize,
    },
    /// There is no such device.
    #[error("{path} is no block device of this machine; `lsblk` lists them")]
    NoDevice {
        /// Its path.
        path: String,
    },
    /// The target has not what a fault names.
    #[error("scenario \"{scenario}\", \"{fault}\" at {}: {error}", fault.at)]
    Fault {
        /// The scenario.
        scenario: String,
        /// The fault.
        fault: Fault,
        /// Why.
        #[source]
        error: BadFault,
    },
    /// One disk would have to be two things.
    #[error(
        "suite \"{suite}\": disk {disk} is replaced, and it slows down or loses its power elsewhere; make two suites of it"
    )]
    TwoFates {
        /// The suite.
        suite: String,
        /// The disk's number.
        disk: u32,
    },
}

fn and_it_holds(what: &Option<String>) -> String {
    what.as_ref().map(|what| format!(", and it holds {what}")).unwrap_or_default()
}

/// Why a target cannot have a fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadFault {
    /// There is no target.
    #[error("there is no target; give one, as in --target targets/faults.toml")]
    NoTarget,
    /// Its controllers are no processes.
    #[error("this target has no controllers that can be killed; set transport = \"nbd\"")]
    NoControllers,
    /// It has fewer controllers.
    #[error("the target has controllers 0 to {last}")]
    Controllers {
        /// The last one's number.
        last: u32,
    },
    /// What is left cannot be read again.
    #[error("what is left is read again from files; set transport = \"local\" or \"nbd\"")]
    NotFiles,
    /// It cannot lose its power.
    #[error("only a pool of files by btrfs loses its power; set kind = \"pool\" and manager = \"btrfs\"")]
    KeepsPower,
    /// Another volume manager made the pool.
    #[error("only disks of a pool by btrfs die; set manager = \"btrfs\"")]
    NotBtrfs,
    /// It has fewer disks.
    #[error("the pool has disks 0 to {last}")]
    Disks {
        /// The last one's number.
        last: u32,
    },
    /// What was on the disk is nowhere else.
    #[error("a stripe has no other copy of what was on it; set layout = \"raid10\" or \"mirror\"")]
    NoOtherCopy,
    /// Copies that differ are equally good.
    #[error("without checksums nobody can tell which of two copies is right; set checksums = true")]
    NoChecksums,
    /// It would be the second one.
    #[error("another disk is dead or rots by then, and a pool survives one")]
    SecondDisk,
    /// The disks are real.
    #[error("block devices do not die for a test; make the pool of files, with disks = NUMBER")]
    Devices,
    /// It has none.
    #[error("only a pool has disks; set kind = \"pool\"")]
    NoDisks,
}

/// What this machine cannot do, and what would help.
#[derive(Debug, Error)]
pub enum Obstacle {
    /// A server's texts name what there is not; they were checked before.
    #[error(transparent)]
    Server(#[from] UnknownPlace),
    /// It could not be asked or told.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The kernel has not this scheduler.
    #[error("there is no scheduler \"{wanted}\" here: {said}; set one of those")]
    NoScheduler {
        /// The scheduler.
        wanted: String,
        /// Which device takes which.
        said: String,
    },
    /// Controllers cannot be kept to processors.
    #[error(
        "\"processors\" takes root and control groups with the controller cpuset, which this machine has not for this user; leave it out"
    )]
    NoCpuset,
    /// There is no such processor.
    #[error("\"processors\" names processor {number}, and here are {there}; name some of those")]
    NoProcessor {
        /// Its number.
        number: u32,
        /// Those that there are, as the kernel lists them.
        there: String,
    },
    /// The wanted volume manager is not there.
    #[error("a pool by {manager} {missing}")]
    NoManager {
        /// Which.
        manager: Manager,
        /// What it lacks.
        missing: Missing,
    },
    /// No volume manager can make the pool.
    #[error("nothing here makes pools of disks: {}", in_a_row(lacks))]
    NoManagers {
        /// Why each cannot.
        lacks: Vec<(Manager, ManagerLack)>,
    },
    /// The transport is not there.
    #[error("the transport {transport} {missing}")]
    NoTransport {
        /// Which.
        transport: Transport,
        /// What it lacks.
        missing: Missing,
    },
    /// What was made of a target that could not be finished stays.
    #[error("{refusal}; and {error}")]
    Left {
        /// Why it could not be finished.
        refusal: Box<Refusal>,
        /// Why it could not be taken down.
        error: Box<Refusal>,
    },
    /// A part of the target cannot be made.
    #[error("{thing} cannot be made{said}{}", hint.map_or("", Hint::words))]
    NotMade {
        /// The part, in words.
        thing: String,
        /// What was said.
        said: Said,
        /// What would help.
        hint: Option<Hint>,
    },
    /// A part of the target cannot be taken away.
    #[error("{thing} cannot be taken away{said}; then `stend clean` goes on")]
    NotTakenAway {
        /// The part, in words.
        thing: String,
        /// What was said.
        said: Said,
    },
    /// Others put something into the target's directory.
    #[error("{directory} holds what stend did not make, and stays{said}")]
    NotEmpty {
        /// The directory.
        directory: String,
        /// What was said.
        said: Said,
    },
    /// A ledger cannot be renamed.
    #[error("{path} cannot be renamed{said}")]
    NotRenamed {
        /// Its path.
        path: String,
        /// What was said.
        said: Said,
    },
    /// A path leads to nothing.
    #[error("{path} leads nowhere")]
    Nowhere {
        /// The path.
        path: String,
    },
    /// The system does not take the path of a socket.
    #[error(
        "the path of the socket {path} has {} bytes, and the system takes {LONGEST_SOCKET}; set STEND_WORK to a shorter one",
        path.len()
    )]
    LongSocket {
        /// The path.
        path: String,
    },
    /// fio or mount do not take a path.
    #[error(
        "the target's files cannot lie in {path:?}: it holds {bad:?}, which fio and mount do not take; set {set} to another directory"
    )]
    BadPath {
        /// The path.
        path: String,
        /// The character.
        bad: char,
        /// What decides where they lie.
        set: &'static str,
    },
    /// fio cannot load exports.
    #[error(
        "fio here has no engine \"nbd\" (it is built without libnbd); set transport = \"local\", or install another fio"
    )]
    NoNbdEngine,
    /// A guest does not react to its power button.
    #[error(
        "the virtual machine \"{name}\" does not shut down, and has printed nothing for {minutes} min; `stend rig down --name {name}` ends it, and removes it"
    )]
    DoesNotShutDown {
        /// Its name.
        name: String,
        /// How long was waited for it.
        minutes: u64,
    },
    /// QEMU does not do what it is asked for.
    #[error("the virtual machine \"{name}\": {why}")]
    Unasked {
        /// Its name.
        name: String,
        /// Why not.
        why: super::vm::Unasked,
    },
    /// A guest cannot be written to its end.
    #[error("the virtual machine \"{name}\" cannot be sent: {said}")]
    NotSent {
        /// Its name.
        name: String,
        /// Why not.
        said: String,
    },
    /// What comes is no guest, or not a whole one, or cannot be stored.
    #[error("the virtual machine cannot be received: {said}")]
    NotReceived {
        /// Why not.
        said: String,
    },
    /// A guest's disks cannot be looked at or changed.
    #[error("the virtual machine \"{name}\": qemu-img does not do it{said}")]
    QemuImg {
        /// Its name.
        name: String,
        /// What it said.
        said: Said,
    },
    /// Virtual machines cannot be set up.
    #[error("a virtual machine {missing}")]
    NoGuests {
        /// What they lack.
        missing: Missing,
    },
    /// Disks cannot be converted.
    #[error("converting a disk {missing}")]
    NoConversion {
        /// What it lacks.
        missing: Missing,
    },
    /// KVM was asked for.
    #[error("KVM runs no guest here{said}; leave out \"accelerator\", or set it to \"tcg\", which is an emulator")]
    NoKvm {
        /// What was said.
        said: Said,
    },
    /// An image is not what it was.
    #[error("{path} is not what it was when the image was made; remove its directory, and it is made anew")]
    ImageChanged {
        /// The file that was changed.
        path: String,
    },
    /// No network device can be made.
    #[error(
        "network = \"tap\" takes root and /dev/net/tun, which is the kernel's module tun; run it with sudo, or take \"user\""
    )]
    NoTap,
    /// Programs of the image's architecture do not run here.
    #[error(
        "an image of {guests} is made by running its programs, and this machine, {here}, is not set up for that; apt-get install -y qemu-user-static arch-test, \
         and where /proc/sys/fs/binfmt_misc is empty: mount -t binfmt_misc none /proc/sys/fs/binfmt_misc && \
         /lib/systemd/systemd-binfmt qemu-{guests}.conf"
    )]
    NoForeignPrograms {
        /// That of the image.
        guests: &'static str,
        /// That of the machine.
        here: String,
    },
    /// It takes root.
    #[error(
        "an image that is not made yet takes root, for its packages' own files{said}; run it with sudo, or apt-get install -y uidmap and give the \
         user numbers in /etc/subuid and /etc/subgid (`usermod --add-subuids 100000-165535 --add-subgids 100000-165535 NAME`)"
    )]
    ImageNotRoot {
        /// Why the user cannot be root in a namespace.
        said: Said,
    },
    /// It takes root.
    #[error(
        "{0}; run it with sudo, or take a target of files (kind = \"file\" in a directory, transport = \"local\" or \"nbd\")"
    )]
    NotRoot(ForRoot),
    /// A program is not there.
    #[error("the target needs {program}, and it is not here; to have it: {}", install_command(package))]
    NoProgram {
        /// The program.
        program: &'static str,
        /// The package that has it.
        package: &'static str,
    },
    /// The space that a directory has is not told.
    #[error("nobody says how much space {directory} has: {said}")]
    SpaceUnknown {
        /// The directory.
        directory: String,
        /// What was said.
        said: String,
    },
    /// Files do not fit.
    #[error(
        "{directory} has {} MiB free, and the rig takes up to {} MiB; make it smaller, or set \"where\", of a virtual machine STEND_WORK, to \
         another directory",
        free / MEBIBYTE,
        bytes / MEBIBYTE
    )]
    NoSpace {
        /// The directory.
        directory: String,
        /// Bytes that are free.
        free: u64,
        /// Bytes that are wanted.
        bytes: u64,
    },
    /// The memory that is available is not told.
    #[error("nobody says how much memory is available here")]
    MemoryUnknown,
    /// A RAM disk would leave too little memory.
    #[error(
        "the rig takes up to {} MiB of memory, and of the {} MiB that are available it may take {MOST_OF_MEMORY} %; make it smaller, or \
         set \"where\" of storage to a directory on a disk",
        bytes / MEBIBYTE,
        available / MEBIBYTE
    )]
    NoMemory {
        /// Bytes that are wanted.
        bytes: u64,
        /// Bytes that are available.
        available: u64,
    },
    /// A device does not tell its size.
    #[error("{path} does not say how large it is")]
    SizeUnknown {
        /// Its path.
        path: String,
    },
    /// The probe is older than the fault.
    #[error("{probe} cannot kill a disk{said}; build it anew with `make build`")]
    OldProbe {
        /// Its path.
        probe: String,
        /// What was said.
        said: Said,
    },
}

/// Why a volume manager cannot make a pool.
#[derive(Debug, Error)]
pub enum ManagerLack {
    /// It lacks something.
    #[error("{0}")]
    Missing(Missing),
    /// It makes no such pools.
    #[error("cannot: {0}")]
    NeverMakes(Mistake),
}

fn in_a_row(lacks: &[(Manager, ManagerLack)]) -> String {
    lacks.iter().map(|(manager, lack)| format!("{manager} {lack}")).collect::<Vec<_>>().join("; ")
}

/// What takes root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ForRoot {
    /// A pool.
    #[error("a pool takes root, for loop devices and mounts")]
    Pool,
    /// Block devices.
    #[error("block devices take root")]
    Devices,
    /// A RAM disk.
    #[error("a RAM disk takes root, for its mount")]
    RamDisk,
    /// A transport.
    #[error("{transport} takes root, for {what}")]
    Transport {
        /// Which.
        transport: Transport,
        /// What it takes root for.
        what: &'static str,
    },
}

/// What would help where a part of a target cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// The pool keeps a part of its space for itself.
    SmallerLuns,
    /// The file system takes no direct I/O.
    OtherFileSystem,
}

impl Hint {
    fn words(self) -> &'static str {
        match self {
            Self::SmallerLuns => "; the pool's own data take a part of it: make the LUNs smaller",
            Self::OtherFileSystem => {
                "; the file system below takes no direct I/O: set \"where\" to a directory on ext4, XFS or btrfs, or to \"tmpfs\""
            }
        }
    }
}

/// The last line that a command wrote on standard error; as words, the rest of a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Said(Option<String>);

impl From<&Output> for Said {
    fn from(output: &Output) -> Self {
        let text = String::from_utf8_lossy(&output.stderr);
        let lines = text.lines().rev().map(str::trim);
        Self(lines.filter(|line| !line.is_empty() && !line.starts_with("{\"event\"")).map(str::to_owned).next())
    }
}

impl Said {
    /// What is known without that anything was run.
    pub(super) fn of(text: String) -> Self {
        Self(Some(text))
    }

    /// The line, if there was one.
    pub fn line(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| write!(f, " ({line})"))
    }
}
