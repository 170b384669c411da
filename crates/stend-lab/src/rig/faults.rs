//! Faults of a target that stands: disks that die and are replaced, controllers that are killed and come back.
//!
//! A disk dies by its loop device showing no more than a first sector: the kernel refuses every read and write beyond with EIO. Nothing
//! stands between btrfs and its disks for that, so a disk that is going to die is as fast as the others until then. A pool is made
//! with a spare for each disk that is going to die, because what is made first is taken down last: the pool before its disks, whichever
//! are in it by then. A rebuilt pool's dead disk is whole and empty again, and the next spare.
//!
//! What a controller was to answer when it was killed fails for those that speak to it directly. A front keeps the load's connection, asks
//! again once a second, and so waits for it to come back.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use stend_model::suite::{Action, Fault, Part, Suite};
use stend_model::target::{Disks, Layout, Manager, Storage, Target, Transport};
use thiserror::Error;

use super::basics::{ATTACH, Basic, DETACH};
use super::layout::btrfs::Mounted;
use super::ledger::{self, Ledger};
use super::refusal::{BadFault, Misuse, Obstacle, Refusal, Said};
use super::served;
use super::shell::{Disk, LOOP_OF, SERVERS, shell};
use super::thing::{Made, Thing};
use super::transport::Carrier;
use super::transport::nbd::{Nbdkit, OWN, STOP_SERVER};
use super::{base, real_path};
use stend_stand::host::{Command, Host, HostError, Output, Process};

/// What the faults of a suite take beside the target itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Needs {
    /// The disks that die. Each needs a spare.
    pub(super) disks: BTreeSet<u32>,
    /// The disks that are slow for a while. Each needs a process below it.
    pub(super) slow: BTreeSet<u32>,
    /// Whether the power fails. Then each disk has a cache that forgets.
    pub(super) forgetful: bool,
    /// Whether disks die without a spare.
    loses: bool,
    /// Whether controllers are killed. Then each needs a front.
    pub(super) fronts: bool,
}

impl Needs {
    /// What the faults of these scenarios take.
    pub fn of(suite: &Suite) -> Self {
        let mut needs = Self::default();
        for fault in suite.scenarios.iter().flat_map(|scenario| &scenario.faults) {
            match (fault.part, fault.action) {
                (Part::Disk(number), Action::Die) => _ = needs.disks.insert(number),
                (Part::Disk(number), Action::Slow) => _ = needs.slow.insert(number),
                (Part::Disk(_), Action::Lose) => needs.loses = true,
                (Part::Disk(_), _) => {}
                (Part::Pool, _) => needs.forgetful = true,
                (Part::Controller(_), _) => needs.fronts = true,
            }
        }
        needs
    }

    /// Checks that `stend-probe` can do what kills a disk: one that was built before it learnt that would be noticed in the middle of a run.
    ///
    /// # Errors
    /// It cannot, or it cannot be asked; one line.
    pub fn check_probe(&self, host: &dyn Host, probe: &str) -> Result<(), Refusal> {
        if self.disks.is_empty() && !self.loses {
            return Ok(());
        }
        let output = host.run(&Command::new([probe, "loop", "--device", "/dev/loop0", "--check"]))?;
        if output.exit == Some(0) {
            return Ok(());
        }
        Err(Obstacle::OldProbe { probe: probe.into(), said: (&output).into() }.into())
    }

    /// The bytes of the spares, and of caches.
    pub(super) fn bytes(&self, target: &Target) -> u64 {
        match &target.storage {
            Storage::Pool { disks: Disks::Files { size, count, .. }, .. } => {
                let caches = if self.forgetful { u64::from(*count) } else { 0 };
                size.0.saturating_mul(self.disks.len() as u64 + caches)
            }
            _ => 0,
        }
    }
}

