//! `--on`: which machine is measured, and how it is reached.

use std::fmt::Display;
use std::path::Path;

use clap::Args;
use stend_model::run::Build;

use super::Global;
use super::completions;
use super::failure::Failure;
use crate::voice::AtTheTerminal;
use stend_lab::rig;
use stend_lab::run::prepare;
use stend_model::run::HERE;
use stend_report::shell_words;
use stend_stand::host::stand::{self, Compiler};
use stend_stand::host::{Host, Local, Lock, Ssh};
use stend_stand::hosts::{Destination, GUEST, Hosts};
use stend_stand::interrupt::Interrupt;
use stend_stand::owned;
use stend_store::StoreError;

/// One machine.
#[derive(Debug, Clone, Args)]
pub(super) struct On {
    /// Another machine: a name listed by `stend hosts`, an ssh destination (user@host, or a name of ~/.ssh/config), or vm:NAME, a virtual machine
    /// of `stend rig`. It must have a shell, tar and a C compiler
    #[arg(long, value_name = "HOST", add = completions::hosts(), help_heading = "Another machine (docs/guide/hosts.md)")]
    on: Option<String>,
}

/// One machine or several.
#[derive(Debug, Clone, Args)]
pub(super) struct OnSeveral {
    /// Other machines, measured in parallel, each in its own run: names listed by `stend hosts`, ssh destinations (user@host, or a name of
    /// ~/.ssh/config), or vm:NAME, a virtual machine of `stend rig`. They must have a shell, tar and a C compiler; `local` is this machine
    #[arg(
        long,
        value_name = "HOST[,HOST…]",
        value_delimiter = ',',
        add = completions::hosts(),
        help_heading = "Another machine (docs/guide/hosts.md)"
    )]
    on: Vec<String>,
}

/// How `stend-probe` is built.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Building {
    /// Build stend-probe with this C compiler on the measured machine [default: on another machine that of `stend hosts`, else cc; on this one the
    /// existing stend-probe is used]
    #[arg(long, value_name = "PROGRAM", value_parser = compiler_name, help_heading = "Another machine (docs/guide/hosts.md)")]
    cc: Option<String>,
    /// Compiler flags in addition to -std=c11 -O2, as in "-march=native"
    #[arg(
        long,
        value_name = "FLAGS",
        allow_hyphen_values = true,
        help_heading = "Another machine (docs/guide/hosts.md)"
    )]
    cflags: Option<String>,
}

/// A compiler as the user calls it.
fn compiler_name(text: &str) -> Result<String, String> {
    stand::check_name(text).map(|()| text.to_owned()).map_err(|error| error.to_string())
}

/// A machine with what every run needs there.
pub(super) struct Reached {
    pub(super) host: Box<dyn Host>,
    /// The path of `stend-probe`.
    pub(super) probe: String,
    /// What that was built of.
    pub(super) build: Build,
    /// The compiler that builds what else is built.
    pub(super) compiler: Compiler,
    /// The directory for runs' files.
    pub(super) work: String,
    /// That no other lab builds or measures there; of a guest also not on its host.
    pub(super) locks: Vec<Box<dyn Lock>>,
}

impl On {
    /// Where it leads.
    pub(super) fn destination(&self, global: &Global) -> Result<Destination, Failure> {
        lead(&global.store_directory()?, self.on.as_deref().unwrap_or(HERE))
    }

    /// Reaches the machine, and gives the path of a `stend-probe` there if one is ready. It is built only where nothing else tells what machine
    /// it is.
    pub(super) fn host_with_probe(&self, global: &Global) -> Result<(Box<dyn Host>, Option<String>), Failure> {
        let destination = self.destination(global)?;
        if destination.is_here() {
            return Ok((Box::new(Local), prepare::find_probe(&Local).ok()));
        }
        reach_with_probe(global, &destination, &Building::default())
    }

