//! `--switch`: states of one machine that cannot be measured side by side, such as two kernels, in sessions that take turns.
//!
//! What is done is read from the labels of the runs that are there, so the same command goes on after a reboot.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use stend_compare::pool::pools;
use stend_lab::run::Ending;
use stend_model::run::{RunState, label_of_session};
use stend_model::suite::{Scenario, Suite};
use stend_stand::host::stand::watched;
use stend_stand::host::{Command, HostError, Output};
use stend_stand::hosts::{Destination, Hosts};
use stend_stand::interrupt::Interrupt;
use stend_store::Store;

use super::together::show_sessions;
use super::{Arguments, Called, Wanted, measure_on};
use crate::cli::Global;
use crate::cli::changing::assigned;
use crate::cli::failure::{Exit, Failure};
use crate::cli::label;
use crate::cli::on::{self, Building};
use crate::cli::output;

/// How many sessions of each state there are unless the user says otherwise: fewer give no verdict.
pub(super) const SESSIONS: u32 = 5;
/// A machine that reboots may take so long to come back.
const WAY_BACK: Duration = Duration::from_secs(15 * 60);
const BETWEEN_TRIES: Duration = Duration::from_secs(2);
/// Installing a kernel takes minutes.
const LONGEST_SWITCH: Duration = Duration::from_secs(3600);

/// A state of the machine, and the command that brings it there.
#[derive(Debug, Clone)]
pub(in crate::cli) struct State {
    name: String,
    command: String,
}

impl State {
    pub(in crate::cli) fn parse(text: &str) -> Result<Self, String> {
        let (name, command) = assigned(text, "old='sysctl vm.swappiness=60'")?;
        if command.trim().is_empty() {
            return Err("the command is empty; `true` changes nothing".into());
        }
        Ok(Self { name, command })
    }

    /// As the API of a server has it.
    pub(in crate::cli) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({ "name": self.name, "command": self.command })
    }

    /// A line of a plan.
    pub(super) fn in_words(&self) -> String {
        format!("  {}: {}\n", self.name, self.command)
    }

    /// Runs its command on the machine until it ends well. A machine that reboots by it is waited for, and then the command runs again.
    pub(in crate::cli) fn bring_to(
        &self,
        global: &Global,
        building: &Building,
        destination: &Destination,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        let failed = |why: &dyn std::fmt::Display| Failure::unusable(format!("--switch {}: {why}", self.name));
        let command = || Command::new(["sh", "-c", &*self.command]);
        let mut lost: Option<Instant> = None;
        loop {
            let is_waited_for = lost.is_some_and(|since| since.elapsed() < WAY_BACK);
            match on::host(global, destination, building) {
                Ok(host) => match watched(&*host, "", command(), LONGEST_SWITCH, &mut |_| {}) {
                    // What ends well may still have gone wrong: of `reboot; sleep 600` only the status of the sleep is left.
                    Ok(Some(Output { exit: Some(0), stderr, .. })) => {
                        if let Some(said) = last_line(&stderr) {
                            talk!("--switch {}: its command said: {said}", self.name);
                        }
                        return Ok(());
                    }
                    Ok(Some(Output { exit: Some(status), stderr, .. })) => {
                        let said = last_line(&stderr).map(|line| format!(": {line}")).unwrap_or_default();
                        return Err(failed(&format!("its command exited with status {status}{said}")));
                    }
                    Ok(Some(_)) if destination.is_here() => return Err(failed(&"its command was killed by a signal")),
                    Ok(None) => {
                        return Err(failed(&format!(
                            "its command did not end within {} min",
                            LONGEST_SWITCH.as_secs() / 60
                        )));
                    }
                    Ok(Some(_)) | Err(HostError::Link { .. }) => {}
                    Err(error) => return Err(failed(&error)),
                },
                Err(_) if is_waited_for => {}
                Err(failure) => return Err(failure),
            }
            if interrupt.requested() {
                return Err(failed(&HostError::Interrupted));
            }
            match lost {
                None => talk!("the link dropped; waiting for {destination} to come back"),
                Some(_) if !is_waited_for => {
                    return Err(failed(&format!(
                        "the link has dropped again and again for {} min; its command must do nothing where the machine is in that state already",
                        WAY_BACK.as_secs() / 60
                    )));
                }
                Some(_) => {}
            }
            lost.get_or_insert_with(Instant::now);
            std::thread::sleep(BETWEEN_TRIES);
        }
    }
}

/// How many sessions of each state are asked for.
pub(super) fn sessions(arguments: &Arguments) -> u32 {
    arguments.sessions.unwrap_or(SESSIONS)
}

/// What a dry run says of the states.
pub(super) fn in_words(arguments: &Arguments) -> String {
    let mut text = format!("{} sessions of each, in turns, each after its command:\n", sessions(arguments));
    for state in &arguments.switch {
        text += &state.in_words();
    }
    text
}

/// Refuses what cannot be measured so.
pub(super) fn check(
    global: &Global,
    arguments: &Arguments,
    wanted: &Wanted,
    destinations: &[Destination],
) -> Result<(), Failure> {
    let states = &arguments.switch;
    if states.len() != 2 {
        return Err(Failure::usage("--switch takes two: --switch old='COMMAND' --switch new='COMMAND'"));
    }
    if states[0].name == states[1].name {
        return Err(Failure::usage(format!(
            "--switch: both states are called {}; call one of them otherwise",
            states[0].name
        )));
    }
    if destinations.len() > 1 {
        return Err(Failure::usage("--switch is for one machine, and --on names several; measure each by itself"));
    }
    let directory = global.store_directory()?;
    let (store, hosts) = (Store::open_to_read(&directory)?, Hosts::read(&directory).map_err(Failure::usage)?);
    let sessions = sessions(arguments);
    for state in states {
        label::check(&store, &hosts, &state.name)?;
        label::check(&store, &hosts, &label_of_session(&state.name, sessions))?;
        if let Some(run) = store.labelled(&state.name)? {
            return Err(Failure::usage(format!(
                "--switch {}: run {run} is called so; choose another name, or give that run another label",
                state.name
            )));
        }
        for number in 1..=sessions {
            made(&store, wanted, &destinations[0], &label_of_session(&state.name, number))?;
        }
    }
    Ok(())
}

