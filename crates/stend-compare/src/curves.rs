//! What latency a throughput is bought with: the scenarios of a family as points of curves.
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

/// One curve: a latency over the throughput.
#[derive(Debug, Clone)]
pub struct Curve<'a> {
    /// The axis of which each value has a curve of its own, and the value.
    pub of: Option<(&'a str, &'a str)>,
    /// The latency's name.
    pub metric: &'a str,
    pub points: Vec<Point<'a>>,
}

/// A scenario's place on a curve: in each run the cells of both rows.
#[derive(Debug, Clone, Copy)]
pub struct Point<'a> {
    /// The value on the axis; none for the ceiling, which is not on it.
    pub value: Option<&'a str>,
    pub throughput: &'a Row,
    pub latency: &'a Row,
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
            let point = Point { value: Some(value), throughput, latency };
            match curves.iter_mut().find(|curve| curve.metric == latency.metric && curve.of == of) {
                Some(curve) => curve.points.push(point),
                None => curves.push(Curve { of, metric: &latency.metric, points: vec![point] }),
            }
        }
    }
    for curve in &mut curves {
        curve.points.sort_by(|a, b| {
            a.value.and_then(number).unwrap_or(0.0).total_cmp(&b.value.and_then(number).unwrap_or(0.0))
        });
        let ceiling = curve.points[0].latency.share_of.as_deref();
        let at_ceiling = ceiling.and_then(|ceiling| {
            let latency = table.rows.iter().find(|row| row.scenario == ceiling && row.metric == curve.metric)?;
            Some(Point { value: None, throughput: throughput(ceiling)?, latency })
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
