//! The runs that there are, a line each.

use stend_model::identity::short;

use super::grid::visible;
use super::text::width;
use crate::store::Summary;

const HEADS: [&str; 8] = ["run", "began (UTC)", "suite", "state", "valid", "invalid", "failed", "machine"];

/// The columns of numbers, which are set right.
const NUMBERS: std::ops::Range<usize> = 4..7;

/// When it began, which a run's id says too.
const BEGAN: usize = 1;

/// For a terminal of this width: where there is no room for it, when a run began is left out.
pub(crate) fn terminal(runs: &[Summary], limit: usize) -> String {
    let mut lines: Vec<Vec<String>> = vec![HEADS.map(str::to_owned).to_vec()];
    lines.extend(runs.iter().map(|run| {
        let began = run.started_at.get(..19).unwrap_or(&run.started_at).replace('T', " ");
        let [valid, invalid, failed] = [run.valid, run.invalid, run.failed].map(|count| count.to_string());
        let machine = format!("{} {}", run.machine, short(&run.hardware_id));
        let cells = [run.id.clone(), began, run.suite.clone(), run.state.clone(), valid, invalid, failed, machine];
        cells.map(|cell| visible(&cell)).to_vec()
    }));
    let widest = |column: usize| lines.iter().map(|line| width(&line[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEADS.len()).map(widest).collect();
    let all = widths.iter().sum::<usize>() + 2 * (HEADS.len() - 1);
    let shown = |column: &usize| *column != BEGAN || all <= limit;
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
