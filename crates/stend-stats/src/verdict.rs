//! The verdict rule, over a table.

use schemars::JsonSchema;
use serde::Serialize;

use crate::effect::{Counted, Design, Direction, Effect, LEAST_NUMBERS, Numbers};
use crate::false_discovery::benjamini_hochberg;

/// q below this is significant.
pub const SIGNIFICANCE: f64 = 0.05;

/// A difference of more than tenfold that would have been seen is not worth saying.
const MOST_VISIBLE: f64 = 9.0;

/// The smallest difference that matters, δ, where a suite names none: 1 %.
pub const DEFAULT_FLOOR: f64 = 0.01;

/// Nobody makes more numbers than this.
const MOST_NEEDED: usize = 10_000;

/// What may be said of `a` against `b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// `a` is better than `b` by more than δ.
    Better,
    /// `a` is worse than `b` by more than δ.
    Worse,
    /// They differ by less than δ.
    Same,
    /// The numbers do not decide.
    Unresolved,
}

/// Why the verdict is what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Better or worse: significant, and the whole interval lies beyond δ.
    BeyondFloor,
    /// Same: the whole interval lies within δ.
    WithinFloor,
    /// Unresolved: q ≥ 0.05, and the interval is not within δ.
    NotSignificant,
    /// Unresolved: significant, but the interval reaches over δ.
    CrossesFloor,
    /// Unresolved: fewer pairs or repeats of a side than [`LEAST_NUMBERS`].
    TooFew,
    /// Unresolved: a value is NaN or infinite.
    NotFinite,
    /// Unresolved: a value is zero or negative, so that there is no ratio.
    NotPositive,
    /// Unresolved: neighbours in turns are missing.
    UnequalPairs,
    /// Unresolved: δ is negative or not finite.
    BadFloor,
}

/// One comparison: `a`, the thing judged, against the base `b`.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Valid repeats of a, by session.
    pub a_sessions: Vec<Vec<f64>>,
    /// Valid repeats of b, by session. In turns they are neighbours of those of a at the same places.
    pub b_sessions: Vec<Vec<f64>>,
    /// How the two were measured.
    pub design: Design,
    /// Which way the metric is good.
    pub direction: Direction,
    /// The smallest difference that matters, δ, as a fraction.
    pub delta: f64,
}

/// What is known of one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct CellResult {
    /// The numbers that it was judged by; `None` where there are none.
    pub numbers: Option<Numbers>,
    /// What gave one number.
    pub counted: Counted,
    /// How many there are of a, and of b.
    pub counts: [usize; 2],
    /// a/b, also with too few numbers for more. `None` where there is no ratio.
    pub ratio: Option<f64>,
    /// The 95 % interval of the ratio; `None` with a single number of a side.
    pub interval: Option<(f64, f64)>,
    /// p of the hypothesis that the difference does not matter; `None` with too few numbers.
    pub p: Option<f64>,
    /// Benjamini-Hochberg q over all cells of the table that have a p.
    pub q: Option<f64>,
    /// The verdict on a.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
    /// For an unresolved cell, about how many numbers of each side would decide; with too few, how many a verdict takes at least.
    /// `None` where no number can be given. An estimate: see [`Effect::needed`].
    pub needed: Option<usize>,
    /// The smallest difference, as a share, that nine of ten such comparisons would have marked; see [`Effect::visible`]. `None`
    /// where that is more than tenfold.
    pub visible: Option<f64>,
}

