//! What a run differs from itself: the floor below which two runs made at different times cannot be told apart.

use crate::correlation::{effective_repeats, serial_correlation};
use crate::normal::student_quantile;
use crate::sample::{finite_sorted, mean, median, sorted_quantile};
use crate::table::{Cell, CellResult, Prospect, compare_with_prospects};
use crate::verdict::{Reason, Verdict};
use crate::{MIN_REPEATS, RatioInterval, RatioOptions, SerialCorrelation};

/// How far the first half of a session's repeats, in the order in which they were made, lies from the second half:
/// exp|ln(median of the first / median of the second)| − 1. An odd repeat in the middle is left out.
///
/// Repeats that are independent give about 0.6 × their coefficient of variation for ten of them; a machine that
/// drifts, or a neighbour that comes and goes, gives more.
///
/// * Unit: a fraction; 0.1 is 10 %.
/// * Assumes: repeats in the order in which they were made.
/// * Refuses: `None` with fewer than six repeats, or where a value is not positive and finite.
/// * Source: this project's own.
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

/// What of a session's [`half_drift`] is more than its own standard error: e^max(0, |ln(median of the first half / median of the second)| − s) − 1 with
/// s = √(π/2)·σ·√(2/h), where σ is the standard deviation of the logarithms within the halves, pooled, and h their length.
///
/// Steady, independent repeats have halves that differ by s or so for no reason but chance, and the interval of a ratio speaks for
/// that already; a drift or a wave is what goes beyond.
///
/// * Unit: a fraction.
/// * Assumes: repeats in the order in which they were made. The error of a median is taken for that of normal values.
/// * Refuses: `None` as for [`half_drift`].
/// * Source: this project's own; the error of a median: Stuart and Ord, *Kendall's Advanced Theory of Statistics* 1, 6th ed., ch. 10.
///
/// ```
/// let noisy = [100.0, 105.0, 95.0, 102.0, 98.0, 104.0, 99.0, 97.0];
/// assert!(stend_stats::half_drift(&noisy).unwrap() > 0.01);
/// assert_eq!(stend_stats::excess_drift(&noisy), Some(0.0));
/// ```
#[must_use]
pub fn excess_drift(session: &[f64]) -> Option<f64> {
    let drift = half_drift(session)?;
    let half = session.len() / 2;
    let squares = |part: &[f64]| {
        let logarithms: Vec<f64> = part.iter().map(|value| value.ln()).collect();
        let centre = mean(&logarithms)?;
        Some(logarithms.iter().map(|value| (value - centre).powi(2)).sum::<f64>())
    };
    let squares = squares(&session[..half])? + squares(&session[session.len() - half..])?;
    let half = half as f64;
    let error = (std::f64::consts::FRAC_PI_2 * squares / (2.0 * (half - 1.0)) * 2.0 / half).sqrt();
    let excess = (drift.ln_1p() - error).max(0.0).exp_m1();
    excess.is_finite().then_some(excess)
}

/// The quantile of a table's drifts that says how restless the machine was. Over the recorded runs of the tests the median
/// lets five of 190 cells be marked that should not be, the upper quartile one.
const RESTLESSNESS: f64 = 0.75;

/// With fewer cells a table says nothing of its machine that they do not say themselves.
const CELLS_OF_A_TABLE: usize = 3;

