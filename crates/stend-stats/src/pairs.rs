//! Pairs: the test of signed ranks, and the shift and the interval that belong to it.

use crate::mann_whitney::{EXACT_TOTAL, Method, Test};
use crate::normal;
use crate::sample::finite_sorted;
use crate::search::smallest_where;
use crate::{Interval, correlation::mid_ranks};

/// Two-sided Wilcoxon signed-rank test that paired differences are symmetric about zero: the sign-flip permutation test of their ranks.
///
/// Statistic: W = Σ of the ranks of |dᵢ| over the dᵢ above zero, mid-ranks where sizes are equal. p is twice the smaller tail over the 2ⁿ
/// sign patterns, at most 1. A difference of zero keeps its rank and counts half on either side (Pratt). Exact for n ≤ [`EXACT_TOTAL`];
/// beyond that the normal approximation with tie and continuity correction. The smallest p is 2/2ⁿ: 0.031 for n = 6, 0.002 for n = 10.
///
/// * Unit: none; W is a sum of ranks. For ratios pass differences of logarithms.
/// * Assumes: pairs independent of each other, differences symmetric about their middle; two sides with the same noise have such differences.
/// * Refuses: `None` for an empty or non-finite sample.
/// * Source: Wilcoxon, *Biometrics Bulletin* 1 (1945); zeros: Pratt, *J. Amer. Statist. Assoc.* 54 (1959); ties: Lehmann, *Nonparametrics* (1975),
///   3.2 (SciPy's `wilcoxon(zero_method="zsplit")`, R's `coin::wilcoxsign_test`).
///
/// ```
/// use stend_stats::{Method, signed_rank};
/// let test = signed_rank(&[0.02, 0.01, 0.04, 0.03, 0.05, 0.07]).unwrap();
/// assert_eq!((test.statistic, test.p, test.method), (21.0, 2.0 / 64.0, Method::Exact));
/// ```
#[must_use]
pub fn signed_rank(differences: &[f64]) -> Option<Test> {
    let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    // Doubled, mid-ranks are whole; what a zero has falls to either side in halves whatever the signs.
    let doubled: Vec<usize> = mid_ranks(&sizes)?.iter().map(|rank| (2.0 * rank) as usize).collect();
    let sum = |sign: fn(&f64) -> bool| -> usize {
        differences.iter().zip(&doubled).filter(|(d, _)| sign(d)).map(|(_, rank)| rank).sum()
    };
    let (above, below, zero) = (sum(|d| *d > 0.0), sum(|d| *d < 0.0), sum(|d| *d == 0.0));
    let flipped: Vec<usize> =
        differences.iter().zip(&doubled).filter(|(d, _)| **d != 0.0).map(|(_, rank)| *rank).collect();
    let tied = flipped.len() < differences.len() || {
        let mut sorted = flipped.clone();
        sorted.sort_unstable();
        sorted.windows(2).any(|pair| pair[0] == pair[1])
    };
    let least = above.min(below);
    let (p, method) = if differences.len() <= EXACT_TOTAL {
        let hits: f64 = sums_of_ranks(&flipped, least).iter().sum();
        let method = if tied { Method::Permutation } else { Method::Exact };
        (2.0 * hits / 2_f64.powi(flipped.len() as i32), method)
    } else {
        // W has variance Σ rank²/4; the ranks here are doubled.
        let variance = flipped.iter().map(|rank| (*rank as f64).powi(2)).sum::<f64>() / 16.0;
        let distance = above.abs_diff(below) as f64 / 4.0 - 0.5;
        let p = if variance > 0.0 { 2.0 * normal::cumulative(-distance / variance.sqrt()) } else { 1.0 };
        (p, Method::NormalApproximation)
    };
    Some(Test { statistic: (2 * above + zero) as f64 / 4.0, p: p.min(1.0), method })
}

