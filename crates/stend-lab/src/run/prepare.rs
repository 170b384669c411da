//! Before a run: where things are on the machine, and which scenarios can be measured there.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use stend_model::cause::Cause;
use stend_model::condition::Condition;
use stend_model::machine::Machine;
use stend_model::run::Skipped;
use stend_model::server::Server;
use stend_model::side::Side;
use stend_model::suite::{Instrument, Scenario, Suite};
use stend_model::target::Target;
use thiserror::Error;

pub use super::files::{Files, FilesError};
use super::hosting::{Hosting, address_of_server, is_far};
use crate::rig::servers::processors;
use crate::rig::vm;
use crate::side;
use stend_instrument::{self, Package, Place, Tool, adapter};
use stend_model::run::HERE;
use stend_stand::host::{Command, Host, HostError, Local, Lock, Lockable, Output};
use stend_stand::hosts::GUEST;
use stend_stand::machine::{self, Finding, State, ToolQuery};
use stend_stand::owned::{self, NotOwn};

/// No run is called so.
pub const NEW: &str = "new";
/// What to do about a directory for runs' files that will not do.
const ANOTHER: &str = "set STEND_WORK to a directory of your own";

/// Why something that a run takes is not there, or will not do.
#[derive(Debug, Error)]
pub enum PrepareError {
    /// `stend-probe` ends badly when it is asked for its version.
    #[error("it does not run: {said}")]
    Broken {
        /// What it says.
        said: String,
    },
    /// The user named a `stend-probe` that will not do.
    #[error("STEND_PROBE is {path}: {source}")]
    BadProbe {
        /// Its path.
        path: String,
        /// Why not.
        source: Box<PrepareError>,
    },
    /// There is no `stend-probe`.
    #[error(
        "stend-probe is neither beside stend nor on the PATH; build it with `make build`, or say where it \
         is with STEND_PROBE"
    )]
    NoProbe,
    /// The directory for runs' files has no absolute path.
    #[error("\"{0}\" is no place for the run's files; set STEND_WORK to an absolute path")]
    BadWork(String),
    /// The machine's lock has no absolute path.
    #[error("\"{0}\" is no place for the machine's lock; set STEND_LOCK to an absolute path")]
    BadLock(String),
    /// Somebody else may write in the directory for runs' files.
    #[error("{}{source}; {ANOTHER}", .there.as_ref().map(|there| format!("{there}: ")).unwrap_or_default())]
    NotOwn {
        /// The machine, if it is another one.
        there: Option<String>,
        /// Who may.
        source: NotOwn,
    },
    /// Nothing can be written to the directory for runs' files.
    #[error("{0}; set STEND_WORK to a directory that can be written")]
    Unwritable(#[source] HostError),
    /// A file is not as it must be.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The machine cannot be asked, or another stend is there.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// Where `stend-probe` lies on this machine: `STEND_PROBE`, beside `stend` itself, or on the PATH. It is asked for its version, so that
/// one of another architecture is noticed here.
///
/// # Errors
/// It is nowhere, or does not run; the message says how to build it.
pub fn find_probe(host: &dyn Host) -> Result<String, PrepareError> {
    let given = std::env::var_os("STEND_PROBE")
        .map(|path| std::path::absolute(&path).map_or(path, std::path::PathBuf::into_os_string));
    let given = given.map(|path| path.to_string_lossy().into_owned());
    let runs = |path: &str| match host.run(&Command::new([path, "--version"])) {
        Ok(output) if output.exit == Some(0) => Ok(()),
        Ok(output) => Err(PrepareError::Broken { said: String::from_utf8_lossy(&output.stderr).trim().to_owned() }),
        Err(error) => Err(error.into()),
    };
    if let Some(path) = given {
        return match runs(&path) {
            Ok(()) => Ok(path),
            Err(why) => Err(PrepareError::BadProbe { path, source: Box::new(why) }),
        };
    }
    let beside = std::env::current_exe().ok().and_then(|path| path.canonicalize().ok());
    let beside = beside.map(|path| path.with_file_name("stend-probe").to_string_lossy().into_owned());
    let candidates = beside.into_iter().chain(host.find_program("stend-probe"));
    candidates.into_iter().find(|path| runs(path).is_ok()).ok_or(PrepareError::NoProbe)
}

/// The directory for a run's files on the machine: under `STEND_WORK`, or the user's cache directory. If it is there, nobody else may write
/// in it.
///
/// # Errors
/// The machine cannot be asked, or has neither; or somebody else may write there.
pub fn work_directory(host: &dyn Host) -> Result<String, PrepareError> {
    let script = r#"printf %s "${STEND_WORK:-${XDG_CACHE_HOME:-${HOME%/}/.cache}/stend}""#;
    let output = host.run(&Command::new(["sh", "-c", script]))?;
    let directory = output.text().trim_end_matches('\n').to_owned();
    if !directory.starts_with('/') {
        return Err(PrepareError::BadWork(directory));
    }
    check_own(host, &directory)?;
    Ok(directory)
}

/// Sees to it that nobody else may write in the directory for runs' files.
fn check_own(host: &dyn Host, directory: &str) -> Result<(), PrepareError> {
    let there = (host.name() != HERE).then(|| host.name().to_owned());
    owned::why_not(host, directory)?.map_or(Ok(()), |source| Err(PrepareError::NotOwn { there, source }))
}

/// Makes the directory for runs' files, and sees to it that no other stend uses it.
///
/// # Errors
/// It cannot be made, or another stend uses it.
pub fn lock(host: &dyn Host, directory: &str) -> Result<Box<dyn Lock>, PrepareError> {
    let lock = || host.make_directory(directory).and_then(|()| host.lock(&Lockable::Directory(directory.to_owned())));
    // Once more: a stend that cleaned up may have removed the directory just between the two.
    let locked = lock().or_else(|error| if matches!(error, HostError::File { .. }) { lock() } else { Err(error) });
    let locked = locked.map_err(|error| match error {
        HostError::File { .. } => PrepareError::Unwritable(error),
        error => error.into(),
    })?;
    // Somebody may have made it since it was asked for.
    check_own(host, directory)?;
    Ok(locked)
}

/// Sees to it that no other lab builds or measures on the machine, whoever's it is: by the file that `STEND_LOCK` names there.
///
/// # Errors
/// Another lab is there, or the file will not do.
pub fn lock_machine(host: &dyn Host) -> Result<Box<dyn Lock>, PrepareError> {
    let path = machine_lock(host)?;
    Ok(host.lock(&Lockable::Machine(path))?)
}

/// Whether another lab builds or measures on the machine now; `has_probe`: a `stend-probe` is there, by which that can be found out.
pub fn other_labs(host: &dyn Host, has_probe: bool) -> Finding {
    let none = || Finding::of(State::Fine, Condition::OtherLabs);
    let look = || -> Result<Finding, PrepareError> {
        let Some(path) = machine_lock_there(host)? else { return Ok(none()) };
        if !has_probe {
            return Ok(Finding::of(State::Warning, Condition::LabUnknown { path }));
        }
        // Given back at once. Whoever wants it just then tries for a second.
        Ok(host.lock(&Lockable::Machine(path)).map(|_lock| none())?)
    };
    look().unwrap_or_else(|error| Finding::of(State::Unfit, Condition::LabAtWork { said: error.to_string() }))
}

/// The path of the file that is the machine's lock, if it is there.
///
/// # Errors
/// The machine cannot be asked.
pub fn machine_lock_there(host: &dyn Host) -> Result<Option<String>, PrepareError> {
    let path = machine_lock(host)?;
    let there = Command::new(["sh", "-c", r#"[ -e "$1" ] || [ -h "$1" ]"#, "sh", &path]);
    let output = host.run(&there)?;
    Ok((output.exit == Some(0)).then_some(path))
}

/// The path of the file that is the machine's lock.
fn machine_lock(host: &dyn Host) -> Result<String, PrepareError> {
    let script = r#"printf %s "${STEND_LOCK:-/tmp/stend.lock}""#;
    let output = host.run(&Command::new(["sh", "-c", script]))?;
    let path = output.text().trim_end_matches('\n').to_owned();
    if path.starts_with('/') { Ok(path) } else { Err(PrepareError::BadLock(path)) }
}

/// The machine's fingerprint, with the programs that a suite takes, or else with all that suites may take; and with what emulates it if
/// `stend-probe`, whose path there is `probe`, sees anything of that.
///
/// # Errors
/// The machine cannot be asked at all.
pub fn fingerprint(host: &dyn Host, probe: Option<&str>, suite: Option<&Suite>) -> Result<Machine, Cause> {
    let hosting = Hosting::of(host).ok().flatten();
    let is_far = |scenario: &Scenario| is_far(hosting.as_ref(), scenario);
    let of_suite = |suite| {
        let near = programs_of_servers(suite, |scenario| !is_far(scenario));
        ([stend_instrument::tools_of(suite), near].concat(), programs_of_servers(suite, is_far))
    };
    let (mut queries, far) = suite.map_or_else(|| (stend_instrument::tool_queries(), Vec::new()), of_suite);
    let mut asked = BTreeSet::new();
    queries.retain(|query| asked.insert(query.program.clone()));
    let mut machine = machine::collect(host, &queries);
    if let Some(cause) = machine.missing.remove("collection") {
        return Err(cause);
    }
    if let Ok((tools, missing)) = machine::tools(&Local, &far) {
        machine.software.tools.extend(tools);
        machine.missing.extend(missing);
    }
    if let (Some(name), Ok(work)) = (host.name().strip_prefix(GUEST), work_directory(&Local)) {
        // Whoever takes it down meanwhile takes away what is measured too.
        machine.software.guest = vm::facts(&Local, &work, name).unwrap_or_default();
    }
    machine.software.emulator = probe.and_then(|probe| emulator(host, probe));
    machine.offers = probe.and_then(|probe| offers(host, probe)).unwrap_or_default();
    Ok(machine)
}

/// The programs of the servers that these of a suite's scenarios load.
fn programs_of_servers(suite: &Suite, is_wanted: impl Fn(&Scenario) -> bool) -> Vec<ToolQuery> {
    let scenarios = suite.scenarios.iter().filter(|scenario| is_wanted(scenario));
    let names: BTreeSet<_> = scenarios.filter_map(|scenario| scenario.server.as_ref()).collect();
    let servers = names.into_iter().filter_map(|name| suite.servers.get(name));
    let query =
        |server: &Server| ToolQuery { program: server.program.clone(), version_arguments: server.version.clone() };
    // Without arguments it would be started.
    servers.filter(|server| !server.version.is_empty()).map(query).collect()
}

/// What `stend-probe` says that its instructions are translated by.
fn emulator(host: &dyn Host, probe: &str) -> Option<String> {
    let output = host.run(&Command::new([probe, "--version"])).ok()?;
    output.text().lines().find_map(|line| line.strip_prefix("emulated by ")).map(str::to_owned)
}

/// What `stend-probe` says that the kernel offers.
fn offers(host: &dyn Host, probe: &str) -> Option<BTreeMap<String, bool>> {
    offered(&host.run(&Command::new([probe, "info", "--seconds", "1ms"])).ok()?)
}

/// The same from what `stend-probe info` printed.
pub(super) fn offered(info: &Output) -> Option<BTreeMap<String, bool>> {
    #[derive(Deserialize)]
    struct Info {
        offers: BTreeMap<String, bool>,
    }
    Some(serde_json::from_slice::<Info>(&info.stdout).ok()?.offers)
}

/// Leaves out the scenarios that take more processors than the machine has online: how many those are, and how many processors there are. Where
/// nothing would be left, nothing is left out.
pub fn cut_to_processors(host: &dyn Host, suite: &mut Suite) -> (usize, u32) {
    let online = processors(host);
    let fits = |scenario: &Scenario| scenario.processors.is_none_or(|needed| needed <= online);
    let before = suite.scenarios.len();
    if suite.scenarios.iter().any(fits) {
        suite.scenarios.retain(fits);
    }
    (before - suite.scenarios.len(), online)
}

/// The scenarios that cannot be measured on this machine, or not on both sides, with the reason and the command that would change that.
/// `work`: the directory for runs' files.
pub fn skipped(host: &dyn Host, suite: &Suite, sides: &[Side], work: &str) -> Vec<Skipped> {
    let mut states = BTreeMap::new();
    let mut abilities = BTreeMap::new();
    let online = processors(host);
    // Where there is no telling, a server is looked for on the machine itself.
    let hosting = Hosting::of(host).ok().flatten();
    let mut skipped = side::skipped(suite, sides);
    for scenario in &suite.scenarios {
        if skipped.iter().any(|skipped| skipped.scenario == scenario.name) {
            continue;
        }
        let mut skip = |reason: Cause, remedy: Option<String>| {
            skipped.push(Skipped { scenario: scenario.name.clone(), reason, remedy });
        };
        if let Some(needed) = scenario.processors.filter(|needed| *needed > online) {
            skip(Cause::ProcessorsMissing { needed, online }, None);
            continue;
        }
        if let Instrument::Adapter(name) = &scenario.instrument
            && let Some(adapter) = adapter(name)
            && let Some(tool) = adapter.tool()
        {
            let programs = side::programs(sides, &tool);
            let bad = programs.iter().find_map(|program| {
                let state = states.entry((*program).to_owned()).or_insert_with(|| state_of(host, program, tool));
                state.as_ref().err().cloned()
            });
            if let Some(reason) = bad {
                skip(reason, Some(remedy(tool)));
                continue;
            }
            let mut questions = programs.iter().filter_map(|program| adapter.abilities(scenario, program, work));
            let lacking = questions.find_map(|words| {
                let ask = || host.run(&Command::new(words.clone())).map(|output| output.text()).unwrap_or_default();
                adapter.lacks(scenario, abilities.entry(words.clone()).or_insert_with(ask))
            });
            if let Some(reason) = lacking {
                skip(reason, None);
                continue;
            }
        }
        if let Some(server) = scenario.server.as_ref().and_then(|name| suite.servers.get(name)) {
            let is_far = is_far(hosting.as_ref(), scenario);
            if address_of_server(hosting.as_ref(), scenario).is_none() {
                skip(Cause::NoNetworkToHost, None);
                continue;
            }
            let host = if is_far { &Local } else { host };
            let programs = [&server.program].into_iter().chain(&server.needs);
            if let Some(missing) = programs.into_iter().find(|program| host.find_program(program).is_none()) {
                let package = server.package.as_deref().filter(|_| *missing == server.program);
                skip(Cause::ToolMissing { tool: missing.clone() }, package.map(install_command));
                continue;
            }
        }
        if let Some(missing) = scenario.needs.iter().find(|program| host.find_program(program).is_none()) {
            skip(Cause::ToolMissing { tool: missing.clone() }, None);
        }
    }
    skipped
}

/// Why nothing of a suite can be measured, if all of it is skipped for the same reason and nothing can be had to mend it.
pub fn common_reason<'a>(suite: &Suite, skipped: &'a [Skipped]) -> Option<&'a Cause> {
    let first = skipped.first().filter(|first| first.remedy.is_none())?;
    let alike = skipped.iter().all(|other| other.reason == first.reason) && skipped.len() == suite.scenarios.len();
    alike.then_some(&first.reason)
}

/// The scenarios of a suite without those that are skipped.
pub fn measured<'a>(suite: &'a Suite, skipped: &'a [Skipped]) -> impl Iterator<Item = &'a Scenario> + Clone {
    suite.scenarios.iter().filter(|scenario| !skipped.iter().any(|skipped| skipped.scenario == scenario.name))
}

/// The files that measuring these scenarios takes, and what is there of them. Before a run has an id, it is [`NEW`].
///
/// # Errors
/// The machine cannot be asked, or a file cannot have its name.
pub fn files<'a>(
    host: &dyn Host,
    scenarios: impl Iterator<Item = &'a Scenario>,
    work: &str,
    run: &str,
    target: Option<&Target>,
) -> Result<Files, PrepareError> {
    let place = Place::of(run, &format!("{work}/{run}"));
    Ok(Files::of(host, scenarios, place, target.is_some())?)
}

