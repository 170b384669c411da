//! What a run differs from itself: the floor below which two runs made at different times cannot be told apart.

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

/// [`compare_table`] for runs made at different times: a better or worse also has to lie beyond the cell's drift floor
/// ([`drift_floors`]), else it is unresolved with [`Reason::WithinDrift`]. More repeats would not settle such a cell;
/// another session might. *Same* is judged by δ alone. The floors stand in the results.
#[must_use]
pub fn compare_runs(cells: &[Cell]) -> Vec<CellResult> {
    let judged = compare_table(cells).into_iter().zip(drift_floors(cells));
    judged
        .map(|(result, drift)| {
            let marked = matches!(result.verdict, Verdict::Better | Verdict::Worse);
            let within = |floor: f64| result.interval.is_some_and(|interval| !lies_beyond(&interval, floor));
            if marked && drift.is_some_and(within) {
                CellResult { verdict: Verdict::Unresolved, reason: Reason::WithinDrift, needed: None, drift, ..result }
            } else {
                CellResult { drift, ..result }
            }
        })
        .collect()
}

/// Whether the whole interval lies beyond 1 + floor, or below its reciprocal.
fn lies_beyond(interval: &RatioInterval, floor: f64) -> bool {
    interval.low > 1.0 + floor || interval.high < 1.0 / (1.0 + floor)
}
