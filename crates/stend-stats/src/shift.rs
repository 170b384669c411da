//! Shift between two samples.

use crate::sample::finite_sorted;
use crate::search::smallest_where;

/// Hodges-Lehmann estimate of the shift: the median of all n·m differences aᵢ − bⱼ.
///
/// In the unit of the samples; the estimate that belongs to [`mann_whitney`](crate::mann_whitney).
/// Assumes the two distributions differ by a shift only. It is not the difference of the medians.
/// O((n + m) log) by bisection; memory O(n + m). `None` for an empty or non-finite sample or
/// overflow. Source: Hodges and Lehmann, *Ann. Math. Statist.* 34 (1963).
///
/// ```
/// assert_eq!(stend_stats::hodges_lehmann(&[3.0, 5.0, 9.0], &[1.0, 2.0]), Some(3.5));
/// ```
#[must_use]
pub fn hodges_lehmann(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (finite_sorted(a)?, finite_sorted(b)?);
    let pairs = a.len() as u128 * b.len() as u128;
    let low = a[0] - b[b.len() - 1];
    let high = a[a.len() - 1] - b[0];
    if !(low.is_finite() && high.is_finite()) {
        return None;
    }
    let at_rank = |rank| smallest_where(low, high, |t| pairs_up_to(&a, &b, t) >= rank);
    let lower = at_rank(pairs.div_ceil(2));
    let upper = at_rank(pairs / 2 + 1);
    Some(f64::midpoint(lower, upper))
}

/// How many differences aᵢ − bⱼ are at most `t`; both lists sorted.
fn pairs_up_to(a: &[f64], b: &[f64], t: f64) -> u128 {
    let mut first = 0; // first j with a − b[j] ≤ t; grows with a
    let mut count = 0;
    for value in a {
        while first < b.len() && value - b[first] > t {
            first += 1;
        }
        count += (b.len() - first) as u128;
    }
    count
}