/// Makes the sessions that are missing, and prints one table with a column for each state.
pub(super) fn run(
    global: &Global,
    arguments: &Arguments,
    wanted: &Wanted,
    destination: &Destination,
) -> Result<Exit, Failure> {
    let interrupt = Interrupt::listen()?;
    let directory = global.store_directory()?;
    let sessions = sessions(arguments);
    wanted.say_sight(global, arguments.compared(1));
    let mut runs = vec![Vec::new(); arguments.switch.len()];
    let mut is_new = false;
    for number in 1..=sessions {
        // Always in this order: two neighbouring sessions of one state would share a boot, and be one.
        for (state, runs) in arguments.switch.iter().zip(&mut runs) {
            let label = label_of_session(&state.name, number);
            let there = made(&Store::open_to_read(&directory)?, wanted, destination, &label)?;
            if let Some(Made { id, state: RunState::Finished }) = there {
                runs.push(id);
                continue;
            }
            if let Some(Made { id, .. }) = there {
                Store::open(&directory)?.label(&id, None)?;
                talk!("run {id} was not finished, and is no longer {label}; that session is measured anew");
            }
            is_new = true;
            if !global.quiet {
                talk!("session {number} of {sessions}: {}", state.name);
            }
            let begun = OnceLock::new();
            let called = Called { label: Some(&label), state: Some(state) };
            let ending = measure_on(global, arguments, wanted, destination, called, &interrupt, &begun);
            match (ending, begun.into_inner()) {
                (Ok(Ending::Complete), Some(id)) => {
                    runs.push(id);
                    say_if_split(&Store::open_to_read(&directory)?, state, runs, &label)?;
                }
                (Err(failure), _) if !interrupt.requested() => return Err(failure.and_then(GO_ON)),
                _ => {
                    talk!("{GO_ON}");
                    return Ok(Exit::Interrupted);
                }
            }
        }
    }
    say_if_alike(&Store::open_to_read(&directory)?, &arguments.switch, &runs)?;
    if !is_new {
        talk!("all sessions are there already; `{} list` shows them", output::program());
    }
    let exit = show_sessions(global, &runs, arguments.options, arguments.shown)?;
    if !global.quiet {
        let names: Vec<_> = arguments.switch.iter().map(|state| state.name.as_str()).collect();
        talk!("compare them again: {} compare {}", output::program(), names.join(" "));
    }
    Ok(exit)
}

/// Says so where the newest session of a state is not of one column with those before, because something is recorded of it that differs: at
/// once, while it can still be measured anew.
fn say_if_split(store: &Store, state: &State, runs: &[String], label: &str) -> Result<(), Failure> {
    let [first, .., last] = runs else { return Ok(()) };
    if pools(vec![store.load(first)?, store.load(last)?]).len() > 1 {
        let (program, first) = (output::program(), label_of_session(&state.name, 1));
        talk!(
            "{label} differs from {first} in what is recorded of the machine, so the two are not sessions of one column: `{program} compare {first} \
             {label}` says in what. `{program} rm {label}` and the same command again measure it anew"
        );
    }
    Ok(())
}

/// Says so where both states look the same by all that is recorded: a machine that did not switch would.
fn say_if_alike(store: &Store, states: &[State], runs: &[Vec<String>]) -> Result<(), Failure> {
    let machine_of = |runs: &Vec<String>| runs.first().map(|id| store.run(id)).transpose();
    let [Some(one), Some(other)] = [machine_of(&runs[0])?, machine_of(&runs[1])?] else { return Ok(()) };
    if one.machine.hardware_id() == other.machine.hardware_id()
        && one.machine.software_id() == other.machine.software_id()
    {
        talk!(
            "nothing that is recorded of the machine differs between {} and {}: if something should, its command did not bring it there",
            states[0].name,
            states[1].name
        );
    }
    Ok(())
}

const GO_ON: &str = "the same command goes on with the next session";

/// A run that has the label of a session.
struct Made {
    id: String,
    state: RunState,
}

/// The run of this label, which must be of the same work on the same machine.
fn made(store: &Store, wanted: &Wanted, destination: &Destination, label: &str) -> Result<Option<Made>, Failure> {
    let Some(id) = store.labelled(label)? else { return Ok(None) };
    let run = store.run(&id)?;
    // What a target makes of a suite is known only there.
    let works = |suite: &Suite| suite.scenarios.iter().map(Scenario::identity).collect::<Vec<_>>();
    let is_same =
        run.suite.name == wanted.suite.name && (run.target.is_some() || works(&run.suite) == works(&wanted.suite));
    if !is_same || run.host != destination.address {
        return Err(Failure::usage(format!(
            "--switch: {label} is run {id}, which does other work (suite {}) or is of another machine ({}); choose another name, or give that run \
             another label",
            run.suite.name, run.host
        )));
    }
    Ok(Some(Made { id, state: run.state }))
}

/// The last line that a command wrote.
fn last_line(bytes: &[u8]) -> Option<String> {
    String::from_utf8_lossy(bytes).lines().rfind(|line| !line.trim().is_empty()).map(str::to_owned)
}
