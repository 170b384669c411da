//! How two sides differ: one number for each pair, repeat or session, and Student's t on these numbers.

use schemars::JsonSchema;
use serde::Serialize;

use crate::sample::mean;
use crate::student::{quantile, survival};
use crate::verdict::SIGNIFICANCE;

/// The fewest pairs or repeats of a side that a verdict takes, and the fewest rounds of sessions in turns.
pub const LEAST_NUMBERS: usize = 5;

/// The fewest sessions of a side that are taken as numbers where one side was measured after the other.
const LEAST_SESSIONS: usize = 2;

/// Share of trials that find what [`Effect::visible`] says.
const POWER: f64 = 0.9;

/// How often an interval that holds what is looked for is halved: to a millionth.
const HALVINGS: usize = 20;

/// Half of what an interval leaves out.
const TAIL: f64 = 0.025;

/// How two sides were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// Repeat by repeat: each repeat of one side was made next to a repeat of the other.
    InTurns,
    /// Session by session: each session of one side was made next to a session of the other.
    SessionsInTurns,
    /// One side after the other.
    OneAfterTheOther,
}

impl Design {
    /// Whether the sides took turns, so that what changes on the machine meanwhile is no difference of theirs.
    ///
    /// * Unit: none.
    /// * Assumes: nothing.
    /// * Refuses: nothing.
    /// * Source: none.
    #[must_use]
    pub const fn takes_turns(self) -> bool {
        !matches!(self, Self::OneAfterTheOther)
    }
}

/// What gives one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// A repeat of one side and its neighbour of the other.
    Pairs,
    /// All repeats of a session.
    Sessions,
    /// A repeat.
    Repeats,
}

/// The numbers that two sides are compared by.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    /// ln a − ln b of each pair of neighbours.
    Differences(Vec<f64>),
    /// ln a and ln b of each repeat, or their means over each session.
    Sides {
        /// Those of a.
        a: Vec<f64>,
        /// Those of b.
        b: Vec<f64>,
    },
}

impl Numbers {
    /// The numbers of two sides, given session by session, and what gave one number.
    ///
    /// In turns it is a pair of repeats, and with sessions in turns a pair of sessions, each with the mean of its logarithms; rounds without
    /// repeats on both sides are left out. One after the other it is a session where both sides have two or more, else a repeat.
    ///
    /// * Unit: natural logarithms of the unit of the values, or of their ratio.
    /// * Assumes: values that are positive and finite.
    /// * Refuses: `None` where neighbours are missing: in turns, sides that differ in sessions or in the lengths of these.
    /// * Source: sessions as units: Kalibera and Jones, *ISMM* (2013).
    #[must_use]
    pub fn of(design: Design, a_sessions: &[Vec<f64>], b_sessions: &[Vec<f64>]) -> Option<(Self, Counted)> {
        let logarithms = |session: &Vec<f64>| session.iter().map(|value| value.ln()).collect::<Vec<_>>();
        let of_sessions = |sessions: &[Vec<f64>]| -> Vec<Option<f64>> {
            sessions.iter().map(|session| mean(&logarithms(session))).collect()
        };
        let of_repeats = |sessions: &[Vec<f64>]| sessions.iter().flat_map(logarithms).collect::<Vec<_>>();
        match design {
            Design::InTurns => {
                let lengths = |sessions: &[Vec<f64>]| sessions.iter().map(Vec::len).collect::<Vec<_>>();
                let differences =
                    || of_repeats(a_sessions).iter().zip(of_repeats(b_sessions)).map(|(a, b)| a - b).collect();
                (lengths(a_sessions) == lengths(b_sessions)).then(|| (Self::Differences(differences()), Counted::Pairs))
            }
            Design::SessionsInTurns => {
                let rounds = || of_sessions(a_sessions).into_iter().zip(of_sessions(b_sessions));
                let differences = || rounds().filter_map(|(a, b)| Some(a? - b?)).collect();
                (a_sessions.len() == b_sessions.len()).then(|| (Self::Differences(differences()), Counted::Sessions))
            }
            Design::OneAfterTheOther => {
                let [a, b] = [a_sessions, b_sessions]
                    .map(|sessions| of_sessions(sessions).into_iter().flatten().collect::<Vec<_>>());
                Some(if a.len().min(b.len()) >= LEAST_SESSIONS {
                    (Self::Sides { a, b }, Counted::Sessions)
                } else {
                    (Self::Sides { a: of_repeats(a_sessions), b: of_repeats(b_sessions) }, Counted::Repeats)
                })
            }
        }
    }

