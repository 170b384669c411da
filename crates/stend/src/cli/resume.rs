//! `stend resume`: go on with runs that were interrupted or killed.

use std::collections::BTreeMap;

use clap::Args;
use stend_model::machine::Tool;
use stend_model::run::{Run, RunState};
use stend_model::target::TargetOfRun;

use super::Global;
use super::completions;
use super::failure::{Exit, Failure};
use super::on::Building;
use super::output::Shown;
use super::run::together::{self, Job};
use super::run::{Bench, Options, Settled, State, measure};
use crate::catalogue;
use stend_lab::rig;
use stend_lab::run::{Ending, prepare};
use stend_report::words;
use stend_stand::hosts::{Destination, Hosts};
use stend_stand::interrupt::Interrupt;
use stend_store::Store;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The run, or one run on each of several machines, resumed in parallel [default: the newest unfinished run]
    #[arg(value_name = "RUN", add = completions::open_runs())]
    runs: Vec<String>,
    /// The state that the machine is brought into before
    #[arg(long, value_name = "NAME=COMMAND", value_parser = State::parse, hide = true, requires = "runs")]
    state: Option<State>,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    shown: Shown,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let directory = global.store_directory()?;
    let store = Store::open(&directory)?;
    let ids = match &arguments.runs[..] {
        [] => vec![store.newest_open()?.ok_or_else(|| Failure::usage("there is no run that is not finished"))?],
        wanted => wanted.iter().map(|wanted| store.resolve(wanted)).collect::<Result<Vec<_>, _>>()?,
    };
    let hosts = Hosts::read(&directory).map_err(Failure::usage)?;
    let mut jobs: Vec<Job> = Vec::new();
    let mut addresses: Vec<String> = Vec::new();
    for id in ids {
        if jobs.iter().any(|job| job.run.as_ref() == Some(&id)) {
            return Err(Failure::usage(format!("run {id} is named twice; name each once")));
        }
        let run = store.load(&id)?.run;
        if run.carried {
            return Err(Failure::usage(format!(
                "run {id} was made without a lab and imported: continue it there (stend-probe run PLAN --continue RESULT), and import the result again"
            )));
        }
        refuse_finished(&run)?;
        if !run.may_go_on() {
            return Err(Failure::usage(format!(
                "run {id} was imported, or begun by an older stend without this record: it can be shown and compared, but its commands are never run \
                 here; begin another run"
            )));
        }
        let destination = destination(&hosts, &run)?;
        if let Some(place) = addresses.iter().position(|address| *address == destination.address) {
            return Err(Failure::usage(format!(
                "runs {} and {id} are of one machine, {}, which makes one at a time; resume one, and then the other",
                jobs[place].run.as_deref().unwrap_or_default(),
                destination.address
            )));
        }
        addresses.push(destination.address.clone());
        jobs.push(Job {
            name: if run.known.is_some() { run.machine.name } else { run.host },
            again: format!("resume {id}"),
            run: Some(id.clone()),
            is_on_this_machine: destination.is_on_this_machine(),
            make: Box::new(move |interrupt, _| go_on(global, arguments, &id, &destination, interrupt)),
        });
    }
    drop(store);
    together::run(global, jobs, arguments.options, arguments.shown)
}

fn refuse_finished(run: &Run) -> Result<(), Failure> {
    if run.state == RunState::Finished {
        return Err(Failure::usage(format!("run {} is finished; there is nothing to go on with", run.id)));
    }
    Ok(())
}

/// How a run's machine is reached now: by its name, if it still has it, else as it was.
fn destination(hosts: &Hosts, run: &Run) -> Result<Destination, Failure> {
    match run.known.as_ref().filter(|known| hosts.find(&known.name).is_some()) {
        Some(known) => hosts.lead(&known.name).map_err(Failure::usage),
        None => Ok(Destination { known: run.known.clone(), ..Destination::of_address(&run.host) }),
    }
}

/// The targets that a run makes: one, or one for each side.
fn targets_of(run: &Run) -> Vec<&TargetOfRun> {
    let of_sides: Vec<_> = run.sides.iter().filter_map(|side| side.found.target.as_ref()).collect();
    if of_sides.is_empty() { run.target.iter().collect() } else { of_sides }
}

