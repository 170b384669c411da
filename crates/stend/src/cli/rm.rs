//! `stend rm`: removes runs.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use stend_model::quantity::{format_size, parse_duration, parse_size};
use stend_model::record::Summary;
use stend_model::run::{HERE, RunState};
use stend_store::{MeasuringLock, Store};

use super::Global;
use super::completions;
use super::failure::{Exit, Failure};
use super::serve::failure;

#[derive(Debug, Args)]
#[command(after_help = "On a node of a fleet, finished runs are removed from all nodes (docs/guide/fleet.md)")]
pub(super) struct Arguments {
    /// The runs: ids or prefixes of them, labels, `last`, or `last~1` for the one before
    #[arg(required_unless_present_any = ["older_than", "to_size"], add = completions::runs())]
    runs: Vec<String>,
    /// Remove finished runs without a label that began longer ago than this: 90d
    #[arg(long, value_name = "TIME", value_parser = age, conflicts_with = "runs")]
    older_than: Option<Duration>,
    /// Remove the oldest finished runs without a label until all runs together take no more than this: 10GiB
    #[arg(long, value_name = "SIZE", value_parser = size, conflicts_with = "runs")]
    to_size: Option<u64>,
    /// Print what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

fn age(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|error| error.to_string())
}

fn size(text: &str) -> Result<u64, String> {
    parse_size(text).map_err(|error| error.to_string())
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let directory = global.store_to_read()?;
    let mut store = Store::open(&directory)?;
    let runs = store.list()?;
    // All are found before the first is removed: with each, `last` would mean another one.
    let mut chosen = if arguments.runs.is_empty() { by_rule(&store, &runs, arguments)? } else { Vec::new() };
    for word in &arguments.runs {
        let id = store.resolve(word)?;
        if let Some(run) = runs.iter().find(|run| run.id == id)
            && !chosen.iter().any(|run| run.id == id)
        {
            chosen.push(run);
        }
    }
    // Whoever measures one holds the lock of its machine.
    let open = chosen.iter().filter(|run| run.state == Some(RunState::Open));
    let hosts: BTreeSet<&str> = open.map(|run| &*run.host).collect();
    let lock = |host| MeasuringLock::take(&directory, Some(host).filter(|host| *host != HERE));
    let _locks = hosts.into_iter().map(lock).collect::<Result<Vec<_>, _>>()?;
    let sizes = chosen.iter().map(|run| store.size_of(&run.id)).collect::<Result<Vec<_>, _>>()?;
    if !arguments.dry_run {
        let ids = |of: &[&Summary]| of.iter().map(|run| run.id.clone()).collect::<Vec<String>>();
        let finished: Vec<_> = chosen.iter().copied().filter(|run| run.is_finished()).collect();
        stend_server::remove_from_fleet(&directory, &ids(&finished)).map_err(failure)?;
        store.remove(&ids(&chosen))?;
    }
    if !global.quiet {
        let word = if arguments.dry_run { "would be removed" } else { "removed" };
        for (run, size) in chosen.iter().zip(sizes) {
            let called = run.label.as_ref().map(|label| format!(" ({label})")).unwrap_or_default();
            let (id, suite, valid) = (&run.id, &run.suite, run.valid);
            talk!("{word}: run {id}{called}, suite {suite}, {valid} valid repeats, {}", format_size(size));
        }
        if chosen.is_empty() {
            talk!("no run is to be removed");
        }
    }
    Ok(Exit::Fine)
}

/// What a rule removes, oldest first: never what is being measured or has a label.
fn by_rule<'a>(store: &Store, runs: &'a [Summary], arguments: &Arguments) -> Result<Vec<&'a Summary>, Failure> {
    let sizes = runs.iter().map(|run| store.size_of(&run.id)).collect::<Result<Vec<_>, _>>()?;
    let mut left: u64 = sizes.iter().sum();
    let now = Timestamp::now();
    let mut chosen = Vec::new();
    for (run, size) in runs.iter().zip(sizes) {
        if !run.is_finished() || run.label.is_some() {
            continue;
        }
        let began = run.started_at.parse::<Timestamp>().ok();
        let age = began.and_then(|began| Duration::try_from(now.duration_since(began)).ok());
        let is_old = arguments.older_than.zip(age).is_some_and(|(oldest, age)| age > oldest);
        if is_old || arguments.to_size.is_some_and(|most| left > most) {
            left -= size;
            chosen.push(run);
        }
    }
    Ok(chosen)
}
