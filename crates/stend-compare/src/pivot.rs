//! Other ways to lay the table out: what goes down and what goes across, after benchstat's `-row` and `-col`.
//!
//! A cell is a row of the [`Table`]: a metric of a scenario, with all of its runs and published machines. What neither goes down nor across
//! tells sections apart.

use std::collections::{BTreeMap, BTreeSet};

use stend_model::quantity::{parse_share, parse_size};
use stend_model::suite::{Key, Keys, Layout};

use super::table::{Cell, Lack, Row, Table};

/// Between the values of several keys.
pub const BETWEEN: &str = " · ";

/// A part of the table laid out.
#[derive(Debug, Clone)]
pub struct Section<'a> {
    /// What all of its cells have in common, where there are several sections; empty otherwise.
    pub title: String,
    /// The axes that go down and across, where these are axes.
    pub corner: String,
    /// The keys of what goes down.
    pub keys: Vec<String>,
    /// What goes across.
    pub columns: Vec<String>,
    /// What goes down.
    pub lines: Vec<Line<'a>>,
}

/// A line of a section.
#[derive(Debug, Clone)]
pub struct Line<'a> {
    /// What it is of: a value for each key.
    pub values: Vec<&'a str>,
    /// One for each column of the section.
    pub cells: Vec<Option<&'a Row>>,
}

/// A column of metrics that no run has a figure for.
#[derive(Debug, Clone)]
pub struct WithoutFigures<'a> {
    /// The metric.
    pub metric: &'a str,
    /// Why.
    pub why: &'a Lack,
}

/// The rows of a section by their places in it: what they are of down, and across.
type Placed<'a> = BTreeMap<(Vec<&'a str>, Vec<&'a str>), &'a Row>;

/// Lays rows out. Lines and columns are ordered by their first key, then by the next; the values of a key stand in the order in which the rows
/// first have them, metrics in the layout's, if it names any.
pub fn sections<'a>(rows: &[&'a Row], layout: &Layout) -> Vec<Section<'a>> {
    let mut parts: Vec<(String, Vec<&'a Row>, Placed<'a>)> = Vec::new();
    for row in rows {
        let (Some(down), Some(across)) = (values(row, &layout.row), values(row, &layout.column)) else { continue };
        let title = in_common(row, layout);
        let place = parts.iter().position(|(other, ..)| *other == title).unwrap_or_else(|| {
            parts.push((title, Vec::new(), BTreeMap::new()));
            parts.len() - 1
        });
        parts[place].1.push(row);
        parts[place].2.insert((down, across), row);
    }
    let mut sections: Vec<_> =
        parts.into_iter().map(|(title, rows, placed)| section(title, &rows, &placed, layout)).collect();
    if let [only] = sections.as_mut_slice()
        && !layout.row.iter().chain(layout.column.iter()).any(|key| matches!(key, Key::Axis(_)))
    {
        only.title.clear();
    }
    sections
}

fn section<'a>(title: String, rows: &[&'a Row], placed: &Placed<'a>, layout: &Layout) -> Section<'a> {
    let down = in_order(rows, &layout.row, layout);
    let across = in_order(rows, &layout.column, layout);
    let line = |values: Vec<&'a str>| {
        let cells = across.iter().map(|across| placed.get(&(values.clone(), across.clone())).copied()).collect();
        Line { values, cells }
    };
    let corner = if layout.row.are_axes() && layout.column.are_axes() {
        format!("{} ╲ {}", names(&layout.row).join(BETWEEN), names(&layout.column).join(BETWEEN))
    } else {
        names(&layout.row).join(BETWEEN)
    };
    Section {
        title,
        corner,
        keys: names(&layout.row),
        columns: across.iter().map(|values| values.join(BETWEEN)).collect(),
        lines: down.into_iter().map(line).collect(),
    }
}

fn names(keys: &Keys) -> Vec<String> {
    keys.iter().map(Key::to_string).collect()
}

