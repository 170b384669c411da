//! Correlation of a series with itself, and what it leaves of the number of its values; rank correlation of two series.

use statrs::function::beta::beta_reg;

use crate::sample::{finite_sorted, mean};

/// Autocorrelation at the lags 0 … `most_lag`: rₖ = Σ (xₜ − x̄)(xₜ₊ₖ − x̄) / Σ (xₜ − x̄)², within −1 … 1, r₀ = 1.
///
/// The divisor is n at every lag (as R's `acf`), which keeps the sequence positive definite and biases it towards zero; independent values give
/// about −1/n ± 1/√n. A trend gives high values at all lags. O(n · lags).
///
/// * Unit: none; lags are steps of the series.
/// * Assumes: values in the order in which they were measured, evenly spaced, of a process that does not change meanwhile.
/// * Refuses: `None` for a non-finite value, all values equal, or `most_lag` not below n.
/// * Source: Box, Jenkins and Reinsel, *Time Series Analysis*, 3rd ed., 2.1.
///
/// ```
/// let r = stend_stats::autocorrelation(&[1.0, 2.0, 1.0, 2.0, 1.0, 2.0], 1).unwrap();
/// assert!((r[1] + 5.0 / 6.0).abs() < 1e-15);
/// ```
#[must_use]
pub fn autocorrelation(series: &[f64], most_lag: usize) -> Option<Vec<f64>> {
    if most_lag >= series.len() {
        return None;
    }
    let deviations = Deviations::new(series)?;
    Some((0..=most_lag).map(|lag| deviations.correlation(lag)).collect())
}

/// What a series of hanging-together values is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectiveSample {
    /// Independent values that would give a mean as sure, 1 … n.
    pub size: f64,
    /// Integrated autocorrelation time τ = n/size, in values (intervals of the series), at least 1.
    pub correlation_time: f64,
    /// Standard error of the series' mean, s/√size with s² = Σ(xₜ − x̄)²/(n − 1), in the series' unit.
    pub standard_error: f64,
}

/// Effective sample size n/τ of an evenly spaced series, τ = 1 + 2·Σ rₖ.
///
/// The sum ends by Geyer's initial monotone sequence: pairs Γⱼ = r₂ⱼ + r₂ⱼ₊₁ are added while they are positive, each at most as
/// large as the one before. τ below 1 (values that alternate) counts as 1: a series is never worth more than its length. O(n·τ).
///
/// * Unit: values; the standard error is in the unit of the series.
/// * Assumes: a stationary series. With a trend or a step in it the size is small, and rightly so, but the error of the mean is then
///   no error of anything. It needs some ten correlation times to be trusted; in shorter series τ comes out too small.
/// * Refuses: `None` with fewer than four values, a non-finite value, or all values equal.
/// * Source: Geyer, *Statist. Sci.* 7 (1992), 3.3 (`initseq`'s `var.dec` in R's package mcmc).
///
/// ```
/// let slow: Vec<f64> = (0..1000).map(|t| (f64::from(t) / 30.0).sin()).collect();
/// assert!(stend_stats::effective_sample_size(&slow).unwrap().size < 50.0);
/// ```
#[must_use]
pub fn effective_sample_size(series: &[f64]) -> Option<EffectiveSample> {
    let n = series.len();
    if n < 4 {
        return None;
    }
    let deviations = Deviations::new(series)?;
    let (mut sum, mut last) = (0.0, f64::INFINITY);
    for pair in 0..n / 2 {
        let gamma = deviations.correlation(2 * pair) + deviations.correlation(2 * pair + 1);
        if gamma <= 0.0 {
            break;
        }
        last = gamma.min(last);
        sum += last;
    }
    let length = n as f64;
    let correlation_time = (2.0 * sum - 1.0).clamp(1.0, length);
    let deviation = deviations.scale * (deviations.squares / (length - 1.0)).sqrt();
    let standard_error = deviation * (correlation_time / length).sqrt();
    let found = EffectiveSample { size: length / correlation_time, correlation_time, standard_error };
    standard_error.is_finite().then_some(found)
}

/// Deviations from the mean as shares of the largest, so that squares neither overflow nor vanish.
struct Deviations {
    shares: Vec<f64>,
    squares: f64,
    scale: f64,
}

