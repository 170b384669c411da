//! Other ways to lay the table out: what goes down and what goes across, after benchstat's `-row` and `-col`.
//!
//! A cell is a row of the [`Table`]: a metric of a scenario, with all of its runs and published machines. What neither goes down nor across
//! tells sections apart.

use stend_model::quantity::{parse_share, parse_size};
use stend_model::suite::{Key, Layout};

use super::table::{Cell, Lack, Row, Table};

/// A part of the table laid out.
#[derive(Debug, Clone)]
pub(crate) struct Section<'a> {
    /// What all of its cells have in common, where there are several sections; empty otherwise.
    pub(crate) title: String,
    /// The axes that go down and across, where these are axes.
    pub(crate) corner: String,
    /// What goes across.
    pub(crate) columns: Vec<&'a str>,
    /// What goes down.
    pub(crate) lines: Vec<Line<'a>>,
}

/// A line of a section.
#[derive(Debug, Clone)]
pub(crate) struct Line<'a> {
    /// What it is of.
    pub(crate) label: &'a str,
    /// One for each column of the section.
    pub(crate) cells: Vec<Option<&'a Row>>,
}

/// A column of metrics that no run has a figure for.
#[derive(Debug, Clone)]
pub(crate) struct WithoutFigures<'a> {
    /// The metric.
    pub(crate) metric: &'a str,
    /// Why.
    pub(crate) why: &'a Lack,
}

/// Lays rows out. Lines and columns stand in the order in which the rows first have them; metrics in the layout's, if it names any.
pub(crate) fn sections<'a>(rows: &[&'a Row], layout: &Layout) -> Vec<Section<'a>> {
    let mut sections: Vec<Section> = Vec::new();
    for row in rows {
        let (Some(label), Some(column)) = (value(row, &layout.row), value(row, &layout.column)) else { continue };
        let title = in_common(row, layout);
        let place = sections.iter().position(|section| section.title == title).unwrap_or_else(|| {
            let corner = match (&layout.row, &layout.column) {
                (Key::Axis(down), Key::Axis(across)) => format!("{down} ╲ {across}"),
                (down, _) => down.to_string(),
            };
            sections.push(Section { title, corner, columns: Vec::new(), lines: Vec::new() });
            sections.len() - 1
        });
        sections[place].put(label, column, row);
    }
    for section in &mut sections {
        section.order_metrics(layout);
    }
    if let [only] = sections.as_mut_slice()
        && !matches!((&layout.row, &layout.column), (Key::Axis(_), _) | (_, Key::Axis(_)))
    {
        only.title.clear();
    }
    sections
}

impl<'a> Section<'a> {
    fn put(&mut self, label: &'a str, column: &'a str, row: &'a Row) {
        let across = self.columns.iter().position(|other| *other == column).unwrap_or_else(|| {
            self.columns.push(column);
            self.lines.iter_mut().for_each(|line| line.cells.push(None));
            self.columns.len() - 1
        });
        let down = self.lines.iter().position(|line| line.label == label).unwrap_or_else(|| {
            self.lines.push(Line { label, cells: vec![None; self.columns.len()] });
            self.lines.len() - 1
        });
        self.lines[down].cells[across] = Some(row);
    }

    fn order_metrics(&mut self, layout: &Layout) {
        let place = |metric: &str| layout.metrics.iter().position(|named| named == metric).unwrap_or(usize::MAX);
        if layout.column == Key::Metric {
            let mut order: Vec<usize> = (0..self.columns.len()).collect();
            order.sort_by_key(|column| place(self.columns[*column]));
            self.columns = order.iter().map(|column| self.columns[*column]).collect();
            for line in &mut self.lines {
                line.cells = order.iter().map(|column| line.cells[*column]).collect();
            }
        } else if layout.row == Key::Metric {
            self.lines.sort_by_key(|line| place(line.label));
        }
    }

    /// Takes out the columns in which no run has a figure, because what it is computed from was never reported.
    pub(crate) fn without_empty_columns(mut self) -> (Self, Vec<WithoutFigures<'a>>) {
        let mut taken = Vec::new();
        for column in (0..self.columns.len()).rev() {
            let rows = || self.lines.iter().filter_map(|line| line.cells[column]);
            let lack = rows().find_map(|row| row.cells.iter().find_map(not_reported).map(|why| (row, why)));
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
    layout.is_plain() || (value(row, &layout.row).is_some() && value(row, &layout.column).is_some())
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
    let laid_out = |wanted: &Key| [&layout.row, &layout.column].contains(&wanted);
    let mut parts = Vec::new();
    if !laid_out(&Key::Scenario) {
        let axes = [&layout.row, &layout.column].into_iter().any(|key| matches!(key, Key::Axis(_)));
        match row.family.as_ref().filter(|_| axes) {
            Some(family) => {
                parts.push(family.name.clone());
                let others = family.point.iter().filter(|(axis, _)| !laid_out(&Key::Axis((*axis).clone())));
                parts.extend(others.map(|(axis, value)| format!("{axis} {value}")));
            }
            None => parts.push(row.scenario.clone()),
        }
    }
    if !laid_out(&Key::Metric) {
        parts.push(row.metric.clone());
    }
    parts.join(" · ")
}

/// The matrix of each family with two axes of numbers, in its scenarios' main metric: the axis of fewer values goes down.
pub(crate) fn matrices(table: &Table) -> Vec<Section<'_>> {
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
            let layout = Layout { row: Key::Axis(down.into()), column: Key::Axis(across.into()), metrics: Vec::new() };
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
