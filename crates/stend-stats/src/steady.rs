//! Steady state of a storage device after SNIA's Performance Test Specification.

use crate::sample::mean;

/// Rounds in the measurement window.
pub const STEADY_ROUNDS: usize = 5;

/// When a window of rounds is steady.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyRule {
    /// Rounds in the window, at least 2.
    pub rounds: usize,
    /// Largest (max − min)/mean.
    pub range: f64,
    /// Largest size of the least-squares slope over the whole window as a share of the mean.
    pub drift: f64,
}

impl SteadyRule {
    /// Five rounds, 20 % and 10 %. Source: SNIA Solid State Storage Performance Test Specification, steady-state criterion.
    pub const SNIA: Self = Self { rounds: STEADY_ROUNDS, range: 0.20, drift: 0.10 };
}

/// The window's figures and whether both criteria hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyState {
    /// Both criteria hold.
    pub steady: bool,
    /// Mean of the window, in the unit of the rounds.
    pub mean: f64,
    /// (max − min)/mean; at most the rule's when steady.
    pub range: f64,
    /// Least-squares slope over the whole window as a share of the mean, k·(n − 1)/mean, signed;
    /// at most the rule's in size when steady.
    pub drift: f64,
    /// Least-squares slope k, in the unit of the rounds for each round.
    pub slope: f64,
}

/// Judges the last five rounds by [`SteadyRule::SNIA`]: max − min ≤ 20 % of their mean, and the least-squares line climbs or falls by 10 % of it at most.
///
/// * Unit: that of the rounds; range and drift are fractions of the mean.
/// * Assumes: what [`steady_state_by`] does.
/// * Refuses: `None` with fewer than five rounds, and as [`steady_state_by`].
/// * Source: SNIA, *Solid State Storage Performance Test Specification*, the definition of steady state, as its own overview and TKperf have it.
///
/// ```
/// use stend_stats::steady_state;
/// assert!(steady_state(&[900.0, 100.0, 101.0, 99.0, 100.0, 100.5]).unwrap().steady);
/// assert!(!steady_state(&[100.0, 104.0, 108.0, 112.0, 116.0]).unwrap().steady);
/// assert!(steady_state(&[100.0; 4]).is_none());
/// ```
#[must_use]
pub fn steady_state(rounds: &[f64]) -> Option<SteadyState> {
    steady_state_by(rounds, &SteadyRule::SNIA)
}

/// Judges the last n rounds (oldest first), n being the rule's: max − min ≤ range·mean **and** |k|·(n − 1) ≤ drift·mean, with
/// k = Σ(i − ī)·xᵢ / Σ(i − ī)², the least-squares slope for each round. Both limits are inclusive.
///
/// * Unit: that of the rounds; range and drift are fractions of the mean.
/// * Assumes: rounds of equal length in the order in which they were made; nothing else.
/// * Refuses: `None` with fewer than n rounds, n below 2, a non-finite value among the last n, or a mean that is not positive.
/// * Source: as [`steady_state`], with limits of your own.
///
/// ```
/// use stend_stats::{SteadyRule, steady_state_by};
/// let rule = SteadyRule { rounds: 3, range: 0.05, drift: 0.05 };
/// let state = steady_state_by(&[50.0, 100.0, 102.0, 104.0], &rule).unwrap();
/// assert!(state.steady && (state.slope - 2.0).abs() < 1e-9);
/// ```
#[must_use]
pub fn steady_state_by(rounds: &[f64], rule: &SteadyRule) -> Option<SteadyState> {
    let window = &rounds[rounds.len().checked_sub(rule.rounds)?..];
    let mean = mean(window).filter(|_| window.len() >= 2)?;
    if mean <= 0.0 {
        return None;
    }
    let n = window.len() as f64;
    // Over i − ī the slope is Σxy / Σx², and Σx² = n(n² − 1)/12. Relative to the mean: no overflow.
    let relative = |round: &f64| round / mean;
    let centre = (n - 1.0) / 2.0;
    let products = window.iter().enumerate().map(|(place, y)| (place as f64 - centre) * relative(y));
    let slope = products.sum::<f64>() / (n * (n * n - 1.0) / 12.0);
    let most = window.iter().map(relative).fold(f64::MIN, f64::max);
    let least = window.iter().map(relative).fold(f64::MAX, f64::min);
    let (range, drift) = (most - least, slope * (n - 1.0));
    let state = SteadyState {
        steady: range <= rule.range + ROUNDING && drift.abs() <= rule.drift + ROUNDING,
        mean,
        range,
        drift,
        slope: slope * mean,
    };
    (range.is_finite() && drift.is_finite() && state.slope.is_finite()).then_some(state)
}

/// So that a window exactly on a limit (90, 100, 110 …) passes in spite of binary fractions.
const ROUNDING: f64 = 1e-12;
