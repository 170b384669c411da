//! What a run differs from itself: the floor below which two runs made at different times cannot be told apart.

use crate::correlation::{SerialCorrelation, serial_correlation, variance_inflation};
use crate::sample::{finite_sorted, median, sorted_quantile};
use crate::table::{Cell, CellResult, compare_table};
use crate::verdict::{Reason, Verdict};
use crate::{MIN_REPEATS, RatioInterval};

/// How far the first half of a session's repeats, in the order in which they were made, lies from the second half:
/// exp|ln(median of the first / median of the second)| − 1. An odd repeat in the middle is left out.
///
/// Repeats that are independent give about 0.6 × their coefficient of variation for ten of them; a machine that
/// drifts, or a neighbour that comes and goes, gives more. `None` with fewer than six repeats, or where a value is not
/// positive and finite.
///
/// ```
/// let warming_up = [100.0, 101.0, 100.0, 99.0, 90.0, 91.0, 90.0, 89.0];
/// let drift = stend_stats::half_drift(&warming_up).unwrap();
/// assert!(drift > 0.10 && drift < 0.12);
/// ```
#[must_use]
pub fn half_drift(session: &[f64]) -> Option<f64> {
    if session.len() < MIN_REPEATS || session.iter().any(|value| !(value.is_finite() && *value > 0.0)) {
        return None;
    }
    let half = session.len() / 2;
    let drift = (median(&session[..half])? / median(&session[session.len() - half..])?).ln().abs().exp_m1();
    drift.is_finite().then_some(drift)
}

/// The quantile of a table's drifts that says how restless the machine was. Over the recorded runs of the tests the median
/// lets five of 190 cells be marked that should not be, the upper quartile one.
const RESTLESSNESS: f64 = 0.75;

/// The drift floor of each cell of a table: the largest [`half_drift`] of the cell's own sessions, or the upper quartile
/// of those of all cells, whichever is more. `None` for paired cells, in which drift hits both sides alike, and where
/// no cell has enough repeats.
///
/// A single pair of halves says little, since it may be equal by chance; that of the whole table says how restless the
/// machine was. The reasoning is that of an A/A comparison: what a run differs from itself within minutes, two runs may
/// differ without any cause worth a mark.
#[must_use]
pub fn drift_floors(cells: &[Cell]) -> Vec<Option<f64>> {
    let own = |cell: &Cell| {
        let drifts = cell.a_sessions.iter().chain(&cell.b_sessions).filter_map(|session| half_drift(session));
        if cell.paired { None } else { drifts.reduce(f64::max) }
    };
    let own: Vec<_> = cells.iter().map(own).collect();
    let known: Vec<_> = own.iter().copied().flatten().collect();
    let common = finite_sorted(&known).map(|sorted| sorted_quantile(&sorted, RESTLESSNESS));
    let floor = |(own, cell): (&Option<f64>, &Cell)| {
        if cell.paired { None } else { common.map(|c| own.map_or(c, |o| o.max(c))) }
    };
    own.iter().zip(cells).map(floor).collect()
}

/// Repeats count as hanging together where shuffled ones would show as much in fewer than one of twenty cells.
const HANGING_TOGETHER: f64 = 1.645;

/// What the machine does to neighbouring repeats, over all sessions of all cells that are not paired, and over one cell's.
struct Neighbours {
    table: Option<SerialCorrelation>,
}

impl Neighbours {
    fn new(cells: &[Cell]) -> Self {
        let unpaired = cells.iter().filter(|cell| !cell.paired);
        Self { table: serial_correlation(unpaired.flat_map(sessions)) }
    }

    /// By how much the interval of a cell's ratio is too narrow: the root of the variance inflation, 1 where its repeats and the
    /// table's do not hang together beyond chance. One cell's estimate is rough, the table's is not: the larger counts.
    fn widening(&self, cell: &Cell) -> f64 {
        let found = [self.table, serial_correlation(sessions(cell))];
        let correlations = found.iter().flatten().filter(|found| found.z > HANGING_TOGETHER);
        let correlation = correlations.map(|found| found.correlation).fold(0.0, f64::max);
        let longest = sessions(cell).map(<[f64]>::len).max().unwrap_or(0);
        variance_inflation(longest, correlation).sqrt()
    }
}

fn sessions(cell: &Cell) -> impl Iterator<Item = &[f64]> {
    cell.a_sessions.iter().chain(&cell.b_sessions).map(Vec::as_slice)
}

/// The floor beyond which the interval has to lie so that, widened about its ratio, it would still lie beyond δ.
fn widened_floor(interval: &RatioInterval, delta: f64, widening: f64) -> f64 {
    let nearer = if interval.ratio >= 1.0 { interval.low } else { interval.high };
    let half_width = (interval.ratio / nearer).ln().abs();
    (delta.ln_1p() + half_width * (widening - 1.0)).exp_m1()
}

/// [`compare_table`] for runs made at different times: a better or worse also has to lie beyond the cell's drift, else it is
/// unresolved with [`Reason::WithinDrift`]. More repeats would not settle such a cell; another session might. *Same* is judged
/// by δ alone.
///
/// The drift is the larger of two, and stands in the results:
/// * the cell's [`drift_floors`];
/// * where repeats hang together with those before them ([`serial_correlation`], z > 1.645 over the cell or over the whole
///   table), what remains of δ once the interval is widened by √(1 + 2·Σ(1 − k/n)ρᵏ), the variance inflation of n repeats with
///   neighbours' correlation ρ. A test takes repeats for independent; such repeats count for fewer than they are.
///
/// Here the order of repeats matters: it is that in which they were made. For repeats that follow a first-order autoregression
/// the rate of false marks at δ = 1 % and a CV of 2 % is at most 5 % up to ρ = 0.5 with six repeats a side or more. At 0.7 it is
/// 9.5 % with six and 5.8 % with ten, at 0.9 some 18 % and more: there two single sessions cannot tell a wave from a
/// difference, and only more sessions can. (10,000 trials each, by the example `calibration_figures`.)
/// Sources: Bayley and Hammersley, *J. R. Statist. Soc. Suppl.* 8 (1946), for the inflation.
#[must_use]
pub fn compare_runs(cells: &[Cell]) -> Vec<CellResult> {
    let neighbours = Neighbours::new(cells);
    let judge = |((result, cell), drift): ((CellResult, &Cell), Option<f64>)| {
        let widening = if cell.paired { 1.0 } else { neighbours.widening(cell) };
        let widened = result.interval.filter(|_| widening > 1.0).map(|i| widened_floor(&i, cell.delta, widening));
        let drift = drift.into_iter().chain(widened).reduce(f64::max);
        let marked = matches!(result.verdict, Verdict::Better | Verdict::Worse);
        let within = |floor: f64| result.interval.is_some_and(|interval| !lies_beyond(&interval, floor));
        if marked && drift.is_some_and(within) {
            CellResult { verdict: Verdict::Unresolved, reason: Reason::WithinDrift, needed: None, drift, ..result }
        } else {
            CellResult { drift, ..result }
        }
    };
    compare_table(cells).into_iter().zip(cells).zip(drift_floors(cells)).map(judge).collect()
}

/// Whether the whole interval lies beyond 1 + floor, or below its reciprocal.
fn lies_beyond(interval: &RatioInterval, floor: f64) -> bool {
    interval.low > 1.0 + floor || interval.high < 1.0 / (1.0 + floor)
}
