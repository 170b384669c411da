//! `stend list`: the runs that there are.

use clap::Args;
use stend_model::identity::short;
use stend_model::record::Kind;
use stend_model::record::Summary;

use super::Global;
use super::failure::{Exit, Failure};
use super::output::Shown;
use stend_report::doc::{Doc, Frame, Table, Value, figures, words};
use stend_store::{Store, StoreError};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    shown: Shown,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let runs = Store::open_to_read(&global.store_directory()?)?.list()?;
    if runs.is_empty() && !arguments.shown.is_json() {
        talk!("{}", StoreError::Empty);
        return Ok(Exit::Fine);
    }
    arguments.shown.print(global, "runs", &runs, || document(&runs))?;
    Ok(Exit::Fine)
}

/// A line a run. What it was made for is shown where not all are ordinary runs.
fn document(runs: &[Summary]) -> Doc {
    let kinds = runs.iter().any(|run| run.kind != Kind::Run);
    let columns = [
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
        let cells: Vec<Value> = [began.into(), run.suite.as_str().into()]
            .into_iter()
            .chain(kinds.then(|| kind.into()))
            .chain([run.state.as_str().into()])
            .chain(counts)
            .chain([format!("{} {}", run.machine, short(&run.hardware_id)).into()])
            .collect();
        table.row(run.id.as_str(), cells);
    }
    Doc::of(table)
}