    /// Reaches the machine to see to what was left there: in the directory for runs' files, and of locks. Nobody uses them meanwhile.
    pub(super) fn to_clean(&self, global: &Global) -> Result<Cleaned, Failure> {
        let destination = self.destination(global)?;
        let mut locker = None;
        let (host, work): (Box<dyn Host>, _) = if destination.is_here() {
            (Box::new(Local), prepare::work_directory(&Local).map_err(Failure::unusable)?)
        } else {
            let ssh = connect(&destination.address, &Interrupt::listen()?)?;
            let work = prepare::work_directory(&ssh).map_err(Failure::unusable)?;
            locker = stand::locker(&ssh, &work).inspect(|probe| ssh.set_probe(probe));
            (Box::new(ssh), work)
        };
        // Where nothing was ever built nobody measures over a link, and there is nothing that could hold a lock.
        let lockable = destination.is_here() || locker.is_some();
        let names = host.list(&work).ok();
        let machine_lock = prepare::machine_lock_there(&*host).map_err(Failure::unusable)?;
        let (mut machine, mut directory) = (None, None);
        if lockable && (names.is_some() || machine_lock.is_some()) {
            machine = Some(prepare::lock_machine(&*host).map_err(Failure::unusable)?);
            directory = names.as_ref().map(|_| prepare::lock(&*host, &work)).transpose().map_err(Failure::unusable)?;
        }
        Ok(Cleaned { host, work, is_there: names.is_some(), locker, machine_lock, machine, directory })
    }
}

impl OnSeveral {
    /// Whether the user names none.
    pub(super) fn is_empty(&self) -> bool {
        self.on.is_empty()
    }

    /// Where they lead, each once: at least one.
    pub(super) fn destinations(&self, global: &Global) -> Result<Vec<Destination>, Failure> {
        let store = global.store_directory()?;
        if self.on.is_empty() {
            return Ok(vec![lead(&store, HERE)?]);
        }
        let mut all: Vec<Destination> = Vec::new();
        for word in &self.on {
            let one = lead(&store, word)?;
            if let Some(same) = all.iter().find(|other| other.address == one.address) {
                return Err(Failure::usage(if same.word == one.word {
                    format!("--on names \"{word}\" twice; name each machine once")
                } else {
                    format!("--on: \"{same}\" and \"{word}\" are one machine, {}; name it once", one.address)
                }));
            }
            all.push(one);
        }
        Ok(all)
    }
}

/// The command line that this program was given behind its name, for one of the machines alone.
pub(super) fn again(machine: &str) -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    shell_words(&for_one(machine, words))
}

/// A command line with this machine in the place of all that it names.
fn for_one(machine: &str, mut words: impl Iterator<Item = String>) -> Vec<String> {
    let (mut kept, mut is_named) = (Vec::new(), false);
    while let Some(word) = words.next() {
        let names = word == "--on";
        if !names && !word.starts_with("--on=") {
            kept.push(word);
            continue;
        }
        if names {
            words.next();
        }
        if !is_named {
            kept.push(format!("--on={machine}"));
            is_named = true;
        }
    }
    kept
}

/// Where a word leads. What a file says of a machine says what is started, so that file must be the user's own.
pub(super) fn lead(store: &Path, word: &str) -> Result<Destination, Failure> {
    let destination = Hosts::read(store).and_then(|hosts| hosts.lead(word)).map_err(Failure::usage)?;
    if destination.known.is_some() {
        owned::check_here(store).map_err(StoreError::NotOwn)?;
    }
    Ok(destination)
}

/// Reaches a machine, where `stend-probe` would be built so.
pub(super) fn host(global: &Global, destination: &Destination, building: &Building) -> Result<Box<dyn Host>, Failure> {
    if destination.is_here() { Ok(Box::new(Local)) } else { Ok(reach_with_probe(global, destination, building)?.0) }
}

