//! `stend clean`: remove what interrupted runs and targets left on this machine.

use clap::Args;
use stend_model::run::is_run_id;

use super::failure::{Exit, Failure};
use super::output;
use crate::host::{Host as _, Local};
use crate::run::{leaves, prepare};
use crate::target::{self, State};

#[derive(Debug, Args)]
pub(super) struct Arguments {}

pub(super) fn run(_: &Arguments) -> Result<Exit, Failure> {
    let directory = prepare::work_directory(&Local).map_err(Failure::unusable)?;
    // While somebody measures, those files are in use. Where there are none, nothing is made either.
    let there = Local.list(&directory).is_ok();
    let _lock = there.then(|| prepare::lock(&Local, &directory)).transpose().map_err(Failure::unusable)?;
    let names: Vec<_> = Local.list(&directory).unwrap_or_default().into_iter().filter(|name| is_run_id(name)).collect();
    for name in &names {
        let path = format!("{directory}/{name}");
        leaves::remove(&Local, &path).map_err(|error| Failure::unusable(error.to_string()))?;
        talk!("removed {path}");
    }
    let mut removed = names.len();
    let mut failure = None;
    for status in target::statuses(&Local, &directory) {
        let name = &status.name;
        if status.state == State::Up && target::is_name(name) {
            talk!("target {name} stands; `{} target down --name {name}` takes it down", output::program());
            continue;
        }
        match target::take_down(&Local, &directory, name) {
            Ok(_) => talk!("removed target {name}"),
            Err(refusal) => failure = failure.or(Some(refusal)),
        }
        removed += 1;
    }
    if removed == 0 {
        talk!("there is nothing to remove");
    }
    failure.map_or(Ok(Exit::Fine), |refusal| Err(refusal.into()))
}
