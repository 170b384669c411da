//! A family with two axes of numbers as a heat map: in each cell its figure, over a colour that says how large it is.
//!
//! Colours run from pale to strong blue, so that their order is seen by lightness alone; the style sheet turns it round for a dark page.

use super::language::axes;
use super::numbers::russian;
use super::phrase::Phrase;
use super::text::marked_change;
use super::wide::Block;
use stend_compare::table::{Cell, Column, Measured, Row};

/// Steps of colour.
const STEPS: usize = 7;
/// Sizes in pixels: a cell, a line of text in it, and the room for the labels at the left and at the top.
const CELL: (usize, usize) = (100, 40);
const LABELS: (usize, usize) = (64, 26);

/// The heat map of one run, ready for the template.
pub(super) struct HeatMap {
    /// Its name on the page.
    pub(super) id: String,
    /// The run.
    pub(super) run: String,
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) texts: Vec<Text>,
    pub(super) cells: Vec<HeatCell>,
}

/// The heat maps of a family, all on one scale of colour.
pub(super) struct HeatMaps {
    pub(super) title: String,
    /// What goes down and what goes across.
    pub(super) axes: Phrase,
    pub(super) maps: Vec<HeatMap>,
    /// The lowest and the highest figure.
    pub(super) lowest: String,
    pub(super) highest: String,
}

/// A label.
pub(super) struct Text {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) text: String,
    pub(super) anchor: &'static str,
}

/// A figure over its colour.
pub(super) struct HeatCell {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) width: usize,
    pub(super) height: usize,
    /// The colour, from 0; none where there is no figure.
    pub(super) step: Option<usize>,
    pub(super) text: String,
    /// How it stands to the base.
    pub(super) verdict: String,
    pub(super) title: Phrase,
}

/// Draws a matrix; none if nothing of it was measured.
pub(super) fn heat_maps(block: &Block, place: usize) -> Option<HeatMaps> {
    let measured = || {
        let lines = block.groups.iter().flat_map(|group| &group.lines);
        lines.flat_map(|line| line.cells.iter().flatten()).filter_map(|(row, cell)| Some((*row, value(cell)?.median)))
    };
    let unit = measured().next()?.0.unit;
    let medians = || measured().map(|(_, median)| median);
    let (low, high) = (medians().fold(f64::INFINITY, f64::min), medians().fold(f64::NEG_INFINITY, f64::max));
    // A run that has nothing of a line is not in it, and yet may be in the next.
    let mut runs: Vec<&Column> = Vec::new();
    for column in block.groups.iter().flat_map(|group| &group.lines).map(|line| line.column) {
        if column.is_run() && !runs.iter().any(|known| known.title == column.title) {
            runs.push(column);
        }
    }
    let map = |(index, column): (usize, &&Column)| {
        let mut map = HeatMap {
            id: format!("heat{place}-{index}"),
            run: column.title.clone(),
            width: LABELS.0 + CELL.0 * block.columns.len(),
            height: LABELS.1 + CELL.1 * block.groups.len(),
            texts: Vec::new(),
            cells: Vec::new(),
        };
        for (across, label) in block.columns.iter().enumerate() {
            let x = LABELS.0 + across * CELL.0 + CELL.0 / 2;
            map.texts.push(Text { x, y: LABELS.1 - 9, text: label.clone(), anchor: "middle" });
        }
        for (down, group) in block.groups.iter().enumerate() {
            let y = LABELS.1 + down * CELL.1;
            map.texts.push(Text { x: LABELS.0 - 9, y: y + CELL.1 / 2 + 5, text: group.label.clone(), anchor: "end" });
            let line = group.lines.iter().find(|line| line.column.title == column.title);
            for across in 0..block.columns.len() {
                let figure = line.and_then(|line| line.cells[across]);
                let measured = figure.and_then(|(_, cell)| value(cell));
                let step = measured.map(|value| step(value.median, low, high));
                let against = measured.and_then(|value| value.against_base.as_ref());
                map.cells.push(HeatCell {
                    x: LABELS.0 + across * CELL.0,
                    y,
                    width: CELL.0,
                    height: CELL.1,
                    step,
                    text: measured.map_or_else(|| "–".into(), |value| unit.show(value.median)),
                    verdict: against.map(marked_change).unwrap_or_default(),
                    title: figure.map_or(Phrase::fixed("", ""), |(row, _)| title(row, measured)),
                });
            }
        }
        map
    };
    let (down, across) = block.corner.split_once(" ╲ ")?;
    Some(HeatMaps {
        title: block.title.clone(),
        axes: axes(down, across),
        maps: runs.iter().enumerate().map(map).collect(),
        lowest: unit.show(low),
        highest: unit.show(high),
    })
}

impl HeatCell {
    /// Where its figure stands; higher where a verdict stands under it.
    pub(super) fn text_y(&self) -> usize {
        self.y + if self.verdict.is_empty() { self.height / 2 + 5 } else { self.height / 2 - 2 }
    }

    pub(super) fn verdict_y(&self) -> usize {
        self.y + self.height / 2 + 14
    }

    pub(super) fn middle(&self) -> usize {
        self.x + self.width / 2
    }
}

fn value(cell: &Cell) -> Option<&Measured> {
    match cell {
        Cell::Measured(value) => Some(value),
        _ => None,
    }
}

fn title(row: &Row, value: Option<&Measured>) -> Phrase {
    let interval = value.and_then(|value| value.interval);
    let interval = interval.map(|(low, high)| format!(", 95 %: {}", super::text::interval(row.unit, low, high)));
    let interval = interval.unwrap_or_default();
    Phrase::new(format!("{}{interval}", row.scenario), format!("{}{}", row.scenario, russian(&interval)))
}

/// The colour of a figure between the lowest and the highest.
fn step(value: f64, low: f64, high: f64) -> usize {
    let share = if high > low { (value - low) / (high - low) } else { 0.5 };
    ((share * STEPS as f64) as usize).min(STEPS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_run_from_the_lowest_to_the_highest_and_of_one_value_there_is_one() {
        assert_eq!([1.0, 1.2, 2.0, 3.0].map(|value| step(value, 1.0, 3.0)), [0, 0, 3, 6]);
        assert_eq!(step(5.0, 5.0, 5.0), 3);
    }
}
