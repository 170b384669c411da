//! When each repeat was made, a drawing a run; and the repeats in the table's cells.

use super::scenario::{class, title, tooltip};
use super::{Input, RunData};
use crate::phrase::Phrase;
use crate::scene::{Mark, Place, Role, Scene, Shape};
use crate::session::{Made, drawing};
use crate::svg::{Look, elements};
use crate::texts::TEXTS;
use jiff::Timestamp;
use stend_compare::table::{Column, Row};
use stend_model::run::Repeat;

/// On which canvas the repeats of a cell are drawn; it is stretched to its place.
const STRIP: Place = Place { left: 0.0, top: 0.0, width: 1000.0, height: 16.0 };

/// A run's.
pub(super) struct SessionView {
    /// The run, where there are several.
    pub(super) run: Option<String>,
    pub(super) scene: Scene,
}

/// Of each run; of two sides, which were measured in turns, each its own.
pub(super) fn views(input: &Input) -> Vec<SessionView> {
    let several = input.runs.len() > 1;
    let view = |(place, data): (usize, &RunData)| {
        let title = title(input.table, data);
        let named: Phrase = TEXTS.when_made.before(format_args!("{title}"));
        let made = |repeat: &Repeat, shown: &str| Made { class: class(repeat), title: tooltip(repeat, shown) };
        let scene = drawing(data.run, data.repeats, format!("session{place}"), named, stretch(input, data)?, made)?;
        Some(SessionView { run: several.then_some(title), scene })
    };
    input.runs.iter().enumerate().filter_map(view).collect()
}

/// When the first and the last repeat began, of a run with both its sides.
fn stretch(input: &Input, data: &RunData) -> Option<(Timestamp, Timestamp)> {
    let of_it = input.runs.iter().filter(|other| other.run.stored_id() == data.run.stored_id());
    let began = || of_it.clone().flat_map(|data| data.repeats).map(|repeat| repeat.started_at);
    Some((began().min()?, began().max()?))
}

/// The repeats of a row's runs, which have one scale.
pub(super) struct Strip<'a> {
    row: &'a Row,
    ends: (f64, f64),
}

impl<'a> Strip<'a> {
    /// None where no value differs from another.
    pub(super) fn of(input: &Input, row: &'a Row) -> Option<Self> {
        let all: Vec<f64> = input.runs.iter().flat_map(|data| values(data, row)).map(|(value, _)| value).collect();
        let (low, high) = (all.iter().copied().reduce(f64::min)?, all.iter().copied().reduce(f64::max)?);
        (low < high && low.is_finite() && high.is_finite()).then_some(Self { row, ends: (low, high) })
    }

    /// Those of the run in this column; empty for another than these.
    pub(super) fn drawn(&self, input: &Input, column: &Column) -> String {
        let data = input.runs.iter().find(|data| column.run_id() == Some(&*data.run.id));
        let (low, high) = self.ends;
        let mark = |(value, class): (f64, &'static str)| {
            let x = 20.0 + (value - low) / (high - low) * (STRIP.width - 40.0);
            Mark::new(Role::Repeat(class), Shape::Dot((x.round(), STRIP.height / 2.0)))
        };
        let marks: Vec<Mark> = data.into_iter().flat_map(|data| values(data, self.row)).map(mark).collect();
        elements(&marks, Look::Page)
    }
}

/// The values of the repeats that count, and how each looks.
fn values(data: &RunData, row: &Row) -> Vec<(f64, &'static str)> {
    let scenarios = data.run.suite.scenarios.iter().enumerate();
    let Some((place, scenario)) = scenarios.into_iter().find(|(_, scenario)| scenario.name == row.scenario) else {
        return Vec::new();
    };
    let Some(metric) = scenario.metrics.iter().find(|metric| metric.name == row.metric) else { return Vec::new() };
    let repeats = data.repeats.iter().filter(|repeat| repeat.scenario == place && repeat.counts());
    repeats.filter_map(|repeat| Some((repeat.value(metric)?, class(repeat)))).collect()
}
