//! One metric of one scenario over the runs of a machine: a value a run, in the order of time, and where the level changed, with what else
//! changed then. Nothing is shown here.

use std::collections::BTreeMap;
use std::rc::Rc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use stend_model::machine::Difference;
use stend_model::metric::{Better, Metric, Unit};
use stend_model::suite::Suite;
use stend_stats::{ChangeRule, change_points};
use thiserror::Error;

use crate::{differences, differences_of_builds, values_by_session};
use stend_model::nearest;
use stend_model::quantity::english_plural;
use stend_model::record::{Record, Summary};

/// A machine's history of one metric.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct History {
    /// The scenario's name.
    pub scenario: String,
    /// The metric's name.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// The machine's name in the newest run.
    pub machine: String,
    /// Its hardware's id in the newest run.
    pub hardware_id: String,
    /// One for each run, oldest first.
    pub points: Vec<Point>,
    /// Where the level changed, oldest first.
    pub changes: Vec<Change>,
    /// So many values more are needed before changes can be looked for.
    pub more_needed: usize,
    /// Changes are not looked for, because some value is not above zero and there is no ratio.
    pub without_ratio: bool,
    /// Runs with a scenario of this name that have no place in it.
    pub left_out: LeftOut,
}

/// Why so many runs are not in a history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// Another machine made them.
    pub other_machine: usize,
    /// The scenario did other work in them.
    pub other_work: usize,
    /// An emulator made them.
    pub emulated: usize,
    /// They have no repeat that counts.
    pub no_value: usize,
    /// They measured two sides, which are different things on purpose.
    pub two_sides: usize,
}

/// What one run gave.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// The run's id.
    pub run: String,
    /// When it began.
    pub started_at: Timestamp,
    /// Median of the repeats that count.
    pub median: f64,
    /// Its 95 % interval, from six repeats.
    pub interval: Option<(f64, f64)>,
    /// Robust coefficient of variation.
    pub spread: Option<f64>,
    /// Repeats that count.
    pub valid: u32,
}

/// A change of level.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// The first point after it, from 0.
    pub point: usize,
    /// The last run before it.
    pub before_run: String,
    /// The first run after it.
    pub after_run: String,
    /// Mean of the medians from the change before (or the beginning) up to it.
    pub before: f64,
    /// Mean of the medians from it to the next change (or the end).
    pub after: f64,
    /// After over before.
    pub ratio: f64,
    /// p of the t-test of both.
    pub p: f64,
    /// Whether it is one for the better.
    pub improved: bool,
    /// What else changed between the two runs.
    #[serde(flatten)]
    pub with: Differences,
    /// If nothing did: the nearest place, two runs away at most, where something changed. Among noisy runs the place of a change is
    /// found to a run or two.
    pub nearest: Option<Nearest>,
}

/// In what two runs differ.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Differences {
    /// The machine.
    pub machine: Vec<Difference>,
    /// The build that was measured, the files that its command names, and `stend` itself.
    pub build: Vec<Difference>,
}

impl Differences {
    fn between(before: &Record, after: &Record, scenario: &str) -> Self {
        let version = |record: &Record| record.run.stend_version.clone();
        let mut build = differences_of_builds(before, after, scenario);
        if version(before) != version(after) {
            build.push(Difference { what: "stend".into(), before: version(before), after: version(after) });
        }
        Self { machine: differences(before, after), build }
    }

    pub fn is_empty(&self) -> bool {
        self.machine.is_empty() && self.build.is_empty()
    }
}

/// Two runs beside a change, one after the other, that differ.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Nearest {
    /// The earlier run.
    pub before_run: String,
    /// The later run.
    pub after_run: String,
    /// In what they differ.
    #[serde(flatten)]
    pub with: Differences,
}