/// Checks that the target has what the suite names of it, as far as that is settled: LUNs, and what fails.
///
/// # Errors
/// It has not, or there is no target; one line that says what would be right.
pub fn check(suite: &Suite, target: Option<&Target>) -> Result<(), Refusal> {
    for scenario in &suite.scenarios {
        let refuse = |&fault: &Fault, error: BadFault| {
            Err(Misuse::Fault { scenario: scenario.name.clone(), fault, error }.into())
        };
        if let Some(number) = scenario.luns_named().max()
            && target.is_none_or(|target| number >= target.luns)
        {
            let (scenario, luns) = (scenario.name.clone(), target.map(|target| target.luns));
            return Err(Misuse::NamedLun { scenario, number, luns }.into());
        }
        let mut dead = BTreeSet::new();
        for fault in &scenario.faults {
            let Some(target) = target else {
                return refuse(fault, BadFault::NoTarget);
            };
            match (fault.part, &target.storage) {
                (Part::Controller(_), _) if target.transport != Transport::Nbd => {
                    return refuse(fault, BadFault::NoControllers);
                }
                (Part::Controller(number), _) if number >= target.controllers => {
                    return refuse(fault, BadFault::Controllers { last: target.controllers - 1 });
                }
                (Part::Controller(_), _) => {}
                (Part::Disk(_) | Part::Pool, _)
                    if fault.action.is_the_end() && !matches!(target.transport, Transport::Local | Transport::Nbd) =>
                {
                    return refuse(fault, BadFault::NotFiles);
                }
                (Part::Pool, Storage::Pool { disks: Disks::Files { .. }, manager, .. })
                    if manager.is_none_or(|manager| manager == Manager::Btrfs) => {}
                (Part::Pool, _) => {
                    return refuse(fault, BadFault::KeepsPower);
                }
                (Part::Disk(number), Storage::Pool { disks: Disks::Files { count, .. }, layout, manager }) => {
                    if manager.is_some_and(|manager| manager != Manager::Btrfs) {
                        return refuse(fault, BadFault::NotBtrfs);
                    }
                    if number >= *count {
                        return refuse(fault, BadFault::Disks { last: count - 1 });
                    }
                    if matches!(fault.action, Action::Slow | Action::Recover | Action::Lose) {
                        continue;
                    }
                    if *layout == Layout::Stripe {
                        return refuse(fault, BadFault::NoOtherCopy);
                    }
                    if fault.action == Action::Rot && !target.checksums {
                        return refuse(fault, BadFault::NoChecksums);
                    }
                    if fault.action.mends() {
                        dead.remove(&number);
                    } else {
                        dead.insert(number);
                    }
                    if dead.len() > 1 {
                        return refuse(fault, BadFault::SecondDisk);
                    }
                }
                (Part::Disk(_), Storage::Pool { .. }) => {
                    return refuse(fault, BadFault::Devices);
                }
                (Part::Disk(_), _) => {
                    return refuse(fault, BadFault::NoDisks);
                }
            }
        }
    }
    check_apart(suite)
}

/// Checks that no disk is to die in one place of a suite and to be slow in another: its spare is no process's file.
fn check_apart(suite: &Suite) -> Result<(), Refusal> {
    let needs = Needs::of(suite);
    match needs.disks.iter().find(|disk| needs.forgetful || needs.slow.contains(disk)) {
        Some(&disk) => Err(Misuse::TwoFates { suite: suite.name.clone(), disk }.into()),
        None => Ok(()),
    }
}

/// The file of a disk's spare.
fn spare_of(file: &str) -> String {
    format!("{file}-spare")
}

/// The spares of these disks of a pool, which are files of so many bytes.
pub(super) fn spares(needs: &Needs, disks: &[Disk], bytes: u64, direct: bool) -> Vec<Thing> {
    let files = needs.disks.iter().filter_map(|number| match disks.get(*number as usize) {
        Some(Disk::File(file)) => Some(file),
        _ => None,
    });
    files.map(|file| Thing::Spare(Spare { file: spare_of(file), bytes, direct })).collect()
}

/// The socket on which a controller's front listens.
fn front_of(socket: &str) -> String {
    format!("{}.front", socket.strip_suffix(".sock").unwrap_or(socket))
}

/// The front of the controller on this socket.
pub(super) fn front(socket: &str) -> Thing {
    let own = front_of(socket);
    Thing::Front(Front { pid_file: format!("{own}-pid"), socket: own, controller: socket.into() })
}

/// The URI of a LUN by way of the front of its controller.
pub fn by_front(uri: &str) -> String {
    front_of(uri)
}