/// Judges every cell of a table at once, in the order given.
///
/// For each cell the [`Numbers`] of its design give an [`Effect`]: ratio, interval and p of a difference that does not matter. Over the table
/// [`benjamini_hochberg`] corrects the p of cells with enough numbers: [`LEAST_NUMBERS`] pairs or repeats a side, or two sessions. Then
/// * **better** or **worse** ⇔ q < 0.05 and the interval beyond δ: low > 1 + δ, or high < 1/(1 + δ);
/// * **same** ⇔ the interval within δ: 1/(1 + δ) ≤ low and high ≤ 1 + δ, whatever q;
/// * else **unresolved**.
///
/// δ is symmetric in ln ratio, so that swapping the sides swaps better and worse and changes nothing else. A δ of 1 % is thus −0.990 % and +1 %.
///
/// * Unit: none; ratios, probabilities, and numbers for what is needed.
/// * Assumes: numbers that are independent and nearly normal on a logarithmic scale. In turns, what disturbs neighbours alike is in neither. One
///   after the other, what changes between the sides counts as a difference of theirs.
/// * Refuses: a cell that cannot be judged is `Unresolved` with its [`Reason`] and takes no part in the q-values of others.
/// * Source: McCarthy and Smyth, *Bioinformatics* 25 (2009), for the test; Schuirmann, *J. Pharmacokinet. Biopharm.* 15 (1987), for *same*, here
///   with 95 % instead of 90 %; Benjamini and Hochberg (1995).
///
/// ```
/// use stend_stats::{Cell, Design, Direction, Reason, Verdict, compare};
/// let cell = |a: &[f64]| Cell {
///     a_sessions: vec![a.to_vec()], b_sessions: vec![vec![1.0, 1.01, 1.02, 0.99, 0.98]],
///     design: Design::OneAfterTheOther, direction: Direction::LowerIsBetter, delta: 0.01,
/// };
/// let results = compare(&[cell(&[2.0, 2.01, 2.02, 1.99, 1.98]), cell(&[2.0, 2.0])]);
/// assert_eq!((results[0].verdict, results[1].reason), (Verdict::Worse, Reason::TooFew));
/// ```
#[must_use]
pub fn compare(cells: &[Cell]) -> Vec<CellResult> {
    let measured: Vec<Measured> = cells.iter().map(Measured::new).collect();
    let tested: Vec<f64> = measured.iter().filter_map(|measured| measured.p).collect();
    let adjusted = benjamini_hochberg(&tested);
    let marked = adjusted.iter().filter(|q| **q < SIGNIFICANCE).count();
    // What p one more cell would have to reach.
    let tests = tested.len().max(1);
    let level = SIGNIFICANCE * (marked + 1).min(tests) as f64 / tests as f64;
    let mut adjusted = adjusted.into_iter();
    let conclude = |(cell, measured): (&Cell, Measured)| {
        let q = measured.p.and_then(|_| adjusted.next());
        measured.conclude(cell, q, level)
    };
    cells.iter().zip(measured).map(conclude).collect()
}

/// The smallest difference, as a share, that a comparison of `cells` scenarios will mark in nine of ten cases, if only one of them differs.
///
/// * Unit: a fraction.
/// * Assumes: repeats with the coefficient of variation `cv`, and as [`compare`].
/// * Refuses: `None` with fewer than [`LEAST_NUMBERS`] numbers a side, or a `cv` that is negative or not finite.
/// * Source: as [`Effect::visible`].
///
/// ```
/// use stend_stats::{Design, visible_difference};
/// let seen = visible_difference(0.01, 6, Design::InTurns, 0.01, 20).unwrap();
/// assert!((0.04..0.055).contains(&seen));
/// ```
#[must_use]
pub fn visible_difference(cv: f64, numbers: usize, design: Design, delta: f64, cells: usize) -> Option<f64> {
    let effect = Effect::planned(cv, numbers, design).filter(|_| numbers >= LEAST_NUMBERS)?;
    Some(effect.visible(delta, SIGNIFICANCE / cells.max(1) as f64)).filter(|visible| *visible <= MOST_VISIBLE)
}

/// A cell before the table is known.
struct Measured {
    numbers: Option<(Numbers, Counted)>,
    refused: Option<Reason>,
    effect: Option<Effect>,
    p: Option<f64>,
}