impl Deviations {
    fn new(series: &[f64]) -> Option<Self> {
        let centre = mean(series)?;
        let scale = series.iter().map(|value| (value - centre).abs()).fold(0.0, f64::max);
        // Equal values may differ from their mean by rounding.
        let equal = series.iter().all(|value| *value == series[0]);
        if equal || scale == 0.0 || !scale.is_finite() {
            return None;
        }
        let shares: Vec<f64> = series.iter().map(|value| (value - centre) / scale).collect();
        let squares = shares.iter().map(|share| share * share).sum();
        Some(Self { shares, squares, scale })
    }

    fn correlation(&self, lag: usize) -> f64 {
        let products = self.shares.iter().zip(&self.shares[lag..]).map(|(earlier, later)| earlier * later);
        products.sum::<f64>() / self.squares
    }
}

/// How much several sessions' repeats hang together, each with the one before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SerialCorrelation {
    /// Correlation of neighbours, corrected for the bias of short sessions, 0 … 0.95; 0 where it is not negative by chance alone.
    pub correlation: f64,
    /// How many standard deviations the neighbours' rank correlation lies above that of shuffled repeats.
    pub z: f64,
    /// Σ(n·rₛ + 1) over the sessions: what speaks for a correlation of neighbours; about 0 for shuffled repeats.
    pub evidence: f64,
    /// Σ(n − 3) over the sessions: by what the evidence is divided to give the correlation.
    pub weight: f64,
}

impl SerialCorrelation {
    /// The correlation that would be estimated if so much more evidence had spoken for it: (evidence + doubt)/weight, within
    /// 0 … 0.95. A cautious estimate, whose caution goes as 1/n.
    pub(crate) fn with_doubt(&self, doubt: f64) -> f64 {
        ((self.evidence + doubt) / self.weight).clamp(0.0, MOST_CORRELATION)
    }
}

/// Correlation of each repeat with the one before it within the same session, over all sessions given together, from mid-ranks:
/// rₛ = Σ (Rₜ − R̄)(Rₜ₊₁ − R̄) / Σ (Rₜ − R̄)² for each session s of n repeats.
///
/// Ranks make a single outlier harmless and the distribution of shuffled repeats known: mean −1/n and variance
/// (5n⁴ − 14n³ − 9n² + 26n + 16) / (5(n − 1)²n²(n + 1)) (without ties; with them a little off). z sums rₛ + 1/n over the sessions and divides by the
/// root of the summed variances. `correlation` is the mean of (n·rₛ + 1)/(n − 3), weighted by n − 3, since n·rₛ is on average (n − 3)ρ − 1 or a
/// little less where neighbours have the correlation ρ. Sessions with fewer than six repeats, with all values equal or with a non-finite value are left out.
///
/// * Unit: none; scale and unit of a session do not matter.
/// * Assumes: repeats in the order in which they were made; sessions independent of each other.
/// * Refuses: `None` if no session remains.
/// * Source: Bartels, *J. Amer. Statist. Assoc.* 77 (1982), for ranks; Dufour and Roy, *J. Econometrics* 29 (1985), for the
///   moments; Marriott and Pope, *Biometrika* 41 (1954), for the bias.
///
/// ```
/// let wave: Vec<f64> = (0..20).map(|t| (f64::from(t) / 3.0).sin()).collect();
/// assert!(stend_stats::serial_correlation([&wave[..]]).unwrap().z > 3.0);
/// ```
#[must_use]
pub fn serial_correlation<'a>(sessions: impl IntoIterator<Item = &'a [f64]>) -> Option<SerialCorrelation> {
    let (mut excess, mut variance, mut corrected, mut weights) = (0.0, 0.0, 0.0, 0.0);
    for session in sessions {
        let Some(found) = mid_ranks(session).and_then(|ranks| autocorrelation(&ranks, 1)) else {
            continue;
        };
        if session.len() < crate::MIN_REPEATS {
            continue;
        }
        let n = session.len() as f64;
        excess += found[1] + 1.0 / n;
        variance += shuffled_variance(n);
        corrected += n * found[1] + 1.0;
        weights += n - 3.0;
    }
    (weights > 0.0).then(|| SerialCorrelation {
        correlation: (corrected / weights).clamp(0.0, MOST_CORRELATION),
        z: excess / f64::sqrt(variance),
        evidence: corrected,
        weight: weights,
    })
}

