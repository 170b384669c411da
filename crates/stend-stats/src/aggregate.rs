//! One figure over several scenarios.

use crate::ratio::RatioInterval;

/// Geometric mean of ratios, exp(Σ ln rᵢ / k): the only mean under which "A over B" and "B over
/// A" are reciprocal.
///
/// * Unit: none.
/// * Assumes: all ratios the same way round (turned where lower is better), of the scenarios that both have; the caller lists the missing ones.
/// * Refuses: `None` for an empty list or a ratio that is not positive and finite.
/// * Source: Fleming and Wallace, *Comm. ACM* 29 (1986), 218–221.
///
/// ```
/// let mean = stend_stats::geometric_mean_ratio(&[2.0, 0.5, 4.0]).unwrap();
/// assert!((mean - 4_f64.cbrt()).abs() < 1e-15);
/// ```
#[must_use]
pub fn geometric_mean_ratio(ratios: &[f64]) -> Option<f64> {
    if ratios.is_empty() || ratios.iter().any(|r| !(r.is_finite() && *r > 0.0)) {
        return None;
    }
    Some((ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64).exp())
}

/// Interval of the geometric mean from the scenarios' own intervals, at their confidence:
/// ln G ∓ √Σ(distance of each ln end from its ln ratio)² / k, each side by itself.
///
/// It tells how well *these* scenarios were measured; it does not speak for scenarios that were left out, and a drift common to all is not
/// in it. The result's method is that of the first interval.
///
/// * Unit: none.
/// * Assumes: the scenarios' errors are independent.
/// * Refuses: `None` for an empty list, different confidences, or ends that are not 0 < low ≤ ratio ≤ high < ∞.
/// * Source: Zou and Donner, *Statist. Med.* 27 (2008), 1693–1702 (MOVER).
///
/// ```
/// use stend_stats::{IntervalMethod, RatioInterval, geometric_mean_interval};
/// let one = RatioInterval { ratio: 1.0, low: 0.98, high: 1.0 / 0.98, confidence: 0.95, method: IntervalMethod::Bca };
/// let four = geometric_mean_interval(&[one; 4]).unwrap();
/// assert!((four.low - 0.98_f64.sqrt()).abs() < 1e-12); // half as far from 1
/// ```
#[must_use]
pub fn geometric_mean_interval(intervals: &[RatioInterval]) -> Option<RatioInterval> {
    let first = intervals.first()?;
    let sound = |i: &RatioInterval| {
        i.low > 0.0 && i.low <= i.ratio && i.ratio <= i.high && i.high.is_finite() && i.confidence == first.confidence
    };
    if !intervals.iter().all(sound) {
        return None;
    }
    let count = intervals.len() as f64;
    let centre = intervals.iter().map(|i| i.ratio.ln()).sum::<f64>() / count;
    let distance = |end: fn(&RatioInterval) -> f64| {
        let squares = intervals.iter().map(|i| (i.ratio.ln() - end(i).ln()).powi(2));
        squares.sum::<f64>().sqrt() / count
    };
    Some(RatioInterval {
        ratio: centre.exp(),
        low: (centre - distance(|i| i.low)).exp(),
        high: (centre + distance(|i| i.high)).exp(),
        ..*first
    })
}
