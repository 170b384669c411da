//! The whole rule over a table.

use crate::MIN_REPEATS;
use crate::false_discovery::benjamini_hochberg;
use crate::mann_whitney::{Test, mann_whitney};
use crate::needed::{Spread, pairs_needed, repeats_needed};
use crate::pairs::{pseudomedian, signed_rank};
use crate::ratio::{RatioInterval, RatioOptions, log_ratios, paired_ratio_interval, ratio_interval};
use crate::sample::{MAD_TO_SIGMA, mean, median, median_absolute_deviation};
use crate::verdict::{Direction, Evidence, Judgement, Reason, SIGNIFICANCE, Verdict, judge};

/// One comparison of a table: `a`, the thing judged, against the base `b`.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Valid repeats of a, by session.
    pub a_sessions: Vec<Vec<f64>>,
    /// Valid repeats of b, by session.
    pub b_sessions: Vec<Vec<f64>>,
    /// Which way the metric is good.
    pub direction: Direction,
    /// Noise floor δ as a fraction; see [`noise_floor`](crate::noise_floor).
    pub delta: f64,
    /// Repeat i of a was measured next to repeat i of b (interleaved): same sessions, same lengths.
    pub paired: bool,
}

/// What is known of one cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellResult {
    /// Repeats of a.
    pub repeats_a: usize,
    /// Repeats of b.
    pub repeats_b: usize,
    /// median(a)/median(b); also with too few repeats for more. `None` where there is no ratio.
    pub ratio: Option<f64>,
    /// The ratio with its interval; `None` with fewer than six repeats a side.
    pub interval: Option<RatioInterval>,
    /// The test and its raw p.
    pub test: Option<Test>,
    /// Benjamini-Hochberg q over all cells of the table that have a test.
    pub q: Option<f64>,
    /// The verdict on a.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
    /// For an unresolved cell, about how many repeats a side would decide;
    /// `None` where no number can be given. An estimate: see [`repeats_needed`].
    pub needed: Option<usize>,
    /// The drift floor that was applied; only [`compare_runs`](crate::compare_runs) applies one.
    pub drift: Option<f64>,
}

/// [`compare_table_with`] at 95 %, 10,000 draws and the default seed.
///
/// * Unit: as there.
/// * Assumes: as there.
/// * Refuses: as there.
/// * Source: as there.
///
/// ```
/// assert!(stend_stats::compare_table(&[]).is_empty());
/// ```
#[must_use]
pub fn compare_table(cells: &[Cell]) -> Vec<CellResult> {
    compare_table_with(cells, &RatioOptions::default())
}

/// Judges every cell of a table at once, in the order given.
///
/// For each cell: ratio with its interval ([`ratio_interval`], or [`paired_ratio_interval`]); exact two-sided p over all repeats of a side pooled
/// ([`mann_whitney`], or [`signed_rank`] of ln a − ln b where paired); over the table
/// [`benjamini_hochberg`] on the cells that have a test; then [`judge`].
///
/// Every cell uses the same seed: its result, q apart, does not depend on its place in the table.
///
/// * Unit: none; ratios, probabilities, and repeats for what is needed.
/// * Assumes: independent repeats. Where sessions differ among themselves the p of pooled repeats is too small,
///   and only the interval (which resamples sessions) and δ stand against a false mark; δ should
///   then come from A/A runs over several sessions. What two sessions differ as a whole, one session a side cannot show.
/// * Refuses: a cell that cannot be judged is `Unresolved` with its [`Reason`] and takes no part in the q-values of others.
/// * Source: those of the parts; the rule: the project's method page.
///
/// ```
/// use stend_stats::{Cell, Direction, RatioOptions, Reason, Verdict, compare_table_with};
/// let cell = |a: &[f64]| Cell {
///     a_sessions: vec![a.to_vec()], b_sessions: vec![vec![1.0, 1.01, 1.02, 0.99, 0.98, 1.0]],
///     direction: Direction::LowerIsBetter, delta: 0.01, paired: false,
/// };
/// let table = [cell(&[2.0, 2.01, 2.02, 1.99, 1.98, 2.0]), cell(&[2.0, 2.0])];
/// let results = compare_table_with(&table, &RatioOptions::default());
/// assert_eq!((results[0].verdict, results[1].reason), (Verdict::Worse, Reason::TooFewRepeats));
/// ```
#[must_use]
pub fn compare_table_with(cells: &[Cell], options: &RatioOptions) -> Vec<CellResult> {
    let measured: Vec<Measured> = cells.iter().map(|cell| Measured::new(cell, options)).collect();
    let tested: Vec<f64> = measured.iter().filter_map(|m| m.test.map(|t| t.p)).collect();
    let adjusted = benjamini_hochberg(&tested);
    let marked = adjusted.iter().filter(|q| **q < SIGNIFICANCE).count();
    // What p one more cell would have to reach.
    let tests = tested.len().max(1);
    let level = SIGNIFICANCE * (marked + 1).min(tests) as f64 / tests as f64;
    let mut adjusted = adjusted.into_iter();
    cells
        .iter()
        .zip(measured)
        .map(|(cell, measured)| {
            let q = measured.test.and_then(|_| adjusted.next());
            measured.conclude(cell, q, level)
        })
        .collect()
}