const SPARE: &str = r#"truncate -s "$2" "$1" && attach "$1" "$3""#;
/// The kernel forgets that the device was a part of a btrfs: its number may be another's next.
const BEFORE_A_SPARE_IS_REMOVED: &str = r#"
if device=$(loop_of "$1"); then btrfs device scan --forget "$device" >/dev/null 2>&1; fi
"#;
/// Where the controller does not answer, the front closes its own connection to it, and opens a new one a second later; so it does for a
/// load that comes while the controller is away. After so many
/// seconds the operation fails.
const FRONT: &str = r#"
exec nbdkit --unix "$1" --pidfile "$2" --filter=retry nbd socket="$3" dynamic-export=true retry=600 \
    retries=600 retry-delay=1 retry-exponential=no
"#;

/// A sparse file and its loop device, for the place of a disk that dies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Spare {
    pub(super) file: String,
    bytes: u64,
    direct: bool,
}

impl Made for Spare {
    fn making(&self, ledger: &str) -> Command {
        shell(
            ledger,
            &format!("{ATTACH}{SPARE}"),
            &[&self.file, &self.bytes.to_string(), if self.direct { "on" } else { "off" }],
        )
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        let script = format!("{LOOP_OF}{BEFORE_A_SPARE_IS_REMOVED}{DETACH}rm -f \"$1\"");
        Some(shell(ledger, &script, &[&self.file]))
    }

    fn in_words(&self) -> String {
        format!("the spare disk {}", self.file)
    }
}

/// nbdkit between the load and a controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Front {
    socket: String,
    pid_file: String,
    /// The controller's socket.
    controller: String,
}

impl Made for Front {
    fn making(&self, ledger: &str) -> Command {
        shell(ledger, FRONT, &[&self.socket, &self.pid_file, &self.controller])
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        Some(shell(ledger, &format!("{SERVERS}{OWN}{STOP_SERVER}"), &[&self.socket, &self.pid_file]))
    }

    fn in_words(&self) -> String {
        format!("nbdkit on {}", self.socket)
    }
}

/// What a slow disk moves each way, in bits a second: a mebibyte.
const SLOW_BITS: u64 = 8 << 20;

/// btrfs numbers the disks of a new file system from 1.
fn number_in_btrfs(disk: u32) -> String {
    (disk + 1).to_string()
}

/// Which of two files' loop devices is in the pool, and which is the spare.
const PAIR: &str = r#"
PATH=$PATH:/usr/sbin:/sbin
probe=$1 uuid=$2 first=$3 second=$4
shift 4
in_pool() { [ -n "$1" ] && [ -e "/sys/fs/btrfs/$uuid/devices/${1##*/}" ]; }
one=$(loop_of "$first")
two=$(loop_of "$second")
if in_pool "$one"; then
    member=$one spare=$two spare_file=$second
elif in_pool "$two"; then
    member=$two spare=$one spare_file=$first
else
    echo "neither $first nor its spare is in the pool" >&2
    exit 1
fi
"#;
const DIE: &str = r#"exec "$probe" loop --device "$member" --bytes 512"#;
/// Where chunks of data lie on the disk of this number in the file system, one block in 64 KiB at least is written over, beneath the loop
/// device: what the pool reads there is another's. In a large chunk fewer are, 256 of them.
const ROT: &str = r#"
IFS= read -r beneath <"/sys/block/${member##*/}/loop/backing_file"
blockdev --flushbufs "$member"
chunks=$(LC_ALL=C btrfs inspect-internal dump-tree -t chunk "$member") || exit
printf '%s\n' "$chunks" | awk -v disk="$1" '
    $1 == "length" { length_of = $2; data = / type DATA/ }
    $1 == "num_stripes" { stripes = $2 }
    $1 == "stripe" && $3 == "devid" && $4 == disk && data { printf "%.0f %.0f\n", $6, length_of * 2 / stripes }
' | while read -r at bytes; do
    step=$((bytes / 256 / 65536 * 65536))
    [ "$step" -ge 65536 ] || step=65536
    end=$((at + bytes))
    while [ "$at" -lt "$end" ]; do
        dd if=/dev/urandom of="$beneath" bs=4096 seek=$((at / 4096)) count=1 conv=notrunc status=none || exit
        at=$((at + step))
    done
