//! How long single operations took: the operations of all repeats together as a histogram, and their percentiles as a curve.

use std::collections::BTreeMap;

use stend_model::metric::Unit;
use stend_stats::Latencies;

use super::curve::{self, CurvePoint};
use super::numbers::figure;
use super::phrase::{Phrase, called};
use super::scale::{Axis, CANVAS, Scale, Tick, lying};
use super::scene::{Description, Role, Scene, Shape};
use super::text::interval_beside;
use super::texts::{TEXTS, merged_of};
use stend_model::latency::Merged;

/// The percentiles that are told, with their shares.
const TOLD: [(&str, f64); 5] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)];
/// The axis of percentiles ends here, counted in nines: p99.99. Beyond it hardly a run has enough operations.
const MOST_NINES: f64 = 4.0;
/// Distance of the points of a curve, in nines.
const STEP: f64 = 0.02;
/// A histogram has so many steps at most, and so many at least where the range allows it.
const MOST_STEPS: f64 = 96.0;
const LEAST_STEPS: f64 = 8.0;

/// The latencies of one run under one name.
pub(super) struct OfRun {
    /// The run's title.
    pub(super) title: String,
    pub(super) merged: Merged,
}

/// The drawings of one name, all runs over the same axes.
pub(super) struct LatencyView {
    /// Its name on the page.
    pub(super) id: String,
    /// What the instrument calls these latencies.
    pub(super) name: String,
    pub(super) heads: [&'static str; TOLD.len()],
    pub(super) rows: Vec<LatencyRow>,
    /// A histogram: the outline of each run.
    pub(super) steps: Scene,
    /// Percentiles: latency upwards, nines across. None where no run has enough operations.
    pub(super) curve: Option<PercentileCurve>,
}

/// One run's figures.
pub(super) struct LatencyRow {
    pub(super) title: String,
    /// How many operations, of how many repeats.
    pub(super) of: Phrase,
    pub(super) cells: [Option<(String, String)>; TOLD.len()],
    pub(super) longest: String,
}

pub(super) struct PercentileCurve {
    pub(super) scene: Scene,
    pub(super) logarithmic: bool,
}

/// Draws them; `None` without any latency.
pub(super) fn latency_view(name: &str, runs: &[OfRun], id: String) -> Option<LatencyView> {
    let rows: Vec<LatencyRow> = runs.iter().map(row).collect();
    let words = words(&rows);
    let scene = |end: char, description: &Phrase| {
        Scene::new(format!("{id}{end}"), words.clone(), Description::Within(description.clone()), Vec::new())
    };
    let steps = steps(runs, scene('s', &TEXTS.latency_steps_caption))?;
    let curve = percentiles(runs, scene('c', &TEXTS.latency_curve_caption));
    Some(LatencyView { id, name: name.into(), heads: TOLD.map(|(head, _)| head), rows, steps, curve })
}

/// What all drawings show, in words: each run with its percentiles.
fn words(rows: &[LatencyRow]) -> Phrase {
    let row = |row: &LatencyRow| {
        let of = Phrase::joined(&[called(&row.title), row.of.clone()], ", ");
        Phrase::joined(&[of, figure(&row.words())], ": ")
    };
    Phrase::joined(&rows.iter().map(row).collect::<Vec<_>>(), "; ")
}

fn row(run: &OfRun) -> LatencyRow {
    let Merged { latencies, repeats } = &run.merged;
    let cell = |(_, share): (&str, f64)| {
        let told = latencies.percentile(share)?;
        let ends = (told.low as f64, told.high as f64);
        Some((show(told.ns), interval_beside(Unit::Nanoseconds, told.ns as f64, ends)))
    };
    LatencyRow {
        title: run.title.clone(),
        of: merged_of(latencies.count(), *repeats),
        cells: TOLD.map(cell),
        longest: latencies.range().map(|(_, longest)| show(longest)).unwrap_or_default(),
    }
}

fn show(ns: u64) -> String {
    Unit::Nanoseconds.show(ns as f64)
}

/// The histogram of all runs over one axis.
///
/// Its steps are parts of octaves, the same number in each: then every bucket of an HdrHistogram, and of fio's, lies in one of them, and
/// no step is higher only because one bucket more happens to lie in it. There are about 2·∛n of them (Rice's rule), for the run with the
/// fewest operations. Steps are not equally wide, so the area stands for the share, not the height. The outermost ten-thousandth at either
/// end is left to the curve of percentiles.
fn steps(runs: &[OfRun], mut scene: Scene) -> Option<Scene> {
    let ranges = runs.iter().filter_map(|run| most(&run.merged.latencies));
    let (low, high) =
        ranges.reduce(|(low, high), (other_low, other_high)| (low.min(other_low), high.max(other_high)))?;
    let fewest = runs.iter().map(|run| run.merged.latencies.count()).min()? as f64;
    let wanted = (2.0 * fewest.cbrt()).clamp(LEAST_STEPS, MOST_STEPS);
    let octaves = (high.max(1) as f64 / low.max(1) as f64).log2();
    let parts = (0..=6).map(|power| 1u64 << power).rev();
    let parts = parts.into_iter().find(|parts| octaves * *parts as f64 <= wanted).unwrap_or(1);
    let (first, last) = (step_of(low, parts), step_of(high, parts));
    let of_run = |run: &OfRun| {
        let mut counts = counts(&run.merged.latencies, parts);
        counts.retain(|step, _| (first..=last).contains(step));
        counts
    };
    let counted: Vec<BTreeMap<u64, u64>> = runs.iter().map(of_run).collect();
    let axis = Axis::new(edge(first, parts), edge(last + 1, parts));
    let x = |step: u64| CANVAS.0 * (1.0 - axis.share(edge(step, parts)));
    let density = |step: u64, count: u64, of: u64| count as f64 / of as f64 / (x(step + 1) - x(step));
    let totals: Vec<u64> = runs.iter().map(|run| run.merged.latencies.count()).collect();
    let densities = counted
        .iter()
        .zip(&totals)
        .flat_map(|(counts, of)| counts.iter().map(move |(step, count)| (*step, *count, *of)));
    let highest = densities.map(|(step, count, of)| density(step, count, of)).fold(0.0, f64::max);
    let outline = |(counts, of): (&BTreeMap<u64, u64>, &u64)| {
        let mut points = vec![(x(first).round(), CANVAS.1)];
        for step in first..=last {
            let count = counts.get(&step).copied().unwrap_or(0);
            let y = (CANVAS.1 * (1.0 - 0.96 * density(step, count, *of) / highest)).round();
            points.extend([(x(step).round(), y), (x(step + 1).round(), y)]);
        }
        points.push((x(last + 1).round(), CANVAS.1));
        vec![points]
    };
    for (number, path) in counted.iter().zip(&totals).map(outline).enumerate() {
        scene.push(Role::Outline(number), Shape::Path(path));
    }
    scene.axes();
    scene.across = lying(axis.ticks(Scale::Unit(Unit::Nanoseconds)));
    Some(scene)
}

/// How many latencies lie in each step, by the step's number: octave × parts + part.
fn counts(latencies: &Latencies, parts: u64) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    for (low, _, count) in latencies.buckets() {
        *counts.entry(step_of(low, parts)).or_default() += count;
    }
    counts
}