/// A cell before the table is known.
struct Measured {
    a: Vec<f64>,
    b: Vec<f64>,
    /// ln a − ln b, where repeats are pairs.
    pairs: Option<Vec<f64>>,
    refused: Option<Reason>,
    interval: Option<RatioInterval>,
    test: Option<Test>,
}

impl Measured {
    fn new(cell: &Cell, options: &RatioOptions) -> Self {
        let (a, b) = (cell.a_sessions.concat(), cell.b_sessions.concat());
        let refused = refusal(cell, &a, &b);
        let pairs = log_ratios(&cell.a_sessions, &cell.b_sessions).filter(|_| cell.paired).map(|logs| logs.concat());
        let (interval, test) = match (refused, &pairs) {
            (Some(_), _) => (None, None),
            (None, None) => (ratio_interval(&cell.a_sessions, &cell.b_sessions, options), mann_whitney(&a, &b)),
            (None, Some(logs)) => {
                (paired_ratio_interval(&cell.a_sessions, &cell.b_sessions, options), signed_rank(logs))
            }
        };
        Self { a, b, pairs, refused, interval, test }
    }

    fn conclude(self, cell: &Cell, q: Option<f64>, level: f64) -> CellResult {
        let evidence = Evidence {
            repeats_a: self.a.len(),
            repeats_b: self.b.len(),
            interval: self.interval,
            q,
            delta: cell.delta,
            direction: cell.direction,
        };
        let judgement = match self.refused {
            Some(reason) => Judgement { verdict: Verdict::Unresolved, reason },
            None => judge(&evidence),
        };
        let ratio = self.ratio();
        let needed = match judgement.reason {
            Reason::NotSignificant | Reason::CrossesFloor | Reason::TooFewRepeats => {
                self.needed(ratio, cell.delta, level)
            }
            _ => None,
        };
        CellResult {
            repeats_a: self.a.len(),
            repeats_b: self.b.len(),
            ratio,
            interval: self.interval,
            test: self.test,
            q,
            verdict: judgement.verdict,
            reason: judgement.reason,
            needed,
            drift: None,
        }
    }

    fn ratio(&self) -> Option<f64> {
        let ratio = match &self.pairs {
            Some(logs) => pseudomedian(logs).map(f64::exp),
            None => median(&self.a).zip(median(&self.b)).map(|(a, b)| a / b),
        };
        ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0)
    }

    fn needed(&self, ratio: Option<f64>, delta: f64, level: f64) -> Option<usize> {
        let repeats = self.a.len().min(self.b.len());
        if repeats < MIN_REPEATS {
            return Some(MIN_REPEATS); // too few to estimate a spread from
        }
        let needed = match &self.pairs {
            Some(logs) => pairs_needed(deviation(logs)?, ratio?, delta, level),
            None => repeats_needed(Spread { a: spread(&self.a)?, b: spread(&self.b)? }, ratio?, delta, level),
        };
        // As many as there are have just not decided.
        needed.map(|needed| needed.max(repeats + 1))
    }
}

/// Robust standard deviation; where quantised values make it 0, that from the mean absolute deviation (× 1.2533 for normal data).
fn deviation(values: &[f64]) -> Option<f64> {
    let robust = MAD_TO_SIGMA * median_absolute_deviation(values)?;
    if robust > 0.0 {
        return Some(robust);
    }
    let centre = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    Some(mean(&deviations)? * MEAN_DEVIATION_TO_SIGMA).filter(|deviation| deviation.is_finite())
}

/// [`deviation`] as a share of the median.
fn spread(values: &[f64]) -> Option<f64> {
    Some(deviation(values)? / median(values)?.abs()).filter(|share| share.is_finite())
}

/// √(π/2): standard deviation over mean absolute deviation of normal data.
const MEAN_DEVIATION_TO_SIGMA: f64 = 1.253_314_137_315_500_3;

fn refusal(cell: &Cell, a: &[f64], b: &[f64]) -> Option<Reason> {
    let both = || a.iter().chain(b);
    let lengths = |sessions: &[Vec<f64>]| sessions.iter().map(Vec::len).collect::<Vec<_>>();
    if both().any(|v| !v.is_finite()) {
        Some(Reason::NotFinite)
    } else if !(cell.delta.is_finite() && cell.delta >= 0.0) {
        Some(Reason::BadFloor)
    } else if cell.paired && lengths(&cell.a_sessions) != lengths(&cell.b_sessions) {
        Some(Reason::UnequalPairs)
    } else if both().any(|v| *v <= 0.0) {
        Some(Reason::NotPositive)
    } else if a.len().min(b.len()) < MIN_REPEATS {
        Some(Reason::TooFewRepeats)
    } else {
        None
    }
}
