//! Ratio of two sides with its interval.

use crate::law::{Difference, EXACT_SIDE, Law, log_median};
use crate::mixture::law_of_sessions;
use crate::normal;
use crate::pairs::{pseudomedian, pseudomedian_interval};
use crate::sample::{finite_sorted, sorted_median};
use crate::{Interval, MIN_REPEATS, median_interval};

/// How an interval was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// Bias-corrected and accelerated bootstrap.
    Bca,
    /// Percentile bootstrap.
    Percentile,
    /// The shifts of pairs that the signed-rank test would not refuse.
    SignedRank,
}

/// Ratio a over b and its confidence interval; no unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioInterval {
    /// median(a)/median(b) over all repeats of a side; of pairs the middle of their ratios ([`paired_ratio_interval`]).
    pub ratio: f64,
    /// Lower end, 0 < low ≤ ratio.
    pub low: f64,
    /// Upper end, ≥ ratio.
    pub high: f64,
    /// The confidence asked for; bootstrap intervals reach it approximately.
    pub confidence: f64,
    /// How the ends were found.
    pub method: IntervalMethod,
}

/// Settings of the bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioOptions {
    /// Draws where sampling is needed (several sessions, or paired); at least 1.
    pub draws: usize,
    /// 0 < confidence < 1.
    pub confidence: f64,
    /// Start of the generator.
    pub seed: u64,
    /// How the ends are found; `None` for BCa with one session a side, percentile with several. Pairs have one way.
    pub method: Option<IntervalMethod>,
}

impl Default for RatioOptions {
    fn default() -> Self {
        Self { draws: 10_000, confidence: 0.95, seed: 0x7374_656e_6421, method: None }
    }
}

/// Ratio of medians a/b of independent sides, with a bootstrap interval of ln(median a/median b).
///
/// * One session on both sides: the bootstrap distribution is computed **exactly** (what infinitely
///   many draws would give; `draws` and `seed` are not used up to 1000 repeats a side) and
///   the interval is **BCa**, its acceleration from the jackknife.
/// * Several sessions on a side: in a draw sessions come with replacement, then repeats within each drawn session. The interval is the
///   **percentile** one. The distribution is exact too where that is less work than drawing (two sessions up to 40 repeats each, three up to 15, four
///   up to 7), else it is that of `draws` draws.
///   BCa may be asked for; its jackknife then leaves out whole sessions, too few to tell a skewness from.
///
/// Swapping the sides gives reciprocal ends; the order of repeats and of sessions does not matter. Empty sessions are left out.
/// O(draws · repeats) a side where drawn.
///
/// * Unit: none.
/// * Assumes: repeats independent within a session, sessions independent of each other. With two sessions a side it speaks for the sessions seen,
///   hardly for further ones: resampling two sessions understates the spread between sessions.
/// * Refuses: `None` with fewer than six repeats a side ([`MIN_REPEATS`](crate::MIN_REPEATS)), for a value that is not positive and finite, or bad
///   options.
/// * Source: Efron and Tibshirani, *An Introduction to the Bootstrap* (1993), 14.3; Hutson and
///   Ernst, *J. R. Statist. Soc. B* 62 (2000), for the exact distribution; Kalibera and Jones, *ISMM* (2013), for sessions.
///
/// ```
/// use stend_stats::{RatioOptions, ratio_interval};
/// let a = vec![vec![20.0, 20.2, 20.4, 20.1, 20.3, 20.2]];
/// let b = vec![vec![10.0, 10.1, 10.2, 10.1, 10.0, 10.1]];
/// let interval = ratio_interval(&a, &b, &RatioOptions::default()).unwrap();
/// assert!((interval.ratio - 2.0).abs() < 1e-12);
/// assert!(interval.low > 1.96 && interval.high < 2.03);
/// ```
#[must_use]
pub fn ratio_interval(
    a_sessions: &[Vec<f64>],
    b_sessions: &[Vec<f64>],
    options: &RatioOptions,
) -> Option<RatioInterval> {
    check(options)?;
    let a = Side::new(a_sessions, options)?;
    let b = Side::new(b_sessions, options)?;
    let difference = Difference { a: &a.law, b: &b.law };
    let reverse = Difference { a: &b.law, b: &a.law };
    let estimate = log_median(&a.sorted) - log_median(&b.sorted);
    let shape = bca(options, a.single && b.single).then(|| acceleration(a.moments, b.moments));
    let ratio = sorted_median(&a.sorted) / sorted_median(&b.sorted);
    finish(ratio, estimate, &difference, &reverse, shape, options.confidence)
}

