//! The table with metrics or the values on an axis across, as a page shows it.

use super::overview::{CellView, cell};
use crate::notes;
use crate::phrase::{Phrase, of_ceiling};
use crate::text;
use crate::texts::TEXTS;
use crate::wide::{Block, Group, Line, blocks};
use stend_compare::pivot::BETWEEN;
use stend_compare::table::{Cell, Measured, Row, Table};

/// A section of the table.
pub(super) struct WideView {
    pub(super) title: String,
    pub(super) corner: Phrase,
    pub(super) columns: Vec<String>,
    pub(super) groups: Vec<GroupView>,
    /// Columns that are left out, and why.
    pub(super) without: Vec<(String, Phrase)>,
}

/// What stands under one label.
pub(super) struct GroupView {
    pub(super) label: String,
    /// The scenario's place on the page, if it is one.
    pub(super) anchor: Option<usize>,
    pub(super) lines: Vec<LineView>,
    pub(super) of_ceilings: Vec<Phrase>,
}

/// A run, or a published machine.
pub(super) struct LineView {
    /// Its name; the base's is over the table.
    pub(super) label: String,
    pub(super) published: bool,
    pub(super) count: String,
    /// Why there is no figure at all.
    pub(super) lack: Option<Phrase>,
    pub(super) cells: Vec<WideCellView>,
}

/// A figure, and under it its interval or spread.
#[derive(Default)]
pub(super) struct WideCellView {
    pub(super) figure: CellView,
    pub(super) under: String,
    /// Its metric, unless that is the scenario's main one.
    pub(super) minor: String,
}

pub(super) fn wide(table: &Table, names: &[&str]) -> Vec<WideView> {
    blocks(table, false).iter().map(|block| view(block, names)).collect()
}

fn view(block: &Block, names: &[&str]) -> WideView {
    WideView {
        title: block.title.clone(),
        corner: corner(&block.corner),
        columns: block.columns.clone(),
        groups: block.groups.iter().map(|one| group(one, names)).collect(),
        without: block.without.iter().map(|one| (one.metric.to_owned(), notes::lack(one.why))).collect(),
    }
}

/// What goes down; names of axes are the suite's.
fn corner(corner: &str) -> Phrase {
    let word = |key: &str| match key {
        "scenario" => TEXTS.scenario.clone(),
        "metric" => TEXTS.metric.clone(),
        axis => axis.into(),
    };
    let words: Vec<Phrase> = corner.split(BETWEEN).map(word).collect();
    Phrase::joined(&words, BETWEEN)
}

fn group(group: &Group, names: &[&str]) -> GroupView {
    GroupView {
        label: group.label.clone(),
        anchor: group.values.iter().find_map(|value| names.iter().position(|name| name == value)),
        lines: group.lines.iter().map(line).collect(),
        of_ceilings: group.ceilings.iter().map(of_ceiling).collect(),
    }
}

fn line(line: &Line) -> LineView {
    LineView {
        label: if line.is_base { String::new() } else { line.label().into() },
        published: line.column.reference().is_some(),
        count: line.count().map(|count| count.to_string()).unwrap_or_default(),
        lack: line.lack.map(notes::lack_in_a_word),
        cells: line.cells.iter().map(|one| figure(*one, line)).collect(),
    }
}

fn figure(figure: Option<(&Row, &Cell)>, line: &Line) -> WideCellView {
    let Some((row, one)) = figure else { return WideCellView::default() };
    let under = match one {
        Cell::Measured(value) => beside(row, value),
        _ => String::new(),
    };
    // Shares of ceilings stand under the scenario's name.
    WideCellView {
        figure: CellView { of_ceilings: Vec::new(), ..cell(row, one, &line.column.origin) },
        under,
        minor: if row.main { String::new() } else { row.metric.clone() },
    }
}

fn beside(row: &Row, value: &Measured) -> String {
    match (value.interval, value.spread) {
        (Some(interval), _) => text::interval_beside(row.unit, value.median, interval),
        (None, Some(spread)) => text::spread(Some(spread)),
        (None, None) => String::new(),
    }
}
