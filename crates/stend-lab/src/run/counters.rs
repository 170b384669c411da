//! How much a counter that the sampler reads grew in exactly the stretch that was measured.
//!
//! It is read ten times a second if nothing else is asked for; the instrument says when its measured part began and how long it was. At the
//! two ends of it, the counter is interpolated between the readings on either side; where there is none outside, two readings inside that lie
//! as far from each other as usual are followed on. So at each end the figure is wrong by less than what is counted from one reading to the
//! next.

use stend_model::run::Series;

/// By how much it grew from one moment to another; none where that cannot be known, or where it was reset in between.
pub(super) fn growth(series: &Series, began: i64, ended: i64) -> Option<f64> {
    Some(at(series, ended)? - at(series, began)?).filter(|grown| *grown >= 0.0)
}

/// A counter's value at a moment.
fn at(series: &Series, moment: i64) -> Option<f64> {
    let times = &series.times_ns;
    let after = times.partition_point(|time| *time < moment);
    let (left, right) = match after {
        0 => (0, beyond(times.iter(), usual_interval(times)?)?),
        _ if after < times.len() => (after - 1, after),
        _ => (times.len() - 1 - beyond(times.iter().rev(), usual_interval(times)?)?, times.len() - 1),
    };
    let (time, next_time) = (times[left], times[right]);
    let (value, next_value) = (*series.values.get(left)?, *series.values.get(right)?);
    let interval = (next_time - time) as f64;
    let share = (moment - time) as f64 / interval;
    // Farther from the readings than they are from each other nothing is known.
    (interval > 0.0 && (-1.0..=2.0).contains(&share)).then_some(value + share * (next_value - value))
}

/// How far the readings of a series are from each other in the middle of all cases.
fn usual_interval(times: &[i64]) -> Option<i64> {
    let mut intervals: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let middle = intervals.len() / 2;
    (!intervals.is_empty()).then(|| *intervals.select_nth_unstable(middle).1)
}

/// From an end of the readings, how many readings further on one lies that is at least so far away, or else the last of all. One that came
/// late lies close to the next, which says little about how the counter grows.
fn beyond<'t>(mut from_end: impl ExactSizeIterator<Item = &'t i64>, usual: i64) -> Option<usize> {
    let last = from_end.len().checked_sub(1)?;
    let end = *from_end.next()?;
    Some(from_end.position(|time| (time - end).abs() >= usual).map_or(last, |further| further + 1))
}

#[cfg(test)]
mod tests {
    use stend_model::run::Origin;

    use super::*;

    const MILLISECOND: i64 = 1_000_000;

    /// A counter that grows by one a millisecond, read at these milliseconds.
    fn read(at: impl IntoIterator<Item = i64>) -> Series {
        let times_ns: Vec<_> = at.into_iter().map(|time| time * MILLISECOND).collect();
        let values = times_ns.iter().map(|time| (time / MILLISECOND) as f64).collect();
        Series { metric: "energy.x_joules_total".into(), origin: Origin::Machine, times_ns, values }
    }

    fn grown(series: &Series, began: i64, ended: i64) -> Option<f64> {
        growth(series, began * MILLISECOND, ended * MILLISECOND)
    }

    #[test]
    fn a_reading_that_was_late_takes_nothing_away_from_what_is_known() {
        // The first was due at 0, the one before the last at 1100.
        let late = read([85].into_iter().chain((1..=10).map(|tick| tick * 100)).chain([1188, 1200]));
        assert_eq!(grown(&late, 40, 1290), Some(1250.0));
        assert_eq!(grown(&late, 0, 1290), Some(1290.0));
    }

    #[test]
    fn what_lies_farther_than_readings_lie_from_each_other_is_not_known() {
        let even = read((0..=12).map(|tick| tick * 100));
        assert_eq!(grown(&even, -90, 1290), Some(1380.0));
        assert_eq!(grown(&even, -110, 1200), None);
        assert_eq!(grown(&even, 0, 1310), None);
        assert_eq!(grown(&read([100]), 100, 150), None);
        assert_eq!(grown(&read([]), 100, 150), None);
    }
}