    /// How many there are of each side.
    ///
    /// * Unit: numbers.
    /// * Assumes: nothing.
    /// * Refuses: nothing.
    /// * Source: none.
    #[must_use]
    pub fn counts(&self) -> [usize; 2] {
        match self {
            Self::Differences(differences) => [differences.len(); 2],
            Self::Sides { a, b } => [a.len(), b.len()],
        }
    }

    /// How many of each side a verdict takes at least, by what gave one number.
    pub(crate) const fn least(&self, counted: Counted) -> usize {
        match (self, counted) {
            (Self::Sides { .. }, Counted::Sessions) => LEAST_SESSIONS,
            _ => LEAST_NUMBERS,
        }
    }

    /// Mean of ln a less mean of ln b; `None` without numbers of a side.
    pub(crate) fn difference(&self) -> Option<f64> {
        match self {
            Self::Differences(differences) => mean(differences),
            Self::Sides { a, b } => Some(mean(a)? - mean(b)?),
        }
    }

    fn sides(&self) -> Vec<&[f64]> {
        match self {
            Self::Differences(differences) => vec![differences],
            Self::Sides { a, b } => vec![a, b],
        }
    }

    /// The same with the sides exchanged.
    fn turned(&self) -> Self {
        let negated = |numbers: &[f64]| numbers.iter().map(|number| -number).collect();
        match self {
            Self::Differences(differences) => Self::Differences(negated(differences)),
            Self::Sides { a, b } => Self::Sides { a: negated(a), b: negated(b) },
        }
    }
}

/// A difference of two sides on a logarithmic scale, and how sure it is.
///
/// ```
/// use stend_stats::{Effect, Numbers};
/// let pairs = [0.031, 0.029, 0.030, 0.028, 0.032]; // ln a − ln b
/// let effect = Effect::of(&Numbers::Differences(pairs.to_vec())).unwrap();
/// assert!((effect.ratio() - 1.0305).abs() < 1e-4);
/// let (low, high) = effect.interval();
/// assert!(low > 1.028 && high < 1.033);
/// assert!(effect.p_beyond(0.01) < 1e-4);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Mean of ln a less mean of ln b.
    pub difference: f64,
    /// Its standard error.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub freedom: f64,
    /// How many numbers the smaller side has.
    pub numbers: usize,
}

/// Mean and variance of the mean, which is NaN for a single number.
fn of_one_side(numbers: &[f64]) -> Option<(f64, f64)> {
    let (centre, count) = (mean(numbers)?, numbers.len() as f64);
    let squares: f64 = numbers.iter().map(|number| (number - centre).powi(2)).sum();
    Some((centre, squares / (count - 1.0) / count))
}

impl Effect {
    /// The mean of the differences, or the difference of the means, with Student's standard error, or Welch's.
    ///
    /// * Unit: a natural logarithm.
    /// * Assumes: independent numbers, nearly normal; of sides, not of one variance.
    /// * Refuses: `None` with fewer than two numbers of a side, or one that is not finite.
    /// * Source: Student, *Biometrika* 6 (1908); Welch, *Biometrika* 34 (1947).
    #[must_use]
    pub fn of(numbers: &Numbers) -> Option<Self> {
        let effect = match numbers {
            Numbers::Differences(differences) => {
                let (difference, variance) = of_one_side(differences)?;
                let freedom = (differences.len() - 1) as f64;
                Self { difference, error: variance.sqrt(), freedom, numbers: differences.len() }
            }
            Numbers::Sides { a, b } => {
                let ((mean_a, of_a), (mean_b, of_b)) = (of_one_side(a)?, of_one_side(b)?);
                let [freedom_a, freedom_b] = [a, b].map(|side| (side.len() - 1) as f64);
                let variance = of_a + of_b;
                let shares = (of_a / variance).powi(2) / freedom_a + (of_b / variance).powi(2) / freedom_b;
                let freedom = if variance > 0.0 { 1.0 / shares } else { freedom_a + freedom_b };
                Self { difference: mean_a - mean_b, error: variance.sqrt(), freedom, numbers: a.len().min(b.len()) }
            }
        };
        (effect.difference.is_finite() && effect.error.is_finite()).then_some(effect)
    }

