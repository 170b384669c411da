//! Shift between two samples, and its interval.

use crate::Interval;
use crate::mann_whitney::{EXACT_TOTAL, choose, counts_of_u};
use crate::normal;
use crate::sample::finite_sorted;
use crate::search::smallest_where;

/// Hodges-Lehmann estimate of the shift: the median of all n·m differences aᵢ − bⱼ. It belongs to
/// [`mann_whitney`](crate::mann_whitney), and is not the difference of the medians. O((n + m) log) by bisection; memory O(n + m).
///
/// * Unit: that of the samples.
/// * Assumes: the two distributions differ by a shift only.
/// * Refuses: `None` for an empty or non-finite sample or overflow.
/// * Source: Hodges and Lehmann, *Ann. Math. Statist.* 34 (1963).
///
/// ```
/// assert_eq!(stend_stats::hodges_lehmann(&[3.0, 5.0, 9.0], &[1.0, 2.0]), Some(3.5));
/// ```
#[must_use]
pub fn hodges_lehmann(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (finite_sorted(a)?, finite_sorted(b)?);
    let pairs = a.len() as u128 * b.len() as u128;
    let lower = difference_of_rank(&a, &b, pairs.div_ceil(2))?;
    let upper = difference_of_rank(&a, &b, pairs / 2 + 1)?;
    Some(f64::midpoint(lower, upper))
}

/// Interval of the shift that holds for any distribution: from the k-th smallest to the k-th greatest of the n·m differences aᵢ − bⱼ,
/// with the greatest k for which 1 − 2·P(U ≤ k − 1) reaches the confidence.
///
/// It belongs to [`hodges_lehmann`] and [`mann_whitney`](crate::mann_whitney): the shifts that the test would not refuse. U has its
/// exact distribution for n + m ≤ [`EXACT_TOTAL`], beyond that the normal approximation with continuity correction, and
/// `attained` is of the same making. O((n + m) log), and O(n²m) for the exact distribution.
///
/// * Unit: that of the samples. For a ratio pass logarithms, and take the exponential of the ends.
/// * Assumes: independent repeats and two continuous distributions that differ by a shift only; with ties it covers more.
/// * Refuses: `None` where even all differences do not reach the confidence (three a side at 95 %), for a confidence outside 0 < c < 1, an empty or
///   non-finite sample, or overflow.
/// * Source: Moses in Walker and Lev, *Statistical Inference* (1953), ch. 18; Hollander and Wolfe, *Nonparametric Statistical Methods*, 2nd ed.,
///   4.3 (R's `wilcox.test(conf.int = TRUE)`).
///
/// ```
/// let found = stend_stats::shift_interval(&[5.0, 6.0, 7.0, 8.0], &[1.0, 2.0, 3.0, 4.5], 0.95).unwrap();
/// assert_eq!((found.low, found.high, found.rank), (0.5, 7.0, 1));
/// assert!((found.attained - (1.0 - 2.0 / 70.0)).abs() < 1e-15);
/// ```
#[must_use]
pub fn shift_interval(a: &[f64], b: &[f64], confidence: f64) -> Option<Interval> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let (a, b) = (finite_sorted(a)?, finite_sorted(b)?);
    let (rank, attained) = rank_of_ends(a.len(), b.len(), confidence)?;
    let pairs = a.len() as u128 * b.len() as u128;
    let low = difference_of_rank(&a, &b, rank as u128)?;
    let high = difference_of_rank(&a, &b, pairs + 1 - rank as u128)?;
    Some(Interval { low, high, attained, rank })
}

/// The greatest k with 1 − 2·P(U ≤ k − 1) ≥ `confidence`, and that probability.
fn rank_of_ends(n: usize, m: usize, confidence: f64) -> Option<(usize, f64)> {
    if n + m <= EXACT_TOTAL {
        let all = choose(n + m, n) as f64;
        let mut hits = 0;
        let below = |count: u128| {
            hits += count;
            1.0 - 2.0 * hits as f64 / all
        };
        let attained: Vec<f64> = counts_of_u(n, m, n * m / 2).into_iter().map(below).collect();
        let rank = attained.partition_point(|attained| *attained >= confidence);
        return (rank > 0).then(|| (rank, attained[rank - 1]));
    }
    let (n, m) = (n as f64, m as f64);
    let (mean, deviation) = (n * m / 2.0, (n * m * (n + m + 1.0) / 12.0).sqrt());
    let rank = (mean + 0.5 + deviation * normal::inverse((1.0 - confidence) / 2.0)).floor();
    (rank >= 1.0).then(|| (rank as usize, 1.0 - 2.0 * normal::cumulative((rank - 0.5 - mean) / deviation)))
}

/// The difference aᵢ − bⱼ of this rank, from 1; both lists sorted.
fn difference_of_rank(a: &[f64], b: &[f64], rank: u128) -> Option<f64> {
    let low = a[0] - b[b.len() - 1];
    let high = a[a.len() - 1] - b[0];
    let finite = low.is_finite() && high.is_finite();
    finite.then(|| smallest_where(low, high, |t| pairs_up_to(a, b, t) >= rank))
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
