//! `stend import`: runs that were exported, here or elsewhere.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;

use super::Global;
use super::failure::{Exit, Failure};
use crate::store::{Store, read_export};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Files that `stend export` wrote
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    // All files are read before the first run is added: a bad one among them leaves the store as it was.
    let mut read = Vec::new();
    for path in &arguments.files {
        let name = path.display().to_string();
        let file = std::fs::File::open(path)
            .with_context(|| format!("{name} cannot be read"))
            .map_err(|error| Failure::usage(format!("{error:#}")))?;
        read.push((name.clone(), read_export(file, &name)?));
    }
    let mut store = Store::open(&global.store_directory()?)?;
    for (name, (record, series)) in read {
        let added = store.import(&record, &series)?;
        let word = if added { "imported" } else { "is here already" };
        talk!("{name}: run {} {word}", record.run.id);
    }
    Ok(Exit::Fine)
}
