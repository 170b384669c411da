//! What a page holds of a run's samples: the points of all lines, and what the drawings are that the page's script makes of them when a
//! scenario is looked into. There are thousands of these in a large report, and nobody looks at all of them.

use serde::Serialize;

use crate::chart::{Band, Chart, Charts, Detail};
use crate::numbers::figure;
use crate::phrase::Phrase;
use crate::points::{self, Points};
use crate::scale::Readout;
use crate::timeline::Timeline;

/// What precedes the points.
#[derive(Serialize)]
struct Header<'a> {
    /// Of how many columns the whole axis has points in a drawing.
    columns: usize,
    bands: Vec<BandData<'a>>,
    charts: Vec<ChartData<'a>>,
}

#[derive(Serialize)]
struct BandData<'a> {
    repeat: &'a str,
    left: f64,
    width: f64,
    percent: f64,
    label: &'a str,
    class: &'static str,
    title: &'a Phrase,
}

#[derive(Serialize)]
struct ChartData<'a> {
    id: &'a str,
    /// Whether it is the instrument's, and not the machine's.
    instrument: bool,
    title: &'a Phrase,
    caption: &'a Phrase,
    length: Phrase,
    ticks: Vec<(f64, Phrase)>,
    readout: &'a Readout,
    lines: Vec<LineData<'a>>,
}

#[derive(Serialize)]
struct LineData<'a> {
    name: Option<&'a Phrase>,
    /// Its place among the lines whose points follow.
    number: usize,
}

/// The samples of a scenario's run, as text: the lines of the timeline, which stand in the page, then those of the charts.
pub(super) fn samples(timeline: Option<&Timeline>, charts: &Charts, detail: Detail) -> String {
    let mut lines: Vec<&Points> = Vec::new();
    lines.extend(timeline.iter().flat_map(|timeline| &timeline.rows).flat_map(|row| &row.points));
    let all =
        charts.instrument.iter().map(|chart| (chart, true)).chain(charts.machine.iter().map(|chart| (chart, false)));
    let mut drawn = Vec::new();
    for (chart, instrument) in all {
        drawn.push(chart_data(chart, instrument, lines.len()));
        lines.extend(chart.lines.iter().map(|line| &line.points));
    }
    let bands = charts.bands.iter().map(band_data).collect();
    points::encode(Header { columns: detail.columns, bands, charts: drawn }, &lines)
}

fn band_data(band: &Band) -> BandData<'_> {
    let Band { repeat, left, width, percent, label, class, title } = band;
    // A hundred-millionth of the axis: exact enough to find the same part of another run's repeat.
    let percent = (percent * 1e6).round() / 1e6;
    BandData { repeat, left: *left, width: *width, percent, label, class, title }
}

/// A chart, whose first line has this number.
fn chart_data(chart: &Chart, instrument: bool, first: usize) -> ChartData<'_> {
    let lines = chart.lines.iter().zip(first..);
    ChartData {
        id: &chart.id,
        instrument,
        title: &chart.title,
        caption: &chart.caption,
        length: figure(&chart.length),
        ticks: chart.ticks.iter().map(|tick| (tick.percent, tick.figure())).collect(),
        readout: &chart.readout,
        lines: lines.map(|(line, number)| LineData { name: line.name.as_ref(), number }).collect(),
    }
}
