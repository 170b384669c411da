//! The runs that there are, a line each.

use stend_model::identity::short;

use super::grid::{visible, wrapped};
use super::text::width;
use stend_model::record::{Kind, Summary};

const HEADS: [&str; 9] = ["run", "began (UTC)", "suite", "kind", "state", "valid", "invalid", "failed", "machine"];

/// The columns of numbers, which are set right.
const NUMBERS: std::ops::Range<usize> = 5..8;

/// What it was made for, which is shown where not all are ordinary runs.
const KIND: usize = 3;

/// When it began, which a run's id says too.
const BEGAN: usize = 1;

/// What is left out where there is no room, in this order: the columns' places.
const OPTIONAL: [usize; 7] = [BEGAN, 7, 6, 5, 8, KIND, 4];

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Run => "run",
        Kind::Ab => "A/B",
        Kind::Noise => "noise",
    }
}

/// For a terminal of this width: where there is no room for all columns, some are left out, and a last line says which.
pub fn terminal(runs: &[Summary], limit: usize) -> String {
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
    let mut shown: Vec<usize> = (0..HEADS.len()).filter(|column| *column != KIND || kinds).collect();
    let mut left_out = Vec::new();
    for column in OPTIONAL {
        let all: usize = shown.iter().map(|column| widths[*column] + 2).sum::<usize>() - 2;
        if all > limit && shown.contains(&column) {
            shown.retain(|other| *other != column);
            left_out.push(HEADS[column]);
        }
    }
    let mut out = String::new();
    for line in &lines {
        let cell = |column: usize| {
            let space = " ".repeat(widths[column] - width(&line[column]));
            if NUMBERS.contains(&column) { space + &line[column] } else { line[column].clone() + &space }
        };
        let cells: Vec<String> = shown.iter().copied().map(cell).collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
    // An id says when its run began.
    left_out.retain(|head| *head != HEADS[BEGAN]);
    if !left_out.is_empty() {
        out.push_str(&wrapped(&format!("no room here for: {}", left_out.join(", ")), limit));
    }
    out
}
