//! The runs that there are, a line each.

use stend_model::identity::short;

use super::grid::visible;
use super::text::width;
use crate::store::{Kind, Summary};

const HEADS: [&str; 9] = ["run", "began (UTC)", "suite", "kind", "state", "valid", "invalid", "failed", "machine"];

/// The columns of numbers, which are set right.
const NUMBERS: std::ops::Range<usize> = 5..8;

/// What it was made for, which is shown where not all are ordinary runs.
const KIND: usize = 3;

/// When it began, which a run's id says too.
const BEGAN: usize = 1;

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Run => "run",
        Kind::Ab => "A/B",
        Kind::Noise => "noise",
    }
}

/// For a terminal of this width: where there is no room for it, when a run began is left out.
pub(crate) fn terminal(runs: &[Summary], limit: usize) -> String {
    let mut lines: Vec<Vec<String>> = vec![HEADS.map(str::to_owned).to_vec()];
    lines.extend(runs.iter().map(|run| {
        let began = run.started_at.get(..19).unwrap_or(&run.started_at).replace('T', " ");
        let [valid, invalid, failed] = [run.valid, run.invalid, run.failed].map(|count| count.to_string());
        let machine = format!("{} {}", run.machine, short(&run.hardware_id));
        let (id, suite, state) = (run.id.clone(), run.suite.clone(), run.state.clone());
        let cells = [id, began, suite, kind(run.kind).to_owned(), state, valid, invalid, failed, machine];
        cells.map(|cell| visible(&cell)).to_vec()
    }));
    let widest = |column: usize| lines.iter().map(|line| width(&line[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEADS.len()).map(widest).collect();
    let kinds = runs.iter().any(|run| run.kind != Kind::Run);
    let is_there = |column: &usize| *column != KIND || kinds;
    let all: usize = (0..HEADS.len()).filter(is_there).map(|column| widths[column] + 2).sum::<usize>() - 2;
    let shown = |column: &usize| is_there(column) && (*column != BEGAN || all <= limit);
    let mut out = String::new();
    for line in &lines {
        let cell = |column: usize| {
            let space = " ".repeat(widths[column] - width(&line[column]));
            if NUMBERS.contains(&column) { space + &line[column] } else { line[column].clone() + &space }
        };
        let cells: Vec<String> = (0..HEADS.len()).filter(shown).map(cell).collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
    out
}
