//! `stend resume`: go on with a run that was interrupted or killed.

use clap::Args;
use stend_model::run::{Run, RunState};

use super::Global;
use super::failure::{Exit, Failure};
use super::on::Building;
use super::output::Json;
use super::run::{Bench, Options, Settled, interrupted_early, measure};
use crate::store::Store;
use crate::{catalogue, machine, target};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The run [default: the newest that is not finished]
    run: Option<String>,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    json: Json,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let directory = global.store_directory()?;
    let mut store = Store::open(&directory)?;
    let id = match &arguments.run {
        Some(wanted) => store.resolve(wanted)?,
        None => store.newest_open()?.ok_or_else(|| Failure::usage("there is no run that is not finished"))?,
    };
    if store.load(&id)?.run.carried {
        return Err(Failure::usage(format!(
            "run {id} was made without a lab and carried here: go on with it there (stend-probe run PLAN --continue RESULT), and import the result again"
        )));
    }
    // Locked before it is loaded, so that nobody adds to it in between.
    let Run { host, build, .. } = store.load(&id)?.run;
    let bench = Bench::prepare(&directory, &host, &Building::of(build.as_ref()))?;
    let mut record = store.load(&id)?;
    if record.run.state == RunState::Finished {
        return Err(Failure::usage(format!("run {id} is finished; there is nothing to go on with")));
    }
    let now = bench.fingerprint()?;
    // A run is of one machine. If that is another one now, its repeats would not belong together.
    let differences = record.run.machine.differences(&now);
    if !differences.is_empty() {
        let words: Vec<_> = differences.iter().map(machine::in_words).collect();
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
        let (now, _) = target::standing(&*bench.host, &bench.work, name)?;
        if wanted != Some(&now.target) {
            return Err(Failure::unusable(format!(
                "run {id} cannot go on: target {name} is another one now: {}; begin another run",
                now.target
            )));
        }
    } else if let Some(wanted) = wanted {
        // What the killed run's target still holds is not free, and a device may have another name after a boot.
        target::take_down(&*bench.host, &bench.work, &id)?;
        let needs = target::Needs::of(&record.run.suite);
        needs.check_probe(&*bench.host, &bench.probe)?;
        target::check(&*bench.host, &bench.work, &id, wanted.clone(), &needs)?;
    }
    let found: Vec<_> = record.run.sides.iter().map(|side| side.found.clone()).collect();
    let settings = bench.settings(&mut record.run.sides)?;
    if let Some((side, _)) = record.run.sides.iter().zip(&found).find(|(side, found)| side.found != **found) {
        return Err(Failure::unusable(format!(
            "run {id} cannot go on: what side \"{}\" is measured with is no longer what it was: its compiler, the sources that it builds, or a tool; \
             put the old one back, or begin another run",
            side.label
        )));
    }
    let Some(conditions) =
        bench.fitness(global, &id, &record.run.suite, &record.run.skipped, wanted, arguments.options)?
    else {
        return Ok(interrupted_early());
    };
    measure(global, bench, &mut store, record, Settled { settings, conditions }, arguments.options, arguments.json)
}
