//! `stend list`: the runs that there are.

use std::collections::BTreeSet;

use clap::Args;
use stend_model::identity::short;
use stend_model::nearest;
use stend_model::record::Kind;
use stend_model::record::Summary;
use stend_model::run::RunState;

use super::Global;
use super::completions;
use super::failure::{Exit, Failure};
use super::output::Shown;
use stend_report::doc::{Doc, Frame, Table, Value, figures, words};
use stend_stand::hosts::Hosts;
use stend_store::{Store, StoreError};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Only runs of this suite
    #[arg(long, value_name = "NAME", add = completions::measured_suites())]
    suite: Option<String>,
    /// Only runs of this machine
    #[arg(long, value_name = "NAME", add = completions::machines())]
    machine: Option<String>,
    /// Only the run with this label
    #[arg(long, value_name = "NAME", add = completions::labels())]
    label: Option<String>,
    /// Only the newest so many of these
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    #[command(flatten)]
    shown: Shown,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let directory = global.store_to_read()?;
    let mut runs = Store::open_to_read(&directory)?.list()?;
    if runs.is_empty() && !arguments.shown.is_json() {
        talk!("{}: {}", directory.display(), StoreError::Empty);
        return Ok(Exit::Fine);
    }
    let hosts = Hosts::read(&directory).map_err(Failure::usage)?;
    keep(&mut runs, ("suite", &arguments.suite), |run, name| run.suite == name, |run| Some(&run.suite))?;
    let is_of = |run: &Summary, name: &str| hosts.is_of((&run.machine, &run.host), name);
    keep(&mut runs, ("machine", &arguments.machine), is_of, |run| Some(&run.machine))?;
    let is_called = |run: &Summary, name: &str| run.label.as_deref() == Some(name);
    keep(&mut runs, ("label", &arguments.label), is_called, |run| run.label.as_deref())?;
    let limit = arguments.limit.map_or(usize::MAX, |limit| limit as usize);
    runs.drain(..runs.len().saturating_sub(limit));
    arguments.shown.print(global, "runs", &runs, || document(&runs))?;
    Ok(Exit::Fine)
}

/// Leaves the runs that are asked for, if any are asked for. A name that none of them has was probably mistyped.
fn keep(
    runs: &mut Vec<Summary>,
    (what, wanted): (&str, &Option<String>),
    is_it: impl Fn(&Summary, &str) -> bool,
    name: impl Fn(&Summary) -> Option<&str>,
) -> Result<(), Failure> {
    let Some(wanted) = wanted else { return Ok(()) };
    if !runs.is_empty() && !runs.iter().any(|run| is_it(run, wanted)) {
        let names: BTreeSet<&str> = runs.iter().filter_map(name).collect();
        let hint = nearest::hint(wanted, names.iter().copied());
        let there: Vec<_> = names.into_iter().collect();
        let there = if there.is_empty() { "none".into() } else { there.join(", ") };
        return Err(Failure::usage(format!("--{what} {wanted}: no run has this {what}{hint}; there are {there}")));
    }
    runs.retain(|run| is_it(run, wanted));
    Ok(())
}

/// A line a run. What it was made for is shown where not all are ordinary runs, and labels where any has one.
fn document(runs: &[Summary]) -> Doc {
    let kinds = runs.iter().any(|run| run.kind != Kind::Run);
    let labels = runs.iter().any(|run| run.label.is_some());
    let columns = [
        labels.then(|| words("label")),
        // An id says when its run began.
        Some(words("began (UTC)").may_go(0).spare()),
        Some(words("suite")),
        kinds.then(|| words("kind").may_go(5)),
        Some(words("state").may_go(6)),
        Some(figures("valid").may_go(3)),
        Some(figures("invalid").may_go(2)),
        Some(figures("failed").may_go(1)),
        Some(words("machine").may_go(4)),
    ];
    let mut table = Table::new(&["run"], columns.into_iter().flatten(), Frame::Head);
    for run in runs {
        let began = run.started_at.get(..19).unwrap_or(&run.started_at).replace('T', " ");
        let kind = match run.kind {
            Kind::Run => "run",
            Kind::Ab => "A/B",
        };
        let counts = [run.valid, run.invalid, run.failed].map(|count| Value::Number(count.into(), ""));
        let label = labels.then(|| run.label.as_deref().unwrap_or_default().into());
        let cells: Vec<Value> = label
            .into_iter()
            .chain([began.into(), run.suite.as_str().into()])
            .chain(kinds.then(|| kind.into()))
            .chain([state_of(run).into()])
            .chain(counts)
            .chain([format!("{} {}", run.machine, short(&run.hardware_id)).into()])
            .collect();
        table.row(run.id.as_str(), cells);
    }
    Doc::of(table)
}

/// How far a run is.
pub(super) fn state_of(run: &Summary) -> &'static str {
    run.state.map_or("damaged", RunState::word)
}
