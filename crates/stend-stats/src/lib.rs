//! The statistics of `stend`: what is measured, how sure it is, and the verdict.
//!
//! Pure functions over slices of repeats; no I/O, no clock, no global state.
//! The rules are those of the project's method page; the sources stand at each function.
//!
//! # Conventions
//!
//! * A **repeat** is one measured value (a rate, a time); a **session** is a group of repeats
//!   taken in one stretch. Per-second samples are not repeats: they are autocorrelated.
//! * The unit of a result is that of its input unless said otherwise; ratios have none.
//! * **Non-finite input is refused**: a slice with a NaN or an infinity anywhere gives `None`
//!   (or a [`Reason`]), never a NaN. So does an empty slice, and a result too large for `f64`.
//! * The order of repeats matters only where time does: steady state, drift ([`compare_runs`]), correlation, change points, and
//!   pairs.
//! * Everything is deterministic. Where random draws are needed they come from [`SplitMix64`],
//!   so a seed gives the same result on every platform and in every version.
//!
//! # Example
//!
//! ```
//! use stend_stats::{Cell, Direction, Verdict, compare_table};
//!
//! let cell = Cell {
//!     a_sessions: vec![vec![103.0, 104.1, 103.7, 104.4, 103.2, 103.9, 104.0, 103.5]],
//!     b_sessions: vec![vec![100.2, 99.8, 100.9, 100.1, 99.5, 100.4, 100.0, 100.3]],
//!     direction: Direction::HigherIsBetter,
//!     delta: 0.01,
//!     paired: false,
//! };
//! let result = &compare_table(&[cell])[0];
//! assert_eq!(result.verdict, Verdict::Better);
//! ```

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod aggregate;
mod change_points;
mod correlation;
mod drift;
mod false_discovery;
mod histogram;
mod interval;
mod law;
mod mann_whitney;
mod mixture;
mod needed;
mod normal;
mod outlier;
mod pairs;
mod random;
mod ratio;
mod sample;
mod search;
mod self_noise;
mod shift;
mod sign_flip;
mod steady;
mod table;
mod verdict;

pub use aggregate::{geometric_mean_interval, geometric_mean_ratio};
pub use change_points::{ChangePoint, ChangeRule, EnergySplit, change_points, energy_split};
pub use correlation::{
    EffectiveSample, RankCorrelation, SerialCorrelation, autocorrelation, effective_sample_size, rank_correlation,
    serial_correlation,
};
pub use drift::{compare_runs, compare_runs_among, drift_floors, excess_drift, half_drift};
pub use false_discovery::benjamini_hochberg;
pub use histogram::{LEAST_IN_TAIL, Latencies, NotAHistogram, Percentile};
pub use interval::{Interval, median_interval, precision_reached};
pub use mann_whitney::{EXACT_TOTAL, Method, Test, mann_whitney};
pub use needed::{Spread, pairs_needed, repeats_needed};
pub use outlier::{Mark, tukey_marks};
pub use pairs::{pseudomedian, pseudomedian_interval, signed_rank};
pub use random::SplitMix64;
pub use ratio::{
    IntervalMethod, RatioInterval, RatioOptions, median_interval_of_sessions, paired_ratio_interval, ratio_interval,
};
pub use sample::{coefficient_of_variation, mean, median, median_absolute_deviation, quantile};
pub use self_noise::{LEAST_PAIRS, self_noise, self_ratios};
pub use shift::{hodges_lehmann, shift_interval};
pub use sign_flip::{EXACT_PAIRS, SIGN_FLIP_DRAWS, sign_flip};
pub use steady::{STEADY_ROUNDS, SteadyRule, SteadyState, steady_state, steady_state_by};
pub use table::{Cell, CellResult, compare_table, compare_table_with};
pub use verdict::{
    Direction, Evidence, Judgement, LEAST_FLOOR, Reason, SIGNIFICANCE, Verdict, aa_floor, judge, noise_floor,
};

/// The fewest repeats a side that give an interval and may give a verdict: with five, the widest
/// interval of a median, from the least to the greatest, reaches only 93.75 %.
pub const MIN_REPEATS: usize = 6;