/// The drift floor of each cell of a table: the largest [`excess_drift`] of the cell's own sessions, or in a table of three cells or more the
/// upper quartile of the largest [`half_drift`]s of all cells, whichever is more.
///
/// A single pair of halves says little, since it may be equal by chance; that of the whole table says how restless the
/// machine was. The reasoning is that of an A/A comparison: what a run differs from itself within minutes, two runs may
/// differ without any cause worth a mark.
///
/// * Unit: fractions, in the order of the cells.
/// * Assumes: repeats in the order in which they were made; what disturbs a machine disturbs all of its scenarios.
/// * Refuses: `None` for paired cells, in which drift hits both sides alike, and for cells without enough repeats in a table that has none either.
/// * Source: this project's own, set by its recorded runs (`tests/it/recorded_runs.rs`).
///
/// ```
/// use stend_stats::{Cell, Direction, drift_floors};
/// let (steady, falling) = (vec![100.0, 101.0, 100.0, 100.0, 101.0, 100.0], vec![100.0, 100.0, 101.0, 90.0, 91.0, 90.0]);
/// let cell = |b: &Vec<f64>, paired| Cell {
///     a_sessions: vec![steady.clone()], b_sessions: vec![b.clone()], direction: Direction::HigherIsBetter, delta: 0.01, paired,
/// };
/// let floors = drift_floors(&[cell(&falling, false), cell(&falling, true)]);
/// assert!(floors[0].unwrap() > 0.09 && floors[1].is_none());
/// ```
#[must_use]
pub fn drift_floors(cells: &[Cell]) -> Vec<Option<f64>> {
    drifts(cells, cells).into_iter().map(|drift| drift.map(|drift| drift.floor())).collect()
}

/// What a cell's floor is made of.
#[derive(Debug, Clone, Copy)]
struct Drift {
    /// The largest [`excess_drift`] of its own sessions.
    own: f64,
    /// The table's upper quartile of the largest [`half_drift`]s; 0 in a table of few cells.
    common: f64,
    /// What of that is more than chance: the upper quartile of the largest [`excess_drift`]s.
    lasting: f64,
}

impl Drift {
    fn floor(&self) -> f64 {
        self.own.max(self.common)
    }

    /// The floor with `times` as many repeats: what of the halves' difference is chance goes as 1/√n.
    fn with_repeats(&self, times: f64) -> f64 {
        self.own.max(self.lasting + (self.common - self.lasting).max(0.0) / times.sqrt())
    }
}

/// Of each of `cells`, with how restless the machine was by all that were `measured`.
fn drifts(cells: &[Cell], measured: &[Cell]) -> Vec<Option<Drift>> {
    let largest = |cell: &Cell, drift: fn(&[f64]) -> Option<f64>| {
        let drifts = sessions(cell).filter_map(drift);
        if cell.paired { None } else { drifts.reduce(f64::max) }
    };
    let quartile = |drift: fn(&[f64]) -> Option<f64>| {
        let all: Vec<_> = measured.iter().filter_map(|cell| largest(cell, drift)).collect();
        let all = finite_sorted(&all).filter(|drifts| drifts.len() >= CELLS_OF_A_TABLE);
        all.map(|sorted| sorted_quantile(&sorted, RESTLESSNESS))
    };
    let (common, lasting) = (quartile(half_drift), quartile(excess_drift).unwrap_or(0.0));
    let drift = |cell: &Cell| {
        let own = largest(cell, excess_drift);
        let known = !cell.paired && (own.is_some() || common.is_some());
        known.then(|| Drift { own: own.unwrap_or(0.0), common: common.unwrap_or(0.0), lasting })
    };
    cells.iter().map(drift).collect()
}

/// One cell's own repeats count as hanging together where shuffled ones would show as much in fewer than one of twenty cells.
const HANGING_TOGETHER: f64 = 1.645;

/// What speaks for a correlation before anything was measured, in the units of [`SerialCorrelation::evidence`](crate::SerialCorrelation). Two short
/// sessions cannot show that their repeats do not hang together. More doubt lets fewer single cells be marked by mistake where neighbours are
/// correlated, and takes power where they are not; this is the least whole number with which single cells keep the level up to ρ = 0.9.
/// In a table of many cells it counts for nothing.
const DOUBT: f64 = 3.0;

/// What the machine does to neighbouring repeats, over all sessions of all cells that are not paired, and over one cell's.
struct Neighbours {
    table: Option<SerialCorrelation>,
}

impl Neighbours {
    fn new(cells: &[Cell]) -> Self {
        let unpaired = cells.iter().filter(|cell| !cell.paired);
        Self { table: serial_correlation(unpaired.flat_map(sessions)) }
    }

