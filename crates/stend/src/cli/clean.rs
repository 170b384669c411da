//! `stend clean`: remove what interrupted runs left on this machine.

use clap::Args;
use stend_model::run::is_run_id;

use super::Global;
use super::failure::{Exit, Failure};
use crate::host::{Host as _, Local};
use crate::run::{leaves, prepare};
use crate::store::MeasuringLock;

#[derive(Debug, Args)]
pub(super) struct Arguments {}

pub(super) fn run(global: &Global, _: &Arguments) -> Result<Exit, Failure> {
    let store = global.store_directory()?;
    // While somebody measures, those files are in use.
    let _lock = if store.exists() { Some(MeasuringLock::take(&store)?) } else { None };
    let directory = prepare::work_directory(&Local).map_err(Failure::unusable)?;
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