done && sync -d "$beneath"
"#;
/// Status 3: there are errors that no other copy could mend; the figures say so too.
const SCRUB: &str = r#"LC_ALL=C exec btrfs scrub start -B -R "$member""#;
const ERRORS: &str = r#"btrfs device stats "$1" | sed -n "s|^\[$member\]\.||p""#;
/// The disk is named by its number in the file system, because of a dead one nobody can read the name.
const REPLACE: &str = r#"
[ -n "$spare" ] || { echo "there is no spare" >&2; exit 1; }
said=$(LC_ALL=C btrfs replace start -B -K -f -r "$2" "$spare" "$1" 2>&1) || { printf '%s\n' "$said" >&2; exit 1; }
status=$(LC_ALL=C btrfs replace status -1 "$1" 2>&1)
case $status in
*" finished on "*) ;;
*) printf '%s\n' "$said" "$status" >&2; exit 1 ;;
esac
"#;
/// What was dead becomes an empty disk.
const RENEW: &str = r#"
bytes=$1
truncate -s 0 "$spare_file" && truncate -s "$bytes" "$spare_file" && exec "$probe" loop --device "$spare"
"#;
/// What it leaves lying about is taken away, as whoever starts it again would do.
const KILL: &str = r#"
end_servers KILL
rm -f "$socket" "$pid_file"
"#;

/// Why a part of a target is not broken or mended, or not looked at.
#[derive(Debug, Error)]
pub enum InjectorError {
    /// The target has no disk of this number, or it is no file.
    #[error("the target has no disk {0} that is a file")]
    NoDisk(u32),
    /// The target has no pool.
    #[error("the target has no pool")]
    NoPool,
    /// The target has no controller of this number.
    #[error("the target has no controller {0}")]
    NoController(u32),
    /// The disk of this number was made without a spare.
    #[error("disk {0} has no spare")]
    NoSpare(u32),
    /// The disk of this number was made without a process that slows it down.
    #[error("disk {0} has no process below it")]
    NoServer(u32),
    /// Somebody takes the target down meanwhile.
    #[error("the target is being taken down")]
    TakenDown,
    /// A command ended badly.
    #[error("{}{said}", .status.map_or("ended by a signal".into(), |status| format!("status {status}")))]
    Failed {
        /// Its exit status, if no signal ended it.
        status: Option<i32>,
        /// Its last words, in parentheses.
        said: Said,
    },
    /// A part stays that was to go.
    #[error("{thing} cannot be taken away: {source}")]
    Stays {
        /// The part, in words.
        thing: String,
        /// What went wrong.
        source: Box<InjectorError>,
    },
    /// A part does not come back.
    #[error("{thing} cannot be made: {source}")]
    NotMade {
        /// The part, in words.
        thing: String,
        /// What went wrong.
        source: Box<InjectorError>,
    },
    /// The machine does not run a command or write to the ledger.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// Breaks and mends the parts of a target that stands.
pub struct Injector<'a> {
    host: &'a dyn Host,
    probe: &'a str,
    /// The path of the target's ledger.
    path: String,
    things: Vec<Thing>,
}

impl<'a> Injector<'a> {
    /// That of a target by its name.
    ///
    /// # Errors
    /// Its ledger cannot be read.
    pub fn of(host: &'a dyn Host, probe: &'a str, work: &str, name: &str) -> Result<Self, Refusal> {
        let base = real_path(host, &base(work, name))?;
        let Ledger { things, .. } = ledger::read(host, &base)?.unwrap_or_default();
        Ok(Self { host, probe, path: ledger::standing(&base), things })
    }

    /// Does what a fault says. Of a disk that is replaced or scrubbed it gives what goes on by itself.
    ///
    /// # Errors
    /// It cannot be done; why, in one line.
    pub fn inject(&self, fault: &Fault) -> Result<Option<Box<dyn Process>>, InjectorError> {
        match (fault.part, fault.action) {
            (Part::Disk(number), Action::Replace) => self.replace(number).map(Some),
            (Part::Disk(number), Action::Scrub) => self.beside(number, SCRUB, &[]).map(Some),
            (Part::Disk(number), Action::Rot) => self.on_disk(number, ROT, &[&number_in_btrfs(number)]).map(|_| None),
            (Part::Disk(number), Action::Slow) => self.limit(number, SLOW_BITS).map(|()| None),
            (Part::Disk(number), Action::Recover) => self.limit(number, 0).map(|()| None),
            (Part::Disk(number), _) => self.on_disk(number, DIE, &[]).map(|_| None),
            (Part::Pool, _) => self.cut_power().map(|()| None),
            (Part::Controller(number), Action::Restart) => self.restart(number).map(|()| None),
            (Part::Controller(number), _) => self.kill(number).map(|()| None),
        }
    }

