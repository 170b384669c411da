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
//! * The order of repeats matters only where time does: steady state, change points, and what is measured in turns.
//! * Everything is deterministic. Where random draws are needed they come from [`SplitMix64`],
//!   so a seed gives the same result on every platform and in every version.
//!
//! # Example
//!
//! ```
//! use stend_stats::{Cell, Design, Direction, Verdict, compare};
//!
//! let cell = Cell {
//!     a_sessions: vec![vec![103.0, 104.1, 103.7, 104.4, 103.2, 103.9, 104.0, 103.5]],
//!     b_sessions: vec![vec![100.2, 99.8, 100.9, 100.1, 99.5, 100.4, 100.0, 100.3]],
//!     design: Design::InTurns,
//!     direction: Direction::HigherIsBetter,
//!     delta: 0.01,
//! };
//! let result = &compare(&[cell])[0];
//! assert_eq!(result.verdict, Verdict::Better);
//! ```

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod change_points;
mod effect;
mod false_discovery;
mod histogram;
mod interval;
mod outlier;
mod random;
mod sample;
mod steady;
mod student;
mod verdict;

pub use change_points::{ChangePoint, ChangeRule, EnergySplit, change_points, energy_split};
pub use effect::{Counted, Design, Direction, Effect, LEAST_NUMBERS, Numbers};
pub use false_discovery::benjamini_hochberg;
pub use histogram::{LEAST_IN_TAIL, Latencies, NotAHistogram, Percentile};
pub use interval::{Interval, median_interval, median_interval_of_sessions, precision_reached};
pub use outlier::{Mark, tukey_marks};
pub use random::SplitMix64;
pub use sample::{coefficient_of_variation, mean, median, median_absolute_deviation, quantile};
pub use steady::{STEADY_ROUNDS, SteadyRule, SteadyState, steady_state, steady_state_by};
pub use verdict::{Cell, CellResult, DEFAULT_FLOOR, Reason, SIGNIFICANCE, Verdict, compare, visible_difference};

/// The fewest repeats that give a 95 % interval of a median: with five, the widest one, from the least to the greatest, reaches only 93.75 %.
pub const MIN_REPEATS: usize = 6;
