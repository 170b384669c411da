//! Steady state of a storage device after SNIA's Performance Test Specification.

use crate::sample::mean;

/// Rounds in the measurement window.
pub const STEADY_ROUNDS: usize = 5;

/// The window's figures and whether both criteria hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyState {
    /// Both criteria hold.
    pub steady: bool,
    /// Mean of the window, in the unit of the rounds.
    pub mean: f64,
    /// (max − min)/mean; at most 0.20 when steady.
    pub range: f64,
    /// Least-squares slope over the whole window as a share of the mean, k·(5 − 1)/mean, signed;
    /// at most 0.10 in size when steady.
    pub drift: f64,
    /// Least-squares slope k, in the unit of the rounds for each round.
    pub slope: f64,
}

/// Judges the last five rounds (oldest first): max − min ≤ 0.20·mean **and** |k|·(5 − 1) ≤
/// 0.10·mean, with k the least-squares slope for each round.
///
/// More than five values: the last five count. Both limits are inclusive. `None` with fewer than
/// five rounds, a non-finite value among the five, or a mean that is not positive.
/// Source: SNIA Solid State Storage Performance Test Specification, steady-state criterion,
/// as given in the project's method page 3c.
///
/// ```
/// use stend_stats::steady_state;
/// assert!(steady_state(&[900.0, 100.0, 101.0, 99.0, 100.0, 100.5]).unwrap().steady);
/// assert!(!steady_state(&[100.0, 104.0, 108.0, 112.0, 116.0]).unwrap().steady);
/// assert!(steady_state(&[100.0; 4]).is_none());
/// ```
#[must_use]
pub fn steady_state(rounds: &[f64]) -> Option<SteadyState> {
    let window = &rounds[rounds.len().checked_sub(STEADY_ROUNDS)?..];
    let mean = mean(window)?;
    if mean <= 0.0 {
        return None;
    }
    // Over x = −2 … 2 the slope is Σxy / Σx², and Σx² = 10. Relative to the mean: no overflow.
    let relative = |round: &f64| round / mean;
    let slope = (-2..=2).zip(window).map(|(x, y)| f64::from(x) * relative(y)).sum::<f64>() / 10.0;
    let most = window.iter().map(relative).fold(f64::MIN, f64::max);
    let least = window.iter().map(relative).fold(f64::MAX, f64::min);
    let (range, drift) = (most - least, slope * (STEADY_ROUNDS - 1) as f64);
    let state = SteadyState {
        steady: range <= 0.20 + ROUNDING && drift.abs() <= 0.10 + ROUNDING,
        mean,
        range,
        drift,
        slope: slope * mean,
    };
    (range.is_finite() && drift.is_finite() && state.slope.is_finite()).then_some(state)
}

/// So that a window exactly on a limit (90, 100, 110 …) passes in spite of binary fractions.
const ROUNDING: f64 = 1e-12;