    /// What btrfs has counted of a disk's errors since it came into the pool: `write_io_errs`, `read_io_errs`, `flush_io_errs`,
    /// `corruption_errs`, `generation_errs`.
    ///
    /// # Errors
    /// btrfs does not say.
    pub fn errors(&self, disk: u32) -> Result<BTreeMap<String, f64>, InjectorError> {
        let mount = self.mount()?.to_owned();
        let text = self.on_disk(disk, ERRORS, &[&mount])?.text();
        let counts = text.lines().filter_map(|line| {
            let (name, count) = line.split_once(char::is_whitespace)?;
            Some((name.to_owned(), count.trim().parse().ok()?))
        });
        Ok(counts.collect())
    }

    /// Makes a disk that has been replaced whole and empty again, to be the next spare.
    ///
    /// # Errors
    /// It cannot be done.
    pub fn renew(&self, disk: u32) -> Result<(), InjectorError> {
        let file = spare_of(self.disk(disk)?.1);
        let bytes = self.things.iter().find_map(|thing| match thing {
            Thing::Spare(spare) if spare.file == file => Some(spare.bytes.to_string()),
            _ => None,
        });
        let bytes = bytes.ok_or(InjectorError::NoSpare(disk))?;
        self.on_disk(disk, RENEW, &[&bytes]).map(drop)
    }

    fn disk(&self, number: u32) -> Result<(&str, &str), InjectorError> {
        let found = self.things.iter().find_map(|thing| match thing {
            Thing::Btrfs(made) => match made.disks.get(number as usize) {
                Some(Disk::File(file)) => Some((made.uuid.as_str(), file.as_str())),
                _ => None,
            },
            _ => None,
        });
        found.ok_or(InjectorError::NoDisk(number))
    }

    fn mount(&self) -> Result<&str, InjectorError> {
        let path = self.things.iter().find_map(|thing| match thing {
            Thing::Mount(mounted) => Some(mounted.path.as_str()),
            _ => None,
        });
        path.ok_or(InjectorError::NoPool)
    }

    /// The words of a script for a disk and its spare.
    fn pair(&self, disk: u32, script: &str, more: &[&str]) -> Result<(String, Vec<String>), InjectorError> {
        let (uuid, file) = self.disk(disk)?;
        let spare = spare_of(file);
        let arguments = [self.probe, uuid, file, &spare].into_iter().chain(more.iter().copied());
        Ok((format!("{LOOP_OF}{PAIR}{script}"), arguments.map(str::to_owned).collect()))
    }

