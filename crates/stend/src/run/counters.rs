//! How much a counter that the sampler reads grew in exactly the stretch that was measured.
//!
//! It is read ten times a second if nothing else is asked for; the instrument says when its measured part began and how long it was. At the
//! two ends of it, the counter is interpolated between the readings on either side; where there is none outside, the two readings nearest
//! inside are followed on. So at each end the figure is wrong by less than what is counted from one reading to the next.

use stend_model::run::Series;

/// By how much it grew from one moment to another; none where that cannot be known, or where it was reset in between.
pub(super) fn growth(series: &Series, began: i64, ended: i64) -> Option<f64> {
    Some(at(series, ended)? - at(series, began)?).filter(|grown| *grown >= 0.0)
}

/// A counter's value at a moment.
fn at(series: &Series, moment: i64) -> Option<f64> {
    let times = &series.times_ns;
    let after = times.partition_point(|time| *time < moment);
    if times.get(after) == Some(&moment) {
        return series.values.get(after).copied();
    }
    let first = after.clamp(1, times.len().max(2) - 1) - 1;
    let (&[time, next_time], &[value, next_value]) =
        (times.get(first..first + 2)?, series.values.get(first..first + 2)?)
    else {
        return None;
    };
    let interval = (next_time - time) as f64;
    let share = (moment - time) as f64 / interval;
    // Farther from the readings than they are from each other nothing is known.
    (interval > 0.0 && (-1.0..=2.0).contains(&share)).then_some(value + share * (next_value - value))
}