/// Reaches another machine, and gives the path of a `stend-probe` there if one is ready.
fn reach_with_probe(
    global: &Global,
    destination: &Destination,
    building: &Building,
) -> Result<(Box<dyn Host>, Option<String>), Failure> {
    let interrupt = Interrupt::listen()?;
    let ssh = connect(&destination.address, &interrupt)?;
    let work = prepare::work_directory(&ssh).map_err(Failure::unusable)?;
    let probe = stand::built(&ssh, &work);
    if let Some(probe) = &probe {
        ssh.set_probe(probe);
    } else if ["cat", "getconf", "uname"].iter().any(|program| ssh.find_program(program).is_none()) {
        // What cannot be asked without these it is asked by stend-probe.
        let Reached { host, probe, .. } = building.reach(global, destination, &interrupt)?;
        return Ok((host, Some(probe)));
    }
    Ok((Box::new(ssh), probe))
}

/// What cannot be done on a machine: of another one than this its address is named, once.
pub(super) fn failed_on(destination: &Destination, error: &dyn Display) -> Failure {
    let (name, words) = (&destination.address, error.to_string());
    let is_named = destination.is_here() || words.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(':'));
    Failure::unusable(if is_named { words } else { format!("{name}: {words}") })
}

/// That nobody measures this machine, or removes what is set up on it, while one of its guests is measured.
fn locks_of_host() -> Result<Vec<Box<dyn Lock>>, Failure> {
    let work = prepare::work_directory(&Local).map_err(Failure::unusable)?;
    let locks = [prepare::lock_machine(&Local), prepare::lock(&Local, &work)];
    locks.into_iter().collect::<Result<_, _>>().map_err(Failure::unusable)
}

/// Connects to another machine, or to a guest of this one, which is called `vm:NAME`.
fn connect(address: &str, interrupt: &Interrupt) -> Result<Ssh, Failure> {
    let configuration = match address.strip_prefix(GUEST) {
        Some(name) => {
            let work = prepare::work_directory(&Local).map_err(Failure::unusable)?;
            Some(rig::vm::ssh_config(&Local, &work, name)?)
        }
        None => None,
    };
    Ssh::connect(address, configuration.as_deref(), interrupt, &AtTheTerminal)
        .map_err(|error| Failure::unusable(error.to_string()))
}

/// A machine that is being cleaned.
pub(super) struct Cleaned {
    pub(super) host: Box<dyn Host>,
    /// The directory for runs' files.
    pub(super) work: String,
    /// Whether that is there.
    pub(super) is_there: bool,
    /// The program there that holds the locks, if the machine is another one. What lies beside it may be what removes files there.
    pub(super) locker: Option<String>,
    /// The file that is the machine's lock, if it was there before it was taken now.
    pub(super) machine_lock: Option<String>,
    /// The lock of the machine, if there is what could hold it.
    pub(super) machine: Option<Box<dyn Lock>>,
    /// That of the directory.
    pub(super) directory: Option<Box<dyn Lock>>,
}

impl Building {
    /// The build that a run was made with, again.
    pub(super) fn of(build: Option<&Build>) -> Self {
        let asked = build.filter(|build| build.program.is_some());
        Self {
            cc: asked.and_then(|build| build.program.clone()),
            cflags: asked.map(|build| build.asked_flags.clone()).filter(|flags| !flags.is_empty()),
        }
    }

    /// The compiler that builds what is built.
    pub(super) fn compiler(&self) -> Compiler {
        let usual = Compiler::default();
        Compiler::new(self.cc.as_ref().unwrap_or(&usual.program), self.cflags.as_ref().unwrap_or(&usual.flags))
    }

    /// The same where the user did not say, as it is known of the machine.
    pub(super) fn or_known(&self, destination: &Destination) -> Self {
        let known = destination.known.as_ref();
        Self {
            cc: self.cc.clone().or_else(|| known?.cc.clone()),
            cflags: self.cflags.clone().or_else(|| known?.cflags.clone()),
        }
    }

