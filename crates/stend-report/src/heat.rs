//! A family with two axes of numbers as a heat map: in each cell its figure, over a colour that says how large it is.
//!
//! Colours run from pale to strong blue, so that their order is seen by lightness alone; the style sheet turns it round for a dark page.

use super::numbers::figure;
use super::phrase::Phrase;
use super::scene::{Mark, Place, Point, Role, Shape};
use super::svg::{Look, elements};
use super::text::marked_change;
use super::texts::axes;
use super::wide::Block;
use stend_compare::table::{Column, Measured, Row};

/// Steps of colour.
const STEPS: usize = 7;
/// Sizes in pixels: a cell, a line of text in it, and the room for the labels at the left and at the top.
const CELL: (f64, f64) = (100.0, 40.0);
const LABELS: (f64, f64) = (64.0, 26.0);

/// The heat map of one run.
pub(super) struct HeatMap {
    /// Its name on the page.
    pub(super) id: String,
    /// The run.
    pub(super) run: String,
    pub(super) width: f64,
    pub(super) height: f64,
    /// In pixels: a heat map is as large as its texts.
    pub(super) marks: Vec<Mark>,
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

/// Draws a matrix; none if nothing of it was measured.
pub(super) fn heat_maps(block: &Block, place: usize) -> Option<HeatMaps> {
    let measured = || {
        let lines = block.groups.iter().flat_map(|group| &group.lines);
        lines
            .flat_map(|line| line.cells.iter().flatten())
            .filter_map(|(row, cell)| Some((*row, cell.measured()?.median)))
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
            width: LABELS.0 + CELL.0 * block.columns.len() as f64,
            height: LABELS.1 + CELL.1 * block.groups.len() as f64,
            marks: Vec::new(),
        };
        let left = |across: usize| LABELS.0 + CELL.0 * across as f64;
        let label = |at, anchor, text: &String| Mark::text(Role::HeatLabel, at, anchor, text.into());
        for (across, text) in block.columns.iter().enumerate() {
            map.marks.push(label((left(across) + CELL.0 / 2.0, LABELS.1 - 9.0), "middle", text));
        }
        for (down, group) in block.groups.iter().enumerate() {
            let top = LABELS.1 + CELL.1 * down as f64;
            map.marks.push(label((LABELS.0 - 9.0, top + CELL.1 / 2.0 + 5.0), "end", &group.label));
            let line = group.lines.iter().find(|line| line.column.title == column.title);
            for across in 0..block.columns.len() {
                let found = line.and_then(|line| line.cells[across]);
                let measured = found.and_then(|(_, cell)| cell.measured());
                let step = measured.map(|value| step(value.median, low, high));
                let against = measured.and_then(|value| value.against_base.as_ref());
                let text = measured.map_or_else(|| "–".into(), |value| unit.show(value.median));
                let title = found.map(|(row, _)| title(row, measured));
                map.marks.push(cell((left(across), top), step, &text, against.map(marked_change), title));
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

impl HeatMaps {
    /// The steps of colour, one beside the other.
    pub(super) fn steps(&self) -> String {
        let step = |step: usize| {
            let place = Place { left: 20.0 * step as f64, top: 0.0, width: 20.0, height: 14.0 };
            let ground = Mark::new(Role::HeatGround(Some(step)), Shape::Rectangle(place));
            Mark::new(Role::Heat(Some(step)), Shape::Group(vec![ground]))
        };
        elements(&(0..STEPS).map(step).collect::<Vec<_>>(), Look::Page)
    }
}

impl HeatMap {
    /// The elements of its marks.
    pub(super) fn elements(&self) -> String {
        elements(&self.marks, Look::Page)
    }
}

/// A figure over its colour, and how it stands to the base below it.
fn cell((left, top): Point, step: Option<usize>, text: &str, verdict: Option<String>, title: Option<Phrase>) -> Mark {
    let ground = Shape::Rectangle(Place { left, top, width: CELL.0, height: CELL.1 });
    let (middle, half) = (left + CELL.0 / 2.0, top + CELL.1 / 2.0);
    // Higher where a verdict stands under it.
    let text_y = if verdict.is_some() { half - 2.0 } else { half + 5.0 };
    let mut marks = vec![
        Mark::new(Role::HeatGround(step), ground),
        Mark::text(Role::HeatFigure(step), (middle, text_y), "middle", figure(text)),
    ];
    marks.extend(
        verdict.map(|verdict| Mark::text(Role::HeatVerdict(step), (middle, half + 14.0), "middle", figure(&verdict))),
    );
    Mark { role: Role::Heat(step), shape: Shape::Group(marks), title }
}

fn title(row: &Row, value: Option<&Measured>) -> Phrase {
    let interval = value.and_then(|value| value.interval);
    let interval = interval.map(|(low, high)| format!(", 95 %: {}", super::text::interval(row.unit, low, high)));
    Phrase::joined(&[row.scenario.as_str().into(), figure(&interval.unwrap_or_default())], "")
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