/// The values that these rows have of the keys, each combination once.
fn in_order<'a>(rows: &[&'a Row], keys: &Keys, layout: &Layout) -> Vec<Vec<&'a str>> {
    let places = keys.iter().map(|key| {
        let mut seen: Vec<&str> = Vec::new();
        for value in rows.iter().filter_map(|row| value(row, key)) {
            if !seen.contains(&value) {
                seen.push(value);
            }
        }
        if *key == Key::Metric {
            seen.sort_by_key(|metric| {
                layout.metrics.iter().position(|named| named == metric).unwrap_or(layout.metrics.len())
            });
        }
        seen.into_iter().enumerate().map(|(place, value)| (value, place)).collect::<BTreeMap<_, _>>()
    });
    let places: Vec<_> = places.collect();
    let distinct: BTreeSet<Vec<&str>> = rows.iter().filter_map(|row| values(row, keys)).collect();
    let mut ordered: Vec<_> = distinct.into_iter().collect();
    ordered.sort_by_cached_key(|values| {
        values.iter().zip(&places).map(|(value, places)| places.get(value).copied()).collect::<Vec<_>>()
    });
    ordered
}

impl<'a> Section<'a> {
    /// Takes out the columns in which no run has a figure, because what it is computed from was never reported.
    pub fn without_empty_columns(mut self) -> (Self, Vec<WithoutFigures<'a>>) {
        let mut taken = Vec::new();
        for column in (0..self.columns.len()).rev() {
            let rows = || self.lines.iter().filter_map(|line| line.cells[column]);
            // What a repeat says of it goes before that it says nothing.
            let lack = rows()
                .flat_map(|row| row.cells.iter().filter_map(not_reported).map(move |why| (row, why)))
                .min_by_key(|(_, why)| matches!(why, Lack::NotReported { reason: None, .. }));
            let figure = |cell: &Cell| matches!(cell, Cell::Measured(_) | Cell::Published(_));
            let nothing = !rows().flat_map(|row| &row.cells).any(figure);
            let Some((row, why)) = lack.filter(|_| nothing) else { continue };
            taken.push(WithoutFigures { metric: &row.metric, why });
            self.columns.remove(column);
            self.lines.iter_mut().for_each(|line| {
                line.cells.remove(column);
            });
        }
        taken.reverse();
        (self, taken)
    }
}

fn not_reported(cell: &Cell) -> Option<&Lack> {
    match cell {
        Cell::Nothing { why: why @ Lack::NotReported { .. } } => Some(why),
        _ => None,
    }
}

/// Whether a row stands anywhere in the layout.
pub(super) fn has_place(row: &Row, layout: &Layout) -> bool {
    layout.is_plain() || lacking(row, layout).is_empty()
}

/// The axes that go down or across and that a row has no value on.
fn lacking<'l>(row: &Row, layout: &'l Layout) -> Vec<&'l Key> {
    layout.row.iter().chain(layout.column.iter()).filter(|key| value(row, key).is_none()).collect()
}

/// Scenarios that have no place in a layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithoutPlace {
    /// Their names, in the order of the table.
    pub scenarios: Vec<String>,
    /// Of so many that are compared.
    pub of: usize,
    /// The axes that go down or across and that any of them lacks.
    pub axes: Vec<String>,
}

/// The scenarios that lack an axis that goes down or across, if any do.
pub fn without_place(table: &Table) -> Option<WithoutPlace> {
    let layout = table.layout.as_ref().filter(|layout| !layout.is_plain())?;
    let all: BTreeSet<&str> = table.rows.iter().map(|row| row.scenario.as_str()).collect();
    let mut found = WithoutPlace { scenarios: Vec::new(), of: all.len(), axes: Vec::new() };
    for row in &table.rows {
        let axes = lacking(row, layout);
        if axes.is_empty() || found.scenarios.contains(&row.scenario) {
            continue;
        }
        found.scenarios.push(row.scenario.clone());
        for axis in axes.into_iter().map(Key::to_string) {
            if !found.axes.contains(&axis) {
                found.axes.push(axis);
            }
        }
    }
    (!found.scenarios.is_empty()).then_some(found)
}