/// What a person asked for.
#[derive(Debug)]
pub enum Wanted<'a> {
    /// A history of this metric.
    History(Chosen<'a>),
    /// A metric's name alone: the scenarios that have it, with how many runs.
    Metric { name: String, scenarios: BTreeMap<&'a str, usize> },
}

/// What is known of a run before its repeats are read. There may be many thousands, most of them of one suite, which they share.
#[derive(Debug)]
pub struct Outline {
    summary: Summary,
    suite: Rc<Suite>,
    emulated: bool,
    two_sides: bool,
}

/// What an outline takes of a stored run.
#[derive(Debug, Deserialize)]
pub struct OfRun {
    suite: Suite,
    #[serde(default)]
    sides: Vec<IgnoredAny>,
    machine: OfMachine,
}

#[derive(Debug, Deserialize)]
struct OfMachine {
    software: OfSoftware,
}

#[derive(Debug, Deserialize)]
struct OfSoftware {
    emulator: Option<IgnoredAny>,
}

impl Outline {
    /// Of all runs that `read` hands on, oldest first.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn of_all<E>(read: impl FnOnce(&mut dyn FnMut(Summary, OfRun)) -> Result<(), E>) -> Result<Vec<Self>, E> {
        let mut all = Vec::new();
        let mut newest: BTreeMap<String, Rc<Suite>> = BTreeMap::new();
        read(&mut |summary, OfRun { suite, sides, machine }| {
            let suite = match newest.get(&suite.name) {
                Some(same) if **same == suite => Rc::clone(same),
                _ => Rc::new(suite),
            };
            newest.insert(suite.name.clone(), Rc::clone(&suite));
            let (emulated, two_sides) = (machine.software.emulator.is_some(), !sides.is_empty());
            all.push(Self { summary, suite, emulated, two_sides });
        })?;
        Ok(all)
    }
}

/// The runs that a history is made of.
#[derive(Debug)]
pub struct Chosen<'a> {
    /// The runs, oldest first, each with the scenario's place in its suite; one at least.
    runs: Vec<(&'a Outline, usize)>,
    /// The scenario's name.
    scenario: &'a str,
    /// The metric, as the newest run has it.
    metric: &'a Metric,
    left_out: LeftOut,
}

/// Why nothing is found that a history could be made of. The message is one line.
#[derive(Debug, Error)]
pub enum NotFound {
    /// There are no runs at all.
    #[error("there is no run")]
    NoRuns,
    /// All were emulated.
    #[error("emulated: not compared: an emulator made all of these runs, and their times tell of no machine")]
    Emulated,
    /// There are runs, of other machines.
    #[error("no run of a machine \"{wanted}\"; there are runs of {}", listed_names(.machines))]
    Machine {
        /// What was asked for.
        wanted: String,
        /// The machines that there are runs of.
        machines: Vec<String>,
    },
    /// There is no such scenario, and no such metric.
    #[error(
        "no run has a scenario or a metric \"{wanted}\"{}; there are {}",
        nearest::hint(.wanted, .scenarios.iter().chain(.metrics).map(String::as_str)), listed_names(.scenarios)
    )]
    Neither {
        /// What was asked for.
        wanted: String,
        /// The scenarios that there are.
        scenarios: Vec<String>,
        /// Their metrics.
        metrics: Vec<String>,
    },
    /// Several scenarios have such a name.
    #[error("\"{part}\" is a part of several scenarios' names: {}; give one of them", listed_names(.scenarios))]
    Several {
        /// What was asked for.
        part: String,
        /// The scenarios.
        scenarios: Vec<String>,
    },
    /// There are only runs of two sides.
    #[error(
        "\"{scenario}\" was only measured in runs of two sides, which have no place in a history: {ids}; `stend compare {newest}` shows the newest",
        ids = listed_names(.runs), newest = .runs.last().map_or("RUN", String::as_str)
    )]
    TwoSides {
        /// The scenario.
        scenario: String,
        /// The runs, oldest first.
        runs: Vec<String>,
    },
    /// The scenario has no metric at all.
    #[error("scenario \"{0}\" has no metric")]
    NoMetrics(String),
    /// The scenario has no such metric.
    #[error(
        "scenario \"{scenario}\" has no metric \"{wanted}\"{}; it has {}",
        nearest::hint(.wanted, .metrics.iter().map(String::as_str)), listed_names(.metrics)
    )]
    Metric {
        /// The scenario.
        scenario: String,
        /// What was asked for.
        wanted: String,
        /// The metrics that it has.
        metrics: Vec<String>,
    },
}

fn listed_names(names: &[String]) -> String {
    listed(names.iter().map(String::as_str))
}

fn owned<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    names.map(str::to_owned).collect()
}

/// Whether the user calls the machine of a run so.
pub type IsNamed<'a> = &'a dyn Fn(&Summary, &str) -> bool;

