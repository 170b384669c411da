//! `stend noise`: how much this machine differs from itself.

use std::collections::BTreeSet;

use clap::Args;
use stend_model::suite::Changes;

use super::Global;
use super::failure::{Exit, Failure};
use super::output::Shown;
use super::run;
use crate::catalogue;
use stend_compare::noise;
use stend_model::record::Record;
use stend_report::noise as render;
use stend_store::Store;

/// What says how to measure, and so does not go with showing what was measured.
const MEASURING: [&str; 12] = [
    "fio",
    "time_budget",
    "ab",
    "profile",
    "dry_run",
    "target_name",
    "wait",
    "even_if_unfit",
    "Changing",
    "OnSeveral",
    "Building",
    "TargetFlags",
];

// Those of `stend run` within have the same name.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// Show a stored noise measurement instead of measuring [default: the newest, of the suite if one is named]
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, default_missing_value = "newest", conflicts_with_all = MEASURING)]
    show: Option<String>,
    #[command(flatten)]
    run: run::Arguments,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let Some(wanted) = &arguments.show else { return run::measure_noise(global, &arguments.run) };
    let store = Store::open_to_read(&global.store_directory()?)?;
    let suite = arguments.run.suite();
    let id = if wanted == "newest" { newest(&store, suite)? } else { store.resolve(wanted)? };
    let record = store.load(&id)?;
    if !record.run.noise {
        return Err(Failure::usage(format!("run {id} is not a noise measurement; `stend noise` makes one")));
    }
    if let (Some(suite), true) = (suite, wanted != "newest")
        && name_of(suite) != record.run.suite.name
    {
        return Err(Failure::usage(format!(
            "run {id} is of the suite \"{}\"; leave out {suite}",
            record.run.suite.name
        )));
    }
    if let Some(emulator) = record.emulator() {
        return Err(Failure::usage(format!(
            "emulated: not compared: run {id} was emulated by {emulator}, whose times are not a machine's noise"
        )));
    }
    print(global, &store, &record, arguments.run.options(), arguments.run.shown())?;
    Ok(Exit::Fine)
}

/// The newest noise measurement, of a suite if one is named.
fn newest(store: &Store, suite: Option<&str>) -> Result<String, Failure> {
    let runs = store.noise_runs()?;
    let last =
        runs.last().ok_or_else(|| Failure::usage("there is no noise measurement yet; `stend noise` makes one"))?;
    let Some(suite) = suite else { return Ok(last.id.clone()) };
    let name = name_of(suite);
    let newest = runs.iter().rfind(|run| run.suite.name == name).map(|run| run.id.clone());
    newest.ok_or_else(|| {
        let known: BTreeSet<&str> = runs.iter().map(|run| run.suite.name.as_str()).collect();
        Failure::usage(format!(
            "there is no noise measurement of the suite \"{name}\" yet, only of {}; `stend noise {suite}` makes one",
            Vec::from_iter(known).join(", ")
        ))
    })
}

/// What a suite is called that a person named, by its name or its file. Of one whose file is gone there may be runs all the same.
fn name_of(suite: &str) -> String {
    catalogue::suite(suite, &Changes::default()).map_or_else(|_| suite.to_owned(), |suite| suite.name)
}

/// Prints what a noise measurement found.
pub(super) fn print(
    global: &Global,
    store: &Store,
    record: &Record,
    options: run::Options,
    shown: Shown,
) -> Result<(), Failure> {
    let noise = noise::of(record, &store.series(&record.run.id)?);
    shown.print(global, "noise", &noise, || render::document(&noise, options.all_metrics()))
}