    /// Whether `stend-probe` is built for that machine, or one that is here is taken.
    pub(super) fn builds(&self, destination: &Destination) -> bool {
        !destination.is_here() || self.cc.is_some() || self.cflags.is_some()
    }

    /// Reaches a machine, keeps other labs away from it, and sees to it that `stend-probe` is there.
    pub(super) fn reach(
        &self,
        global: &Global,
        destination: &Destination,
        interrupt: &Interrupt,
    ) -> Result<Reached, Failure> {
        let building = self.or_known(destination);
        let compiler = building.compiler();
        if destination.is_here() {
            let work = prepare::work_directory(&Local).map_err(Failure::unusable)?;
            // Before anything is built: a compiler would disturb what another lab measures.
            let lock = prepare::lock_machine(&Local).map_err(Failure::unusable)?;
            let (probe, build) = if building.builds(destination) {
                let mut tell = |words: &str| {
                    if !global.quiet {
                        talk!("{words}")
                    }
                };
                let built = stand::build(&Local, &work, &compiler, &mut tell, None);
                built.map(|built| (built.probe, built.build)).map_err(Failure::unusable)?
            } else {
                let probe = prepare::find_probe(&Local).map_err(Failure::unusable)?;
                let build = stand::build_of(&Local, &probe);
                (probe, build)
            };
            return Ok(Reached { host: Box::new(Local), probe, build, compiler, work, locks: vec![lock] });
        }
        let mut locks = if destination.is_on_this_machine() { locks_of_host()? } else { Vec::new() };
        let of_link = |error: &dyn Display| failed_on(destination, error);
        let ssh = connect(&destination.address, interrupt)?;
        let work = prepare::work_directory(&ssh).map_err(|error| of_link(&error))?;
        // What an earlier build has instead of rm removes what this one leaves if it fails.
        if ssh.find_program("rm").is_none()
            && let Some(probe) = stand::built(&ssh, &work)
        {
            ssh.set_probe(&probe);
        }
        let mut lock = None;
        let mut lock_by = |probe: &str| -> Result<(), stand::NotLocked> {
            ssh.set_probe(probe);
            if lock.is_none() {
                lock = Some(prepare::lock_machine(&ssh)?);
            }
            Ok(())
        };
        // A guest of this machine takes what measures here, so that both are measured by the same.
        let asked = self.cc.is_some() || self.cflags.is_some() || destination.known.is_some();
        if destination.is_on_this_machine()
            && !asked
            && let Ok(here) = prepare::find_probe(&Local)
            && let Some(probe) = stand::bring(&ssh, &work, &here).map_err(|error| of_link(&error))?
        {
            lock_by(&probe).map_err(|error| of_link(&error))?;
            let build = stand::build_of(&Local, &here);
            locks.extend(lock);
            return Ok(Reached { host: Box::new(ssh), probe, build, compiler, work, locks });
        }
        let mut tell = |words: &str| {
            if !global.quiet {
                talk!("{destination}: {words}")
            }
        };
        let built =
            stand::build(&ssh, &work, &compiler, &mut tell, Some(&mut lock_by)).map_err(|error| of_link(&error))?;
        let stand::Built { probe, build, .. } = built;
        lock_by(&probe).map_err(|error| of_link(&error))?;
        locks.extend(lock);
        Ok(Reached { host: Box::new(ssh), probe, build, compiler, work, locks })
    }
}

#[cfg(test)]
mod tests {
    use super::for_one;

    #[test]
    fn a_command_line_for_one_of_its_machines_keeps_all_else() {
        for (line, wanted) in [
            ("run --on a,b summit -r 3", "run --on=b summit -r 3"),
            ("--store x noise --on=a --only one --on b --cc gcc", "--store x noise --on=b --only one --cc gcc"),
            ("run --only on --on a,b -- summit", "run --only on --on=b -- summit"),
        ] {
            let words = line.split(' ').map(str::to_owned);
            assert_eq!(for_one("b", words).join(" "), wanted);
        }
    }
}