    /// What is to be expected of sides with a coefficient of variation `cv` and so many numbers each, without a difference.
    ///
    /// * Unit: `cv` is a fraction.
    /// * Assumes: both sides vary alike, and neighbours in turns independently of each other.
    /// * Refuses: `None` with fewer than two numbers, or a `cv` that is negative or not finite.
    /// * Source: as [`Effect::of`].
    #[must_use]
    pub fn planned(cv: f64, numbers: usize, design: Design) -> Option<Self> {
        if numbers < 2 || !(cv.is_finite() && cv >= 0.0) {
            return None;
        }
        let times = if design.takes_turns() { 1.0 } else { 2.0 };
        let freedom = times * (numbers - 1) as f64;
        Some(Self { difference: 0.0, error: cv * (2.0 / numbers as f64).sqrt(), freedom, numbers })
    }

    /// The geometric mean of several comparisons, each turned where lower is better: the mean of their differences. Its error is that of the
    /// rounds, the i-th numbers of all averaged, and so has in it what the comparisons of a round have in common.
    ///
    /// It speaks for these comparisons only; the caller lists the missing ones.
    ///
    /// * Unit: as [`Effect::of`].
    /// * Assumes: the i-th numbers of all were measured in one round. Rounds that one of them lacks count for the means, not for the error.
    /// * Refuses: `None` for an empty list, or of comparisons of both kinds, and as [`Effect::of`].
    /// * Source: Fleming and Wallace, *Comm. ACM* 29 (1986), for the geometric mean.
    #[must_use]
    pub fn of_all(comparisons: &[(&Numbers, Direction)]) -> Option<Self> {
        let turned: Vec<Numbers> = comparisons
            .iter()
            .map(|(numbers, direction)| match direction {
                Direction::HigherIsBetter => (*numbers).clone(),
                Direction::LowerIsBetter => numbers.turned(),
            })
            .collect();
        let differences: Option<Vec<f64>> = turned.iter().map(Numbers::difference).collect();
        let of_side = |side: usize| -> Option<Vec<f64>> {
            let sides: Option<Vec<&[f64]>> = turned.iter().map(|numbers| numbers.sides().get(side).copied()).collect();
            let sides = sides?;
            let rounds = sides.iter().map(|numbers| numbers.len()).min()?;
            (0..rounds).map(|round| mean(&sides.iter().map(|numbers| numbers[round]).collect::<Vec<_>>())).collect()
        };
        let of_rounds = match (of_side(0)?, of_side(1)) {
            (a, Some(b)) => Numbers::Sides { a, b },
            (a, None) if turned.iter().all(|numbers| numbers.sides().len() == 1) => Numbers::Differences(a),
            _ => return None,
        };
        Some(Self { difference: mean(&differences?)?, ..Self::of(&of_rounds)? })
    }