/// Programs with their versions, in a line.
fn programs(tools: &BTreeMap<String, Tool>) -> String {
    tools.iter().map(|(name, tool)| format!("{name} ({})", tool.version)).collect::<Vec<_>>().join(", ")
}

/// Makes what is missing of one run.
fn go_on(
    global: &Global,
    arguments: &Arguments,
    id: &str,
    destination: &Destination,
    interrupt: &Interrupt,
) -> Result<Ending, Failure> {
    let directory = global.store_directory()?;
    let mut store = Store::open(&directory)?;
    // Locked before it is loaded, so that nobody adds to it in between.
    let build = store.load(id)?.run.build;
    let (building, state) = (Building::of(build.as_ref()), arguments.state.as_ref());
    let bench = Bench::prepare(global, &directory, destination, &building, state, interrupt)?;
    let mut record = store.load(id)?;
    // Another program may have finished it since it was chosen.
    refuse_finished(&record.run)?;
    let now = bench.fingerprint(&record.run.suite)?;
    // A run is of one machine. If that is another one now, its repeats would not belong together.
    let differences = record.run.machine.differences(&now);
    if !differences.is_empty() {
        let words: Vec<_> = differences.iter().map(words::machine::in_words).collect();
        let message = format!("run {id} cannot go on: the machine is no longer what it was: {}", words.join("; "));
        return Err(Failure::unusable(message));
    }
    // Made by one program: the compiler is in the fingerprint, its sources are not.
    if build.as_ref().is_some_and(|build| *build != bench.build) {
        return Err(Failure::unusable(format!(
            "run {id} cannot go on: stend-probe is another build than it was made with; put the old one back, or begin another run"
        )));
    }
    // And of one work.
    let changed: Vec<_> = catalogue::changed_files(&record.run.suite).into_iter().collect();
    if !changed.is_empty() {
        return Err(Failure::unusable(format!(
            "run {id} cannot go on: what it measures is no longer what it was: {}; put the old contents back, or begin another run",
            changed.join(", ")
        )));
    }
    if let Some(path) = catalogue::new_device(&record.run.suite) {
        let message = format!(
            "run {id} cannot go on: its job file names {path}, which leads to a device now, and did not before"
        );
        return Err(Failure::unusable(message));
    }
    let wanted = record.run.target.as_ref().map(|target| &target.target);
    let standing = record.run.target.as_ref().and_then(|target| target.name.as_deref());
    if let Some(name) = standing {
        let (now, _) = rig::standing(&*bench.host, &bench.work, name)?;
        if wanted != Some(&now.target) {
            return Err(Failure::unusable(format!(
                "run {id} cannot go on: target {name} is another one now: {}; begin another run",
                now.target
            )));
        }
    } else if wanted.is_some() {
        // What the killed run's target still holds is not free, and a device may have another name after a boot.
        rig::take_down(&*bench.host, &bench.work, id)?;
        let needs = rig::Needs::of(&record.run.suite);
        needs.check_probe(&*bench.host, &bench.probe)?;
        for of_run in targets_of(&record.run) {
            let now = rig::check(&*bench.host, &bench.work, id, of_run.target.clone(), &needs)?;
            if !of_run.tools.is_empty() && now.tools != of_run.tools {
                return Err(Failure::unusable(format!(
                    "run {id} cannot go on: its target is made by other programs now: {}; put the old ones back, or begin another run",
                    programs(&now.tools)
                )));
            }
        }
    }
    let found: Vec<_> = record.run.sides.iter().map(|side| side.found.clone()).collect();
    let settings = bench.settings(global, &mut record.run.sides)?;
    if let Some((side, _)) = record.run.sides.iter().zip(&found).find(|(side, found)| side.found != **found) {
        return Err(Failure::unusable(format!(
            "run {id} cannot go on: what side \"{}\" is measured with is no longer what it was: its compiler, the sources that it builds, or a tool; \
             put the old one back, or begin another run",
            side.label
        )));
    }
    let (suite, skipped) = (&record.run.suite, &record.run.skipped);
    let files = prepare::files(&*bench.host, prepare::measured(suite, skipped), &bench.work, id, wanted);
    let files = files.map_err(Failure::unusable)?;
    let Some(conditions) = bench.fitness(global, &files, suite, skipped, arguments.options)? else {
        return Ok(Ending::Interrupted);
    };
    measure(global, bench, &mut store, record, Settled { settings, conditions }, arguments.options)
}
