//! How the values of a scenario's repeats are distributed: one row of bars a run, all over one axis.

use stend_model::metric::Unit;

use super::numbers::figure;
use super::scale::{CANVAS, Scale, Tick, lying, padded, ticks};
use super::scene::{Description, Place, Role, Scene, Shape};
use super::text;

/// The values of one run's repeats that count.
pub(super) struct Values {
    /// The run's title.
    pub(super) title: String,
    pub(super) values: Vec<f64>,
}

/// The drawing.
pub(super) struct Histogram {
    pub(super) rows: Vec<HistogramRow>,
}

/// One run's bars: how many repeats lie within each step of the axis.
pub(super) struct HistogramRow {
    pub(super) title: String,
    /// The axis below it has figures only where the next row's axis is not this one's too.
    pub(super) scene: Scene,
}

/// More bars than this could not be told apart.
const MOST_BARS: f64 = 24.0;

/// Draws them; `None` with fewer than two values, or where all are the same.
///
/// The number of bars is Sturges' for the largest of the runs, ⌈log₂ n⌉ + 1 (*The choice of a class interval*, 1926): it suits the few
/// repeats that there are. All runs are drawn over one axis, in steps as narrow as the narrowest of them needs; where they lie so far
/// apart that this would be too many, each has an axis of its own, lest each be one bar.
pub(super) fn histogram(runs: Vec<Values>, unit: Unit, id: &str) -> Option<Histogram> {
    let most_values = runs.iter().map(|run| run.values.len()).max().unwrap_or(0).max(2);
    let of_one = (most_values as f64).log2().ceil() + 1.0;
    let all: Vec<f64> = runs.iter().flat_map(|run| run.values.iter().copied()).collect();
    let (low, high) = range(&all)?;
    let narrowest = runs.iter().filter_map(|run| range(&run.values)).map(|(low, high)| high - low).reduce(f64::min);
    let bars = ((high - low) / narrowest.unwrap_or(high - low) * of_one).ceil().max(of_one);
    if bars <= MOST_BARS {
        let axis = Axis { low, high, bars: bars as usize };
        let most = runs.iter().flat_map(|run| axis.counts(&run.values)).max().unwrap_or(1);
        let last = runs.len() - 1;
        let rows = runs.into_iter().enumerate();
        let rows = rows.map(|(place, run)| axis.row(run, most, unit, format!("{id}-{place}"), place == last)).collect();
        return Some(Histogram { rows });
    }
    let own = |(place, run): (usize, Values)| {
        // A run without two different values has one bar.
        let (low, high) = range(&run.values).or_else(|| run.values.first().map(|value| padded(*value, *value)))?;
        let axis = Axis { low, high, bars: of_one as usize };
        let most = axis.counts(&run.values).into_iter().max().unwrap_or(1);
        Some(axis.row(run, most, unit, format!("{id}-{place}"), true))
    };
    Some(Histogram { rows: runs.into_iter().enumerate().filter_map(own).collect() })
}

/// An axis from the smallest value to the largest, in steps.
struct Axis {
    low: f64,
    high: f64,
    bars: usize,
}

impl Axis {
    fn step(&self) -> f64 {
        (self.high - self.low) / self.bars as f64
    }

    /// How many values lie in each step.
    fn counts(&self, values: &[f64]) -> Vec<usize> {
        let mut counts = vec![0; self.bars];
        for value in values.iter().filter(|value| value.is_finite()) {
            // The largest value belongs to the last bar.
            counts[(((value - self.low) / self.step()) as usize).min(self.bars - 1)] += 1;
        }
        counts
    }

    fn row(&self, run: Values, most: usize, unit: Unit, id: String, with_figures: bool) -> HistogramRow {
        let (left, right) = padded(self.low, self.high);
        let x = |value: f64| ((value - left) / (right - left) * CANVAS.0).round();
        let bar = |(index, count): (usize, usize)| {
            let from = self.low + index as f64 * self.step();
            let to = from + self.step();
            let height = (high(count, most) * CANVAS.1).round();
            let width = (x(to) - x(from)).max(8.0);
            let place = Place { left: x(from), top: CANVAS.1 - height, width, height };
            (place, format!("{} · {count}", text::interval(unit, from, to)))
        };
        let counts = self.counts(&run.values).into_iter().enumerate();
        let bars: Vec<_> = counts.filter(|(_, count)| *count > 0).map(bar).collect();
        let words = bars.iter().map(|(_, words)| words.as_str()).collect::<Vec<_>>().join("; ");
        let mut scene = Scene::new(id, figure(&words), Description::None, scale_of_counts(most));
        scene.tall = false;
        scene.rules();
        for (place, words) in bars {
            scene.push_titled(Role::Count, Shape::Rectangle(place), figure(&words));
        }
        scene.axes();
        if with_figures {
            scene.across = lying(ticks(Scale::Unit(unit), left, right));
        }
        HistogramRow { title: run.title, scene }
    }
}

/// How high a bar is, as a share of the drawing's height.
fn high(count: usize, most: usize) -> f64 {
    count as f64 / most.max(1) as f64 * 0.94
}