/// Finds what is meant by `what`: a scenario, `scenario:metric`, a metric, or a part of one scenario's name. `runs` are all that there are,
/// oldest first. `machine` is a machine's name, also one that `is_named` takes for it, or the beginning of its hardware's id; without it the hardware is that of the newest run.
/// The error is one line.
pub fn choose<'a>(
    runs: &'a [Outline],
    what: &str,
    machine: Option<&str>,
    is_named: IsNamed,
) -> Result<Wanted<'a>, NotFound> {
    let of_machine = |run: &&Outline| machine.is_none_or(|wanted| is_machine(run, wanted, is_named));
    let is_emulated = |run: &&Outline| run.emulated;
    let (emulated, there): (Vec<&Outline>, Vec<&Outline>) = runs.iter().filter(of_machine).partition(is_emulated);
    if there.is_empty() && !emulated.is_empty() {
        return Err(NotFound::Emulated);
    }
    if there.is_empty() {
        return Err(match machine {
            Some(wanted) if !runs.is_empty() => {
                let machines = owned(runs.iter().map(|run| run.summary.machine.as_str()));
                NotFound::Machine { wanted: wanted.to_owned(), machines }
            }
            _ => NotFound::NoRuns,
        });
    }
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for scenario in there.iter().flat_map(|run| measured(run)) {
        *names.entry(scenario.name.as_str()).or_default() += 1;
    }
    let is_metric = there.iter().flat_map(|run| measured(run)).any(|scenario| scenario.metric(what).is_some());
    // A whole name, of a metric too, goes before a part of a scenario's.
    let found = if is_metric && !names.contains_key(what) { None } else { named(&names, what)? };
    let (scenario, metric) = match found {
        Some(found) => found,
        None => {
            let has =
                |run: &&Outline, name: &str| measured(run).any(|one| one.name == name && one.metric(what).is_some());
            let count = |name: &'a str| (name, there.iter().filter(|run| has(run, name)).count());
            let scenarios: BTreeMap<_, _> =
                names.keys().map(|name| count(name)).filter(|(_, runs)| *runs > 0).collect();
            if scenarios.is_empty() {
                let metrics = there.iter().flat_map(|run| measured(run)).flat_map(|scenario| &scenario.metrics);
                let metrics = owned(metrics.map(|metric| metric.name.as_str()));
                let scenarios = owned(names.keys().copied());
                return Err(NotFound::Neither { wanted: what.to_owned(), scenarios, metrics });
            }
            return Ok(Wanted::Metric { name: what.into(), scenarios });
        }
    };
    let place = |run: &'a Outline| {
        let place = run.suite.scenarios.iter().position(|one| one.name == scenario && !one.is_precondition());
        place.map(|place| (run, place))
    };
    let all: Vec<_> = there.into_iter().filter_map(place).collect();
    let (all, two_sides): (Vec<_>, Vec<_>) = all.into_iter().partition(|(run, _)| !run.two_sides);
    let Some((newest, newest_place)) = all.last().copied() else {
        let runs = owned(two_sides.iter().map(|(run, _)| run.summary.id.as_str()));
        return Err(NotFound::TwoSides { scenario: scenario.to_owned(), runs });
    };
    let newest_scenario = &newest.suite.scenarios[newest_place];
    let metric = match metric {
        None => newest_scenario.metrics.first().ok_or_else(|| NotFound::NoMetrics(scenario.to_owned()))?,
        Some(name) => newest_scenario.metric(name).ok_or_else(|| {
            let metrics = owned(newest_scenario.metrics.iter().map(|metric| metric.name.as_str()));
            NotFound::Metric { scenario: scenario.to_owned(), wanted: name.to_owned(), metrics }
        })?,
    };
    let hardware = &newest.summary.hardware_id;
    let (same_machine, other_machine): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(run, _)| machine.is_some() || run.summary.hardware_id == *hardware);
    let work = newest_scenario.work();
    let (same_work, other_work): (Vec<_>, Vec<_>) =
        same_machine.into_iter().partition(|(run, place)| run.suite.scenarios[*place].work() == work);
    let left_out = LeftOut {
        other_machine: other_machine.len(),
        other_work: other_work.len(),
        emulated: emulated.into_iter().filter_map(place).count(),
        no_value: 0,
        two_sides: two_sides.len(),
    };
    Ok(Wanted::History(Chosen { runs: same_work, scenario: &newest_scenario.name, metric, left_out }))
}

/// The scenarios of a run that measure something.
fn measured(run: &Outline) -> impl Iterator<Item = &stend_model::suite::Scenario> {
    run.suite.scenarios.iter().filter(|scenario| !scenario.is_precondition())
}

fn is_machine(Outline { summary: run, .. }: &Outline, wanted: &str, is_named: IsNamed) -> bool {
    /// Fewer digits of an id would be a word, or an accident.
    const LEAST_DIGITS: usize = 4;
    is_named(run, wanted) || wanted.len() >= LEAST_DIGITS && run.hardware_id.starts_with(wanted)
}