    fn on_disk(&self, disk: u32, script: &str, more: &[&str]) -> Result<Output, InjectorError> {
        let (script, arguments) = self.pair(disk, script, more)?;
        self.run(&script, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn run(&self, script: &str, arguments: &[&str]) -> Result<Output, InjectorError> {
        self.finished(&shell(&self.path, script, arguments))
    }

    fn finished(&self, command: &Command) -> Result<Output, InjectorError> {
        let output = self.host.run(command)?;
        match output.exit {
            Some(0) => Ok(output),
            Some(75) => Err(InjectorError::TakenDown),
            status => Err(InjectorError::Failed { status, said: (&output).into() }),
        }
    }

    fn replace(&self, disk: u32) -> Result<Box<dyn Process>, InjectorError> {
        let mount = self.mount()?.to_owned();
        self.beside(disk, REPLACE, &[&mount, &number_in_btrfs(disk)])
    }

    fn limit(&self, disk: u32, bits: u64) -> Result<(), InjectorError> {
        let file = self.disk(disk)?.1;
        let served = self.things.iter().find_map(|thing| match thing {
            Thing::Served(served) if served.shown() == file => Some(served),
            _ => None,
        });
        let served = served.ok_or(InjectorError::NoServer(disk))?;
        self.finished(&served.limiting(&self.path, bits)).map(drop)
    }

    /// Starts what the pool does while it is loaded. The ledger is not locked for that, however long it takes: who takes the pool down
    /// ends it.
    fn beside(&self, disk: u32, script: &str, more: &[&str]) -> Result<Box<dyn Process>, InjectorError> {
        let (script, arguments) = self.pair(disk, script, more)?;
        let words = ["sh", "-c", &script, "stend-target"].into_iter().map(str::to_owned).chain(arguments);
        Ok(self.host.start(&Command::new(words))?)
    }

    fn cut_power(&self) -> Result<(), InjectorError> {
        let served = self.things.iter().filter_map(|thing| match thing {
            Thing::Served(served) => Some(served),
            _ => None,
        });
        self.finished(&served::cutting_power(&self.path, &served.collect::<Vec<_>>())).map(drop)
    }

    /// Takes down all that stands on the disks, and brings up what they hold, but for those that are lost, only to be read: the LUNs' files
    /// there, or why that is no file system any more.
    ///
    /// # Errors
    /// It cannot be taken down or brought up.
    pub fn what_is_left(&self, lost: &BTreeSet<u32>) -> Result<Result<Vec<String>, InjectorError>, InjectorError> {
        let btrfs = self.things.iter().position(|thing| matches!(thing, Thing::Btrfs(_)));
        let (below, Some(Thing::Btrfs(pool))) = (&self.things[..btrfs.unwrap_or(0)], btrfs.map(|at| &self.things[at]))
        else {
            return Err(InjectorError::NoPool);
        };
        // Whoever serves a disk that has its power keeps what is written to it.
        let goes = |thing: &&Thing| thing.is_of_the_moment() && (lost.is_empty() || !matches!(thing, Thing::Served(_)));
        for thing in self.things.iter().rev().filter(goes) {
            if let Some(command) = thing.taking_away(&self.path) {
                self.finished(&command)
                    .map_err(|why| InjectorError::Stays { thing: thing.in_words(), source: Box::new(why) })?;
            }
        }
        let alive = (0..).zip(&pool.disks).filter(|(number, _)| !lost.contains(number)).map(|(_, disk)| disk.clone());
        let disks: Vec<Disk> = alive.collect();
        let is_alive = |thing: &&Thing| match thing {
            Thing::Basic(Basic::Loop { file, .. }) => disks.contains(&Disk::File(file.clone())),
            thing => goes(thing),
        };
        for thing in below.iter().filter(is_alive) {
            self.finished(&thing.making(&self.path))
                .map_err(|why| InjectorError::NotMade { thing: thing.in_words(), source: Box::new(why) })?;
        }
        let (pool, left) = (self.mount()?, format!("{}-left", self.mount()?));
        let directory = Thing::Basic(Basic::Directory { path: left.clone() });
        // Only to be read, and without disks that are gone.
        let options = ["ro", "degraded"].map(str::to_owned).into();
        let mounted = Thing::Mount(Mounted { disks, path: left.clone(), options });
        for thing in [&directory, &mounted] {
            ledger::note_thing(self.host, &self.path, thing)?;
        }
        self.finished(&directory.making(&self.path))?;
        if let Err(why) = self.finished(&mounted.making(&self.path)) {
            return Ok(Err(why));
        }
        let lun = |thing: &Thing| match thing {
            Thing::Basic(Basic::LunFile { path, .. }) => Some(format!("{left}{}", path.strip_prefix(pool)?)),
            _ => None,
        };
        Ok(Ok(self.things.iter().filter_map(lun).collect()))
    }

    fn server(&self, controller: u32) -> Result<&Nbdkit, InjectorError> {
        let mut servers = self.things.iter().filter_map(|thing| match thing {
            Thing::Transport(Carrier::Server(server)) => Some(server),
            _ => None,
        });
        servers.nth(controller as usize).ok_or(InjectorError::NoController(controller))
    }

    fn kill(&self, controller: u32) -> Result<(), InjectorError> {
        let Nbdkit { socket, pid_file, .. } = self.server(controller)?;
        self.run(&format!("{SERVERS}{OWN}{KILL}"), &[socket, pid_file]).map(drop)
    }

    fn restart(&self, controller: u32) -> Result<(), InjectorError> {
        self.finished(&self.server(controller)?.making(&self.path)).map(drop)
    }
}