/// The row's value of each key; nothing where it has none of one of them.
fn values<'a>(row: &'a Row, keys: &Keys) -> Option<Vec<&'a str>> {
    keys.iter().map(|key| value(row, key)).collect()
}

fn value<'a>(row: &'a Row, key: &Key) -> Option<&'a str> {
    match key {
        Key::Scenario => Some(&row.scenario),
        Key::Metric => Some(&row.metric),
        Key::Axis(axis) => row.family.as_ref()?.point.get(axis).map(String::as_str),
        Key::Run => None,
    }
}

/// What a row has in common with those in its section: the scenario or its family, the values on axes that are not laid out, the metric.
fn in_common(row: &Row, layout: &Layout) -> String {
    let mut parts = Vec::new();
    if !layout.lays_out(&Key::Scenario) {
        let axes = layout.row.iter().chain(layout.column.iter()).any(|key| matches!(key, Key::Axis(_)));
        match row.family.as_ref().filter(|_| axes) {
            Some(family) => {
                parts.push(family.name.clone());
                let others = family.point.iter().filter(|(axis, _)| !layout.lays_out(&Key::Axis((*axis).clone())));
                parts.extend(others.map(|(axis, value)| format!("{axis} {value}")));
            }
            None => parts.push(row.scenario.clone()),
        }
    }
    if !layout.spreads_metrics() {
        parts.push(row.metric.clone());
    }
    parts.join(BETWEEN)
}

/// The matrix of each family with two axes of numbers, in its scenarios' main metric: the axis of fewer values goes down.
pub fn matrices(table: &Table) -> Vec<Section<'_>> {
    let mut matrices = Vec::new();
    for rows in families(table) {
        let main: Vec<&Row> = rows.into_iter().filter(|row| row.main).collect();
        let points = || main.iter().filter_map(|row| row.family.as_ref()).flat_map(|family| family.point.values());
        if !points().all(|value| number(value).is_some()) {
            continue;
        }
        let [(first, fewer), (second, more)] = axes(&main)[..] else { continue };
        let (down, across) = if fewer > more { (second, first) } else { (first, second) };
        if fewer.min(more) > 1 {
            let [row, column] = [down, across].map(|axis| Key::Axis(axis.into()).into());
            let layout = Layout { row, column, metrics: Vec::new() };
            matrices.extend(sections(&main, &layout));
        }
    }
    matrices
}

/// The rows of each family that a matrix made, in the order in which the families first appear.
pub(super) fn families(table: &Table) -> Vec<Vec<&Row>> {
    let mut families: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in &table.rows {
        let Some(family) = &row.family else { continue };
        match families.iter_mut().find(|(name, _)| *name == family.name) {
            Some((_, rows)) => rows.push(row),
            None => families.push((&family.name, vec![row])),
        }
    }
    families.into_iter().map(|(_, rows)| rows).collect()
}

/// The axes of a family, each with the number of its values.
pub(super) fn axes<'a>(rows: &[&'a Row]) -> Vec<(&'a str, usize)> {
    let mut axes: Vec<(&str, Vec<&str>)> = Vec::new();
    for (axis, value) in rows.iter().filter_map(|row| row.family.as_ref()).flat_map(|family| &family.point) {
        match axes.iter_mut().find(|(name, _)| name == axis) {
            Some((_, values)) if values.contains(&value.as_str()) => {}
            Some((_, values)) => values.push(value),
            None => axes.push((axis, vec![value])),
        }
    }
    axes.into_iter().map(|(axis, values)| (axis, values.len())).collect()
}

/// The value on an axis as a number: `16`, `70%`, `4KiB`.
pub(super) fn number(value: &str) -> Option<f64> {
    let size = || parse_size(value).ok().map(|bytes| bytes as f64);
    value.parse().ok().or_else(|| parse_share(value).ok()).or_else(size)
}