/// A scenario and perhaps a metric, if `what` names a scenario wholly or, as the only one, in part.
pub fn named<'a, 'w, T>(
    names: &BTreeMap<&'a str, T>,
    what: &'w str,
) -> Result<Option<(&'a str, Option<&'w str>)>, NotFound> {
    let whole = |name: &str| names.get_key_value(name).map(|(name, _)| *name);
    let halves = what.rsplit_once(':').map(|(scenario, metric)| (scenario.trim_end(), metric.trim_start()));
    if let Some(name) = whole(what) {
        return Ok(Some((name, None)));
    }
    if let Some((name, metric)) = halves.and_then(|(scenario, metric)| Some((whole(scenario)?, metric))) {
        return Ok(Some((name, Some(metric))));
    }
    for (part, metric) in
        [Some((what, None)), halves.map(|(scenario, metric)| (scenario, Some(metric)))].into_iter().flatten()
    {
        let part = part.to_lowercase();
        let found: Vec<_> = names.keys().copied().filter(|name| name.to_lowercase().contains(&part)).collect();
        match found[..] {
            _ if part.is_empty() => {}
            [] => {}
            [only] => return Ok(Some((only, metric))),
            _ => return Err(NotFound::Several { part, scenarios: owned(found.into_iter()) }),
        }
    }
    Ok(None)
}

/// The first few names, each once, and how many more there are.
pub fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 6;
    let mut all: Vec<_> = names.map(|name| format!("\"{name}\"")).collect();
    all.sort();
    all.dedup();
    let more = all.len().saturating_sub(SHOWN);
    let shown = all[..all.len() - more].join(", ");
    if more == 0 { shown } else { format!("{shown} and {}", english_plural(more, "more", "more")) }
}

/// The history of what was chosen. `load` reads the run of this id, with the repeats of the scenario at this place in its suite at least; no more
/// than two are kept at a time.
///
/// # Errors
/// A run cannot be read.
pub fn of<E>(chosen: &Chosen, load: impl Fn(&str, usize) -> Result<Record, E>) -> Result<History, E> {
    let Chosen { scenario, metric, mut left_out, .. } = *chosen;
    let mut points = Vec::new();
    let mut kept = Vec::new();
    for (run, place) in &chosen.runs {
        let record = load(&run.summary.id, *place)?;
        // The fingerprint tells of most; a side, or an instrument alone, may have been emulated too.
        if record.emulator().is_some() {
            left_out.emulated += 1;
            continue;
        }
        let sessions = values_by_session(&record, scenario, metric);
        let values = sessions.concat();
        let Some(median) = stend_stats::median(&values) else {
            left_out.no_value += 1;
            continue;
        };
        kept.push((run.summary.id.as_str(), *place));
        points.push(Point {
            run: record.run.id.clone(),
            started_at: record.run.started_at,
            median,
            interval: stend_stats::median_interval_of_sessions(&sessions),
            spread: stend_stats::coefficient_of_variation(&values).filter(|_| values.len() > 1),
            valid: values.len() as u32,
        });
    }
    let rule = ChangeRule::default();
    let medians: Vec<f64> = points.iter().map(|point| point.median).collect();
    let found = change_points(&medians, &rule);
    let without_ratio = found.is_none();
    let between = |place: usize| -> Result<_, E> {
        let [before, after] = [kept[place - 1], kept[place]];
        Ok(Differences::between(&load(before.0, before.1)?, &load(after.0, after.1)?, scenario))
    };
    let change = |found: &stend_stats::ChangePoint| -> Result<_, E> {
        let with = between(found.index)?;
        let near = [found.index.wrapping_sub(1), found.index + 1, found.index.wrapping_sub(2), found.index + 2];
        let mut nearest = None;
        for place in near.into_iter().filter(|place| with.is_empty() && (1..kept.len()).contains(place)) {
            let with = between(place)?;
            if !with.is_empty() {
                let (before_run, after_run) = (kept[place - 1].0.to_owned(), kept[place].0.to_owned());
                nearest = Some(Nearest { before_run, after_run, with });
                break;
            }
        }
        Ok(Change {
            point: found.index,
            before_run: kept[found.index - 1].0.to_owned(),
            after_run: kept[found.index].0.to_owned(),
            before: found.before,
            after: found.after,
            ratio: found.after / found.before,
            p: found.p,
            improved: (found.after > found.before) == (metric.better == Better::Higher),
            with,
            nearest,
        })
    };
    let (newest, _) = chosen.runs[chosen.runs.len() - 1];
    Ok(History {
        scenario: scenario.into(),
        metric: metric.name.clone(),
        unit: metric.unit,
        better: metric.better,
        machine: newest.summary.machine.clone(),
        hardware_id: newest.summary.hardware_id.clone(),
        changes: found.unwrap_or_default().iter().map(change).collect::<Result<_, _>>()?,
        more_needed: rule.least_values.saturating_sub(points.len()),
        without_ratio,
        left_out,
        points,
    })
}
