//! Targets: the storage that is set up on the machine under test, loaded there, and taken down again.
//!
//! [`plan`] turns a description into an ordered list of things to make; each is written to the [`ledger`] before it is made, and all
//! are taken down in the reverse order, by [`take_down`], whoever calls it: the run that ends, `stend rig down`, or
//! `stend clean` after a crash. A target lives in `targets/NAME` of the directory for runs' files; a run's has the run's id for its
//! name.

mod ability;
mod basics;
mod check;
mod control_group;
pub mod conversion;
mod faults;
mod found;
pub mod image;
mod layout;
mod ledger;
mod plan;
mod refusal;
mod scheduler;
mod served;
pub mod servers;
mod shell;
mod thing;
mod transport;
pub mod vm;
pub mod watched;

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use stend_model::plan::fresh_seed;
use stend_model::run::is_run_id;
use stend_model::suite::{Scenario, Suite};
use stend_model::target::vm::Vm;
use stend_model::target::{Target, TargetOfRun};

pub use ability::{Ability, Missing, all as abilities};
pub use control_group::Counters;
pub use faults::{Injector, Needs, by_front, check as check_named};
pub use found::found;
pub use refusal::{BadFault, ForRoot, Hint, ManagerLack, Misuse, Obstacle, Refusal, Said};

use self::basics::Basic;
use self::control_group::Hierarchies;
use self::ledger::{Begun, Entry, Ledger};
use self::plan::{Ground, Plan};
use self::thing::{Made as _, Thing};
use self::vm::Guest;
use stend_instrument::{self, LunAddress};
use stend_stand::host::{Command, Happening, Host, HostError, Output};

/// The directory of the targets, in the one for runs' files.
const DIRECTORY: &str = "targets";
/// How long a target's token is.
const TOKEN_DIGITS: usize = 16;
/// Making a file system on large disks discards what is on them first, which takes long.
const LONGEST_MAKING: Duration = Duration::from_secs(3600);
/// What was written to a pool is written out when it is unmounted.
const LONGEST_TAKING_AWAY: Duration = Duration::from_secs(900);
/// Writing over a LUN may take days; something must end it at last.
const LONGEST_FILLING: Duration = Duration::from_secs(30 * 24 * 3600);
/// How often it is looked whether the user wants to end.
const LOOK: Duration = Duration::from_millis(50);
/// How long it is waited after the guard was told to end; it needs six seconds at most.
const GRACE: Duration = Duration::from_secs(10);

/// A target that stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Up {
    /// Where each LUN is: a path, or the URI of an export.
    pub luns: Vec<String>,
    /// What exports them, if something does.
    pub controllers: Vec<Controller>,
    /// Processes on the load's side that bring it each controller's LUNs, where it does not speak their protocol itself.
    #[serde(default)]
    pub initiators: Vec<Controller>,
    /// How the virtual machine is reached, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<Guest>,
}

/// A process that exports its share of the LUNs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Controller {
    /// The numbers of its LUNs.
    pub luns: Vec<u32>,
    /// The file that holds its process id.
    pub pid_file: String,
    /// Where it is counted what it uses.
    pub counters: Counters,
}

impl Up {
    /// The LUNs for those who load them.
    pub fn addresses(&self) -> Vec<LunAddress> {
        let address = |lun: &String| match lun.starts_with("nbd+unix:") {
            true => LunAddress::Nbd(lun.clone()),
            false => LunAddress::Path(lun.clone()),
        };
        self.luns.iter().map(address).collect()
    }
}

/// A target as `stend rig status` finds it.
#[derive(Debug, Clone, Serialize)]
pub struct Status {
    /// Its name; a run's id if it is a run's.
    pub name: String,
    /// How far it is.
    pub state: State,
    /// What was asked for.
    pub target: Option<Target>,
    /// Where the LUNs are, if it stands.
    pub luns: Vec<String>,
    /// What its controllers use.
    pub controllers: Vec<ControllerStatus>,
    /// What brings the LUNs to the load uses: a part of the load, not of the controllers.
    pub initiators: Vec<ControllerStatus>,
    /// The virtual machine that was asked for, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vm: Option<Vm>,
    /// What it uses, if it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guest: Option<GuestStatus>,
}