/// The scale of counts: at most four of them, all whole and in equal steps.
fn scale_of_counts(most: usize) -> Vec<Tick> {
    let powers = std::iter::successors(Some(1usize), |power| power.checked_mul(10));
    let mut steps = powers.flat_map(|power| [1, 2, 5].map(|factor| power.saturating_mul(factor)));
    let step = steps.find(|step| most / step <= 3).unwrap_or(most).max(1);
    (0..=most).step_by(step).map(|count| Tick::at(1.0 - high(count, most), count.to_string())).collect()
}

/// The smallest and the largest value, if they differ.
fn range(values: &[f64]) -> Option<(f64, f64)> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = (finite().reduce(f64::min)?, finite().reduce(f64::max)?);
    (low < high).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Mark;
    use proptest::prelude::*;

    fn drawn(runs: &[&[f64]]) -> Option<Histogram> {
        let values = |values: &&[f64]| Values { title: "a".into(), values: values.to_vec() };
        histogram(runs.iter().map(values).collect(), Unit::BytesPerSecond, "h")
    }

    /// The bars of a row, with what is said of each.
    fn bars(row: &HistogramRow) -> Vec<(Place, &str)> {
        let bar = |mark: &'_ Mark| match mark.shape {
            Shape::Rectangle(place) => Some(place),
            _ => None,
        };
        let marks = row.scene.marks.iter();
        marks.filter_map(|mark| Some((bar(mark)?, mark.title.as_ref()?.english()))).collect()
    }

    #[test]
    fn the_bars_are_as_high_as_their_counts() {
        // Eight values: four bars of one each wide, with 1, 2, 1 and 4 values; the largest is in the last.
        let drawn = drawn(&[&[10.0, 11.0, 11.5, 12.0, 13.0, 13.2, 13.9, 14.0]]).unwrap();
        let bars = bars(&drawn.rows[0]);
        assert_eq!(bars.iter().map(|(bar, _)| bar.height).collect::<Vec<_>>(), [235.0, 470.0, 235.0, 940.0]);
        assert!(bars.iter().all(|(bar, _)| bar.top + bar.height == 1000.0));
        assert_eq!(bars[3].1, "13.0 … 14.0 B/s · 4");
        // The scale says so: the highest bar reaches its uppermost mark.
        let marks: Vec<_> =
            drawn.rows[0].scene.ticks.iter().map(|tick| (tick.label.as_str(), 1000.0 - tick.y())).collect();
        assert_eq!(marks, [("0", 0.0), ("2", 470.0), ("4", 940.0)]);
    }

    #[test]
    fn counts_are_whole_and_few() {
        let labels = |most| scale_of_counts(most).into_iter().map(|tick| tick.label).collect::<Vec<_>>();
        assert_eq!(labels(1), ["0", "1"]);
        assert_eq!(labels(3), ["0", "1", "2", "3"]);
        assert_eq!(labels(7), ["0", "2", "4", "6"]);
        assert_eq!(labels(12), ["0", "5", "10"]);
        assert_eq!(labels(100_000), ["0", "50000", "100000"]);
    }

    #[test]
    fn nothing_is_drawn_where_nothing_differs() {
        assert!(drawn(&[]).is_none() && drawn(&[&[]]).is_none());
        assert!(drawn(&[&[5.0, 5.0, 5.0]]).is_none());
        assert!(drawn(&[&[f64::NAN, 5.0]]).is_none());
    }

    #[test]
    fn two_runs_share_an_axis_unless_each_would_be_one_bar() {
        let near = drawn(&[&[10.0, 10.5, 11.0, 11.5], &[12.0, 12.5, 13.0, 13.5]]).unwrap();
        assert!(near.rows[0].scene.across.is_empty() && !near.rows[1].scene.across.is_empty());
        assert!(near.rows.iter().all(|row| bars(row).len() > 1));
        assert!(bars(&near.rows[0]).iter().all(|(bar, _)| bar.left < bars(&near.rows[1])[0].0.left));
        let far = drawn(&[&[10.0, 10.5, 11.0, 11.5], &[90.0, 90.5, 91.0, 91.5], &[50.0]]).unwrap();
        assert!(far.rows.iter().all(|row| !row.scene.across.is_empty()), "each has its own");
        assert_eq!(far.rows.iter().map(|row| bars(row).len()).collect::<Vec<_>>(), [3, 3, 1]);
    }

    proptest! {
        #[test]
        fn every_value_is_in_one_bar(values in proptest::collection::vec(1.0..1e12f64, 2..200)) {
            let Some(drawn) = drawn(&[&values]) else { return Ok(()) };
            let bars = bars(&drawn.rows[0]);
            let count = |words: &str| words.rsplit(' ').next().unwrap().parse::<usize>().unwrap();
            let counted: usize = bars.iter().map(|(_, words)| count(words)).sum();
            prop_assert_eq!(counted, values.len());
            prop_assert!(bars.iter().all(|(bar, _)| (0.0..=4000.0).contains(&bar.left) && bar.height > 0.0));
        }
    }
}
