//! Interval of a median from order statistics, and the early stop built on it.

use crate::MIN_REPEATS;
use crate::sample::{finite_sorted, median, sorted_median};

/// A confidence interval of a median between two order statistics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end, an observed value, in the unit of the sample.
    pub low: f64,
    /// Upper end, an observed value, in the unit of the sample.
    pub high: f64,
    /// Confidence really attained, at least what was asked for (0.96875 with n = 6).
    pub attained: f64,
    /// Rank k of the lower end from below, and of the upper end from above (1 = least, greatest).
    pub rank: usize,
}

/// Exact interval of the median: the narrowest symmetric pair of order statistics
/// \[x₍ₖ₎, x₍ₙ₋ₖ₊₁₎\] that reaches the confidence, which is attained with P(k ≤ B ≤ n − k), B binomial(n, ½).
///
/// * Unit: that of the values.
/// * Assumes: independent repeats of one distribution, whichever it is; ties make it conservative.
/// * Refuses: `None` where even the range does not reach the confidence (n ≤ 5 at 95 %), for a confidence
///   outside 0 < c < 1, and for an empty or non-finite sample.
/// * Source: David and Nagaraja, *Order Statistics*, 3rd ed., 7.1.
///
/// ```
/// let six = stend_stats::median_interval(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.95).unwrap();
/// assert_eq!((six.low, six.high, six.attained), (1.0, 6.0, 0.96875));
/// assert_eq!(stend_stats::median_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95), None);
/// ```
#[must_use]
pub fn median_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let sorted = finite_sorted(values)?;
    let n = sorted.len();
    // From the middle outwards, so that nothing underflows: P(B = n/2) = Π (2i − 1)/2i.
    let middle = n / 2;
    let half = n.div_ceil(2);
    let mut mass: f64 = (1..=half).map(|i| (2 * i - 1) as f64 / (2 * i) as f64).product();
    let mut attained = if n % 2 == 0 { mass } else { 2.0 * mass };
    let mut rank = middle;
    while rank >= 1 {
        if attained >= confidence {
            return Some(Interval { low: sorted[rank - 1], high: sorted[n - rank], attained: attained.min(1.0), rank });
        }
        // P(B = k − 1) = P(B = k) · k / (n − k + 1)
        mass *= rank as f64 / (n - rank + 1) as f64;
        attained += 2.0 * mass;
        rank -= 1;
    }
    None
}

/// 95 % interval of the median over all repeats of one side's sessions.
///
/// Of one session it is [`median_interval`]. Of several it reaches at least from the least to the greatest median of a session: where sessions
/// differ, more repeats in each do not make it narrower. The order of repeats and of sessions does not matter.
///
/// * Unit: that of the values.
/// * Assumes: repeats independent within a session. The range of two sessions' medians holds the true one in half of all cases, that of three in
///   ¾, that of six in 97 %.
/// * Refuses: `None` where [`median_interval`] of all repeats does.
/// * Source: as [`median_interval`], of the repeats and of the sessions' medians.
///
/// ```
/// use stend_stats::{median_interval, median_interval_of_sessions};
/// let sessions = [vec![100.0; 10], vec![120.0; 10]];
/// assert_eq!(median_interval_of_sessions(&sessions), Some((100.0, 120.0)));
/// assert_eq!(median_interval_of_sessions(&sessions[..1]), Some((100.0, 100.0)));
/// ```
#[must_use]
pub fn median_interval_of_sessions(sessions: &[Vec<f64>]) -> Option<(f64, f64)> {
    let Interval { low, high, .. } = median_interval(&sessions.concat(), 0.95)?;
    let medians: Vec<f64> = sessions.iter().filter_map(|session| median(session)).collect();
    if medians.len() < 2 {
        return Some((low, high));
    }
    Some(medians.into_iter().fold((low, high), |(low, high), median| (low.min(median), high.max(median))))
}

/// Whether measuring may stop early: n ≥ 6 and the 95 % interval of the median ([`median_interval`]) has a half-width (high − low)/2
/// of at most `relative_half_width` · |median|.
///
/// * Unit: the width is a fraction of the median; 0.01 is 1 %.
/// * Assumes: what [`median_interval`] does. Looking after every repeat makes the final interval a little too narrow; that is why the rule keeps a
///   floor on n.
/// * Refuses: false for a median of zero, a non-finite sample, or a width that is negative or not a number.
/// * Source: this project's own rule; on what looking costs: Chow and Robbins, *Ann. Math. Statist.* 36 (1965).
///
/// ```
/// let steady = [100.0, 100.1, 99.9, 100.2, 100.0, 99.8];
/// assert!(stend_stats::precision_reached(&steady, 0.01));
/// assert!(!stend_stats::precision_reached(&steady[..5], 0.01));
/// ```
#[must_use]
pub fn precision_reached(values: &[f64], relative_half_width: f64) -> bool {
    if values.len() < MIN_REPEATS {
        return false;
    }
    let (Some(interval), Some(sorted)) = (median_interval(values, 0.95), finite_sorted(values)) else {
        return false;
    };
    let centre = sorted_median(&sorted).abs();
    let half_width = interval.high / 2.0 - interval.low / 2.0;
    centre > 0.0 && half_width <= relative_half_width * centre
}
