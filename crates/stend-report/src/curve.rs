//! Latency over throughput: what a load gets, and what each operation waits for it.

use super::dots::Dot;
use super::language::{TEXTS, curve_of, curves_left_out};
use super::numbers::{figure, russian};
use super::phrase::Phrase;
use super::scale::{Axis, CANVAS, Mark, Scale, Tick, ticks};
use super::text::interval;
use stend_compare::curves::{Curves, Point};
use stend_compare::table::{Cell, Measured, Row, Table};

/// The drawing of one run, ready for the template.
pub(super) struct CurveView {
    /// Its name on the page.
    pub(super) id: String,
    /// The run.
    pub(super) run: String,
    pub(super) lines: Vec<CurveLine>,
    pub(super) labels: Vec<Label>,
    /// The axis of latency.
    pub(super) ticks: Vec<Tick>,
    /// The axis of throughput.
    pub(super) across: Vec<Mark>,
    pub(super) logarithmic: bool,
}

/// A family's drawings, all on the same axes.
pub(super) struct CurvesView {
    pub(super) title: String,
    pub(super) along: String,
    /// That there would be more curves, if so.
    pub(super) left_out: Option<Phrase>,
    pub(super) views: Vec<CurveView>,
}

impl CurvesView {
    pub(super) fn has_ceiling(&self) -> bool {
        self.views.iter().flat_map(|view| &view.lines).flat_map(|line| &line.dots).any(Dot::is_hollow)
    }

    pub(super) fn is_logarithmic(&self) -> bool {
        self.views.iter().any(|view| view.logarithmic)
    }
}

/// One curve.
pub(super) struct CurveLine {
    pub(super) name: Phrase,
    pub(super) path: String,
    /// The 95 % intervals of its points, upright and across.
    pub(super) intervals: String,
    pub(super) dots: Vec<Dot>,
}

/// What stands beside a point: the value on the axis, in hundredths from the left and the top.
pub(super) struct Label {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) text: Phrase,
}

/// A point's figures in one run.
struct Place<'a> {
    point: Point<'a>,
    across: &'a Measured,
    up: &'a Measured,
}

/// Draws a family's curves, a drawing for each run; none if no run has two points of a curve.
pub(super) fn curves_view(table: &Table, curves: &Curves, number: usize) -> Option<CurvesView> {
    let runs: Vec<usize> = (0..table.columns.len()).filter(|index| table.columns[*index].is_run()).collect();
    let places: Vec<Vec<Vec<Place>>> = runs
        .iter()
        .map(|run| {
            curves
                .curves
                .iter()
                .map(|curve| curve.points.iter().filter_map(|point| place(*point, *run)).collect())
                .collect()
        })
        .collect();
    let all = || places.iter().flatten().flatten();
    let (throughput, latency) = all().map(|place| (place.point.throughput.unit, place.point.latency.unit)).next()?;
    if !places.iter().flatten().any(|curve| curve.len() > 1) {
        return None;
    }
    let most = all().map(|place| upper(place.across)).fold(0.0, f64::max) * 1.08;
    let low = all().map(|place| lower(place.up)).fold(f64::INFINITY, f64::min);
    let high = all().map(|place| upper(place.up)).fold(0.0, f64::max);
    let axes = Axes { most, upright: Axis::with_air(low, high) };
    let view = |(run, curves_of_run): (&usize, &Vec<Vec<Place>>)| {
        let mut view = CurveView {
            id: format!("curve{number}-{run}"),
            run: table.columns[*run].title.clone(),
            lines: Vec::new(),
            labels: Vec::new(),
            ticks: axes.upright.ticks(Scale::Unit(latency)),
            across: Mark::lying(ticks(Scale::Unit(throughput), 0.0, most)),
            logarithmic: axes.upright.is_logarithmic(),
        };
        for (curve, places) in curves.curves.iter().zip(curves_of_run) {
            view.lines.push(line(curve_of(curve.metric, curve.of), places, &axes));
        }
        // The values stand at the highest curve of each point, where there is most room.
        let mut labelled: Vec<&Place> = Vec::new();
        for place in curves_of_run.iter().flatten() {
            match labelled.iter_mut().find(|other| std::ptr::eq(other.point.throughput, place.point.throughput)) {
                Some(other) if other.up.median < place.up.median => *other = place,
                Some(_) => {}
                None => labelled.push(place),
            }
        }
        view.labels = labelled.into_iter().map(|place| label(place, &axes)).collect();
        view
    };
    Some(CurvesView {
        title: curves.family.into(),
        along: curves.along.into(),
        left_out: (curves.left_out > 0).then(|| curves_left_out(curves.left_out)),
        views: runs
            .iter()
            .zip(&places)
            .filter(|(_, curves)| curves.iter().any(|curve| curve.len() > 1))
            .map(view)
            .collect(),
    })
}

