//! `stend rm`: removes runs.

use clap::Args;
use stend_model::run::{HERE, RunState};
use stend_store::{MeasuringLock, Store};

use super::Global;
use super::completions;
use super::failure::{Exit, Failure};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The runs: ids or prefixes of them, labels, `last`, or `last~1` for the one before
    #[arg(required = true, add = completions::runs())]
    runs: Vec<String>,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let directory = global.store_to_read()?;
    let mut store = Store::open(&directory)?;
    // All are found before the first is removed: with each, `last` would mean another one.
    let mut ids: Vec<String> = Vec::new();
    for word in &arguments.runs {
        let id = store.resolve(word)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    for id in &ids {
        let summary = store.list()?.into_iter().find(|run| run.id == *id);
        let Some(summary) = summary else { continue };
        // Whoever measures it holds this.
        let host = Some(&*summary.host).filter(|host| *host != HERE);
        let _lock =
            (summary.state == Some(RunState::Open)).then(|| MeasuringLock::take(&directory, host)).transpose()?;
        store.remove(id)?;
        if !global.quiet {
            let called = summary.label.map(|label| format!(" ({label})")).unwrap_or_default();
            talk!("removed: run {id}{called}, suite {}, {} valid repeats", summary.suite, summary.valid);
        }
    }
    Ok(Exit::Fine)
}