/// What a virtual machine uses.
#[derive(Debug, Clone, Serialize)]
pub struct GuestStatus {
    /// What `--on` takes.
    pub address: String,
    /// Where a viewer of VNC finds its screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screen: Option<String>,
    /// What it can go back to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub snapshots: Vec<vm::Snapshot>,
    /// What its QEMU uses.
    #[serde(flatten)]
    pub used: Used,
}

/// What a process of a rig uses.
#[derive(Debug, Clone, Serialize)]
pub struct Used {
    /// Its number, if it runs.
    pub process: Option<u32>,
    /// CPU time since it was started, if it is counted.
    pub cpu_ns: Option<u64>,
    /// Memory now, with the page cache that it filled, if it is counted.
    pub memory_bytes: Option<u64>,
}

/// How far a target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It stands.
    Up,
    /// It is a guest that has ended, and may be started again.
    Off,
    /// It stands, and the run that made it was killed.
    Left,
    /// It was not made to its end, or not taken down to its end.
    HalfMade,
    /// It stood when the machine was booted last; files may be left.
    BeforeBoot,
}

impl State {
    /// Whether it is a user's until it is taken down.
    pub fn stands(self) -> bool {
        matches!(self, Self::Up | Self::Off)
    }
}

/// What a controller uses.
#[derive(Debug, Clone, Serialize)]
pub struct ControllerStatus {
    /// The numbers of its LUNs.
    pub luns: Vec<u32>,
    /// What its process uses.
    #[serde(flatten)]
    pub used: Used,
}

/// Checks whether the machine can have a target of this name, before anything is made.
///
/// # Errors
/// It cannot; one line that says why, and what would be right.
pub fn check(host: &dyn Host, work: &str, name: &str, target: Target, needs: &Needs) -> Result<TargetOfRun, Refusal> {
    // As its things are named when they are made.
    let work = real_path(host, work)?;
    check::check(host, &work, &base(&work, name), target, needs)
}

/// What a description becomes on this machine: the volume manager and the initiator that it left open are chosen.
///
/// # Errors
/// The machine has not what the target takes.
pub fn settle(host: &dyn Host, target: Target) -> Result<Target, Refusal> {
    ability::settle(host, target)
}

/// Fits the scenarios that load LUNs to a target: how many, how large, and by which engine.
///
/// # Errors
/// No scenario of the suite loads LUNs, or one has a place of its own for them, or the machine's loader cannot reach them.
pub fn fit(host: &dyn Host, suite: &mut Suite, target: &Target) -> Result<(), Refusal> {
    if !suite.scenarios.iter().any(Scenario::loads_luns) {
        return Err(Misuse::NothingLoads { suite: suite.name.clone() }.into());
    }
    let mut by_fio = false;
    for scenario in suite.scenarios.iter_mut().filter(|scenario| scenario.instrument.loads_luns()) {
        by_fio = true;
        if scenario.parameters.get("directory").is_some_and(|directory| !directory.is_empty()) {
            return Err(Misuse::OwnDirectory { scenario: scenario.name.clone() }.into());
        }
        stend_instrument::fit_to_luns(scenario, target)
            .map_err(|error| Misuse::Load { scenario: scenario.name.clone(), error })?;
    }
    if by_fio { check::check_load(host, target) } else { Ok(()) }
}

/// Checks that a suite that was fitted to the targets of two sides does the same work on both, and that nothing of it is lost when the
/// target is made anew between the two.
///
/// # Errors
/// It does not; one line that says in what, and what would be right.
pub fn check_same_work(one: &Suite, other: &Suite) -> Result<(), Refusal> {
    for (of_one, of_other) in one.scenarios.iter().zip(&other.scenarios) {
        let [a, b] = [of_one, of_other].map(|scenario| &scenario.parameters);
        let differs = a.keys().chain(b.keys()).find(|name| a.get(*name) != b.get(*name));
        if let Some(name) = differs {
            let sides = [a, b].map(|parameters| parameters.get(name).cloned());
            return Err(Misuse::OtherWork { scenario: of_one.name.clone(), parameter: name.clone(), sides }.into());
        }
        let prepares = of_one.is_precondition() || of_one.steady.is_some();
        if prepares && of_one.loads_luns() {
            return Err(Misuse::Prepares { scenario: of_one.name.clone() }.into());
        }
    }
    Ok(())
}

