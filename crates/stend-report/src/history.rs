//! A machine's history of one metric: a line of blocks, the changes and what else changed then, and a line a run; the same as a drawing
//! and as a page.

mod drawing;
mod page;
mod words;

use std::fmt::Write as _;

use self::words::{causes, headline, notes, subject, title};
use super::grid::{Grid, Style, piece, wrap, wrapped};
use super::phrase::Phrase;
use super::text::{change, count, interval_beside, spread, width};
use super::{csv, markdown};
use stend_compare::history::{Change, History, Point};
use stend_compare::table::Verdict;
use stend_model::quantity::english_plural;

pub use drawing::svg;
pub use page::page;

/// Heights from the least value to the greatest.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// For a terminal of this width.
pub fn terminal(history: &History, limit: usize, colour: bool) -> String {
    let mut out = String::new();
    let title = piece(title(history).en.into_owned(), Style::Bold);
    wrap(&title.text, limit).iter().for_each(|line| out.push_str(&format!("{}\n", title.styled(line, colour))));
    let _ = writeln!(out, "{}", wrapped(&subject(history).en, limit));
    line_of_blocks(&mut out, history, limit, colour);
    for change in &history.changes {
        let style = style(change);
        let head = piece(headline(history, change).en.into_owned(), style);
        let mut lines = wrap(&head.text, limit.saturating_sub(2)).into_iter();
        let first = lines.next().unwrap_or_default();
        let _ = writeln!(out, "{}", head.styled(&first, colour));
        lines.for_each(|line| out.push_str(&format!("  {line}\n")));
        for cause in causes(change) {
            for (index, line) in wrap(&cause.en, limit.saturating_sub(6)).iter().enumerate() {
                let _ = writeln!(out, "{}{line}", if index == 0 { "    " } else { "      " });
            }
        }
    }
    if !history.changes.is_empty() {
        out.push('\n');
    }
    if !history.points.is_empty() {
        let full = grid(history, true);
        let widest = history.points.iter().map(|point| width(&point.run)).max().unwrap_or(0);
        // An id says when the run began, too.
        let shown = if widest + full.figures_width() <= limit { full } else { grid(history, false) };
        out.push_str(&shown.write(limit, colour));
        out.push('\n');
    }
    for note in notes(history) {
        wrap(&note.en, limit).iter().for_each(|line| out.push_str(&format!("{line}\n")));
    }
    out
}

/// A line a run, with the moment when it began or without.
fn grid(history: &History, began: bool) -> Grid {
    let shown = |place: &usize| began || *place != 1;
    let heads = ["run", "began (UTC)", "median", "95 % interval", "spread", "n", ""];
    let mut grid = Grid::new(heads.into_iter().enumerate().filter(|(place, _)| shown(place)).map(|(_, head)| head));
    for (index, point) in history.points.iter().enumerate() {
        let change = history.changes.iter().find(|change| change.point == index);
        let cells = columns(history, point).into_iter().map(|text| piece(text, Style::Plain));
        let last = change.map_or_else(|| "".into(), |change| piece(mark_and_size(change), style(change)));
        let cells = cells.chain([last]).enumerate().filter(|(place, _)| shown(place));
        grid.push(cells.map(|(_, cell)| cell).collect());
    }
    for head in ["95 % interval", "spread", "n"] {
        grid.may_leave_out(head, 0);
    }
    grid
}

/// For a page or a pull request.
pub fn markdown(history: &History) -> String {
    let mut out = String::new();
    markdown::heading(&mut out, &title(history).en, &subject(history).en);
    for change in &history.changes {
        let _ = writeln!(out, "- {}", markdown::escape(&headline(history, change).en));
        for cause in causes(change) {
            let _ = writeln!(out, "  - {}", markdown::escape(&cause.en));
        }
    }
    if !history.changes.is_empty() {
        out.push('\n');
    }
    markdown::head(&mut out, ["run", "began (UTC)", "median", "95 % interval", "spread", "n", "change"]);
    for (index, point) in history.points.iter().enumerate() {
        let change = history.changes.iter().find(|change| change.point == index).map(mark_and_size);
        markdown::line(&mut out, columns(history, point).into_iter().chain([change.unwrap_or_default()]));
    }
    out.push('\n');
    for note in notes(history) {
        let _ = writeln!(out, "- {}", markdown::escape(&note.en));
    }
    out
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
        let change = history.changes.iter().find(|change| change.point == index);
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

/// The newest values that find room as blocks, with a mark under the first run after each change.
fn line_of_blocks(out: &mut String, history: &History, limit: usize, colour: bool) {
    let medians = history.points.iter().map(|point| point.median);
    let (least, most) = medians
        .clone()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if history.points.len() < 2 {
        return;
    }
    let ends = super::text::interval(history.unit, least, most);
    let room = limit.saturating_sub(width(&ends) + 4).max(10);
    let first = history.points.len().saturating_sub(room);
    let height = |value: f64| {
        let share = if most > least { (value - least) / (most - least) } else { 0.5 };
        BLOCKS[((share * 8.0) as usize).min(7)]
    };
    let blocks: String = medians.skip(first).map(height).collect();
    let _ = writeln!(out, "  {blocks}  {ends}");
    let marks = (first..history.points.len()).map(|index| {
        let change = history.changes.iter().find(|change| change.point == index);
        change.map_or_else(
            || " ".into(),
            |change| {
                let mark = piece(mark(change).to_string(), style(change));
                mark.styled(&mark.text, colour)
            },
        )
    });
    let marks: String = marks.collect();
    if !marks.trim().is_empty() {
        let _ = writeln!(out, "  {}", marks.trim_end());
    }
    if first > 0 {
        let _ = writeln!(out, "  ({} are not drawn)", english_plural(first, "older run", "older runs"));
    }
    out.push('\n');
}

fn columns(history: &History, point: &Point) -> [String; 6] {
    [
        point.run.clone(),
        point.started_at.strftime("%Y-%m-%d %H:%M").to_string(),
        history.unit.show(point.median),
        point
            .interval
            .map_or_else(|| "too few repeats".into(), |ends| interval_beside(history.unit, point.median, ends)),
        spread(point.spread),
        count(point.valid, 0, 0),
    ]
}

fn mark(change: &Change) -> char {
    super::text::mark(if change.improved { Verdict::Better } else { Verdict::Worse })
}

fn style(change: &Change) -> Style {
    if change.improved { Style::Better } else { Style::Worse }
}

fn mark_and_size(change_: &Change) -> String {
    format!("{} {}", mark(change_), change(change_.ratio))
}

/// Causes in one line.
fn joined(causes: &[Phrase]) -> String {
    causes.iter().map(|cause| cause.en.as_ref()).collect::<Vec<_>>().join("; ")
}
