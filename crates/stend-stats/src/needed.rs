//! How many repeats would decide.

use std::f64::consts::FRAC_PI_3;

use crate::MIN_REPEATS;
use crate::normal;

/// Coefficients of variation of the two sides' repeats, as fractions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Of side a.
    pub a: f64,
    /// Of side b.
    pub b: f64,
}

/// Estimate of the repeats *each side* needs to decide in nine of ten trials, if the true ratio is
/// `ratio` and the spread stays as given.
///
/// With s² = CVₐ² + CV_b², e = |ln ratio|, d = ln(1 + δ), z = Φ⁻¹:
/// * e > d (better or worse): the greater of
///   1.65·s²·(z₀.₉₇₅ + z₀.₉)²/(e − d)² + z₀.₉₇₅²/4, for the interval of the ratio of medians, and
///   (π/3)·s²·(z₁₋α/₂ + z₀.₉)²/e² + z₁₋α/₂²/4, for the rank test at level α = `significance`;
///   and n large enough that the smallest possible p, 2/C(2n, n), lies below α.
/// * e < d (same): 1.65·s²·(z₀.₉₇₅ + z₀.₉₅)²/(d − e)² + z₀.₉₇₅²/4.
///
/// At least six.
///
/// * Unit: repeats a side.
/// * Assumes: nearly normal, independent repeats and small spreads, of one session. **An estimate**: the observed ratio and spread are uncertain
///   themselves; a factor of two off is usual.
/// * Refuses: `None` where the answer is beyond a million (the ratio lies on the floor), or for input that is
///   not finite, a negative spread or δ, a ratio that is not positive, α outside 0 < α < 1.
/// * Source: Noether, *J. Amer. Statist. Assoc.* 82 (1987); Guenther, *The American Statistician* 35
///   (1981), for the added z²/4. The variance of a median is π/2·σ²/n in the limit; 5 % more is what the bootstrap's interval of it takes, by
///   simulation (`examples/calibration_figures.rs`).
///
/// ```
/// use stend_stats::{Spread, repeats_needed};
/// let spread = Spread { a: 0.02, b: 0.02 };
/// assert_eq!(repeats_needed(spread, 1.04, 0.0, 0.01), Some(10));
/// assert_eq!(repeats_needed(spread, 1.50, 0.01, 0.01), Some(6));
/// ```
#[must_use]
pub fn repeats_needed(spread: Spread, ratio: f64, delta: f64, significance: f64) -> Option<usize> {
    let variance = spread.a * spread.a + spread.b * spread.b;
    let smallest_p = |n: f64| n / (2.0 * (2.0 * n - 1.0)); // 2/C(2n, n), as a share of that for n − 1
    let design = Design { variance, interval: MEDIAN, correction: 0.25, smallest_p };
    (spread.a >= 0.0 && spread.b >= 0.0).then(|| design.needed(ratio, delta, significance))?
}

/// [`repeats_needed`] for pairs: estimate of the *pairs* that decide in nine of ten trials, where `spread` is the standard deviation s of
/// ln a − ln b.
///
/// With e = |ln ratio|, d = ln(1 + δ), z = Φ⁻¹:
/// * e > d (better or worse): the greater of (π/3)·s²·(z₀.₉₇₅ + z₀.₉)²/(e − d)² + ¾·z₀.₉₇₅², for the interval, and
///   (π/3)·s²·(z₁₋α/₂ + z₀.₉)²/e² + ¾·z₁₋α/₂², for the signed-rank test at level α = `significance`;
///   and n large enough that the smallest possible p, 2/2ⁿ, lies below α.
/// * e < d (same): (π/3)·s²·(z₀.₉₇₅ + z₀.₉₅)²/(d − e)² + ¾·z₀.₉₇₅².
///
/// At least six.
///
/// * Unit: pairs.
/// * Assumes: what [`repeats_needed`] does, of the differences.
/// * Refuses: as [`repeats_needed`].
/// * Source: as [`repeats_needed`]. Guenther's term for one sample is z²/2; z²/4 more is what the few ranks of few pairs take, by simulation.
///
/// ```
/// assert_eq!(stend_stats::pairs_needed(0.02, 1.04, 0.01, 0.05), Some(9));
/// ```
#[must_use]
pub fn pairs_needed(spread: f64, ratio: f64, delta: f64, significance: f64) -> Option<usize> {
    let smallest_p = |_| 0.5;
    let design = Design { variance: spread * spread, interval: FRAC_PI_3, correction: 0.75, smallest_p };
    (spread >= 0.0).then(|| design.needed(ratio, delta, significance))?
}

/// n times the variance of a sample's median as its bootstrap interval has it, as a share of that of one value: π/2 and 5 % more.
pub(crate) const MEDIAN: f64 = 1.65;

/// How a verdict is made from n repeats, or pairs.
struct Design<P> {
    /// Of what one repeat, or pair, says of the logarithm of the ratio.
    variance: f64,
    /// n times the variance of the interval's estimate, as a share of that.
    interval: f64,
    /// What of z² the normal approximation lacks in small samples.
    correction: f64,
    /// The smallest possible p with n, as a share of that with n − 1; with n = 1 it is 1.
    smallest_p: P,
}

impl<P: Fn(f64) -> f64> Design<P> {
    fn needed(&self, ratio: f64, delta: f64, significance: f64) -> Option<usize> {
        let sound = self.variance.is_finite() && delta.is_finite() && delta >= 0.0 && ratio.is_finite() && ratio > 0.0;
        if !(sound && significance > 0.0 && significance < 1.0) {
            return None;
        }
        let (effect, floor) = (ratio.ln().abs(), delta.ln_1p());
        let needed = |efficiency: f64, tail: f64, power: f64, distance: f64| {
            let z = -normal::inverse(tail);
            let shift = (z - normal::inverse(1.0 - power)) / distance;
            efficiency * self.variance * shift * shift + self.correction * z * z
        };
        let estimate = if effect > floor {
            let interval = needed(self.interval, 0.025, 0.9, effect - floor);
            let test = needed(FRAC_PI_3, significance / 2.0, 0.9, effect);
            interval.max(test).max(self.least_for(significance))
        } else {
            needed(self.interval, 0.025, 0.95, floor - effect)
        };
        let estimate = estimate.ceil().max(MIN_REPEATS as f64);
        (estimate <= 1e6).then_some(estimate as usize)
    }

    /// The fewest repeats for which the smallest possible p lies below α.
    fn least_for(&self, significance: f64) -> f64 {
        let (mut n, mut smallest) = (1.0, 1.0);
        while smallest >= significance {
            n += 1.0;
            smallest *= (self.smallest_p)(n);
        }
        n
    }
}
