//! How a run stands to the base over all scenarios: verdicts counted, and the geometric mean of the ratios.
//!
//! Only the scenarios' main metrics are in it, whatever the table shows, and every ratio is a factor: above 1 the run is better.

use schemars::JsonSchema;
use serde::Serialize;
use stend_model::metric::{Better, Unit};
use stend_stats::{DEFAULT_FLOOR, Direction, Effect, Numbers};

use super::table::{AgainstBase, ColumnOrigin, Counted, Design, Reason, Row, Table, Verdict};

/// How one run stands to the base.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Standing {
    /// The run's place among the table's columns.
    pub column: usize,
    /// How the two were measured.
    pub design: Design,
    /// Scenarios on which it is better.
    pub better: usize,
    /// Scenarios on which it is worse.
    pub worse: usize,
    /// Scenarios on which both are the same.
    pub same: usize,
    /// Scenarios on which the evidence does not say.
    pub unresolved: usize,
    /// Whether all that is counted is rates and times, so that better is faster.
    pub speeds: bool,
    /// The difference, as a share, that nine of ten comparisons would have found on half of the scenarios that are unresolved.
    pub visible: Option<f64>,
    /// About how many pairs, sessions or repeats of each side would settle all that is unresolved; none where that is not known of some.
    pub needed: Option<usize>,
    /// Whether that is only what a verdict takes at least, because somewhere there are fewer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// About how many to ask for to have so many: more, where repeats did not count here.
    pub to_ask: Option<usize>,
    /// What gave each of the numbers that were tested.
    pub counted: Counted,
    /// The mean over all scenarios, or the change of a single one.
    pub mean: Option<Mean>,
    /// The same by the scenarios of each instrument, where several have verdicts, in the order of the table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<OfInstrument>,
}

/// How a run stands to the base on the scenarios of one instrument.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OfInstrument {
    /// The instrument's name.
    pub instrument: String,
    /// How it stands there.
    pub standing: Standing,
}

impl Standing {
    /// Scenarios with a verdict.
    pub fn judged(&self) -> usize {
        self.better + self.worse + self.same + self.unresolved
    }

    /// The mean, where it is one of several scenarios.
    pub fn mean_of_several(&self) -> Option<&Mean> {
        self.mean.as_ref().filter(|mean| mean.scenarios > 1)
    }
}

/// The geometric mean of the ratios, tested as a cell is: it speaks for these scenarios only.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Mean {
    /// How many times as good the run is on average.
    pub factor: f64,
    /// Its 95 % interval, round by round; none where a scenario has too few numbers, or was measured otherwise.
    pub interval: Option<(f64, f64)>,
    /// What is to be said of it, with δ = 1 %.
    pub verdict: Verdict,
    /// How many scenarios are in it.
    pub scenarios: usize,
    /// Scenarios of either run that are not in it, because they have no ratio.
    pub missing: Vec<String>,
}

/// How many times as good the numerator of a ratio is.
pub(super) fn turned(ratio: f64, direction: Direction) -> Option<f64> {
    let turned = match direction {
        Direction::HigherIsBetter => ratio,
        Direction::LowerIsBetter => 1.0 / ratio,
    };
    (turned.is_finite() && turned > 0.0).then_some(turned)
}

/// An interval of a ratio, turned as [`turned`] turns the ratio.
pub(super) fn interval_turned((low, high): (f64, f64), direction: Direction) -> Option<(f64, f64)> {
    let (low, high) = match direction {
        Direction::HigherIsBetter => (low, high),
        Direction::LowerIsBetter => (high, low),
    };
    Some((turned(low, direction)?, turned(high, direction)?))
}

/// How each run stands to the base; runs without a figure that could be judged are left out.
pub fn standings(table: &Table) -> Vec<Standing> {
    (1..table.columns.len()).filter_map(|column| standing(table, column)).collect()
}

fn standing(table: &Table, column: usize) -> Option<Standing> {
    let main = table.rows.iter().filter(|row| row.main);
    let judged: Vec<_> = main.filter_map(|row| Some((row, against(row, column)?))).collect();
    let mut of_each: Vec<(&str, Vec<_>)> = Vec::new();
    for one in &judged {
        match of_each.iter_mut().find(|(instrument, _)| *instrument == one.0.instrument) {
            Some((_, of_it)) => of_it.push(*one),
            None => of_each.push((&one.0.instrument, vec![*one])),
        }
    }
    let part = |(instrument, of_it): &(&str, Vec<_>)| {
        Some(OfInstrument { instrument: (*instrument).to_owned(), standing: over(of_it, column, Vec::new())? })
    };
    let parts = if of_each.len() > 1 { of_each.iter().filter_map(part).collect() } else { Vec::new() };
    Some(Standing { parts, ..over(&judged, column, missing(table, column))? })
}