/// Ratio a/b of interleaved sides, where repeat i of a session of `a` was measured next to repeat i of the same session of `b`, with its
/// interval: e to the [`pseudomedian`] of the differences ln aᵢ − ln bᵢ, and to the ends of [`pseudomedian_interval`].
///
/// So what disturbs both of a pair cancels, and interval and test ([`signed_rank`](crate::signed_rank)) agree: p < 0.05 where the 95 %
/// interval does not hold 1, ties apart. The ratio is the middle of the pairs' ratios; the quotient of the sides' medians may differ from it.
/// With several sessions it is the wider of this interval and the percentile one of `draws` draws: sessions with replacement, then pairs. Two
/// sessions understate how sessions differ, as in [`ratio_interval`]. Swapping the sides gives reciprocal ends. The order of
/// pairs matters only with several sessions, where it decides which draws a seed gives.
///
/// * Unit: none.
/// * Assumes: pairs independent of each other; the logarithm of their ratio symmetric about its middle, as it is where both sides have the same noise.
/// * Refuses: `None` where the sides differ in sessions or their lengths, with fewer than six pairs ([`MIN_REPEATS`](crate::MIN_REPEATS)) or
///   fewer than the confidence takes, for a value that is not positive and finite, or bad options.
/// * Source: as [`pseudomedian_interval`]; sessions: Kalibera and Jones, *ISMM* (2013).
///
/// ```
/// use stend_stats::{RatioOptions, paired_ratio_interval};
/// let b = vec![vec![100.0, 140.0, 180.0, 120.0, 90.0, 110.0]]; // what disturbs both
/// let a = vec![vec![103.0, 144.3, 185.2, 123.5, 92.8, 113.4]];
/// let found = paired_ratio_interval(&a, &b, &RatioOptions::default()).unwrap();
/// assert!(found.low > 1.02 && found.high < 1.04);
/// ```
#[must_use]
pub fn paired_ratio_interval(
    a_sessions: &[Vec<f64>],
    b_sessions: &[Vec<f64>],
    options: &RatioOptions,
) -> Option<RatioInterval> {
    check(options)?;
    let logs = log_ratios(a_sessions, b_sessions)?;
    let pooled = logs.concat();
    if pooled.len() < MIN_REPEATS {
        return None;
    }
    let middle = pseudomedian(&pooled)?;
    let Interval { mut low, mut high, .. } = pseudomedian_interval(&pooled, options.confidence)?;
    if logs.len() > 1 {
        let law = Law::drawn_pairs(&logs, options.draws, options.seed);
        let (from, to) = percentile_ends(&law, options.confidence);
        (low, high) = (low.min(from), high.max(to));
    }
    let (ratio, confidence) = (middle.exp(), options.confidence);
    sound(RatioInterval { ratio, low: low.exp(), high: high.exp(), confidence, method: IntervalMethod::SignedRank })
}

