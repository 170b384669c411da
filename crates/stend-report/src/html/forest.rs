//! Forest plots: above the table, each other run beside the base.

use crate::forest::{Forest, ForestLine};
use crate::numbers::figure;
use crate::phrase::Phrase;
use crate::scale::Tick;
use crate::scene::Place;
use crate::svg::{Look, elements};
use stend_compare::table::Table;

/// On which canvas a line is drawn; it is stretched to its place.
const LINE: Place = Place { left: 0.0, top: 0.0, width: 1000.0, height: 24.0 };

/// A forest plot.
pub(super) struct ForestView {
    pub(super) title: Phrase,
    pub(super) ticks: Vec<Tick>,
    pub(super) lines: Vec<LineView>,
}

pub(super) struct LineView {
    /// The scenario's place on the page; none for the mean.
    pub(super) anchor: Option<usize>,
    pub(super) label: Phrase,
    /// For who wants the largest first.
    pub(super) size: f64,
    pub(super) drawing: String,
    pub(super) change: Phrase,
    pub(super) interval: Phrase,
}

/// Of each other run.
pub(super) fn views(table: &Table, names: &[&str]) -> Vec<ForestView> {
    let view = |forest: &Forest| {
        let line = |line: &ForestLine| LineView {
            anchor: line.scenario.as_ref().and_then(|scenario| names.iter().position(|name| name == scenario)),
            label: line.label.clone(),
            size: line.size(),
            drawing: elements(&forest.marks(line, LINE), Look::Page),
            change: figure(&line.change()),
            interval: figure(&line.interval()),
        };
        ForestView { title: forest.heading(), ticks: forest.ticks(), lines: forest.lines.iter().map(line).collect() }
    };
    Forest::all(table).iter().map(view).collect()
}