/// How a run stands to the base on these scenarios. `missing`: those that have no ratio.
fn over(judged: &[(&Row, &AgainstBase)], column: usize, missing: Vec<String>) -> Option<Standing> {
    let count = |verdict| judged.iter().filter(|(_, against)| against.verdict == verdict).count();
    let unresolved = judged.iter().filter(|(_, against)| against.verdict == Verdict::Unresolved);
    let visible: Vec<f64> = unresolved.clone().filter_map(|(_, against)| against.visible).collect();
    let at_least = unresolved.clone().any(|(_, against)| against.reason == Reason::TooFew);
    let needed: Option<Vec<usize>> = unresolved.clone().map(|(_, against)| against.needed).collect();
    let to_ask: Option<Vec<usize>> =
        unresolved.map(|(row, against)| Some(asked_for(against.needed?, row, against, column))).collect();
    let (_, first) = judged.first()?;
    Some(Standing {
        column,
        design: first.design,
        better: count(Verdict::Better),
        worse: count(Verdict::Worse),
        same: count(Verdict::Same),
        unresolved: count(Verdict::Unresolved),
        speeds: judged.iter().all(|(row, _)| is_speed(row.unit)),
        visible: stend_stats::median(&visible),
        needed: needed.and_then(|needed| needed.into_iter().max()),
        at_least,
        to_ask: to_ask.and_then(|to_ask| to_ask.into_iter().max()),
        counted: first.counted,
        mean: mean(judged, missing),
        parts: Vec::new(),
    })
}

/// How many pairs or repeats to ask for to have so many, where as many are lost as here. A session is not lost by its repeats.
fn asked_for(needed: usize, row: &Row, against: &AgainstBase, column: usize) -> usize {
    let made = [0, column].map(|column| row.measured(column).map_or(0, |value| (value.valid + value.invalid) as usize));
    let (made, counted) = (made[0].max(made[1]), against.base_count.min(against.own_count));
    match against.counted {
        Counted::Sessions => needed,
        Counted::Pairs | Counted::Repeats => (needed * made.max(counted)).div_ceil(counted.max(1)),
    }
}

fn against(row: &Row, column: usize) -> Option<&AgainstBase> {
    row.cells.get(column)?.against_base()
}

fn is_speed(unit: Unit) -> bool {
    matches!(
        unit,
        Unit::BytesPerSecond
            | Unit::OperationsPerSecond
            | Unit::Iops
            | Unit::RequestsPerSecond
            | Unit::Seconds
            | Unit::Nanoseconds
    )
}

/// Of scenarios with too few numbers none counts where others have enough: a single odd repeat would decide the mean.
fn mean(judged: &[(&Row, &AgainstBase)], mut missing: Vec<String>) -> Option<Mean> {
    let (enough, few): (Vec<_>, Vec<_>) =
        judged.iter().copied().partition(|(_, against)| against.reason != Reason::TooFew);
    let is_enough = !enough.is_empty();
    if is_enough {
        missing.extend(few.iter().filter(|(_, against)| against.factor.is_some()).map(|(row, _)| row.scenario.clone()));
    }
    let judged = if is_enough { enough } else { few };
    let ratios: Vec<f64> = judged.iter().filter_map(|(_, against)| Some(against.factor?.ln())).collect();
    let numbers: Vec<(&Numbers, Direction)> =
        judged.iter().filter_map(|(row, against)| Some((against.numbers.as_ref()?, direction(row.better)))).collect();
    let effect = Effect::of_all(&numbers).filter(|_| is_enough);
    let verdict = |effect: Effect| {
        let q = effect.p_beyond(DEFAULT_FLOOR);
        effect.verdict(q, DEFAULT_FLOOR, Direction::HigherIsBetter).0
    };
    Some(Mean {
        factor: stend_stats::mean(&ratios)?.exp(),
        interval: effect.map(|effect| effect.interval()),
        verdict: effect.map_or(Verdict::Unresolved, verdict),
        scenarios: ratios.len(),
        missing,
    })
}

pub(super) const fn direction(better: Better) -> Direction {
    match better {
        Better::Higher => Direction::HigherIsBetter,
        Better::Lower => Direction::LowerIsBetter,
    }
}

/// Scenarios of the base or of a run that have no ratio, those of the base first.
fn missing(table: &Table, column: usize) -> Vec<String> {
    let has_ratio = |row: &Row| against(row, column).is_some_and(|against| against.factor.is_some());
    let rows = table.rows.iter().filter(|row| row.main && !has_ratio(row));
    let mut missing: Vec<String> = rows.map(|row| row.scenario.clone()).collect();
    let ids = [0, column].map(|column| table.columns.get(column).and_then(|column| column.run_id()));
    for left_out in &table.left_out {
        let [base_lacks, run_lacks] = ids.map(|id| id.is_some_and(|id| left_out.runs.iter().any(|run| run == id)));
        if base_lacks != run_lacks {
            let others: Vec<_> = left_out.scenarios.iter().filter(|name| !missing.contains(name)).cloned().collect();
            missing.extend(others);
        }
    }
    missing
}

impl super::table::Column {
    /// The run that it is, if it is one.
    pub fn run_id(&self) -> Option<&str> {
        match &self.origin {
            ColumnOrigin::Run { id, .. } => Some(id),
            ColumnOrigin::Published { .. } => None,
        }
    }
}

#[cfg(test)]
#[path = "standing_tests.rs"]
mod tests;