/// Makes a target, or nothing at all: what was made of one that cannot be finished is taken down again. What a killed stend left of
/// one of this name is taken down first.
///
/// # Errors
/// Something cannot be made, or the user interrupted it.
pub fn raise(
    host: &dyn Host,
    probe: &str,
    work: &str,
    name: &str,
    wanted: &TargetOfRun,
    needs: &Needs,
    interrupted: &dyn Fn() -> bool,
) -> Result<Up, Refusal> {
    take_down(host, work, name)?;
    // Since they were checked, the machine may have been waited for, and somebody may have begun to use them.
    check::devices(host, &wanted.target)?;
    let base = base(work, name);
    host.make_directory(&base)?;
    let base = real_path(host, &base)?;
    let hierarchies = Hierarchies::of(host);
    let ground =
        Ground { base: &base, name, token: &token(), medium: &wanted.medium, hierarchies: &hierarchies, needs };
    let plan = plan::plan(&wanted.target, &ground);
    let begun = Begun { target: Some(wanted.clone()), ..Begun::default() };
    make_whole(host, probe, &base, begun, plan, interrupted)
}

/// Makes what is planned in a directory, or nothing of it.
fn make_whole(
    host: &dyn Host,
    probe: &str,
    base: &str,
    begun: Begun,
    plan: Plan,
    interrupted: &dyn Fn() -> bool,
) -> Result<Up, Refusal> {
    make_whole_with(host, probe, base, begun, plan, &mut |_| Ok(()), interrupted)
}

/// The same, and with each thing that is made something more is done.
fn make_whole_with(
    host: &dyn Host,
    probe: &str,
    base: &str,
    begun: Begun,
    plan: Plan,
    then: &mut dyn FnMut(&Thing) -> Result<(), Refusal>,
    interrupted: &dyn Fn() -> bool,
) -> Result<Up, Refusal> {
    let ledger = ledger::standing(base);
    let begin = Entry::Begin(Begun { boot_id: boot_id(host), ..begun });
    let made = stend_stand::ledger::note(host, &ledger, &begin)
        .map_err(Refusal::from)
        .and_then(|()| make(host, probe, &ledger, plan, then, interrupted));
    made.map_err(|refusal| match take_down_at(host, base) {
        // What it said of being ended is no news.
        Ok(_) if interrupted() => Refusal::Interrupted,
        Ok(_) => refusal,
        Err(error) => Obstacle::Left { refusal: refusal.into(), error: error.into() }.into(),
    })
}

fn make(
    host: &dyn Host,
    probe: &str,
    ledger: &str,
    plan: Plan,
    then: &mut dyn FnMut(&Thing) -> Result<(), Refusal>,
    interrupted: &dyn Fn() -> bool,
) -> Result<Up, Refusal> {
    let Plan { things, mut up, behind_loops } = plan;
    for thing in things {
        if interrupted() {
            return Err(Refusal::Interrupted);
        }
        stend_stand::ledger::note(host, ledger, &Entry::Make(thing.clone()))?;
        let output = make_one(host, probe, ledger, &thing, interrupted)?;
        if let (Thing::Basic(Basic::Loop { file, .. }), true) = (&thing, behind_loops) {
            let device = output.text().trim().to_owned();
            up.luns.iter_mut().filter(|lun| *lun == file).for_each(|lun| lun.clone_from(&device));
        }
        then(&thing)?;
    }
    stend_stand::ledger::note(host, ledger, &Entry::Up(up.clone()))?;
    Ok(up)
}

/// Makes one thing, and gives what its command printed.
fn make_one(
    host: &dyn Host,
    probe: &str,
    ledger: &str,
    thing: &Thing,
    interrupted: &dyn Fn() -> bool,
) -> Result<Output, Refusal> {
    let mut command = thing.making(ledger);
    command.timeout = LONGEST_MAKING;
    let output = match thing {
        Thing::Basic(Basic::Filling { .. })
        | Thing::Server(servers::OfServer::ServerStep(_))
        | Thing::Conversion(_) => {
            let seconds = format!("{}s", LONGEST_FILLING.as_secs());
            command.words.splice(..0, [probe, "guard", "--timeout", &seconds, "--"].map(str::to_owned));
            command.timeout = LONGEST_FILLING + GRACE;
            until_interrupted(host, &command, GRACE, interrupted)?
        }
        // A guard would end what this starts.
        Thing::Server(servers::OfServer::Daemon(_)) => until_interrupted(host, &command, Duration::ZERO, interrupted)?,
        _ => host.run(&command)?,
    };
    if output.exit != Some(0) {
        let hint = hint(thing, &output);
        return Err(Obstacle::NotMade { thing: thing.in_words(), said: (&output).into(), hint }.into());
    }
    Ok(output)
}

