//! Figures of a family as curves along its axis, as bars where they are what an operation costs, or as latency over throughput, which is what a load
//! gets and what each operation waits for it.

use super::numbers::figure;
use super::phrase::{Phrase, called};
use super::scale::{Axis, CANVAS, Scale, Tick, lying, ticks};
use super::scene::{self, Description, Role, Scene, Shape};
use super::text::interval;
use super::texts::{TEXTS, along, curve_of, curves_left_out};
use stend_compare::curves::{Curves, Point};
use stend_compare::table::{Measured, Row, Table};
use stend_model::metric::Unit;

/// The drawing of one run.
pub(super) struct CurveView {
    /// The run.
    pub(super) run: String,
    /// Those of its lines.
    pub(super) names: Vec<Phrase>,
    /// Whether these are bars.
    pub(super) bars: bool,
    pub(super) scene: Scene,
}

/// A family's drawings, all on the same axes.
pub(super) struct CurvesView {
    /// What is drawn, of which family.
    pub(super) title: Phrase,
    /// How it is to be read.
    pub(super) caption: Phrase,
    /// The family.
    pub(super) family: String,
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
    /// None where it lies at its value on the axis.
    across: Option<&'a Measured>,
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
    let first = all().next()?.point;
    if !places.iter().flatten().any(|curve| curve.len() > 1) {
        return None;
    }
    let low = all().map(|place| lower(place.up)).fold(f64::INFINITY, f64::min);
    let high = all().map(|place| upper(place.up)).fold(0.0, f64::max);
    let bars = first.throughput.is_none() && first.figure.unit == Unit::CpuSeconds;
    let axes = match bars {
        true => Axes { level: Level::bars(all()), upright: Axis::from_zero(high) },
        false => Axes { level: Level::of(all()), upright: Axis::with_air(low, high) },
    };
    let what = match first.throughput {
        Some(_) => TEXTS.curve_title.clone(),
        None => along(&first.figure.metric, curves.along),
    };
    let caption = match first.throughput {
        Some(_) => &TEXTS.curve_caption,
        None if bars => &TEXTS.bars_caption,
        None => &TEXTS.sweep_caption,
    };
    let of = |name: Phrase| Phrase::joined(&[what.clone(), name], ": ");
    let view = |(run, curves_of_run): (&usize, &Vec<Vec<Place>>)| {
        let title = &table.columns[*run].title;
        let spoken = of(Phrase::joined(&[curves.family.into(), called(title)], ", "));
        let description = Description::Within(caption.clone());
        let id = format!("curve{number}-{run}");
        let mut scene = Scene::new(id, spoken, description, axes.upright.ticks(Scale::Unit(first.figure.unit)));
        scene.across = axes.level.ticks(first, all());
        scene.rules();
        scene.axes();
        let mut names = Vec::new();
        for (place, (curve, places)) in curves.curves.iter().zip(curves_of_run).enumerate() {
            let name = match (first.throughput, curve.of) {
                // The title has the figure.
                (None, Some((axis, value))) => format!("{axis} {value}").into(),
                _ => curve_of(curve.metric, curve.of),
            };
            if bars {
                draw_bars(&mut scene, (place, curves.curves.len()), places, &axes, &name);
            } else {
                // The ceiling is another kind of load, and no further step of this one.
                let open = places.iter().filter(|place| place.point.value.is_some());
                let line = open.map(|place| axes.at(place)).collect();
                draw(&mut scene, place, line, places.iter().map(|place| curve_point(place, &axes, &name)).collect());
            }
            names.push(name);
        }
        // The values stand at the highest curve of each point, where there is most room; an axis has them already.
        let mut labelled: Vec<&Place> = Vec::new();
        for place in curves_of_run.iter().flatten().filter(|place| place.across.is_some()) {
            let is_over = |other: &&mut &Place| other.point.figure.scenario == place.point.figure.scenario;
            match labelled.iter_mut().find(is_over) {
                Some(other) if other.up.median < place.up.median => *other = place,
                Some(_) => {}
                None => labelled.push(place),
            }
        }
        scene.labels = labelled.into_iter().map(|place| (axes.at(place), label(place))).collect();
        CurveView { run: title.clone(), names, bars, scene }
    };
    let said = [
        first.throughput.map(|_| Phrase::joined(&[TEXTS.at_points.clone(), format!("{}.", curves.along).into()], " ")),
        Some(caption.clone()),
        all().any(|place| place.point.value.is_none()).then(|| TEXTS.closed_caption.clone()),
        (curves.left_out > 0).then(|| curves_left_out(curves.left_out)),
        axes.upright.is_logarithmic().then(|| TEXTS.logarithmic.clone()),
    ];
    Some(CurvesView {
        title: of(curves.family.into()),
        caption: Phrase::joined(&said.into_iter().flatten().collect::<Vec<_>>(), " "),
        family: curves.family.into(),
        views: runs
            .iter()
            .zip(&places)
            .filter(|(_, curves)| curves.iter().any(|curve| curve.len() > 1))
            .map(view)
            .collect(),
    })
}