/// How many subsets of the ranks have the sum 0, 1 … `most`. Counts to the precision of `f64`.
fn sums_of_ranks(ranks: &[usize], most: usize) -> Vec<f64> {
    let mut ways = vec![0.0; most + 1];
    ways[0] = 1.0;
    for &rank in ranks {
        for sum in (rank..=most).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    ways
}

/// Hodges and Lehmann's estimate of the middle of paired differences: the median of all n(n + 1)/2 averages (dᵢ + dⱼ)/2 with i ≤ j.
///
/// It belongs to [`signed_rank`]. Of normal differences it is as sure as the mean of 0.955 n of them, where the difference of the sides' medians
/// may be worth much less: what disturbs both of a pair alike is gone from the differences, and is not from the medians.
/// O(n log n) and at most 128 passes; memory O(n).
///
/// * Unit: that of the differences. For a ratio pass differences of logarithms, and take the exponential.
/// * Assumes: differences symmetric about their middle; else it is the pseudomedian, which lies between median and mean.
/// * Refuses: `None` for an empty or non-finite sample.
/// * Source: Hodges and Lehmann, *Ann. Math. Statist.* 34 (1963); the averages: Walsh, *J. Amer. Statist. Assoc.* 44 (1949).
///
/// ```
/// assert_eq!(stend_stats::pseudomedian(&[1.0, 2.0, 9.0]), Some(3.5)); // of 1, 1.5, 2, 5, 5.5, 9
/// ```
#[must_use]
pub fn pseudomedian(differences: &[f64]) -> Option<f64> {
    let sorted = finite_sorted(differences)?;
    let all = averages(sorted.len());
    Some(f64::midpoint(average_of_rank(&sorted, all.div_ceil(2)), average_of_rank(&sorted, all / 2 + 1)))
}

/// Interval of the middle of paired differences that holds for any symmetric distribution: from the k-th smallest to the k-th greatest of the
/// averages (dᵢ + dⱼ)/2, i ≤ j, with the greatest k for which 1 − 2·P(W ≤ k − 1) reaches the confidence.
///
/// It belongs to [`signed_rank`] and [`pseudomedian`]: the shifts that the test would not refuse. W has its exact distribution for
/// n ≤ [`EXACT_TOTAL`], beyond that the normal approximation with continuity correction. With six pairs at 95 % it is the whole range.
///
/// * Unit: that of the differences. For a ratio pass differences of logarithms, and take the exponential of the ends.
/// * Assumes: pairs independent of each other, a continuous distribution that is symmetric about its middle; with ties it covers more.
/// * Refuses: `None` where even all averages do not reach the confidence (n ≤ 5 at 95 %), for a confidence outside 0 < c < 1, an empty or
///   non-finite sample.
/// * Source: Tukey's and Walsh's, in Hollander and Wolfe, *Nonparametric Statistical Methods*, 2nd ed., 3.3 (R's `wilcox.test(conf.int = TRUE)`).
///
/// ```
/// let found = stend_stats::pseudomedian_interval(&[1.0, 2.0, 3.0, 4.0, 5.0, 9.0], 0.95).unwrap();
/// assert_eq!((found.low, found.high, found.attained, found.rank), (1.0, 9.0, 0.96875, 1));
/// ```
#[must_use]
pub fn pseudomedian_interval(differences: &[f64], confidence: f64) -> Option<Interval> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let sorted = finite_sorted(differences)?;
    let (rank, attained) = rank_of_ends(sorted.len(), confidence)?;
    let low = average_of_rank(&sorted, rank as u128);
    let high = average_of_rank(&sorted, averages(sorted.len()) + 1 - rank as u128);
    Some(Interval { low, high, attained, rank })
}

/// The greatest k with 1 − 2·P(W ≤ k − 1) ≥ `confidence`, and that probability.
fn rank_of_ends(n: usize, confidence: f64) -> Option<(usize, f64)> {
    if n <= EXACT_TOTAL {
        let ranks: Vec<usize> = (1..=n).collect();
        let patterns = 2_f64.powi(n as i32);
        let mut hits = 0.0;
        let below = |count: f64| {
            hits += count;
            1.0 - 2.0 * hits / patterns
        };
        let attained: Vec<f64> = sums_of_ranks(&ranks, n * (n + 1) / 4).into_iter().map(below).collect();
        let rank = attained.partition_point(|attained| *attained >= confidence);
        return (rank > 0).then(|| (rank, attained[rank - 1]));
    }
    let n = n as f64;
    let (mean, deviation) = (n * (n + 1.0) / 4.0, (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt());
    let rank = (mean + 0.5 + deviation * normal::inverse((1.0 - confidence) / 2.0)).floor();
    (rank >= 1.0).then(|| (rank as usize, 1.0 - 2.0 * normal::cumulative((rank - 0.5 - mean) / deviation)))
}

/// How many averages n values have.
fn averages(n: usize) -> u128 {
    n as u128 * (n as u128 + 1) / 2
}

/// The average (dᵢ + dⱼ)/2, i ≤ j, of this rank, from 1; the list is sorted.
fn average_of_rank(sorted: &[f64], rank: u128) -> f64 {
    smallest_where(sorted[0], sorted[sorted.len() - 1], |limit| averages_up_to(sorted, limit) >= rank)
}

/// How many averages are at most `limit`; the list is sorted.
fn averages_up_to(sorted: &[f64], limit: f64) -> u128 {
    let mut partners = sorted.len(); // of the i-th value, those before the first that is too great
    let mut count = 0;
    for (place, value) in sorted.iter().enumerate() {
        while partners > place && f64::midpoint(*value, sorted[partners - 1]) > limit {
            partners -= 1;
        }
        if partners <= place {
            break;
        }
        count += (partners - place) as u128;
    }
    count
}
