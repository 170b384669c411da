//! The whole rule over a table.

use std::f64::consts::FRAC_PI_3;

use crate::MIN_REPEATS;
use crate::false_discovery::benjamini_hochberg;
use crate::mann_whitney::{Test, mann_whitney};
use crate::needed::{MEDIAN, Spread, pairs_needed, repeats_needed};
use crate::normal;
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
    /// For an unresolved cell, about how many repeats a side would decide; with fewer than six a side, the six that a verdict takes at least.
    /// `None` where no number can be given, as where a side has a single one, or repeats would not help: more of them in sessions that
    /// differ say nothing about other sessions.
    /// An estimate: see [`repeats_needed`], and [`compare_runs`](crate::compare_runs) for what it makes of drift.
    pub needed: Option<usize>,
    /// The drift floor that was applied; only [`compare_runs`](crate::compare_runs) applies one.
    pub drift: Option<f64>,
    /// Whether the cell is unresolved because neighbouring repeats resemble each other, and not because the halves of a run differ so much: then
    /// the drift is what the interval would have to lie beyond.
    pub resembling: bool,
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
    let judge = |(mut result, prospect): (CellResult, Option<Prospect>)| {
        let open = matches!(result.reason, Reason::NotSignificant | Reason::CrossesFloor);
        result.needed = result.needed.or_else(|| prospect.filter(|_| open)?.needed());
        result
    };
    compare_with_prospects(cells, options).into_iter().map(judge).collect()
}

/// The same without what would decide an unresolved cell, but with what that follows from.
pub(crate) fn compare_with_prospects(cells: &[Cell], options: &RatioOptions) -> Vec<(CellResult, Option<Prospect>)> {
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
    has_several_sessions: bool,
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
        let is_several = |sessions: &[Vec<f64>]| sessions.iter().filter(|session| !session.is_empty()).count() > 1;
        let has_several_sessions = is_several(&cell.a_sessions) || is_several(&cell.b_sessions);
        Self { a, b, pairs, has_several_sessions, refused, interval, test }
    }

    fn conclude(self, cell: &Cell, q: Option<f64>, level: f64) -> (CellResult, Option<Prospect>) {
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
        let result = CellResult {
            repeats_a: self.a.len(),
            repeats_b: self.b.len(),
            ratio,
            interval: self.interval,
            test: self.test,
            q,
            verdict: judgement.verdict,
            reason: judgement.reason,
            // Too few to estimate more from; of a single one nothing at all is known that could settle.
            needed: (judgement.reason == Reason::TooFewRepeats && self.a.len().min(self.b.len()) > 1)
                .then_some(MIN_REPEATS),
            drift: None,
            resembling: false,
        };
        (result, self.prospect(ratio, cell.delta, level))
    }

    fn ratio(&self) -> Option<f64> {
        let ratio = match &self.pairs {
            Some(logs) => pseudomedian(logs).map(f64::exp),
            None => median(&self.a).zip(median(&self.b)).map(|(a, b)| a / b),
        };
        ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0)
    }

    fn prospect(&self, ratio: Option<f64>, delta: f64, level: f64) -> Option<Prospect> {
        // What sessions differ by is in the interval too, and stays however many repeats each of them has.
        if self.refused.is_some() || self.has_several_sessions {
            return None;
        }
        let repeats = self.a.len().min(self.b.len());
        // A robust spread knows nothing of the far values that make an interval wide: what the interval has shown counts where it is more.
        let half_width = self.interval.map_or(0.0, |interval| (interval.high / interval.low).ln() / 2.0);
        let of_one = half_width * (repeats as f64).sqrt() / -normal::inverse(0.025);
        let spread = match &self.pairs {
            Some(logs) => Spreads::OfPairs(deviation(logs)?.max(of_one / FRAC_PI_3.sqrt())),
            None => {
                let (a, b) = (spread(&self.a)?, spread(&self.b)?);
                let wider = of_one / MEDIAN.sqrt() / a.hypot(b);
                let times = if wider.is_finite() { wider.max(1.0) } else { 1.0 };
                Spreads::OfSides(Spread { a: times * a, b: times * b })
            }
        };
        Some(Prospect { spread, ratio: ratio?, delta, level, repeats })
    }
}

/// What follows from a cell as it was found for how many repeats would decide it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prospect {
    spread: Spreads,
    ratio: f64,
    delta: f64,
    /// What p the cell would have to reach.
    level: f64,
    /// How many there are a side.
    pub(crate) repeats: usize,
}

#[derive(Debug, Clone, Copy)]
enum Spreads {
    OfSides(Spread),
    OfPairs(f64),
}

impl Prospect {
    /// The independent repeats a side that would decide: as many as there are have just not.
    pub(crate) fn needed(&self) -> Option<usize> {
        Some(self.beyond(self.delta)?.max(self.repeats + 1))
    }

    /// Whether the ratio that was found would be the same, if it were the true one.
    pub(crate) fn is_within_floor(&self) -> bool {
        self.ratio.ln().abs() < self.delta.ln_1p()
    }

    /// Whether it lies beyond a floor.
    pub(crate) fn lies_beyond(&self, floor: f64) -> bool {
        self.ratio.ln().abs() > floor.ln_1p()
    }

    /// The independent repeats a side with which the interval would lie beyond a floor that is δ or more, or within δ; no fewer than six.
    pub(crate) fn beyond(&self, floor: f64) -> Option<usize> {
        match self.spread {
            Spreads::OfSides(spread) => repeats_needed(spread, self.ratio, floor, self.level),
            Spreads::OfPairs(spread) => pairs_needed(spread, self.ratio, floor, self.level),
        }
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
