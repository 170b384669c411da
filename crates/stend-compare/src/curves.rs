//! The scenarios of a family as points of curves: a figure along an axis, and what latency a throughput is bought with.
//!
//! A family is a sweep of a closed load (by depth, by jobs), or an open load at shares of a ceiling; then the ceiling, which is a closed load
//! at full depth, stands beside.

use stend_model::metric::{Better, Unit};

use super::pivot::{axes, families, number};
use super::table::{Row, Table};

/// The curves of a family.
#[derive(Debug, Clone)]
pub struct Curves<'a> {
    /// The family's name.
    pub family: &'a str,
    /// The axis along which the points of a curve follow each other.
    pub along: &'a str,
    pub curves: Vec<Curve<'a>>,
    /// How many more there would be.
    pub left_out: usize,
}

/// One curve: a figure along the axis, or a latency over the throughput.
#[derive(Debug, Clone)]
pub struct Curve<'a> {
    /// The axis of which each value has a curve of its own, and the value.
    pub of: Option<(&'a str, &'a str)>,
    /// The figure's name.
    pub metric: &'a str,
    pub points: Vec<Point<'a>>,
}

/// A scenario's place on a curve: in each run the cells of both rows.
#[derive(Debug, Clone, Copy)]
pub struct Point<'a> {
    /// The value on the axis; none for the ceiling, which is not on it.
    pub value: Option<&'a str>,
    /// What it lies over; the value on the axis if there is none.
    pub throughput: Option<&'a Row>,
    pub figure: &'a Row,
}

/// The latencies that are drawn, of those that there are: a usual operation's and a slow one's.
const DRAWN: [&str; 2] = ["latency p50", SLOW];
const SLOW: &str = "latency p99";
/// More curves than this cannot be told apart. Then only the slow operations' are drawn, and of these the first.
const MOST_CURVES: usize = 5;

/// The curves of each family whose scenarios have a throughput and latencies.
pub fn curves(table: &Table) -> Vec<Curves<'_>> {
    families(table).iter().filter_map(|rows| of_family(table, rows)).collect()
}

/// How the main figure and the CPU time of an operation go along the axis of each family that has one of numbers, and at most one other.
pub fn sweeps(table: &Table) -> Vec<Curves<'_>> {
    families(table).iter().flat_map(|rows| along_the_axis(rows)).collect()
}

/// A line through fewer points than these shows no more than the table.
const LEAST_POINTS: usize = 3;

fn along_the_axis<'a>(rows: &[&'a Row]) -> Vec<Curves<'a>> {
    let axes = axes(rows);
    let values = |axis: &str| rows.iter().filter_map(|row| row.family.as_ref()?.point.get(axis)).collect::<Vec<_>>();
    let is_of_numbers = |axis: &str| values(axis).iter().all(|value| number(value).is_some());
    let (of_numbers, others): (Vec<_>, Vec<_>) = axes.into_iter().partition(|(axis, _)| is_of_numbers(axis));
    let (&[(along, count)], [] | [(_, ..=MOST_CURVES)]) = (&of_numbers[..], &others[..]) else { return Vec::new() };
    // An open load at shares of a closed one is drawn over what it reaches.
    if count < LEAST_POINTS || rows.iter().any(|row| row.share_of.is_some()) {
        return Vec::new();
    }
    let mut sweeps: Vec<Curves> = Vec::new();
    for row in rows.iter().filter(|row| row.main || row.unit == Unit::CpuSeconds) {
        let Some(family) = &row.family else { continue };
        let of = others.first().and_then(|(axis, _)| Some((*axis, family.point.get(*axis)?.as_str())));
        let point = Point { value: family.point.get(along).map(String::as_str), throughput: None, figure: row };
        let place = sweeps.iter().position(|sweep| sweep.curves[0].metric == row.metric);
        let curves = match place {
            Some(place) => &mut sweeps[place].curves,
            None => {
                sweeps.push(Curves { family: &family.name, along, curves: Vec::new(), left_out: 0 });
                &mut sweeps.last_mut().expect("one was pushed").curves
            }
        };
        match curves.iter_mut().find(|curve| curve.of == of) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve { of, metric: &row.metric, points: vec![point] }),
        }
    }
    sweeps.iter_mut().flat_map(|sweep| &mut sweep.curves).for_each(Curve::sort);
    sweeps
}

impl Curve<'_> {
    /// Puts its points in the order of the axis.
    fn sort(&mut self) {
        let at = |point: &Point| point.value.and_then(number).unwrap_or(0.0);
        self.points.sort_by(|a, b| at(a).total_cmp(&at(b)));
    }
}

impl Point<'_> {
    /// Where on the axis it is.
    pub fn number(&self) -> Option<f64> {
        number(self.value?)
    }
}

fn of_family<'a>(table: &'a Table, rows: &[&'a Row]) -> Option<Curves<'a>> {
    let family = rows.first()?.family.as_ref()?;
    // Two axes make a curve for each value of the one with fewer of them; of more, or of others than numbers, no curves can be read.
    let (along, of) = match axes(rows)[..] {
        [(only, _)] => (only, None),
        [(first, fewer), (second, more)] if fewer <= more => (second, Some(first)),
        [(first, _), (second, _)] => (first, Some(second)),
        _ => return None,
    };
    let throughput = |scenario: &str| {
        let is_throughput =
            |row: &&'a Row| row.scenario == scenario && row.better == Better::Higher && is_rate(row.unit);
        table.rows.iter().find(is_throughput)
    };
    let latencies: Vec<&str> = {
        let known = |metric: &str| rows.iter().any(|row| row.metric == metric && is_time(row.unit));
        DRAWN.into_iter().filter(|metric| known(metric)).collect()
    };
    let mut curves: Vec<Curve> = Vec::new();
    for metric in latencies {
        for latency in rows.iter().filter(|row| row.metric == metric) {
            let point = &latency.family.as_ref()?.point;
            let (Some(value), Some(throughput)) = (point.get(along), throughput(&latency.scenario)) else { continue };
            number(value)?;
            let of = of.and_then(|axis| Some((axis, point.get(axis)?.as_str())));
            let point = Point { value: Some(value), throughput: Some(throughput), figure: latency };
            match curves.iter_mut().find(|curve| curve.metric == latency.metric && curve.of == of) {
                Some(curve) => curve.points.push(point),
                None => curves.push(Curve { of, metric: &latency.metric, points: vec![point] }),
            }
        }
    }
    for curve in &mut curves {
        curve.sort();
        let ceiling = curve.points[0].figure.share_of.as_deref();
        let at_ceiling = ceiling.and_then(|ceiling| {
            let latency = table.rows.iter().find(|row| row.scenario == ceiling && row.metric == curve.metric)?;
            Some(Point { value: None, throughput: Some(throughput(ceiling)?), figure: latency })
        });
        curve.points.extend(at_ceiling);
    }
    curves.retain(|curve| curve.points.len() > 1);
    let all = curves.len();
    if all > MOST_CURVES {
        curves.retain(|curve| curve.metric == SLOW);
        curves.truncate(MOST_CURVES);
    }
    let left_out = all - curves.len();
    (!curves.is_empty()).then_some(Curves { family: &family.name, along, curves, left_out })
}

fn is_rate(unit: Unit) -> bool {
    matches!(unit, Unit::Iops | Unit::OperationsPerSecond | Unit::RequestsPerSecond | Unit::BytesPerSecond)
}

fn is_time(unit: Unit) -> bool {
    matches!(unit, Unit::Nanoseconds | Unit::Seconds)
}
