//! A table that is laid out otherwise than one line a scenario, before it is written: what stands in each line and cell.

use std::cmp::Reverse;
use std::fmt;

use super::text;
use stend_compare::pivot::{BETWEEN, Section, WithoutFigures, matrices, sections};
use stend_compare::table::{Cell, Column, ColumnOrigin, Lack, Measured, OfCeiling, Row, Table};

/// A section, ready to be written.
pub(super) struct Block<'a> {
    /// What all of it has in common, where that must be said.
    pub(super) title: String,
    /// What goes down.
    pub(super) corner: String,
    /// The keys of what goes down.
    pub(super) keys: Vec<String>,
    /// What goes across.
    pub(super) columns: Vec<String>,
    pub(super) groups: Vec<Group<'a>>,
    /// What was left out, because no run has a figure for it.
    pub(super) without: Vec<WithoutFigures<'a>>,
}

/// What stands under one label: a line for each run, the base's first, and for each published machine that has a figure.
pub(super) struct Group<'a> {
    pub(super) label: String,
    /// What the label is made of: a value for each key.
    pub(super) values: Vec<&'a str>,
    pub(super) lines: Vec<Line<'a>>,
    /// What the base's main figure reaches of its ceilings.
    pub(super) ceilings: &'a [OfCeiling],
}

/// One machine, or one run of it.
pub(super) struct Line<'a> {
    pub(super) column: &'a Column,
    pub(super) is_base: bool,
    /// Why it has no figure at all, where that has one reason.
    pub(super) lack: Option<&'a Lack>,
    /// One for each of the block's columns.
    pub(super) cells: Vec<Option<(&'a Row, &'a Cell)>>,
}

/// The repeats under the figures of a line: valid ones, and those that do not count.
pub(super) struct Count {
    fewest: (u32, u32),
    most: (u32, u32),
    pub(super) some_invalid: bool,
    /// Values far from the rest, of the figure that has most of them.
    pub(super) outliers: u32,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.fewest != self.most {
            write!(f, "{} … ", text::count(self.fewest.0, self.fewest.1, 0))?;
        }
        f.write_str(&text::count(self.most.0, self.most.1, self.outliers))
    }
}

/// The table in its own layout; nothing where it has none.
pub(super) fn blocks<'a>(table: &'a Table, all_metrics: bool) -> Vec<Block<'a>> {
    let Some(layout) = table.layout.as_ref().filter(|layout| !layout.is_plain()) else { return Vec::new() };
    sections(&table.shown(all_metrics), layout).into_iter().map(|section| block(table, section)).collect()
}

/// Each family with two axes of numbers as a matrix.
pub(super) fn matrix_blocks(table: &Table) -> Vec<Block<'_>> {
    matrices(table).into_iter().map(|section| block(table, section)).collect()
}

fn block<'a>(table: &'a Table, section: Section<'a>) -> Block<'a> {
    let (section, without) = section.without_empty_columns();
    let group = |line: stend_compare::pivot::Line<'a>| {
        let cells =
            |index: usize| line.cells.iter().map(move |row| row.and_then(|row| Some((row, row.cells.get(index)?))));
        let lines = table.columns.iter().enumerate().map(|(index, column)| Line {
            column,
            is_base: index == 0,
            lack: one_lack(cells(index).flatten().map(|(_, cell)| cell)),
            cells: cells(index).collect(),
        });
        let said = |line: &Line| line.cells.iter().flatten().any(|(_, cell)| **cell != Cell::Absent);
        let main = cells(0).flatten().find(|(row, _)| row.main);
        Group {
            label: line.values.join(BETWEEN),
            values: line.values,
            lines: lines.filter(|line| line.is_base || said(line)).collect(),
            ceilings: main.and_then(|(_, cell)| cell.measured()).map_or(&[], |measured| &measured.of_ceilings),
        }
    };
    Block {
        title: section.title,
        corner: section.corner,
        keys: section.keys,
        columns: section.columns,
        groups: section.lines.into_iter().map(group).collect(),
        without,
    }
}

fn one_lack<'a>(mut cells: impl Iterator<Item = &'a Cell>) -> Option<&'a Lack> {
    let Some(Cell::Nothing { why }) = cells.next() else { return None };
    cells.all(|cell| matches!(cell, Cell::Nothing { why: other } if other == why)).then_some(why)
}

impl Line<'_> {
    /// What it is called under its group's label: a run by its id, a published machine by its name.
    pub(super) fn label(&self) -> &str {
        match &self.column.origin {
            ColumnOrigin::Run { id, .. } => id,
            ColumnOrigin::Published { .. } => &self.column.title,
        }
    }

    /// How many repeats its figures rest on; nothing where none was measured.
    pub(super) fn count(&self) -> Option<Count> {
        // Metrics of one scenario rest on the same repeats, scenarios side by side each on their own.
        let repeats = || self.measured().map(|value| (value.valid, value.invalid));
        Some(Count {
            fewest: repeats().min_by_key(|(valid, invalid)| (*valid, Reverse(*invalid)))?,
            most: repeats().max_by_key(|(valid, invalid)| (*valid, Reverse(*invalid)))?,
            some_invalid: repeats().any(|(_, invalid)| invalid > 0),
            outliers: self.measured().map(|value| value.outliers).max().unwrap_or(0),
        })
    }

    fn measured(&self) -> impl Iterator<Item = &Measured> {
        self.cells.iter().flatten().filter_map(|(_, cell)| cell.measured())
    }
}

#[cfg(test)]
#[path = "wide_tests.rs"]
mod tests;
