//! Latency over throughput: what a load gets, and what each operation waits for it.

use super::numbers::figure;
use super::phrase::{Phrase, called};
use super::scale::{Axis, CANVAS, Scale, lying, ticks};
use super::scene::{self, Description, Role, Scene, Shape};
use super::text::interval;
use super::texts::{TEXTS, curve_of, curves_left_out};
use stend_compare::curves::{Curves, Point};
use stend_compare::table::{Measured, Row, Table};

/// The drawing of one run.
pub(super) struct CurveView {
    /// The run.
    pub(super) run: String,
    /// Those of its lines.
    pub(super) names: Vec<Phrase>,
    pub(super) scene: Scene,
}

/// A family's drawings, all on the same axes.
pub(super) struct CurvesView {
    pub(super) title: String,
    pub(super) along: String,
    /// That there would be more curves, if so.
    pub(super) left_out: Option<Phrase>,
    pub(super) has_ceiling: bool,
    pub(super) is_logarithmic: bool,
    pub(super) views: Vec<CurveView>,
}

/// A point of a curve: where it is, the ends of its intervals, and what is said of it.
pub(super) struct CurvePoint {
    pub(super) at: scene::Point,
    pub(super) upright: Option<(f64, f64)>,
    pub(super) across: Option<(f64, f64)>,
    /// Whether it is none of those that the curve joins.
    pub(super) hollow: bool,
    pub(super) title: Phrase,
}

/// Draws the curve with this number: its line, the intervals of its points, and these.
pub(super) fn draw(scene: &mut Scene, number: usize, line: Vec<scene::Point>, points: Vec<CurvePoint>) {
    let of_point = |CurvePoint { at: (x, y), upright, across, .. }: &CurvePoint| {
        let upright = upright.map(|(from, to)| vec![(*x, from), (*x, to)]);
        let across = across.map(|(from, to)| vec![(from, *y), (to, *y)]);
        [upright, across]
    };
    let intervals = points.iter().flat_map(of_point).flatten().collect();
    scene.push(Role::Line(number), Shape::Path(vec![line]));
    scene.push(Role::Whisker(number), Shape::Path(intervals));
    for CurvePoint { at, hollow, title, .. } in points {
        scene.push_titled(Role::Dot { line: number, hollow }, Shape::Dot(at), title);
    }
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
        let title = &table.columns[*run].title;
        let of = Phrase::joined(&[curves.family.into(), called(title)], ", ");
        let spoken = Phrase::joined(&[TEXTS.curve_title.clone(), of], ": ");
        let description = Description::Within(TEXTS.curve_caption.clone());
        let id = format!("curve{number}-{run}");
        let mut scene = Scene::new(id, spoken, description, axes.upright.ticks(Scale::Unit(latency)));
        scene.across = lying(ticks(Scale::Unit(throughput), 0.0, most));
        scene.rules();
        scene.axes();
        let mut names = Vec::new();
        for (place, (curve, places)) in curves.curves.iter().zip(curves_of_run).enumerate() {
            let name = curve_of(curve.metric, curve.of);
            // The ceiling is another kind of load, and no further step of this one.
            let open = places.iter().filter(|place| place.point.value.is_some());
            let line = open.map(|place| axes.at(place)).collect();
            draw(&mut scene, place, line, places.iter().map(|place| curve_point(place, &axes, &name)).collect());
            names.push(name);
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
        scene.labels = labelled.into_iter().map(|place| (axes.at(place), label(place))).collect();
        CurveView { run: title.clone(), names, scene }
    };
    Some(CurvesView {
        title: curves.family.into(),
        along: curves.along.into(),
        has_ceiling: all().any(|place| place.point.value.is_none()),
        is_logarithmic: axes.upright.is_logarithmic(),
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
    row.measured(run).filter(|value| value.median > 0.0)
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

    fn at(&self, place: &Place) -> scene::Point {
        (self.x(place.across.median), self.y(place.up.median))
    }

    fn y(&self, latency: f64) -> f64 {
        (self.upright.share(latency) * CANVAS.1).round().clamp(0.0, CANVAS.1)
    }
}

fn curve_point(place: &Place, axes: &Axes, name: &Phrase) -> CurvePoint {
    let upright = place.up.interval.map(|(low, high)| (axes.y(high), axes.y(low.max(axes.upright.low()))));
    let across = place.across.interval.map(|(low, high)| (axes.x(low), axes.x(high)));
    let (hollow, title) = (place.point.value.is_none(), tooltip(place, name));
    CurvePoint { at: axes.at(place), upright, across, hollow, title }
}

/// What stands beside a point: its value on the axis.
fn label(place: &Place) -> Phrase {
    match place.point.value {
        Some(value) => match value.strip_suffix('%') {
            Some(number) if number.parse::<f64>().is_ok() => figure(&format!("{number} %")),
            _ => value.into(),
        },
        None => TEXTS.closed.clone(),
    }
}

/// The scenario and both figures, with their intervals.
fn tooltip(place: &Place, name: &Phrase) -> Phrase {
    let told = |row: &Row, value: &Measured| match value.interval {
        Some((low, high)) => {
            figure(&format!("{} (95 %: {})", row.unit.show(value.median), interval(row.unit, low, high)))
        }
        None => figure(&row.unit.show(value.median)),
    };
    let Place { point, across, up } = place;
    let (across, up) = (told(point.throughput, across), told(point.latency, up));
    let scenario = &point.latency.scenario;
    Phrase::joined(&[across.after(scenario), Phrase::joined(&[name.clone(), up], ": ")], "; ")
}
