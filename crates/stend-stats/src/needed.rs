//! How many repeats would decide.

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
///   (π/2)·s²·(z₀.₉₇₅ + z₀.₉)²/(e − d)² + z₀.₉₇₅²/4, for the interval of the ratio of medians, and
///   (π/3)·s²·(z₁₋α/₂ + z₀.₉)²/e² + z₁₋α/₂²/4, for the rank test at level α = `significance`;
///   and n large enough that the smallest possible p, 2/C(2n, n), lies below α.
/// * e < d (same): (π/2)·s²·(z₀.₉₇₅ + z₀.₉₅)²/(d − e)² + z₀.₉₇₅²/4.
///
/// At least six. **An estimate**: it takes nearly normal repeats and small spreads, and the observed
/// ratio is itself uncertain; a factor of two off is usual. For sessions it says nothing.
/// `None` where the answer is beyond a million (the ratio lies on the floor), or for input that is
/// not finite, a negative spread or δ, a ratio that is not positive, α outside 0 < α < 1.
///
/// Sources: Noether, *J. Amer. Statist. Assoc.* 82 (1987); Guenther, *The American Statistician* 35
/// (1981), for the added z²/4; asymptotic variance of the median π/2·σ²/n.
///
/// ```
/// use stend_stats::{Spread, repeats_needed};
/// let spread = Spread { a: 0.02, b: 0.02 };
/// assert_eq!(repeats_needed(spread, 1.04, 0.0, 0.01), Some(10));
/// assert_eq!(repeats_needed(spread, 1.50, 0.01, 0.01), Some(6));
/// ```
#[must_use]
pub fn repeats_needed(spread: Spread, ratio: f64, delta: f64, significance: f64) -> Option<usize> {
    let sound = |x: f64| x.is_finite() && x >= 0.0;
    if !(sound(spread.a) && sound(spread.b) && sound(delta) && ratio.is_finite() && ratio > 0.0)
        || !(significance > 0.0 && significance < 1.0)
    {
        return None;
    }
    let variance = spread.a * spread.a + spread.b * spread.b;
    let (effect, floor) = (ratio.ln().abs(), delta.ln_1p());
    let needed = |efficiency: f64, tail: f64, power: f64, distance: f64| {
        let z = -normal::inverse(tail);
        let shift = (z - normal::inverse(1.0 - power)) / distance;
        efficiency * variance * shift * shift + z * z / 4.0
    };
    let median = std::f64::consts::FRAC_PI_2;
    let ranks = std::f64::consts::FRAC_PI_3;
    let estimate = if effect > floor {
        let interval = needed(median, 0.025, 0.9, effect - floor);
        let test = needed(ranks, significance / 2.0, 0.9, effect);
        interval.max(test).max(least_for(significance))
    } else {
        needed(median, 0.025, 0.95, floor - effect)
    };
    let estimate = estimate.ceil().max(MIN_REPEATS as f64);
    (estimate <= 1e6).then_some(estimate as usize)
}

/// The fewest repeats a side for which 2/C(2n, n) < α.
fn least_for(significance: f64) -> f64 {
    let mut n = 1.0;
    let mut smallest = 1.0; // 2/C(2, 1)
    while smallest >= significance {
        n += 1.0;
        smallest *= n / (2.0 * (2.0 * n - 1.0));
    }
    n
}