/// Interval of the median over all repeats of one side's sessions.
///
/// Of one session it is [`median_interval`]. Of several it is the wider, at each end, of that of all repeats pooled and the percentile interval of
/// the median when sessions are drawn with replacement, then repeats within each, as in [`ratio_interval`]: where sessions differ, more repeats in
/// each do not make it narrower. The order of repeats and of sessions does not matter.
///
/// * Unit: that of the values.
/// * Assumes: repeats independent within a session, sessions independent of each other. Resampling two or three sessions understates the spread
///   between sessions.
/// * Refuses: `None` where [`median_interval`] of all repeats does; of several sessions also with fewer than six repeats in all, and for values
///   too far apart; for bad options.
/// * Source: as [`median_interval`] and [`ratio_interval`].
///
/// ```
/// use stend_stats::{RatioOptions, median_interval, median_interval_of_sessions};
/// let sessions = [vec![100.0; 10], vec![120.0; 10]];
/// let found = median_interval_of_sessions(&sessions, &RatioOptions::default());
/// assert_eq!(found, Some((100.0, 120.0)));
/// let one = median_interval_of_sessions(&sessions[..1], &RatioOptions::default());
/// assert_eq!(one, Some((100.0, 100.0)));
/// ```
#[must_use]
pub fn median_interval_of_sessions(sessions: &[Vec<f64>], options: &RatioOptions) -> Option<(f64, f64)> {
    check(options)?;
    let pooled = sessions.concat();
    let Interval { low, high, .. } = median_interval(&pooled, options.confidence)?;
    let filled: Vec<&Vec<f64>> = sessions.iter().filter(|session| !session.is_empty()).collect();
    if filled.len() < 2 {
        return Some((low, high));
    }
    // The law is one of logarithms, which any values have once they are moved above zero.
    let least = pooled.iter().copied().fold(f64::INFINITY, f64::min);
    let moved_by = if least > 0.0 { 0.0 } else { 1.0 - least };
    let moved: Vec<Vec<f64>> =
        filled.iter().map(|session| session.iter().map(|value| value + moved_by).collect()).collect();
    let law = Side::new(&moved, options)?.law;
    let (from, to) = percentile_ends(&law, options.confidence);
    // An end is a value or lies between two; the logarithm's rounding must not move it off a value.
    let on_value = |end: f64| {
        let near = |value: &&f64| (**value - end).abs() <= 1e-12 * (end.abs() + moved_by);
        pooled.iter().find(near).copied().unwrap_or(end)
    };
    Some((low.min(on_value(from.exp() - moved_by)), high.max(on_value(to.exp() - moved_by))))
}

/// The ends of the percentile interval of one law, both found from below, so that the negated law has the negated ends.
fn percentile_ends(law: &Law, confidence: f64) -> (f64, f64) {
    let (zero, backwards) = (Law::point(0.0), law.negated());
    let tail = (1.0 - confidence) / 2.0;
    (Difference { a: law, b: &zero }.quantile(tail), -Difference { a: &backwards, b: &zero }.quantile(tail))
}

/// ln a − ln b of the pairs of each session that is not empty; `None` where the sides differ in sessions or their lengths, or for a value that
/// is not positive and finite.
pub(crate) fn log_ratios(a_sessions: &[Vec<f64>], b_sessions: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let lengths = |sessions: &[Vec<f64>]| sessions.iter().map(Vec::len).collect::<Vec<_>>();
    let positive = |value: &f64| value.is_finite() && *value > 0.0;
    let fine = a_sessions.iter().chain(b_sessions).flatten().all(positive);
    let logs = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| a.ln() - b.ln()).collect::<Vec<_>>();
    (fine && lengths(a_sessions) == lengths(b_sessions))
        .then(|| a_sessions.iter().zip(b_sessions).map(logs).filter(|session| !session.is_empty()).collect())
}

/// The interval, if its figures are.
fn sound(interval: RatioInterval) -> Option<RatioInterval> {
    let RatioInterval { ratio, low, high, .. } = interval;
    (low > 0.0 && high.is_finite() && ratio > 0.0 && ratio.is_finite()).then_some(interval)
}

fn bca(options: &RatioOptions, single: bool) -> bool {
    options.method.map_or(single, |method| method == IntervalMethod::Bca)
}

fn check(options: &RatioOptions) -> Option<()> {
    let confidence = options.confidence > 0.0 && options.confidence < 1.0;
    (confidence && options.draws > 0).then_some(())
}

/// Sorted copy of at least six positive finite values.
fn positive_sorted(values: &[f64]) -> Option<Vec<f64>> {
    let sorted = finite_sorted(values)?;
    (sorted.len() >= MIN_REPEATS && sorted[0] > 0.0).then_some(sorted)
}

struct Side {
    sorted: Vec<f64>,
    law: Law,
    single: bool,
    /// Of the jackknife: over repeats, or over sessions where there are several.
    moments: (f64, f64),
}