    /// a/b, the ratio of the geometric means.
    ///
    /// * Unit: none.
    /// * Assumes: nothing.
    /// * Refuses: nothing.
    /// * Source: none.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.difference.exp()
    }

    /// The 95 % interval of [`Effect::ratio`].
    ///
    /// * Unit: none.
    /// * Assumes: as [`Effect::of`].
    /// * Refuses: nothing.
    /// * Source: as [`Effect::of`].
    #[must_use]
    pub fn interval(&self) -> (f64, f64) {
        let half = quantile(TAIL, self.freedom) * self.error;
        ((self.difference - half).exp(), (self.difference + half).exp())
    }

    /// p of the hypothesis that the sides differ by the share `delta` at most: |ln ratio| ≤ ln(1 + δ). With δ = 0 it is the p of a two-sided t-test.
    ///
    /// * Unit: a probability.
    /// * Assumes: as [`Effect::of`].
    /// * Refuses: nothing; where the numbers do not vary it is 0 or 1.
    /// * Source: McCarthy and Smyth, *Bioinformatics* 25 (2009), TREAT.
    #[must_use]
    pub fn p_beyond(&self, delta: f64) -> f64 {
        let (size, floor) = (self.difference.abs(), delta.ln_1p());
        if self.error <= 0.0 {
            return if size > floor { 0.0 } else { 1.0 };
        }
        self.p_of((size - floor) / self.error, floor).min(1.0)
    }

    /// The smallest true difference, as a share, that nine of ten such comparisons would call better or worse, if p has to be `level` or less.
    ///
    /// * Unit: a fraction; 0.05 is a ratio of 1.05.
    /// * Assumes: as [`Effect::of`], and that others have this error.
    /// * Refuses: nothing.
    /// * Source: the power of a t-test by the central t-distribution, shifted.
    #[must_use]
    pub fn visible(&self, delta: f64, level: f64) -> f64 {
        let (floor, level) = (delta.ln_1p(), bounded(level));
        // As far as one tail says where the floor is wide beside the error, and without a floor as both do.
        let (mut near, mut far) = (quantile(level, self.freedom), quantile(level / 2.0, self.freedom));
        for _ in 0..HALVINGS {
            let between = near.midpoint(far);
            *(if self.p_of(between, floor) > level { &mut near } else { &mut far }) = between;
        }
        let by = far.max(quantile(TAIL, self.freedom)) + quantile(1.0 - POWER, self.freedom);
        (floor + self.error * by).exp_m1()
    }

    /// p of a difference that lies so many errors beyond the floor.
    fn p_of(&self, beyond: f64, floor: f64) -> f64 {
        survival(beyond, self.freedom) + survival(beyond + 2.0 * floor / self.error, self.freedom)
    }

    /// How many numbers of each side would decide in nine of ten trials, if the difference is the true one and they vary as these do; more
    /// than there are.
    ///
    /// * Unit: pairs, repeats or sessions.
    /// * Assumes: as [`Effect::visible`]. The difference found is uncertain itself: a factor of two off is usual.
    /// * Refuses: `None` where even `most` would not do, as where the difference lies on the floor.
    /// * Source: as [`Effect::visible`].
    #[must_use]
    pub fn needed(&self, delta: f64, level: f64, most: usize) -> Option<usize> {
        let (size, floor) = (self.difference.abs(), delta.ln_1p());
        let level = bounded(level);
        let decides = |numbers: usize| {
            let freedom = self.freedom * (numbers as f64 - 1.0) / (self.numbers as f64 - 1.0);
            let then = Self { error: self.error * (self.numbers as f64 / numbers as f64).sqrt(), freedom, ..*self };
            if size > floor {
                let beyond = (size - floor) / then.error - quantile(1.0 - POWER, freedom);
                beyond >= quantile(TAIL, freedom) && then.p_of(beyond, floor) <= level
            } else {
                size + then.error * (quantile(TAIL, freedom) + quantile((1.0 - POWER) / 2.0, freedom)) <= floor
            }
        };
        // More decide more surely, so that the first that does lies between one that does not and one that does.
        let mut too_few = self.numbers;
        let mut enough = too_few + 1;
        while !decides(enough) {
            if enough >= most {
                return None;
            }
            too_few = enough;
            enough = (2 * enough).min(most);
        }
        while enough - too_few > 1 {
            let between = too_few.midpoint(enough);
            *(if decides(between) { &mut enough } else { &mut too_few }) = between;
        }
        (enough <= most).then_some(enough)
    }
}

/// A level that a mark may need, and of which there is a quantile.
fn bounded(level: f64) -> f64 {
    level.clamp(1e-12, SIGNIFICANCE)
}

/// Which way a metric is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// A rate, a throughput.
    HigherIsBetter,
    /// A time, a latency, a cost.
    LowerIsBetter,
}