    /// The correlation by which a cell's interval is widened, if the table had `times` as many repeats. One cell's estimate is rough, the table's
    /// is not: the larger counts, the cell's own only where it is beyond chance.
    fn correlation(&self, cell: &Cell, times: f64) -> f64 {
        let table = self.table.map_or(0.0, |found| found.with_doubt(DOUBT / times));
        let own = serial_correlation(sessions(cell)).filter(|found| found.z > HANGING_TOGETHER);
        own.map_or(table, |own| own.correlation.max(table))
    }

    /// By how much the interval of a cell's ratio is too narrow; 1 where neighbours do not resemble each other.
    fn widening(&self, cell: &Cell) -> f64 {
        let correlation = self.correlation(cell, 1.0);
        if correlation > 0.0 { widening(sessions(cell).map(<[f64]>::len), correlation) } else { 1.0 }
    }

    /// About how many repeats a side would decide an unresolved cell; `None` where no number would.
    ///
    /// n repeats that hang together make an interval as wide as n/w² independent ones, with the [`widening`] w of two sessions of n; and where
    /// the cell is not the same, its interval has to lie beyond the drift, of which n repeats leave [`Drift::with_repeats`].
    fn needed(&self, cell: &Cell, prospect: &Prospect, drift: Option<Drift>, delta: f64) -> Option<usize> {
        let independent = prospect.needed()?;
        if cell.paired || prospect.is_within_floor() {
            return Some(independent);
        }
        let decides = |n: usize| {
            let times = n as f64 / prospect.repeats as f64;
            let floor = drift.map_or(delta, |drift| drift.with_repeats(times).max(delta));
            let correlation = self.correlation(cell, times);
            let width = if correlation > 0.0 { widening([n, n].into_iter(), correlation) } else { 1.0 };
            let beyond = prospect.lies_beyond(floor).then(|| prospect.beyond(floor)).flatten();
            beyond.is_some_and(|least| n as f64 / (width * width) >= least as f64)
        };
        if decides(independent) {
            return Some(independent);
        }
        // To two digits, which is more than such an estimate has.
        let (mut below, mut enough) = (independent, 2 * independent);
        while !decides(enough) {
            (below, enough) = (enough, 2 * enough);
            if enough > MOST_NEEDED {
                return None;
            }
        }
        while enough - below > 1 + below / 50 {
            let middle = below.midpoint(enough);
            if decides(middle) { enough = middle } else { below = middle }
        }
        Some(enough)
    }
}

/// More repeats than this nobody makes.
const MOST_NEEDED: usize = 100_000;

/// By how much an interval is too narrow that takes the repeats of these sessions for independent, if neighbours have the correlation ρ > 0:
/// √((n − 1)/(nₑ − 1)) · t(Σnₑ − 2)/t(Σn − 2), with nₑ the effective number of the longest session's n repeats, the sums over all sessions, and t
/// the 97.5 % quantile of Student's distribution, of one degree of freedom at least.
fn widening(lengths: impl Iterator<Item = usize> + Clone, correlation: f64) -> f64 {
    let longest = lengths.clone().max().unwrap_or(0);
    if longest < 2 {
        return 1.0;
    }
    let quantile = |freedom: f64| student_quantile(0.025, freedom.max(1.0));
    let (all, effective) =
        lengths.fold((0.0, 0.0), |(all, effective), n| (all + n as f64, effective + effective_repeats(n, correlation)));
    let error = ((longest - 1) as f64 / (effective_repeats(longest, correlation) - 1.0)).sqrt();
    error * quantile(effective - 2.0) / quantile(all - 2.0)
}

fn sessions(cell: &Cell) -> impl Iterator<Item = &[f64]> + Clone {
    cell.a_sessions.iter().chain(&cell.b_sessions).map(Vec::as_slice)
}

