//! A machine's history of one metric: a line of blocks, the changes and what else changed then, and a line a run; the same as a drawing
//! and as a page.

mod drawing;
mod page;
mod words;

use self::words::{causes, headline, notes, subject, title};
use super::csv;
use super::doc::{self, Block, Doc, Frame, Role, Table, Trend, Value, figures};
use super::phrase::Phrase;
use super::text::{marked, width};
use super::texts::TEXTS;
use stend_compare::history::{Change, History, Point};
use stend_compare::table::Verdict;

pub use drawing::svg;
pub use page::page;

/// What it shows at a terminal and on a page.
pub fn document(history: &History) -> Doc {
    let mut doc = Doc::default();
    doc.heading(title(history), "");
    doc.say(Role::Fact, [subject(history)]);
    if history.points.len() > 1 {
        let values = history.points.iter().enumerate();
        let values = values.map(|(index, point)| (point.median, change_at(history, index).map(verdict)));
        doc.body.push(Block::Trend(Trend { unit: history.unit, values: values.collect() }));
    }
    for change in &history.changes {
        doc.say(Role::Change(verdict(change)), [headline(history, change)]);
        doc.say(Role::Cause, causes(change));
    }
    if !history.points.is_empty() {
        doc.table(table(history));
    }
    doc.say_last(Role::Note, notes(history));
    doc
}

/// A line a run.
fn table(history: &History) -> Table {
    let widest = history.points.iter().map(|point| width(&point.run)).max().unwrap_or(0);
    let columns = [
        // An id says when the run began, too.
        doc::words("began (UTC)").may_go_for(0, widest).spare(),
        figures("median"),
        figures("95 % interval").may_go(1),
        figures("spread").may_go(2),
        figures("n").may_go(3),
    ];
    let columns = columns.into_iter().chain((!history.changes.is_empty()).then(|| figures("change")));
    let mut table = Table::new(&["run"], columns, Frame::Ruled);
    for (index, point) in history.points.iter().enumerate() {
        let change = change_at(history, index);
        let change = change.map_or(Value::Nothing, |change| Value::Change {
            verdict: verdict(change),
            solid: true,
            ratio: Some(change.ratio),
        });
        let cells = values(history, point).into_iter().chain([change]);
        table.row(point.run.as_str(), cells);
    }
    table
}

/// The change that begins with a point.
fn change_at(history: &History, index: usize) -> Option<&Change> {
    history.changes.iter().find(|change| change.point == index)
}

/// For a spreadsheet: a line a run, numbers in the metric's unit and in full precision.
pub fn csv(history: &History) -> String {
    let mut out = String::new();
    csv::line(
        &mut out,
        [
            "scenario",
            "metric",
            "unit",
            "better",
            "run",
            "started_at",
            "median",
            "interval_low",
            "interval_high",
            "spread",
            "valid",
            "change_ratio",
            "change_p",
            "changed",
        ],
    );
    for (index, point) in history.points.iter().enumerate() {
        let change = change_at(history, index);
        let optional = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        csv::line(
            &mut out,
            [
                history.scenario.clone(),
                history.metric.clone(),
                history.unit.to_string(),
                super::text::direction(history.better).into(),
                point.run.clone(),
                point.started_at.to_string(),
                point.median.to_string(),
                optional(point.interval.map(|(low, _)| low)),
                optional(point.interval.map(|(_, high)| high)),
                optional(point.spread),
                point.valid.to_string(),
                optional(change.map(|change| change.ratio)),
                optional(change.map(|change| change.p)),
                change.map(|change| joined(&causes(change))).unwrap_or_default(),
            ],
        );
    }
    out
}

/// When a run began, and what it measured.
fn values(history: &History, point: &Point) -> [Value; 5] {
    let interval = point.interval.map(|ends| Value::Interval(history.unit, ends, Some(point.median)));
    [
        Value::Moment(point.started_at),
        Value::Quantity(history.unit, point.median),
        interval.unwrap_or_else(|| TEXTS.too_few.clone().into()),
        Value::Spread(point.spread),
        Value::Count { valid: point.valid, invalid: 0, outliers: 0 },
    ]
}

/// The run, and this as people read it.
fn columns(history: &History, point: &Point) -> [String; 6] {
    let [began, median, interval, spread, count] = values(history, point).map(|value| value.shown());
    [point.run.clone(), began, median, interval, spread, count]
}

/// What a change is taken for.
fn verdict(change: &Change) -> Verdict {
    if change.improved { Verdict::Better } else { Verdict::Worse }
}

fn mark_and_size(change: &Change) -> String {
    marked(verdict(change), true, Some(change.ratio))
}

/// Causes in one line.
fn joined(causes: &[Phrase]) -> String {
    causes.iter().map(|cause| cause.english()).collect::<Vec<_>>().join("; ")
}