/// Runs a command that takes its time. When the user interrupts it, a guard has so long to end what it guards.
fn until_interrupted(
    host: &dyn Host,
    command: &Command,
    grace: Duration,
    interrupted: &dyn Fn() -> bool,
) -> Result<Output, Refusal> {
    let mut process = host.start(command)?;
    let mut output = Output::default();
    let began = Instant::now();
    let mut end_by: Option<Instant> = None;
    loop {
        match process.next(LOOK) {
            Some(Happening::ErrorLine(line)) => {
                output.stderr = line;
                output.stderr.push(b'\n');
            }
            Some(Happening::Line(_)) | None => {}
            Some(Happening::Ended(_)) if end_by.is_some() => return Err(Refusal::Interrupted),
            Some(Happening::Ended(exit)) => return Ok(Output { exit, ..output }),
        }
        if interrupted() && end_by.is_none() {
            end_by = Some(Instant::now() + grace);
            process.stop();
        }
        if end_by.is_some_and(|moment| Instant::now() >= moment) {
            process.kill();
            return Err(Refusal::Interrupted);
        }
        if began.elapsed() > command.timeout {
            process.kill();
            let (program, seconds) = (command.words[0].clone(), command.timeout.as_secs());
            return Err(HostError::TimedOut { program, seconds }.into());
        }
    }
}

/// Takes down all that the ledger of this name tells of, in the reverse order, and then the ledger. Whether there was something.
///
/// # Errors
/// Something cannot be taken away, for example because somebody uses it. What lies below it then stays too, and the ledger with it.
pub fn take_down(host: &dyn Host, work: &str, name: &str) -> Result<bool, Refusal> {
    take_down_at(host, &base(work, name))
}

/// The same of whatever has a ledger in this directory.
fn take_down_at(host: &dyn Host, base: &str) -> Result<bool, Refusal> {
    let Some(base) = real_directory(host, base)? else { return Ok(false) };
    while let Some(ledger) = ledger::read(host, &base)? {
        let path = ledger::taken_down(&base);
        if !ledger.goes {
            begin_taking_down(host, &base)?;
        }
        for thing in ledger.things.iter().rev() {
            let Some(command) = thing.taking_away(&path) else { continue };
            let output = host.run(&Command { timeout: LONGEST_TAKING_AWAY, ..command })?;
            if output.exit != Some(0) {
                return Err(Obstacle::NotTakenAway { thing: thing.in_words(), said: (&output).into() }.into());
            }
        }
        host.remove(&path)?;
    }
    let script = r#"rmdir "$1" && { rmdir "${1%/*}" 2>/dev/null || :; }"#;
    let output = host.run(&Command::new(["sh", "-c", script, "sh", &base]))?;
    if output.exit != Some(0) {
        return Err(Obstacle::NotEmpty { directory: base, said: (&output).into() }.into());
    }
    Ok(true)
}

/// Gives the ledger the name that it has while its things are taken away. From here on nobody takes the target for whole, and what a
/// killed stend had started but the processor has not yet come to makes nothing any more. A disk that is full does not hinder it.
fn begin_taking_down(host: &dyn Host, base: &str) -> Result<(), Refusal> {
    let (standing, taken_down) = (ledger::standing(base), ledger::taken_down(base));
    let rename = shell::plain(&standing, &["mv", "-f", &standing, &taken_down]);
    let output = host.run(&Command { timeout: LONGEST_TAKING_AWAY, ..rename })?;
    match output.exit {
        Some(0) => Ok(()),
        _ => Err(Obstacle::NotRenamed { path: standing, said: (&output).into() }.into()),
    }
}

/// A target that was made by hand and stands.
///
/// # Errors
/// There is none of this name, or it is not whole.
pub fn standing(host: &dyn Host, work: &str, name: &str) -> Result<(TargetOfRun, Up), Refusal> {
    let ledger = read(host, work, name)?.unwrap_or_default();
    let here = ledger.begun.boot_id == boot_id(host);
    match (ledger.begun.target, ledger.up) {
        (Some(target), Some(up)) if here => Ok((TargetOfRun { name: Some(name.into()), ..target }, up)),
        _ => Err(Misuse::NotStanding { name: name.into() }.into()),
    }
}

