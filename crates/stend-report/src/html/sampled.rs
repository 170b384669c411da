//! What was sampled of a run so far, for whoever watches it.

use serde::Serialize;
use stend_model::run::{Repeat, Run, Series};

use super::figures::series::drawn;
use super::scenario::segment;
use crate::chart::{Detail, Purpose, Segment, charts};
use crate::words::language::Language;

/// A drawing of one metric.
#[derive(Debug, Clone, Serialize)]
pub struct Drawing {
    /// What it shows.
    pub title: String,
    /// An SVG file.
    pub svg: String,
}

/// Draws the series of repeats of one scenario, one repeat after the other: those of the instrument, then those of the machine.
pub fn drawings(run: &Run, repeats: &[(Repeat, Vec<Series>)], language: Language) -> Vec<Drawing> {
    let Some((newest, _)) = repeats.last() else { return Vec::new() };
    let of_it = |(repeat, series): &'_ &(Repeat, Vec<Series>)| repeat.scenario == newest.scenario && !series.is_empty();
    let segment = |(repeat, series)| -> Segment { segment(repeat, Vec::from_iter(series)) };
    let segments: Vec<Segment> =
        repeats.iter().filter(of_it).map(|(repeat, series)| segment((repeat, series))).collect();
    let samples = repeats.iter().flat_map(|(_, series)| series).map(|series| series.values.len()).sum();
    // No script reads them, so only what is drawn counts.
    let detail = Detail::of(Purpose::Files, repeats.len(), samples);
    let charts = charts(&segments, run.machine.hardware.threads, detail, "sampled");
    let name = run.suite.scenarios.get(newest.scenario).map_or("", |scenario| &scenario.name);
    let draw = |chart| {
        let chart: &crate::chart::Chart = chart;
        let title = format!("{name}: {}", chart.title.say(language));
        let svg = drawn(chart, &charts.bands, &title, language);
        Drawing { title, svg }
    };
    charts.instrument.iter().chain(&charts.machine).map(draw).collect()
}