/// The floor beyond which the interval has to lie so that, widened about its ratio, it would still lie beyond δ.
fn widened_floor(interval: &RatioInterval, delta: f64, widening: f64) -> f64 {
    let nearer = if interval.ratio >= 1.0 { interval.low } else { interval.high };
    let half_width = (interval.ratio / nearer).ln().abs();
    (delta.ln_1p() + half_width * (widening - 1.0)).exp_m1()
}

/// [`compare_table`] for runs made at different times: a better or worse also has to lie beyond the cell's drift, else it is
/// unresolved with [`Reason::WithinDrift`]. *Same* is judged by δ alone.
///
/// For an unresolved cell the repeats that would decide it ([`CellResult::needed`]) take both into account: n repeats whose intervals are widened
/// by w count for n/w², and what of the drift is more than chance stays however many they are. Where that alone keeps the cell unresolved there is no
/// number: more repeats would not settle it, another session might.
///
/// The drift is the larger of two. What the halves differ by stands in the results, or, where that alone would not decide, the other:
/// * the cell's [`drift_floors`];
/// * what remains of δ once the interval is widened by √((n − 1)/(nₑ − 1)) · t(Σnₑ − 2)/t(Σn − 2). A test takes repeats for independent; such
///   that resemble their neighbours count for fewer: nₑ = n/(1 + 2·Σ(1 − k/n)ρᵏ), and a sample of so few shows less than its spread. t is the
///   97.5 % quantile of Student's distribution, the sums go over all sessions. ρ is that of the
///   whole table, (Σ(n·rₛ + 1) + 3)/Σ(n − 3) over its sessions ([`serial_correlation`]): the 3 is doubt, which a cell alone cannot dispel and a
///   large table can. A cell's own correlation counts where it is larger and z > 1.645.
///
/// * Unit: that of [`compare_table`]; the drift is a fraction.
/// * Assumes: repeats in the order in which they were made. For repeats that follow a first-order autoregression
///   the rate of false marks at δ = 1 % and a CV of 2 % is at most 5 % up to ρ = 0.9, for a single cell as in tables of twenty; the method page
///   has all figures. What two sessions differ as a whole without any drift within them it cannot know.
/// * Refuses: as [`compare_table`].
/// * Source: Bayley and Hammersley, *J. R. Statist. Soc. Suppl.* 8 (1946), for nₑ; Zięba, *Metrology and Measurement Systems* 17 (2010), for what
///   the spread of correlated values lacks; the rule is this project's own (`examples/calibration_figures.rs`).
///
/// ```
/// use stend_stats::{Cell, Direction, Reason, compare_runs, compare_table};
/// let cell = Cell {
///     a_sessions: vec![vec![108.0, 108.2, 107.9, 108.1, 108.0, 107.8]],
///     b_sessions: vec![vec![100.0, 100.1, 99.9, 90.1, 90.0, 89.9]], // differs from itself by 11 %
///     direction: Direction::HigherIsBetter, delta: 0.01, paired: false,
/// };
/// assert_eq!(compare_table(&[cell.clone()])[0].reason, Reason::BeyondFloor);
/// assert_eq!(compare_runs(&[cell])[0].reason, Reason::WithinDrift);
/// // Here each repeat resembles the one before it, so that six are worth three: that is told apart.
/// let wave = Cell {
///     a_sessions: vec![vec![108.0, 109.5, 111.0, 111.2, 109.6, 108.1]],
///     b_sessions: vec![vec![100.0, 101.5, 103.0, 103.2, 101.6, 100.1]],
///     direction: Direction::HigherIsBetter, delta: 0.01, paired: false,
/// };
/// let found = compare_runs(&[wave])[0];
/// assert!(found.reason == Reason::WithinDrift && found.resembling, "{found:?}");
/// ```
#[must_use]
pub fn compare_runs(cells: &[Cell]) -> Vec<CellResult> {
    compare_runs_among(cells, cells)
}