/// Beyond this an estimate from a few dozen repeats means no more than "very much".
const MOST_CORRELATION: f64 = 0.95;

/// Variance of the neighbours' rank correlation of n shuffled values without ties.
fn shuffled_variance(n: f64) -> f64 {
    let square = n * n;
    let top = 5.0 * square * square - 14.0 * square * n - 9.0 * square + 26.0 * n + 16.0;
    top / (5.0 * (n - 1.0).powi(2) * square * (n + 1.0))
}

/// The rank of each value from 1, equal values with the mean of their ranks; `None` for an empty or non-finite sample.
pub(crate) fn mid_ranks(values: &[f64]) -> Option<Vec<f64>> {
    let sorted = finite_sorted(values)?;
    let rank = |value: &f64| {
        let below = sorted.partition_point(|x| x < value);
        let up_to = sorted.partition_point(|x| x <= value);
        (below + up_to + 1) as f64 / 2.0
    };
    Some(values.iter().map(rank).collect())
}

/// The independent values that would give a mean as sure as n values of which neighbours have the correlation ρ, and those k apart ρᵏ:
/// n/(1 + 2·Σ (1 − k/n)·ρᵏ), the sum over k = 1 … n − 1. 1 … n for 0 ≤ ρ < 1.
pub(crate) fn effective_repeats(n: usize, correlation: f64) -> f64 {
    let (n, rest) = (n as f64, 1.0 - correlation);
    // The sum is ρ/(1 − ρ) − ρ(1 − ρⁿ)/(n(1 − ρ)²).
    let sum = correlation / rest - correlation * (1.0 - correlation.powf(n)) / (n * rest * rest);
    n / (1.0 + 2.0 * sum)
}

/// How surely two series rise and fall together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankCorrelation {
    /// Spearman's ρ, −1 … 1, no unit.
    pub correlation: f64,
    /// Two-sided p that it is chance.
    pub p: f64,
}

/// Spearman's rank correlation of two series of equal length: the correlation of their mid-ranks, Σ(Rᵢ − R̄)(Sᵢ − S̄) / √(Σ(Rᵢ − R̄)²·Σ(Sᵢ − S̄)²),
/// with p from Student's t = ρ·√((n − 2)/(1 − ρ²)) on n − 2 degrees of freedom, and at least 2/n!, the share of the orders that are as extreme as
/// a perfect one.
///
/// * Unit: none; units do not matter, nor does how the one depends on the other, as long as it always rises or always falls.
/// * Assumes: pairs that are independent of one another. The t approximation is good to some percent of p from ten pairs; with six it is rough.
/// * Refuses: `None` with fewer than four pairs, unequal lengths, a non-finite value, or a series whose values are all equal.
/// * Source: Kendall and Gibbons, *Rank Correlation Methods*, 5th ed., 3.1 and 4.9 (R's `cor.test(method = "spearman", exact = FALSE)`).
///
/// ```
/// let found = stend_stats::rank_correlation(&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.0, 4.0, 9.0, 25.0, 16.0]).unwrap();
/// assert!((found.correlation - 0.9).abs() < 1e-12);
/// ```
#[must_use]
pub fn rank_correlation(x: &[f64], y: &[f64]) -> Option<RankCorrelation> {
    if x.len() != y.len() || x.len() < 4 {
        return None;
    }
    let (x, y) = (Deviations::new(&mid_ranks(x)?)?, Deviations::new(&mid_ranks(y)?)?);
    let products = x.shares.iter().zip(&y.shares).map(|(x, y)| x * y).sum::<f64>();
    let correlation = (products / (x.squares * y.squares).sqrt()).clamp(-1.0, 1.0);
    let n = x.shares.len();
    let orders: f64 = (1..=n).map(|i| i as f64).product();
    // p = I(ν/(ν + t²); ν/2, ½), and ν/(ν + t²) = 1 − ρ².
    let p = beta_reg((n as f64 - 2.0) / 2.0, 0.5, 1.0 - correlation * correlation);
    Some(RankCorrelation { correlation, p: p.max(2.0 / orders) })
}