fn place(point: Point<'_>, run: usize) -> Option<Place<'_>> {
    Some(Place { point, across: measured(point.throughput, run)?, up: measured(point.latency, run)? })
}

fn measured(row: &Row, run: usize) -> Option<&Measured> {
    match row.cells.get(run)? {
        Cell::Measured(value) if value.median > 0.0 => Some(value),
        _ => None,
    }
}

fn lower(value: &Measured) -> f64 {
    value.interval.map_or(value.median, |(low, _)| if low > 0.0 { low } else { value.median })
}

fn upper(value: &Measured) -> f64 {
    value.interval.map_or(value.median, |(_, high)| high)
}

/// From figures to places.
struct Axes {
    most: f64,
    upright: Axis,
}

impl Axes {
    fn x(&self, throughput: f64) -> f64 {
        (throughput / self.most * CANVAS.0).round()
    }

    fn y(&self, latency: f64) -> f64 {
        (self.upright.share(latency) * CANVAS.1).round().clamp(0.0, CANVAS.1)
    }
}

fn line(name: Phrase, places: &[Place], axes: &Axes) -> CurveLine {
    let mut line = CurveLine { name, path: String::new(), intervals: String::new(), dots: Vec::new() };
    for place in places {
        let (x, y) = (axes.x(place.across.median), axes.y(place.up.median));
        let closed = place.point.value.is_none();
        // The ceiling is another kind of load, and no further step of this one.
        if !closed {
            line.path.push_str(&format!("{}{x} {y}", if line.path.is_empty() { 'M' } else { 'L' }));
        }
        if let Some((low, high)) = place.up.interval {
            line.intervals.push_str(&format!("M{x} {}V{}", axes.y(high), axes.y(low.max(axes.upright.low()))));
        }
        if let Some((low, high)) = place.across.interval {
            line.intervals.push_str(&format!("M{} {y}H{}", axes.x(low), axes.x(high)));
        }
        line.dots.push(Dot { x, y, class: if closed { "closed" } else { "" }, title: tooltip(place, &line.name) });
    }
    line
}

fn label(place: &Place, axes: &Axes) -> Label {
    Label {
        left: axes.x(place.across.median) / CANVAS.0 * 100.0,
        top: axes.y(place.up.median) / CANVAS.1 * 100.0,
        text: match place.point.value {
            Some(value) => match value.strip_suffix('%') {
                Some(number) if number.parse::<f64>().is_ok() => figure(&format!("{number} %")),
                _ => Phrase::new(value, value),
            },
            None => TEXTS.closed.clone(),
        },
    }
}

/// The scenario and both figures, with their intervals.
fn tooltip(place: &Place, name: &Phrase) -> Phrase {
    let figure = |row: &Row, value: &Measured| match value.interval {
        Some((low, high)) => format!("{} (95 %: {})", row.unit.show(value.median), interval(row.unit, low, high)),
        None => row.unit.show(value.median),
    };
    let Place { point, across, up } = place;
    let (across, up) = (figure(point.throughput, across), figure(point.latency, up));
    let scenario = &point.latency.scenario;
    Phrase::new(
        format!("{scenario}: {across}; {}: {up}", name.en),
        format!("{scenario}: {}; {}: {}", russian(&across), name.ru, russian(&up)),
    )
}