/// The number of the step in which a latency lies.
fn step_of(ns: u64, parts: u64) -> u64 {
    let ns = ns.max(1);
    let octave = u64::from(ns.ilog2());
    // In 128 bits: the longest latency has 36, times 64 parts.
    let part = u128::from(ns) * u128::from(parts) / (1u128 << octave) - u128::from(parts);
    octave * parts + part as u64
}

/// From which latency to which all lie but for the outermost ten-thousandth at either end: a single one far out would leave no room for the
/// others. `None` without any.
fn most(latencies: &Latencies) -> Option<(u64, u64)> {
    let outside = latencies.count() / 10_000;
    let mut below = 0;
    let mut range: Option<(u64, u64)> = None;
    for (low, _, count) in latencies.buckets() {
        if below < latencies.count() - outside && below + count > outside {
            range = Some((range.map_or(low, |(first, _)| first), low));
        }
        below += count;
    }
    range
}

/// Where a step begins, ns.
fn edge(step: u64, parts: u64) -> f64 {
    (1u64 << (step / parts)) as f64 * (1.0 + (step % parts) as f64 / parts as f64)
}

/// The percentiles of all runs over one axis.
fn percentiles(runs: &[OfRun], mut scene: Scene) -> Option<PercentileCurve> {
    // As far as ten operations lie beyond.
    let told: Vec<f64> = runs.iter().map(|run| nines_told(&run.merged.latencies)).collect();
    let end = told.iter().copied().fold(0.0, f64::max);
    let points: Vec<Vec<(f64, f64)>> =
        runs.iter().zip(&told).map(|(run, told)| points(&run.merged.latencies, *told)).collect();
    let all = || points.iter().flatten().map(|(_, ns)| *ns);
    let (low, high) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
    let marks =
        || TOLD.iter().map(|(name, share)| (*name, *share, nines(*share))).filter(|(.., nines)| *nines <= end + 1e-9);
    let intervals =
        || runs.iter().flat_map(|run| marks().filter_map(|(_, share, _)| run.merged.latencies.percentile(share)));
    let low = intervals().map(|told| told.low as f64).fold(low, f64::min).max(1.0);
    let high = intervals().map(|told| told.high as f64).fold(high, f64::max);
    let axis = Axis::with_air(low, high);
    let x = |nines: f64| (nines / end * CANVAS.0).round();
    let y = |ns: f64| (axis.share(ns) * CANVAS.1).round().clamp(0.0, CANVAS.1);
    scene.ticks = axis.ticks(Scale::Unit(Unit::Nanoseconds));
    scene.across = marks().map(|(name, _, nines)| Tick::at(nines / end, name.to_owned())).collect();
    scene.rules();
    scene.axes();
    for (number, (run, points)) in runs.iter().zip(&points).enumerate() {
        let point = |(name, share, nines): (&str, f64, f64)| {
            let told = run.merged.latencies.percentile(share)?;
            let ends = (told.low as f64, told.high as f64);
            let told_in_words = format!(
                "{name}: {} (95 %: {})",
                show(told.ns),
                interval_beside(Unit::Nanoseconds, told.ns as f64, ends)
            );
            let mut title = figure(&told_in_words);
            if runs.len() > 1 {
                title = Phrase::joined(&[called(&run.title), title], ", ");
            }
            let upright = Some((y(ends.1), y(ends.0)));
            Some(CurvePoint { at: (x(nines), y(told.ns as f64)), upright, across: None, hollow: false, title })
        };
        let line = points.iter().map(|(nines, ns)| (x(*nines), y(*ns))).collect();
        curve::draw(&mut scene, number, line, marks().filter_map(point).collect());
    }
    Some(PercentileCurve { scene, logarithmic: axis.is_logarithmic() })
}