/// The names of the targets that there are, or that something may be left of.
///
/// # Errors
/// They cannot be listed.
pub fn names(host: &dyn Host, work: &str) -> Result<Vec<String>, HostError> {
    let names = listed(host, &format!("{work}/{DIRECTORY}"))?.unwrap_or_default();
    Ok(names.into_iter().filter(|name| is_name(name) || is_run_id(name)).collect())
}

/// What one of them is.
///
/// # Errors
/// Its ledger cannot be read or understood.
pub fn status(host: &dyn Host, work: &str, name: &str) -> Result<Status, Refusal> {
    let ledger = read(host, work, name)?.unwrap_or_default();
    let state = match &ledger.up {
        None => State::HalfMade,
        Some(_) if ledger.begun.boot_id != boot_id(host) => State::BeforeBoot,
        Some(_) => State::Up,
    };
    let up = ledger.up.filter(|_| state == State::Up);
    let up = up.unwrap_or_default();
    let used = |pid_file: &str, counters: &Counters| Used {
        process: running(host, pid_file),
        cpu_ns: counters.cpu_ns(host),
        memory_bytes: counters.memory_bytes(host),
    };
    let of_all = |all: &[Controller]| {
        let one = |controller: &Controller| ControllerStatus {
            luns: controller.luns.clone(),
            used: used(&controller.pid_file, &controller.counters),
        };
        all.iter().map(one).collect()
    };
    let (controllers, initiators) = (of_all(&up.controllers), of_all(&up.initiators));
    let guest = up.guest.as_ref().map(|guest| GuestStatus {
        address: vm::address(name),
        screen: guest.screen.clone(),
        // Without a disk that can be looked at it has none to go back to, and the others are shown.
        snapshots: vm::snapshots(host, work, name).unwrap_or_default(),
        used: used(&guest.pid_file, &guest.counters),
    });
    let has_ended = guest.as_ref().is_some_and(|guest| guest.used.process.is_none());
    let state = if has_ended { State::Off } else { state };
    let Begun { target, vm, .. } = ledger.begun;
    let target = target.map(|of_run| of_run.target);
    Ok(Status { name: name.to_owned(), state, target, vm, luns: up.luns, controllers, initiators, guest })
}

/// The process that a file names, if it is still one of those that serve LUNs. The kernel knows the first 15 characters of a name.
fn running(host: &dyn Host, pid_file: &str) -> Option<u32> {
    let process = host.read_text(pid_file).ok()?.trim().parse().ok()?;
    let name = host.read_text(&format!("/proc/{process}/comm")).ok()?;
    ["nbdkit", "tgtd", "qemu-storage-da", "qemu-system-x86", "qemu-system-aar"]
        .contains(&name.trim())
        .then_some(process)
}

/// Whether a text may be the name of a target of a user's: it becomes a part of paths, and must not look like a run's id.
pub fn is_name(text: &str) -> bool {
    let plain = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-';
    (1..=32).contains(&text.len()) && text.chars().all(plain) && !text.starts_with('-') && !is_run_id(text)
}

fn base(work: &str, name: &str) -> String {
    format!("{work}/{DIRECTORY}/{name}")
}

/// The directory of a target, without links in its path; none where there is none.
fn directory_of(host: &dyn Host, work: &str, name: &str) -> Result<Option<String>, Refusal> {
    real_directory(host, &base(work, name))
}

fn real_directory(host: &dyn Host, directory: &str) -> Result<Option<String>, Refusal> {
    Ok(if listed(host, directory)?.is_some() { Some(real_path(host, directory)?) } else { None })
}

/// What is in a directory; nothing where there is none, or something else.
fn listed(host: &dyn Host, directory: &str) -> Result<Option<Vec<String>>, HostError> {
    match host.list(directory) {
        Err(HostError::File { error, .. })
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        names => names.map(Some),
    }
}

/// The ledger of a target; none where there is none.
fn read(host: &dyn Host, work: &str, name: &str) -> Result<Option<Ledger>, Refusal> {
    let Some(base) = directory_of(host, work, name)? else { return Ok(None) };
    Ok(ledger::read(host, &base)?)
}

