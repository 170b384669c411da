//! The verdict rule.

use crate::MIN_REPEATS;
use crate::ratio::RatioInterval;
use crate::sample::{finite_sorted, sorted_quantile};

/// q below this is significant.
pub const SIGNIFICANCE: f64 = 0.05;

/// The least noise floor: 1 %.
pub const LEAST_FLOOR: f64 = 0.01;

/// Which way a metric is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// A rate, a throughput.
    HigherIsBetter,
    /// A time, a latency, a cost.
    LowerIsBetter,
}

/// What may be said of `a` against `b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// `a` is better than `b` by more than the noise floor.
    Better,
    /// `a` is worse than `b` by more than the noise floor.
    Worse,
    /// They differ by no more than the noise floor.
    Same,
    /// The repeats do not decide.
    Unresolved,
}

/// Why the verdict is what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Better or worse: significant, and the whole interval lies beyond the floor.
    BeyondFloor,
    /// Same: the whole interval lies within the floor.
    WithinFloor,
    /// Unresolved: q ≥ 0.05, and the interval is not within the floor.
    NotSignificant,
    /// Unresolved: significant, but the interval reaches over the edge of the floor.
    CrossesFloor,
    /// Unresolved: beyond the floor, but not beyond what the runs differ from themselves.
    WithinDrift,
    /// Unresolved: fewer than six valid repeats on a side.
    TooFewRepeats,
    /// Unresolved: a repeat is NaN or infinite.
    NotFinite,
    /// Unresolved: a repeat is zero or negative, so that there is no ratio.
    NotPositive,
    /// Unresolved: paired sides differ in sessions or lengths.
    UnequalPairs,
    /// Unresolved: the noise floor is negative or not finite.
    BadFloor,
    /// Unresolved: no interval or no q, or one that makes no sense.
    NoEvidence,
}

/// What [`judge`] looks at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// Valid repeats of a, all sessions.
    pub repeats_a: usize,
    /// Valid repeats of b, all sessions.
    pub repeats_b: usize,
    /// Ratio a/b and its 95 % interval.
    pub interval: Option<RatioInterval>,
    /// q-value over the whole table.
    pub q: Option<f64>,
    /// Noise floor δ as a fraction; see [`noise_floor`].
    pub delta: f64,
    /// Which way the metric is good.
    pub direction: Direction,
}

/// A verdict and its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Judgement {
    /// What may be said.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
}

/// The verdict on `a` against `b`:
///
/// * **better/worse** ⇔ q < 0.05 and the whole interval beyond the floor: low > 1 + δ, or
///   high < 1/(1 + δ);
/// * **same** ⇔ the interval within the floor, 1/(1 + δ) ≤ low and high ≤ 1 + δ, whatever q;
/// * else **unresolved**; so too with fewer than six repeats on a side.
///
/// The floor is symmetric in ln ratio, so that swapping the sides swaps better and worse and
/// changes nothing else. A δ of 1 % is thus −0.990 % and +1 %.
///
/// * Unit: none.
/// * Assumes: interval and q are what they say; see [`compare_table_with`](crate::compare_table_with).
/// * Refuses: what cannot be judged is `Unresolved` with its [`Reason`].
/// * Source: the project's method page; two one-sided tests for *same*: Schuirmann, *J. Pharmacokinet. Biopharm.* 15 (1987), here at 95 % instead of 90 %.
///
/// ```
/// use stend_stats::{Direction, Evidence, IntervalMethod, RatioInterval, Verdict, judge};
/// let interval = RatioInterval {
///     ratio: 0.95, low: 0.93, high: 0.97, confidence: 0.95, method: IntervalMethod::Bca,
/// };
/// let judgement = judge(&Evidence {
///     repeats_a: 10, repeats_b: 10, interval: Some(interval), q: Some(0.001), delta: 0.01,
///     direction: Direction::LowerIsBetter,
/// });
/// assert_eq!(judgement.verdict, Verdict::Better);
/// ```
#[must_use]
pub fn judge(evidence: &Evidence) -> Judgement {
    let unresolved = |reason| Judgement { verdict: Verdict::Unresolved, reason };
    if !(evidence.delta.is_finite() && evidence.delta >= 0.0) {
        return unresolved(Reason::BadFloor);
    }
    if evidence.repeats_a.min(evidence.repeats_b) < MIN_REPEATS {
        return unresolved(Reason::TooFewRepeats);
    }
    let (Some(interval), Some(q)) = (evidence.interval, evidence.q) else {
        return unresolved(Reason::NoEvidence);
    };
    let ordered = interval.low > 0.0 && interval.low <= interval.high && interval.high.is_finite();
    if !ordered || !(0.0..=1.0).contains(&q) {
        return unresolved(Reason::NoEvidence);
    }
    let most = 1.0 + evidence.delta;
    let least = 1.0 / most;
    if interval.low >= least && interval.high <= most {
        return Judgement { verdict: Verdict::Same, reason: Reason::WithinFloor };
    }
    if q >= SIGNIFICANCE {
        return unresolved(Reason::NotSignificant);
    }
    let higher = if interval.low > most {
        true
    } else if interval.high < least {
        false
    } else {
        return unresolved(Reason::CrossesFloor);
    };
    let better = higher == (evidence.direction == Direction::HigherIsBetter);
    Judgement { verdict: if better { Verdict::Better } else { Verdict::Worse }, reason: Reason::BeyondFloor }
}

/// δ = max(1 %, the stand's A/A floor, the metric's own floor).
///
/// * Unit: a fraction.
/// * Assumes: floors of the same metric.
/// * Refuses: `None` for a floor that is negative or not finite.
/// * Source: the project's method page.
///
/// ```
/// assert_eq!(stend_stats::noise_floor(Some(0.023), None), Some(0.023));
/// assert_eq!(stend_stats::noise_floor(None, None), Some(0.01));
/// ```
#[must_use]
pub fn noise_floor(aa_floor: Option<f64>, own_floor: Option<f64>) -> Option<f64> {
    let floors = [aa_floor, own_floor];
    let mut given = floors.iter().flatten();
    if given.any(|floor| !(floor.is_finite() && *floor >= 0.0)) {
        return None;
    }
    Some(floors.iter().flatten().copied().fold(LEAST_FLOOR, f64::max))
}

/// The stand's noise floor for a scenario: 95th percentile of exp|ln r| − 1 over the ratios of A/A
/// comparisons (for small changes the same as |r − 1|, and alike for r and 1/r).
///
/// Twenty ratios or more are needed for a percentile that means something; with fewer it is in
/// effect the largest.
///
/// * Unit: a fraction.
/// * Assumes: ratios of comparisons of the same with the same, made as those will be that the floor is for.
/// * Refuses: `None` for an empty list or a ratio that is not positive and finite.
/// * Source: the project's method page; the percentile: [`quantile`](crate::quantile).
///
/// ```
/// let floor = stend_stats::aa_floor(&[1.01, 1.0, 0.99, 1.02]).unwrap();
/// assert!(floor > 0.015 && floor < 0.02);
/// ```
#[must_use]
pub fn aa_floor(ratios: &[f64]) -> Option<f64> {
    // Of what is no ratio the logarithm is not finite.
    let sizes: Vec<f64> = ratios.iter().map(|r| r.ln().abs()).collect();
    let floor = sorted_quantile(&finite_sorted(&sizes)?, 0.95).exp_m1();
    floor.is_finite().then_some(floor)
}