/// A share in nines: 0.9 is one, 0.99 two; the share of operations beyond is 10⁻ⁿ.
fn nines(share: f64) -> f64 {
    -(1.0 - share).log10()
}

/// The farthest percentile that may be told, in nines; zero if none.
fn nines_told(latencies: &Latencies) -> f64 {
    (latencies.count() as f64 / stend_stats::LEAST_IN_TAIL).max(1.0).log10().min(MOST_NINES)
}

/// Points of a curve: nines and nanoseconds.
fn points(latencies: &Latencies, told: f64) -> Vec<(f64, f64)> {
    let steps = (told / STEP).floor() as u64;
    let places = (1..=steps).map(|step| step as f64 * STEP).chain([told]);
    let point = |nines: f64| Some((nines, latencies.percentile(1.0 - 10f64.powf(-nines))?.ns as f64));
    places.filter_map(point).collect()
}

impl LatencyRow {
    /// The row in words, for who cannot see the drawings.
    pub(super) fn words(&self) -> String {
        let told =
            TOLD.iter().zip(&self.cells).filter_map(|((name, _), cell)| Some(format!("{name} {}", cell.as_ref()?.0)));
        told.collect::<Vec<_>>().join(", ")
    }
}

impl LatencyView {
    /// Whether some run has too few operations for some percentile.
    pub(super) fn lacks_some(&self) -> bool {
        self.rows.iter().any(|row| row.cells.iter().any(Option::is_none))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(title: &str, pairs: &[(u64, u64)]) -> OfRun {
        let mut latencies = Latencies::default();
        pairs.iter().for_each(|(ns, count)| assert!(latencies.record(*ns, *count)));
        OfRun { title: title.into(), merged: Merged { latencies, repeats: 3 } }
    }

    /// The outlines of all runs.
    fn outlines(scene: &Scene) -> Vec<Vec<(f64, f64)>> {
        (0..2).flat_map(|number| scene.paths(Role::Outline(number))).collect()
    }

    /// The points of a curve that are told.
    fn dots(scene: &Scene, line: usize) -> Vec<(f64, f64)> {
        scene.paths(Role::Dot { line, hollow: false }).concat()
    }

    /// The area below an outline, in units of the canvas.
    fn area(outline: &[(f64, f64)]) -> f64 {
        outline.windows(2).map(|pair| (pair[1].0 - pair[0].0) * (CANVAS.1 - pair[1].1)).sum()
    }

    #[test]
    fn equal_shares_have_equal_areas() {
        let runs = [run("a", &[(1000, 500), (9000, 500)]), run("b", &[(1100, 90_000), (20_000, 90_000)])];
        let view = latency_view("latency", &runs, "l".into()).unwrap();
        let areas: Vec<f64> = outlines(&view.steps).iter().map(|line| area(line)).collect();
        assert!((areas[0] / areas[1] - 1.0).abs() < 0.02, "{areas:?}");
    }

    #[test]
    fn a_single_operation_far_out_takes_no_room() {
        let body: Vec<_> = (0..1000).map(|place| (200_000 + place * 100, 100)).collect();
        let out = [&body[..], &[(1, 1), (30_000_000_000, 1)]].concat();
        let view = |pairs: &[(u64, u64)]| latency_view("latency", &[run("a", pairs)], "l".into()).unwrap();
        assert_eq!(outlines(&view(&out).steps), outlines(&view(&body).steps));
        let counted = |pairs: &[(u64, u64)]| most(&run("a", pairs).merged.latencies).unwrap();
        assert_eq!(counted(&[(1, 1), (1000, 9998)]), (1, 1000), "of fewer than 10,000 all are drawn");
        assert_eq!(counted(&[(1, 1), (1000, 9998), (2000, 1)]), (1000, 1000));
    }

    #[test]
    fn a_percentile_is_told_as_far_as_ten_operations_lie_beyond() {
        let one = |count: u64| {
            let pairs: Vec<_> = (1..=count).map(|place| (1000 + place * 10, 1)).collect();
            latency_view("latency", &[run("a", &pairs)], "l".into()).unwrap()
        };
        let told = |view: &LatencyView| view.rows[0].cells.iter().filter(|cell| cell.is_some()).count();
        let marks = |view: &LatencyView| view.curve.as_ref().map(|curve| curve.scene.across.len());
        for (count, expected) in [(15, 0), (20, 1), (999, 2), (1000, 3), (10_000, 4), (100_000, 5)] {
            let view = one(count);
            assert_eq!((told(&view), marks(&view).unwrap_or(0)), (expected, expected), "{count}");
            assert_eq!(view.lacks_some(), expected < 5);
        }
        let dots = dots(&one(1000).curve.unwrap().scene, 0);
        assert_eq!(dots.last().unwrap().0, CANVAS.0, "p99 of 1000 is at the right edge");
    }

    #[test]
    fn two_runs_share_both_axes() {
        let runs = [run("a", &[(1000, 50_000), (5000, 50_000)]), run("b", &[(2000, 500), (80_000, 500)])];
        let view = latency_view("latency", &runs, "l".into()).unwrap();
        let curve = view.curve.unwrap();
        assert!(curve.logarithmic);
        let [one, other] = [0, 1].map(|number| dots(&curve.scene, number));
        assert_eq!((one.len(), other.len()), (5, 3));
        assert_eq!(one[0].0, other[0].0, "p50 of both");
        assert!(one[1].1 > other[1].1, "slower is higher up");
    }

    #[test]
    fn one_latency_alone_and_none_are_no_hindrance() {
        assert!(latency_view("latency", &[], "l".into()).is_none());
        let view = latency_view("latency", &[run("a", &[(0, 1)])], "l".into()).unwrap();
        let are_numbers =
            |path: &crate::scene::Path| path.iter().flatten().all(|(x, y)| x.is_finite() && y.is_finite());
        assert!(view.curve.is_none() && are_numbers(&outlines(&view.steps)));
        let far = latency_view("latency", &[run("a", &[(1, 40), (60_000_000_000, 40)])], "l".into()).unwrap();
        assert!(far.steps.across.len() > 2 && are_numbers(&far.curve.unwrap().scene.paths(Role::Line(0))));
    }
}