impl Measured {
    fn new(cell: &Cell) -> Self {
        let bad = bad_value(cell);
        let numbers = Numbers::of(cell.design, &cell.a_sessions, &cell.b_sessions).filter(|_| bad.is_none());
        let refused = match &numbers {
            _ if bad.is_some() => bad,
            None => Some(Reason::UnequalPairs),
            Some((numbers, counted)) if numbers.counts().into_iter().min() < Some(numbers.least(*counted)) => {
                Some(Reason::TooFew)
            }
            Some(_) => None,
        };
        let effect = numbers.as_ref().and_then(|(numbers, _)| Effect::of(numbers));
        let p = effect.filter(|_| refused.is_none()).map(|effect| effect.p_beyond(cell.delta));
        Self { numbers, refused, effect, p }
    }

    fn conclude(self, cell: &Cell, q: Option<f64>, level: f64) -> CellResult {
        let (verdict, reason) = match (self.refused, self.effect, q) {
            (None, Some(effect), Some(q)) => effect.verdict(q, cell.delta, cell.direction),
            (refused, ..) => (Verdict::Unresolved, refused.unwrap_or(Reason::TooFew)),
        };
        let judged = self.effect.filter(|_| self.refused.is_none());
        let (numbers, counted) = self.numbers.unzip();
        let counts = numbers.as_ref().map_or([0; 2], Numbers::counts);
        CellResult {
            ratio: numbers.as_ref().and_then(ratio),
            interval: self.effect.map(|effect| effect.interval()).filter(|(low, high)| *low > 0.0 && high.is_finite()),
            p: self.p,
            q,
            verdict,
            reason,
            needed: match (verdict, reason) {
                // Of a single one nothing is known that more could settle.
                (Verdict::Unresolved, Reason::TooFew) => self.effect.map(|_| LEAST_NUMBERS),
                (Verdict::Unresolved, _) => judged.and_then(|effect| effect.needed(cell.delta, level, MOST_NEEDED)),
                _ => None,
            },
            visible: judged.map(|effect| effect.visible(cell.delta, level)).filter(|visible| *visible <= MOST_VISIBLE),
            counted: counted.unwrap_or(Counted::Repeats),
            numbers,
            counts,
        }
    }
}

/// Also of a single number a side.
fn ratio(numbers: &Numbers) -> Option<f64> {
    Some(numbers.difference()?.exp()).filter(|ratio| ratio.is_finite() && *ratio > 0.0)
}

fn bad_value(cell: &Cell) -> Option<Reason> {
    let values = || cell.a_sessions.iter().chain(&cell.b_sessions).flatten();
    if values().any(|value| !value.is_finite()) {
        Some(Reason::NotFinite)
    } else if !(cell.delta.is_finite() && cell.delta >= 0.0) {
        Some(Reason::BadFloor)
    } else if values().any(|value| *value <= 0.0) {
        Some(Reason::NotPositive)
    } else {
        None
    }
}

impl Effect {
    /// What may be said of an effect with this q: the conditions that [`compare`] names.
    ///
    /// * Unit: none.
    /// * Assumes: a `q` from [`Effect::p_beyond`] with the same δ.
    /// * Refuses: nothing.
    /// * Source: as [`compare`].
    #[must_use]
    pub fn verdict(&self, q: f64, delta: f64, direction: Direction) -> (Verdict, Reason) {
        let (low, high) = self.interval();
        let most = 1.0 + delta;
        let least = 1.0 / most;
        if low >= least && high <= most {
            return (Verdict::Same, Reason::WithinFloor);
        }
        if q >= SIGNIFICANCE {
            return (Verdict::Unresolved, Reason::NotSignificant);
        }
        if low <= most && high >= least {
            return (Verdict::Unresolved, Reason::CrossesFloor);
        }
        let better = (low > most) == (direction == Direction::HigherIsBetter);
        (if better { Verdict::Better } else { Verdict::Worse }, Reason::BeyondFloor)
    }
}
