//! What a verdict rests on: the test, the floor δ and where it comes from, the repeats of both sides. It decides nothing; `stend-stats` does.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use stend_stats::{
    Cell, CellResult, IntervalMethod, Method, effective_sample_size, hodges_lehmann, serial_correlation, shift_interval,
};

use crate::noise::Floor;

/// The evidence for one verdict, beside ratio, interval, q, floor and drift.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct Evidence {
    /// Two-sided p of the test, before the correction for many comparisons.
    pub p: Option<f64>,
    /// Which test it was; none with fewer than six repeats a side, or where there is no ratio.
    pub test: Option<Test>,
    /// How the interval of the ratio was made.
    pub interval_method: Option<IntervalMethod>,
    /// Difference to the base in the row's unit, where the sides are not pairs.
    pub shift: Option<Shift>,
    /// Where the floor δ comes from.
    pub floor_source: FloorSource,
    /// The base's repeats.
    pub base: Repeats,
    /// This run's repeats.
    pub own: Repeats,
    /// Rank correlation of each repeat with the one before it, over the sessions of both sides: near 0 where repeats are independent.
    pub neighbours: Option<f64>,
    /// Whether it is unresolved because neighbours resemble each other; then the drift is what the interval would have to lie beyond.
    pub resembling: bool,
}

impl Evidence {
    /// Whether the two sides were tested as pairs.
    pub fn of_pairs(&self) -> bool {
        matches!(self.test, Some(Test::SignedRankExact | Test::SignedRankPermutation | Test::SignedRankNormal))
    }
}

/// A test of whether two sides differ, and how its p was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// Mann and Whitney's, by its exact distribution.
    MannWhitneyExact,
    /// Mann and Whitney's, by all permutations of the values, because some are equal.
    MannWhitneyPermutation,
    /// Mann and Whitney's, by the normal approximation: there are many repeats.
    MannWhitneyNormal,
    /// Wilcoxon's signed ranks of the pairs' differences, by their exact distribution over all flips of signs.
    SignedRankExact,
    /// Wilcoxon's signed ranks, by all flips of signs, because some differences are of one size or zero.
    SignedRankPermutation,
    /// Wilcoxon's signed ranks, by the normal approximation: there are many pairs.
    SignedRankNormal,
}

/// Hodges and Lehmann's estimate of the difference, in the row's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Shift {
    /// The median of all differences between a repeat of this run and one of the base.
    pub value: f64,
    /// Its 95 % interval; none below four repeats a side.
    pub interval: Option<(f64, f64)>,
}

/// Where a floor δ comes from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum FloorSource {
    /// Nowhere: it is the least one, because nobody measured how much the machine differs from itself.
    #[default]
    Assumed,
    /// The suite says so, for this metric.
    Suite,
    /// The machine was seen to differ from itself by this much.
    Noise {
        /// The run of `stend noise`.
        run: String,
        /// When it began.
        measured_at: Timestamp,
    },
    /// The machine was seen to differ from itself by less than the least floor, which therefore stands.
    Least {
        /// The run of `stend noise`.
        run: String,
        /// When it began.
        measured_at: Timestamp,
        /// What it found, as a share.
        share: f64,
    },
}

impl FloorSource {
    /// Of what the floor of a metric is made: δ is the greatest of the least floor, the suite's and the measured one.
    pub(super) fn of(delta: f64, suite: Option<f64>, noise: Option<&Floor>) -> Self {
        match noise {
            Some(noise) if noise.share >= delta => {
                Self::Noise { run: noise.run.clone(), measured_at: noise.measured_at }
            }
            _ if suite.is_some_and(|suite| suite >= delta) => Self::Suite,
            Some(noise) => Self::Least { run: noise.run.clone(), measured_at: noise.measured_at, share: noise.share },
            None => Self::Assumed,
        }
    }
}

/// The repeats of one side.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
pub struct Repeats {
    /// How many there are; of pairs, how many pairs.
    pub count: usize,
    /// In how many sessions.
    pub sessions: usize,
    /// How many independent ones would say as much of a mean, by their autocorrelation. A rough estimate of so few.
    pub effective: f64,
}

impl Repeats {
    fn of(sessions: &[Vec<f64>]) -> Self {
        let effective = |session: &Vec<f64>| {
            effective_sample_size(session).map_or(session.len() as f64, |found| found.size.min(session.len() as f64))
        };
        Self {
            count: sessions.iter().map(Vec::len).sum(),
            sessions: sessions.iter().filter(|session| !session.is_empty()).count(),
            effective: sessions.iter().map(effective).sum(),
        }
    }
}

impl Evidence {
    /// What a judged cell rests on.
    pub(super) fn of(cell: &Cell, result: &CellResult, floor_source: FloorSource) -> Self {
        let shift = || {
            let (own, base) = (cell.a_sessions.concat(), cell.b_sessions.concat());
            let interval = shift_interval(&own, &base, 0.95).map(|found| (found.low, found.high));
            hodges_lehmann(&own, &base).map(|value| Shift { value, interval })
        };
        let sessions = || cell.a_sessions.iter().chain(&cell.b_sessions).map(Vec::as_slice);
        Self {
            p: result.test.map(|test| test.p),
            test: result.test.and_then(|test| Test::of(test.method, cell.paired)),
            interval_method: result.interval.map(|interval| interval.method),
            shift: if cell.paired { None } else { shift() },
            floor_source,
            base: Repeats::of(&cell.b_sessions),
            own: Repeats::of(&cell.a_sessions),
            neighbours: serial_correlation(sessions()).map(|found| found.correlation),
            resembling: result.resembling,
        }
    }
}

impl Test {
    const fn of(method: Method, paired: bool) -> Option<Self> {
        Some(match (method, paired) {
            (Method::Exact, false) => Self::MannWhitneyExact,
            (Method::Permutation, false) => Self::MannWhitneyPermutation,
            (Method::NormalApproximation, false) => Self::MannWhitneyNormal,
            (Method::Exact, true) => Self::SignedRankExact,
            (Method::Permutation, true) => Self::SignedRankPermutation,
            (Method::NormalApproximation, true) => Self::SignedRankNormal,
            // No verdict draws its p.
            (Method::MonteCarlo, _) => return None,
        })
    }
}
