//! How the values of a scenario's repeats are distributed: one row of bars a run, all over one axis.

use stend_model::metric::Unit;

use super::scale::{CANVAS, Scale, Tick, padded, ticks};
use super::text;

/// The values of one run's repeats that count.
pub(super) struct Values {
    /// The run's title.
    pub(super) title: String,
    pub(super) values: Vec<f64>,
}

/// The drawing, ready for the template.
pub(super) struct Histogram {
    pub(super) rows: Vec<HistogramRow>,
    /// Marks of the axis that goes across, from its right end.
    pub(super) across: Vec<Tick>,
}

/// One run's bars.
pub(super) struct HistogramRow {
    pub(super) title: String,
    pub(super) bars: Vec<Bar>,
    /// The bars in words.
    pub(super) words: String,
}

/// So many repeats lie within one step of the axis.
pub(super) struct Bar {
    pub(super) x: f64,
    pub(super) width: f64,
    pub(super) y: f64,
    pub(super) height: f64,
    pub(super) title: String,
}

/// More bars than this could not be told apart.
const MOST_BARS: usize = 24;

/// Draws them; `None` with fewer than two values, or where all are the same.
///
/// The number of bars is Sturges' for the largest of the runs, ⌈log₂ n⌉ + 1 (*The choice of a class interval*, 1926): it suits the few
/// repeats that there are.
pub(super) fn histogram(runs: Vec<Values>, unit: Unit) -> Option<Histogram> {
    let finite = || runs.iter().flat_map(|run| run.values.iter().copied()).filter(|value| value.is_finite());
    let (low, high) = (finite().reduce(f64::min)?, finite().reduce(f64::max)?);
    if low >= high {
        return None;
    }
    let most_values = runs.iter().map(|run| run.values.len()).max().unwrap_or(0).max(2);
    let of_one = (most_values as f64).log2().ceil() + 1.0;
    // Runs that lie far apart have narrower bars together than each has alone, lest all of one run fall into one bar.
    let narrowest = runs.iter().filter_map(|run| width(&run.values)).reduce(f64::min)? / of_one;
    let bars = (((high - low) / narrowest).ceil()).clamp(of_one, MOST_BARS as f64) as usize;
    let step = (high - low) / bars as f64;
    let (left, right) = padded(low, high);
    let place = |value: f64| ((value - left) / (right - left) * CANVAS.0).round();
    let counts: Vec<Vec<usize>> = runs.iter().map(|run| counted(&run.values, low, step, bars)).collect();
    let highest = counts.iter().flatten().copied().max().unwrap_or(1).max(1) as f64;
    let rows = runs.into_iter().zip(counts).map(|(run, counts)| {
        let mut words = Vec::new();
        let bar = |(index, count): (usize, usize)| {
            let (from, to) = (low + index as f64 * step, low + (index + 1) as f64 * step);
            let range = text::interval(unit, from, to);
            words.push(format!("{range}: {count}"));
            let height = (count as f64 / highest * CANVAS.1 * 0.94).round();
            let x = place(from);
            Bar {
                x,
                width: (place(to) - x).max(8.0),
                y: CANVAS.1 - height,
                height,
                title: format!("{range} · {count}"),
            }
        };
        let bars = counts.into_iter().enumerate().filter(|(_, count)| *count > 0).map(bar).collect();
        let words = words.join("; ");
        HistogramRow { title: run.title, bars, words }
    });
    let rows = rows.collect();
    Some(Histogram { rows, across: ticks(Scale::Unit(unit), left, right) })
}

/// From the smallest value to the largest, if they differ.
fn width(values: &[f64]) -> Option<f64> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let width = finite().reduce(f64::max)? - finite().reduce(f64::min)?;
    (width > 0.0).then_some(width)
}

fn counted(values: &[f64], low: f64, step: f64, bars: usize) -> Vec<usize> {
    let mut counts = vec![0; bars];
    for value in values.iter().filter(|value| value.is_finite()) {
        // The largest value belongs to the last bar.
        counts[(((value - low) / step) as usize).min(bars - 1)] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drawn(runs: &[&[f64]]) -> Option<Histogram> {
        let values = |values: &&[f64]| Values { title: "a".into(), values: values.to_vec() };
        histogram(runs.iter().map(values).collect(), Unit::BytesPerSecond)
    }

    #[test]
    fn the_bars_are_as_high_as_their_counts() {
        // Eight values: four bars of one each wide, with 1, 2, 1 and 4 values; the largest is in the last.
        let drawn = drawn(&[&[10.0, 11.0, 11.5, 12.0, 13.0, 13.2, 13.9, 14.0]]).unwrap();
        let bars = &drawn.rows[0].bars;
        assert_eq!(bars.iter().map(|bar| bar.height).collect::<Vec<_>>(), [235.0, 470.0, 235.0, 940.0]);
        assert!(bars.iter().all(|bar| bar.y + bar.height == 1000.0));
        assert_eq!(bars[3].title, "13.0 … 14.0 B/s · 4");
    }

    #[test]
    fn nothing_is_drawn_where_nothing_differs() {
        assert!(drawn(&[]).is_none() && drawn(&[&[]]).is_none());
        assert!(drawn(&[&[5.0, 5.0, 5.0]]).is_none());
        assert!(drawn(&[&[f64::NAN, 5.0]]).is_none());
    }

    #[test]
    fn two_runs_far_apart_keep_their_shapes_on_one_axis() {
        let drawn = drawn(&[&[10.0, 10.5, 11.0, 11.5], &[20.0, 20.5, 21.0, 21.5]]).unwrap();
        assert!(drawn.rows.iter().all(|row| row.bars.len() > 1), "neither is one single bar");
        assert!(drawn.rows[0].bars.iter().all(|bar| bar.x < drawn.rows[1].bars[0].x));
    }

    proptest! {
        #[test]
        fn every_value_is_in_one_bar(values in proptest::collection::vec(1.0..1e12f64, 2..200)) {
            let Some(drawn) = drawn(&[&values]) else { return Ok(()) };
            let counted: usize = drawn.rows[0]
                .bars
                .iter()
                .map(|bar| bar.title.rsplit(' ').next().unwrap().parse::<usize>().unwrap())
                .sum();
            prop_assert_eq!(counted, values.len());
            prop_assert!(drawn.rows[0].bars.iter().all(|bar| (0.0..=4000.0).contains(&bar.x) && bar.height > 0.0));
        }
    }
}