fn place(point: Point<'_>, run: usize) -> Option<Place<'_>> {
    let across = match point.throughput {
        Some(row) => Some(measured(row, run)?),
        None => None,
    };
    Some(Place { point, across, up: measured(point.figure, run)? })
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

/// What the points lie over.
enum Level {
    /// A throughput from 0 to this.
    To(f64),
    /// The numbers on an axis.
    Over(Axis),
    /// The same with as much room for each, whatever its distance to the next.
    Bars(Vec<f64>),
}

impl Level {
    fn of<'a>(places: impl Iterator<Item = &'a Place<'a>> + Clone) -> Self {
        let numbers = places.clone().filter(|place| place.across.is_none()).filter_map(|place| place.point.number());
        let (low, high) =
            numbers.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
        match low.is_finite() {
            true => Self::Over(Axis::with_air(low, high)),
            false => Self::To(places.filter_map(|place| place.across).map(upper).fold(0.0, f64::max) * 1.08),
        }
    }

    fn bars<'a>(places: impl Iterator<Item = &'a Place<'a>>) -> Self {
        let mut numbers: Vec<f64> = places.filter_map(|place| place.point.number()).collect();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        Self::Bars(numbers)
    }

    /// As a share of the drawing's width.
    fn share(&self, value: f64) -> f64 {
        match self {
            Self::Bars(numbers) => {
                let before = numbers.iter().filter(|number| **number < value).count();
                (before as f64 + 0.5) / numbers.len() as f64
            }
            Self::To(most) => value / most,
            Self::Over(axis) => 1.0 - axis.share(value),
        }
    }

    fn ticks<'a>(&self, first: Point, places: impl Iterator<Item = &'a Place<'a>>) -> Vec<Tick> {
        let unit = match (self, first.throughput) {
            (Self::To(most), Some(row)) => return lying(ticks(Scale::Unit(row.unit), 0.0, *most)),
            _ => places.filter_map(|place| Some((place.point.number()?, place.point.value?))),
        };
        let mut ticks: Vec<Tick> = unit.map(|(number, value)| Tick::at(self.share(number), value.into())).collect();
        ticks.sort_by(|a, b| a.percent.total_cmp(&b.percent));
        // Figures need room beside each other.
        ticks.dedup_by(|later, earlier| later.percent - earlier.percent < 6.0);
        ticks
    }
}

/// From figures to places.
struct Axes {
    level: Level,
    upright: Axis,
}

impl Axes {
    fn x(&self, value: f64) -> f64 {
        (self.level.share(value) * CANVAS.0).round()
    }

    fn at(&self, place: &Place) -> scene::Point {
        let across = place.across.map(|across| across.median).or_else(|| place.point.number()).unwrap_or(0.0);
        (self.x(across), self.y(place.up.median))
    }

    fn y(&self, figure: f64) -> f64 {
        (self.upright.share(figure) * CANVAS.1).round().clamp(0.0, CANVAS.1)
    }
}

/// Draws the bars of the curve with this number, of so many: beside those of the others at each value.
fn draw_bars(scene: &mut Scene, (number, of): (usize, usize), places: &[Place], axes: &Axes, name: &Phrase) {
    let Level::Bars(numbers) = &axes.level else { return };
    let width = CANVAS.0 / numbers.len() as f64 * 0.8 / of as f64;
    for place in places {
        let (middle, top) = axes.at(place);
        let left = middle + (number as f64 - of as f64 / 2.0) * width;
        let bar = scene::Place { left, top, width, height: CANVAS.1 - top };
        scene.push_titled(Role::Area(number), Shape::Rectangle(bar), tooltip(place, name));
        if let Some((low, high)) = place.up.interval {
            let x = left + width / 2.0;
            scene.push(Role::BarInterval, Shape::Path(vec![vec![(x, axes.y(high)), (x, axes.y(low))]]));
        }
    }
}

fn curve_point(place: &Place, axes: &Axes, name: &Phrase) -> CurvePoint {
    let upright = place.up.interval.map(|(low, high)| (axes.y(high), axes.y(low.max(axes.upright.low()))));
    let across = place.across.and_then(|across| across.interval).map(|(low, high)| (axes.x(low), axes.x(high)));
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
    let up = Phrase::joined(&[name.clone(), told(point.figure, up)], ": ");
    let scenario = &point.figure.scenario;
    let across = point.throughput.zip(*across).map(|(row, across)| told(row, across).after(scenario));
    Phrase::joined(&[across.unwrap_or_else(|| scenario.as_str().into()), up], "; ")
}