/// The command by which this user installs a package on Debian and Ubuntu.
pub fn install_command(package: &str) -> String {
    let as_root = if rustix::process::geteuid().is_root() { "" } else { "sudo " };
    format!("{as_root}apt-get install -y {package}")
}

/// The command that brings a tool.
pub fn remedy(tool: Tool) -> String {
    match tool.package {
        Package::Debian(package) => install_command(package),
        Package::Crate(name) => format!("cargo install --locked {name}"),
    }
}

/// Whether a tool, called by this name or path, is there and new enough: its version, or why it will not do.
pub fn state_of(host: &dyn Host, program: &str, tool: Tool) -> Result<String, Cause> {
    if host.find_program(program).is_none() {
        return Err(Cause::ToolMissing { tool: program.into() });
    }
    let version = version_of(host, program, tool);
    let Some(least) = tool.least else { return Ok(version) };
    let (tool, needed) = (program.to_owned(), format!("{}.{}", least.0, least.1));
    match numbers(&version) {
        Some(found) if found < least => Err(Cause::ToolTooOld { tool, version, needed }),
        Some(_) => Ok(version),
        None => Err(Cause::ToolVersionUnknown { tool, version, needed }),
    }
}

/// The first line that a tool, called by this name or path, prints about its version; empty if it says nothing.
pub fn version_of(host: &dyn Host, program: &str, tool: Tool) -> String {
    let words = std::iter::once(program).chain(tool.version_arguments.iter().copied());
    let output = host.run(&Command::new(words)).unwrap_or_default();
    let text =
        if output.stdout.is_empty() { String::from_utf8_lossy(&output.stderr).into_owned() } else { output.text() };
    text.lines().next().unwrap_or_default().trim().to_owned()
}

/// The first `major.minor` in a text.
fn numbers(text: &str) -> Option<(u32, u32)> {
    text.split(|c: char| !(c.is_ascii_digit() || c == '.')).find_map(|word| {
        let mut parts = word.split('.');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_tools_write_them() {
        assert_eq!(numbers("fio-3.33"), Some((3, 33)));
        assert_eq!(numbers("OpenSSL 3.0.19 27 Jan 2026 (Library: OpenSSL 3.0.19)"), Some((3, 0)));
        assert_eq!(numbers("gzip 1.12"), Some((1, 12)));
        assert_eq!(numbers("no version at all"), None);
    }
}
