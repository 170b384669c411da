//! How two columns were measured beside one another: as the two sides of one run, in sessions that took turns, or one after the other.

use jiff::Timestamp;
use stend_model::metric::Metric;
use stend_model::side::{pairs, repeats_of_side};
use stend_stats::{Design, LEAST_NUMBERS};
use thiserror::Error;

use super::{scenario_of, sessions_that_count, values_of_sessions};
use stend_model::record::Record;

/// What a run has to show: itself, or each of its sides.
pub fn views(record: Record) -> Vec<Record> {
    if record.run.sides.is_empty() {
        return vec![record];
    }
    (0..record.run.sides.len()).map(|side| of_side(&record, side)).collect()
}

/// A side that a run does not have. The message is one line.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum NoSuchSide {
    /// The run has no sides at all.
    #[error("run {0} has no sides; it was made without --ab")]
    NoSides(String),
    /// It has others.
    #[error("run {run} has no side \"{wanted}\"; its sides are {}, or a and b", in_words(.labels))]
    Others {
        /// The run.
        run: String,
        /// What was asked for.
        wanted: String,
        /// What its sides are called.
        labels: Vec<String>,
    },
}

fn in_words(labels: &[String]) -> String {
    labels.iter().map(|label| format!("\"{label}\"")).collect::<Vec<_>>().join(" and ")
}

/// One side of a run, as a run.
///
/// # Errors
/// There is no such side.
pub fn view(record: &Record, label: &str) -> Result<Record, NoSuchSide> {
    let sides = &record.run.sides;
    let by_letter = ["a", "b"].iter().position(|letter| *letter == label).filter(|side| *side < sides.len());
    let found = sides.iter().position(|side| side.label == label).or(by_letter);
    let run = || record.run.id.clone();
    let labels = || sides.iter().map(|side| side.label.clone()).collect();
    match found {
        Some(side) => Ok(of_side(record, side)),
        None if sides.is_empty() => Err(NoSuchSide::NoSides(run())),
        None => Err(NoSuchSide::Others { run: run(), wanted: label.to_owned(), labels: labels() }),
    }
}

fn of_side(record: &Record, side: usize) -> Record {
    let repeats = repeats_of_side(&record.run, &record.repeats, side);
    Record { sessions: record.sessions.clone(), repeats, ..Record::empty(record.run.of_side(side)) }
}

/// Whether two columns are the two sides of one run.
pub(super) fn are_of_one_run(base: &Record, other: &Record) -> bool {
    other.run.is_other_side_of(&base.run)
}

/// How a column was measured beside the base.
pub(super) enum Designed {
    /// As the other side of the base's run.
    InTurns,
    /// In sessions that took turns with the base's: of each round the number of the base's session, and of its own.
    SessionsInTurns(Vec<[u32; 2]>),
    /// Before the base, or after it.
    OneAfterTheOther,
}

impl Designed {
    pub(super) fn of(base: &Record, other: &Record) -> Self {
        if are_of_one_run(base, other) {
            return Self::InTurns;
        }
        match rounds(base, other) {
            Some(rounds) if rounds.len() >= LEAST_NUMBERS => Self::SessionsInTurns(rounds),
            _ => Self::OneAfterTheOther,
        }
    }

    pub(super) const fn design(&self) -> Design {
        match self {
            Self::InTurns => Design::InTurns,
            Self::SessionsInTurns(_) => Design::SessionsInTurns,
            Self::OneAfterTheOther => Design::OneAfterTheOther,
        }
    }

    /// The values of a metric, those of the base first, session by session; in turns the neighbours at the same places.
    pub(super) fn values(&self, base: &Record, other: &Record, scenario: &str, metric: &Metric) -> [Vec<Vec<f64>>; 2] {
        match self {
            Self::InTurns => values_in_pairs(base, other, scenario, metric),
            Self::SessionsInTurns(rounds) => {
                let sessions = [base, other].map(|record| values_of_sessions(record, scenario, metric));
                [0, 1].map(|side| {
                    rounds.iter().map(|round| sessions[side].get(&round[side]).cloned().unwrap_or_default()).collect()
                })
            }
            Self::OneAfterTheOther => [base, other].map(|record| super::values_by_session(record, scenario, metric)),
        }
    }
}

/// The rounds of sessions that took turns: in the order of time each two are one of the base and one of the other.
fn rounds(base: &Record, other: &Record) -> Option<Vec<[u32; 2]>> {
    let of_side = |side: usize, record: &Record| -> Vec<(Timestamp, usize, u32)> {
        sessions_that_count(record).into_iter().map(|session| (session.started_at, side, session.number)).collect()
    };
    let mut sessions = [of_side(0, base), of_side(1, other)].concat();
    sessions.sort_unstable();
    let round = |pair: &[(Timestamp, usize, u32)]| match *pair {
        [(_, 0, of_base), (_, 1, of_other)] | [(_, 1, of_other), (_, 0, of_base)] => Some([of_base, of_other]),
        _ => None,
    };
    sessions.chunks(2).map(round).collect()
}

/// The values of a metric in the pairs of two sides, session by session: those of the base, and those of the other at the same places.
fn values_in_pairs(base: &Record, other: &Record, scenario: &str, metric: &Metric) -> [Vec<Vec<f64>>; 2] {
    let mut values = [Vec::<Vec<f64>>::new(), Vec::new()];
    let place = base.run.suite.scenarios.iter().position(|one| one.name == scenario);
    let Some(own) = scenario_of(other, scenario).and_then(|other| other.metric(&metric.name)) else { return values };
    let Some(place) = place else { return values };
    let mut repeats: Vec<_> =
        base.repeats.iter().chain(&other.repeats).filter(|repeat| repeat.scenario == place).cloned().collect();
    repeats.sort_by_key(|repeat| repeat.sequence);
    let side_of_base = base.repeats.first().and_then(|repeat| repeat.side).unwrap_or(0);
    let mut session = None;
    for pair in pairs(&repeats, place) {
        let [of_base, of_other] = [pair.of_sides[side_of_base], pair.of_sides[1 - side_of_base]];
        let (Some(a), Some(b)) = (of_base.value(metric), of_other.value(own)) else { continue };
        if session.replace(of_base.session) != Some(of_base.session) {
            values.iter_mut().for_each(|sessions| sessions.push(Vec::new()));
        }
        for (sessions, value) in values.iter_mut().zip([a, b]) {
            sessions.last_mut().expect("one was begun").push(value);
        }
    }
    values
}
