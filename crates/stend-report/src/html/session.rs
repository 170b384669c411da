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

/// The repeats of a row's runs that count, all on one scale.
pub(super) struct Strip<'a> {
    /// By the runs' ids.
    values: Vec<(&'a str, Vec<f64>)>,
    ends: (f64, f64),
}

impl<'a> Strip<'a> {
    /// None where no value differs from another.
    pub(super) fn of(input: &Input<'a>, row: &Row) -> Option<Self> {
        let values: Vec<_> = input.runs.iter().map(|data| (data.run.id.as_str(), values(data, row))).collect();
        let all = || values.iter().flat_map(|(_, values)| values.iter().copied());
        let (low, high) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
        (low < high && low.is_finite() && high.is_finite()).then_some(Self { values, ends: (low, high) })
    }

    /// Those of the run in this column; empty for another than these.
    pub(super) fn drawn(&self, column: &Column) -> String {
        let (low, high) = self.ends;
        let mark = |value: &f64| {
            let x = 20.0 + (value - low) / (high - low) * (STRIP.width - 40.0);
            Mark::new(Role::Repeat("valid"), Shape::Dot((x.round(), STRIP.height / 2.0)))
        };
        let of_column = self.values.iter().find(|(id, _)| column.run_id() == Some(*id));
        let marks: Vec<Mark> = of_column.into_iter().flat_map(|(_, values)| values).map(mark).collect();
        elements(&marks, Look::Page)
    }
}

/// The values of the repeats that count.
fn values(data: &RunData, row: &Row) -> Vec<f64> {
    let mut scenarios = data.run.suite.scenarios.iter().enumerate();
    let Some((place, scenario)) = scenarios.find(|(_, scenario)| scenario.name == row.scenario) else {
        return Vec::new();
    };
    let Some(metric) = scenario.metrics.iter().find(|metric| metric.name == row.metric) else { return Vec::new() };
    let repeats = data.repeats.iter().filter(|repeat| repeat.scenario == place && repeat.counts());
    repeats.filter_map(|repeat| repeat.value(metric)).collect()
}