/// [`compare_runs`] for cells that were chosen among those of a larger table: they alone are the family of tests, but drift and correlation
/// are those of all that were `measured`, since what disturbed a machine is told best by everything that it did.
///
/// * Unit: that of [`compare_runs`].
/// * Assumes: as there; `measured` holds `cells` too.
/// * Refuses: as there.
/// * Source: as there.
///
/// ```
/// use stend_stats::{Cell, Direction, Reason, compare_runs, compare_runs_among};
/// let cell = |a: [f64; 6], b: [f64; 6]| Cell {
///     a_sessions: vec![a.to_vec()], b_sessions: vec![b.to_vec()],
///     direction: Direction::HigherIsBetter, delta: 0.01, paired: false,
/// };
/// let steady = cell([108.0, 108.2, 107.9, 108.1, 108.0, 107.8], [100.0, 100.1, 99.9, 100.1, 100.0, 99.9]);
/// let falling = cell([100.0, 100.1, 99.9, 90.1, 90.0, 89.9], [100.0, 100.1, 99.9, 90.0, 90.1, 89.9]);
/// let all = [steady.clone(), falling.clone(), falling];
/// assert_eq!(compare_runs(&[steady.clone()])[0].reason, Reason::BeyondFloor);
/// assert_eq!(compare_runs_among(&[steady], &all)[0].reason, Reason::WithinDrift);
/// ```
#[must_use]
pub fn compare_runs_among(cells: &[Cell], measured: &[Cell]) -> Vec<CellResult> {
    let neighbours = Neighbours::new(measured);
    let judged = compare_with_prospects(cells, &RatioOptions::default());
    let judge = |(result, prospect): (CellResult, Option<Prospect>), cell: &Cell, drift: Option<Drift>| {
        let widening = if cell.paired { 1.0 } else { neighbours.widening(cell) };
        let widened = result.interval.filter(|_| widening > 1.0).map(|i| widened_floor(&i, cell.delta, widening));
        let halves = drift.map(|drift| drift.floor());
        let marked = matches!(result.verdict, Verdict::Better | Verdict::Worse);
        let within = |floor: f64| result.interval.is_some_and(|interval| !lies_beyond(&interval, floor));
        let by_halves = halves.is_some_and(within);
        let resembling = marked && !by_halves && widened.is_some_and(within);
        let mut result = CellResult { drift: if resembling { widened } else { halves }, resembling, ..result };
        if marked && by_halves || resembling {
            (result.verdict, result.reason) = (Verdict::Unresolved, Reason::WithinDrift);
        }
        // What of the drift is more than chance stays, however many repeats there are.
        let lasts =
            result.reason == Reason::WithinDrift && drift.is_some_and(|drift| within(drift.own.max(drift.lasting)));
        if matches!(result.reason, Reason::NotSignificant | Reason::CrossesFloor | Reason::WithinDrift) && !lasts {
            result.needed = prospect.and_then(|prospect| neighbours.needed(cell, &prospect, drift, cell.delta));
        }
        result
    };
    let drifts = drifts(cells, measured);
    judged.into_iter().zip(cells).zip(drifts).map(|((found, cell), drift)| judge(found, cell, drift)).collect()
}

/// Whether the whole interval lies beyond 1 + floor, or below its reciprocal.
fn lies_beyond(interval: &RatioInterval, floor: f64) -> bool {
    interval.low > 1.0 + floor || interval.high < 1.0 / (1.0 + floor)
}

#[cfg(test)]
mod tests {
    use super::widening;

    /// The figures of the method page.
    #[test]
    fn what_a_correlation_widens() {
        let page = include_str!("../../../docs/design/method.md");
        let by = |correlation| widening([10, 10].into_iter(), correlation);
        let sentences = [
            format!(
                "With ten repeats a side ρ = 0.2 widens an interval by {:.1}, 0.5 by {:.1}, 0.7 by {:.1}, and 0.9 by {:.0}:",
                by(0.2),
                by(0.5),
                by(0.7),
                by(0.9)
            ),
            format!("The intervals of a table with that ρ are widened by {:.2}.", by(0.1231)),
        ];
        for sentence in sentences {
            assert!(page.contains(&sentence), "docs/design/method.md ought to say:\n\n{sentence}\n");
        }
    }
}