impl Side {
    fn new(sessions: &[Vec<f64>], options: &RatioOptions) -> Option<Self> {
        let sorted = positive_sorted(&sessions.concat())?;
        let mut filled: Vec<Vec<f64>> = sessions.iter().filter(|s| !s.is_empty()).cloned().collect();
        let single = filled.len() == 1;
        let law = if single && sorted.len() <= EXACT_SIDE {
            Law::of_median(&sorted)
        } else {
            // In a fixed order, so that the draws do not depend on that of the caller.
            for session in &mut filled {
                session.sort_unstable_by(f64::total_cmp);
            }
            filled.sort_by(|x, y| x.partial_cmp(y).unwrap_or(std::cmp::Ordering::Equal));
            let exact = if single { None } else { law_of_sessions(&filled) };
            exact.unwrap_or_else(|| Law::drawn(&filled, options.draws, options.seed))
        };
        let without = if single { repeat_medians_without(&sorted) } else { session_medians_without(&filled) };
        Some(Self { moments: jackknife_moments(&without), sorted, law, single })
    }
}

/// Log median of a sorted sample without one occurrence of `value`.
fn log_median_without(sorted: &[f64], value: f64) -> f64 {
    let gone = sorted.partition_point(|x| *x < value);
    let at = |i: usize| sorted[if i < gone { i } else { i + 1 }];
    let n = sorted.len() - 1;
    f64::midpoint(at((n - 1) / 2), at(n / 2)).ln()
}

fn repeat_medians_without(sorted: &[f64]) -> Vec<f64> {
    sorted.iter().map(|&value| log_median_without(sorted, value)).collect()
}

/// Log medians of all sessions but one.
fn session_medians_without(sessions: &[Vec<f64>]) -> Vec<f64> {
    let without = |gone: usize| {
        let others = sessions.iter().enumerate().filter(|(place, _)| *place != gone);
        let mut rest: Vec<f64> = others.flat_map(|(_, session)| session).copied().collect();
        rest.sort_unstable_by(f64::total_cmp);
        log_median(&rest)
    };
    (0..sessions.len()).map(without).collect()
}

/// Σ Uᵢ²/n² and Σ Uᵢ³/n³ with Uᵢ = (n − 1)(mean − i-th jackknife value).
fn jackknife_moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let shares = values.iter().map(|value| (n - 1.0) * (mean - value) / n);
    shares.fold((0.0, 0.0), |(square, cube), u| (square + u * u, cube + u * u * u))
}

/// Of the difference of two sides, from the moments of each.
fn acceleration(a: (f64, f64), b: (f64, f64)) -> f64 {
    let (squares, cubes) = (a.0 + b.0, a.1 - b.1);
    if squares > 0.0 { cubes / (6.0 * squares.powf(1.5)) } else { 0.0 }
}

/// Ends of the interval; `shape` is the acceleration of BCa, or `None` for percentile. The upper
/// end is the negative lower end of the swapped sides, so that swapping is exact.
fn finish(
    ratio: f64,
    estimate: f64,
    difference: &Difference<'_>,
    reverse: &Difference<'_>,
    shape: Option<f64>,
    confidence: f64,
) -> Option<RatioInterval> {
    let tail = (1.0 - confidence) / 2.0;
    let (lower_tail, upper_tail) = match shape {
        None => (tail, tail),
        Some(acceleration) => {
            // Draws equal to the estimate (to rounding) count half on each side.
            let below = difference.up_to(estimate - 1e-12);
            let above = reverse.up_to(-estimate - 1e-12);
            let bias = median_bias(below - above);
            (corrected_tail(tail, bias, acceleration), corrected_tail(tail, -bias, -acceleration))
        }
    };
    let low = difference.quantile(lower_tail).exp().min(ratio);
    let high = (-reverse.quantile(upper_tail)).exp().max(ratio);
    let method = if shape.is_some() { IntervalMethod::Bca } else { IntervalMethod::Percentile };
    sound(RatioInterval { ratio, low, high, confidence, method })
}

/// z₀ = Φ⁻¹(½ + excess/2), odd in the excess to the last bit.
fn median_bias(excess: f64) -> f64 {
    let size = excess.abs().min(1.0 - 1e-9);
    let bias = -normal::inverse(0.5 - size / 2.0);
    if excess < 0.0 { -bias } else { bias }
}

/// Φ(z₀ + (z₀ + z)/(1 − a(z₀ + z))) with z = Φ⁻¹(tail) < 0.
fn corrected_tail(tail: f64, bias: f64, acceleration: f64) -> f64 {
    let shifted = bias + normal::inverse(tail);
    let scale = 1.0 - acceleration * shifted;
    if scale > 0.0 { normal::cumulative(bias + shifted / scale) } else { tail }
}