/// Where the things of a target lie: in a directory that no other target has. One of the same name may stand in another container, and its
/// loop devices and processes are the same kernel's, known by the same paths.
fn inside(base: &str, token: &str) -> String {
    format!("{base}/{}", &token[..8])
}

/// The socket of a controller, in the directory of the target's things.
fn socket(inside: &str, controller: u32) -> String {
    format!("{inside}/c{controller}.sock")
}

/// The beginning of the name of tgtd's control socket, in the same directory.
fn control_socket(inside: &str, controller: u32) -> String {
    format!("{inside}/c{controller}.tgt")
}

/// A path without links, as the kernel names the files of loop devices.
fn real_path(host: &dyn Host, path: &str) -> Result<String, Refusal> {
    let output = host.run(&Command::new(["readlink", "-e", path]))?;
    match output.text().strip_suffix('\n') {
        Some(real) if output.exit == Some(0) => Ok(real.to_owned()),
        _ => Err(Obstacle::Nowhere { path: path.into() }.into()),
    }
}

fn boot_id(host: &dyn Host) -> String {
    host.read_text("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// Hexadecimal digits that no other target has.
fn token() -> String {
    format!("{:0TOKEN_DIGITS$x}", fresh_seed())
}

/// What would help where a thing cannot be made.
fn hint(thing: &Thing, output: &Output) -> Option<Hint> {
    let said = String::from_utf8_lossy(&output.stderr);
    match thing {
        Thing::Basic(Basic::LunFile { in_btrfs: true, .. })
        | Thing::LogicalVolume(_)
        | Thing::ZfsVolume(_)
        | Thing::MdPartitions(_) => Some(Hint::SmallerLuns),
        // The kernel says no more of a file system that takes no direct I/O.
        Thing::Basic(Basic::Loop { direct: true, .. })
            if said.contains("Invalid argument") || said.contains("direct") =>
        {
            Some(Hint::OtherFileSystem)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use stend_model::target::{Medium, TargetText};

    use super::*;
    use stend_stand::host::Local;

    fn wanted(text: &TargetText, medium: Medium) -> TargetOfRun {
        TargetOfRun { target: text.target().unwrap(), medium, tools: Default::default(), name: None }
    }

    /// A target of one file that stood in another boot, in the directory for runs' files `work`.
    fn stood_before(work: &str, name: &str) -> String {
        let base = base(work, name);
        let files = format!("{base}/files");
        let file = format!("{files}/lun0");
        Local.make_directory(&files).unwrap();
        Local.write(&file, b"contents").unwrap();
        let entries = [
            Entry::Begin(Begun {
                target: Some(wanted(&TargetText::default(), Medium::Memory)),
                boot_id: "another".into(),
                ..Begun::default()
            }),
            Entry::Make(Thing::Basic(Basic::Directory { path: files.clone() })),
            Entry::Make(Thing::Basic(Basic::LunFile { path: file.clone(), bytes: 8, in_btrfs: false })),
            // This one was never made.
            Entry::Make(Thing::Basic(Basic::Loop { file: file.clone(), direct: true })),
            Entry::Up(Up { luns: vec![file], ..Up::default() }),
        ];
        for entry in &entries {
            stend_stand::ledger::note(&Local, &ledger::standing(&base), entry).unwrap();
        }
        files
    }

    #[test]
    fn what_stood_before_the_machine_was_booted_is_taken_down() {
        let work = tempfile::tempdir().unwrap();
        let work = work.path().to_str().unwrap();
        stood_before(work, "old");
        assert_eq!(names(&Local, work).unwrap(), ["old"]);
        let found = status(&Local, work, "old").unwrap();
        assert_eq!((found.state, found.luns.len()), (State::BeforeBoot, 0));
        assert!(take_down(&Local, work, "old").unwrap());
        assert!(Local.list(work).unwrap().is_empty(), "nothing is left, nor the directory of the targets");
        assert!(!take_down(&Local, work, "old").unwrap(), "and there is nothing more to do");
    }

    #[test]
    fn devices_are_looked_at_once_more_before_they_are_overwritten() {
        let work = tempfile::tempdir().unwrap();
        let path = work.path().to_str().unwrap();
        let devices = TargetText { devices: Some(vec!["/dev/null".into()]), ..TargetText::default() };
        let wanted = wanted(&devices, Medium::Devices);
        let refusal =
            raise(&Local, "no-probe", path, "t", &wanted, &Needs::default(), &|| false).unwrap_err().to_string();
        assert!(refusal.contains("/dev/null is no block device"), "{refusal}");
        assert!(Local.list(path).unwrap().is_empty(), "nothing is made");
    }

    #[test]
    fn a_ledger_that_is_not_understood_stays_with_all_that_it_tells_of() {
        let work = tempfile::tempdir().unwrap();
        let work = work.path().to_str().unwrap();
        let files = stood_before(work, "old");
        let path = ledger::standing(&base(work, "old"));
        stend_stand::ledger::note(&Local, &path, &serde_json::json!({ "event": "of a newer stend" })).unwrap();
        for said in [take_down(&Local, work, "old").map(drop), standing(&Local, work, "old").map(drop)] {
            let said = said.unwrap_err().to_string();
            assert!(said.contains(&path) && said.contains("newer"), "{said}");
        }
        assert!(status(&Local, work, "old").is_err());
        assert_eq!(Local.list(&files).unwrap(), ["lun0"]);
        assert!(Local.read_text(&path).is_ok(), "it keeps its name");
    }

    #[test]
    fn a_file_that_is_not_stends_stays_and_is_told() {
        let work = tempfile::tempdir().unwrap();
        let work = work.path().to_str().unwrap();
        let files = stood_before(work, "old");
        Local.write(&format!("{files}/photograph"), b"a cat").unwrap();
        let refusal = take_down(&Local, work, "old").unwrap_err().to_string();
        let told = format!("the directory {files} cannot be taken away (it holds photograph)");
        assert!(refusal.contains(&told), "{refusal}");
        assert_eq!(Local.list(&files).unwrap(), ["photograph"], "what is stend's is gone");
        assert_eq!(status(&Local, work, "old").unwrap().state, State::HalfMade);
        Local.remove(&format!("{files}/photograph")).unwrap();
        assert!(take_down(&Local, work, "old").unwrap());
    }

    #[test]
    fn what_a_killed_stend_had_started_makes_nothing_once_taking_down_has_begun() {
        let work = tempfile::tempdir().unwrap();
        let work = work.path().to_str().unwrap();
        let files = stood_before(work, "old");
        let ledger = ledger::standing(&base(work, "old"));
        let late = Thing::Basic(Basic::SparseFile { path: format!("{files}/disk0"), bytes: 4096 });
        stend_stand::ledger::note(&Local, &ledger, &Entry::Make(late.clone())).unwrap();
        // Taking down stops here: the processor comes to what was started before that only now.
        Local.write(&format!("{files}/photograph"), b"a cat").unwrap();
        take_down(&Local, work, "old").unwrap_err();
        assert_ne!(Local.run(&late.making(&ledger)).unwrap().exit, Some(0));
        assert_eq!(Local.list(&files).unwrap(), ["photograph"]);
        Local.remove(&format!("{files}/photograph")).unwrap();
        assert!(take_down(&Local, work, "old").unwrap());
        assert!(Local.list(work).unwrap().is_empty());
    }

    #[test]
    fn a_file_system_without_direct_io_is_told_with_a_remedy() {
        // As losetup of util-linux 2.38 says it of a file on ramfs.
        let stderr = b"losetup: /mnt/disk0: failed to set up loop device: Invalid argument\n".to_vec();
        let output = Output { exit: Some(1), stderr, ..Output::default() };
        let disk = |direct| Thing::Basic(Basic::Loop { file: "/mnt/disk0".into(), direct });
        assert_eq!(hint(&disk(true), &output), Some(Hint::OtherFileSystem));
        assert_eq!(hint(&disk(false), &output), None);
        let full = Output { stderr: b"losetup: cannot find an unused loop device\n".to_vec(), ..output };
        assert_eq!(hint(&disk(true), &full), None);
    }

    #[test]
    fn names_that_are_safe_in_paths_and_no_ids_of_runs() {
        for (name, fine) in [
            ("target", true),
            ("pool-12", true),
            ("20261121-0555-3f9a", false),
            ("", false),
            ("..", false),
            ("a/b", false),
            ("-x", false),
            ("Pool", false),
        ] {
            assert_eq!(is_name(name), fine, "{name}");
        }
    }
}
