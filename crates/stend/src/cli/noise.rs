//! `stend noise`: how much this machine differs from itself.

use clap::Args;

use super::Global;
use super::failure::{Exit, Failure};
use super::output;
use super::run;
use crate::noise;
use crate::report::noise as render;
use crate::store::{Record, Store};

// Those of `stend run` within have the same name.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// Measure nothing, and show a noise measurement that there is [default: the newest]
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, default_missing_value = "newest")]
    show: Option<String>,
    #[command(flatten)]
    run: run::Arguments,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let Some(wanted) = &arguments.show else { return run::measure_noise(global, &arguments.run) };
    let store = Store::open_to_read(&global.store_directory()?)?;
    let id = if wanted == "newest" {
        let newest = store.noise_runs()?.pop();
        newest.ok_or_else(|| Failure::usage("there is no noise measurement yet; `stend noise` makes one"))?.id
    } else {
        store.resolve(wanted)?
    };
    let record = store.load(&id)?;
    if !record.run.noise {
        return Err(Failure::usage(format!("run {id} is no noise measurement; `stend noise` makes one")));
    }
    if let Some(emulator) = record.emulator() {
        return Err(Failure::usage(format!(
            "emulated: not compared: run {id} was emulated by {emulator}, which is no machine's noise"
        )));
    }
    print(global, &store, &record, arguments.run.json())?;
    Ok(Exit::Fine)
}

/// Prints what a noise measurement found.
pub(super) fn print(global: &Global, store: &Store, record: &Record, json: output::Json) -> Result<(), Failure> {
    let noise = noise::of(record, &store.series(&record.run.id)?);
    if json.json {
        return output::print_json("noise", &noise);
    }
    output::print(&render::terminal(&noise, output::width(), global.colour()))
}
