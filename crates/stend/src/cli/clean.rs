//! `stend clean`: remove what interrupted runs left on this machine.

use clap::Args;
use stend_model::run::is_run_id;

use super::failure::{Exit, Failure};
use crate::host::{Host as _, Local};
use crate::run::{leaves, prepare};

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
    if names.is_empty() {
        talk!("there is nothing to remove");
    }
    Ok(Exit::Fine)
}
