//! What a reader should know before reading the table: how the runs differ in what they did, where, and with which builds.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use stend_model::identity::short;
use stend_model::machine::{Difference, count_listed};
use stend_model::plan::Phase;
use stend_model::run::{Outcome, RunState};
use stend_model::server::plain_name;
use stend_model::suite::{Scenario, Steady, Verification, Work};
use stend_model::wire::{Begin, Check};

use super::filter::Filter;
use super::scenario_of;
use super::sides::are_of_one_run;
use super::table::{LeftOut, Loss, Note};
use stend_model::record::Record;
use stend_model::steady::never_steady;

/// Notes on each run, and on how it differs from the base, which is the first.
pub(super) fn on_runs(records: &[&Record]) -> Vec<Note> {
    let base = records[0];
    let mut notes = Vec::new();
    for (place, record) in records.iter().enumerate() {
        let beside =
            records.iter().enumerate().find(|(other, beside)| *other != place && are_of_one_run(record, beside));
        let Some((other, beside)) = beside else {
            notes.extend(on_run(record, &record.run.id));
            continue;
        };
        // What holds of both sides of a run is said once, of the run.
        let stored = record.run.stored_id();
        let (of_run, of_side) = (on_run(record, stored), on_run(record, &record.run.id));
        let of_both = on_run(beside, stored);
        for (of_run, of_side) in of_run.into_iter().zip(of_side) {
            if matches!(of_run, Note::Side { .. }) || !of_both.contains(&of_run) {
                notes.push(of_side);
            } else if place < other {
                notes.push(of_run);
            }
        }
    }
    for record in &records[1..] {
        if record.run.stend_version != base.run.stend_version {
            notes.push(Note::OtherVersion {
                run: record.run.id.clone(),
                version: record.run.stend_version.clone(),
                base: base.run.id.clone(),
                base_version: base.run.stend_version.clone(),
            });
        }
        // The two sides of a run differ as they are meant to.
        if are_of_one_run(base, record) {
            notes.push(Note::InPairs { run: base.run.stored_id().to_owned() });
        } else {
            notes.extend(scenarios(base, record));
        }
        notes.extend(builds(base, record));
    }
    notes
}

/// Scenarios that not all runs have, those together that the same runs lack; of those that the filter takes.
pub(super) fn left_out(records: &[&Record], filter: &Filter) -> Vec<LeftOut> {
    let mut left_out: Vec<LeftOut> = Vec::new();
    let mut seen = BTreeSet::new();
    let all = records.iter().flat_map(|record| &record.run.suite.scenarios);
    for scenario in all.filter(|scenario| filter.takes_any_of(scenario)) {
        let lacking = records.iter().filter(|record| scenario_of(record, &scenario.name).is_none());
        let runs: Vec<_> = lacking.map(|record| record.run.id.clone()).collect();
        if runs.is_empty() || !seen.insert(&scenario.name) {
            continue;
        }
        let name = scenario.name.clone();
        match left_out.iter_mut().find(|other| other.runs == runs) {
            Some(same) => same.scenarios.push(name),
            None => left_out.push(LeftOut { scenarios: vec![name], runs }),
        }
    }
    left_out
}

/// Whether the servers that are to be kept apart from their load were.
fn loaded(record: &Record, id: &str) -> Option<Note> {
    let online = record.run.machine.software.settings.get("processors_online")?;
    let processors = count_listed(online);
    let apart: Vec<_> = record.run.suite.servers.iter().filter(|(_, server)| server.apart).collect();
    let (_, first) = apart.first()?;
    let servers = apart.iter().map(|(name, _)| plain_name(name).to_owned()).collect();
    Some(Note::Loaded { run: id.to_owned(), servers, processors, apart: first.is_apart(processors) })
}

/// What is to be said of a run by itself, under this id.
fn on_run(record: &Record, id: &str) -> Vec<Note> {
    let suite = &record.run.suite;
    let run = || id.to_owned();
    let mut notes = Vec::new();
    if let Some(emulator) = record.emulator() {
        notes.push(Note::Emulated { run: run(), emulator: emulator.to_owned() });
    }
    if record.run.machine.public {
        notes.push(Note::Public { run: run() });
    }
    if suite.scale < 1.0 {
        notes.push(Note::Scaled { run: run(), factor: suite.scale, target: record.run.target.is_some() });
    }
    if let Some(text) = &suite.note {
        notes.push(Note::OfSuite { run: run(), text: text.clone(), texts: suite.notes.clone() });
    }
    notes.extend(loaded(record, id));
    if let [side] = &record.run.sides[..] {
        let tools: Vec<_> = side.found.tools.iter().map(|(name, tool)| (name.clone(), tool.version.clone())).collect();
        let (settings, compiler) = (side.settings(), side.found.compiler.clone());
        // Of a side that is called by its settings its name says all, unless something was found out too.
        if side.in_full() != side.label || compiler.is_some() || !tools.is_empty() {
            notes.push(Note::Side { run: run(), settings, compiler, tools });
        }
    }
    if let Some(target) = &record.run.target {
        notes.push(Note::Target { run: run(), target: Box::new(target.clone()) });
    }
    let least = stend_stats::LEAST_NUMBERS;
    let measured = || suite.scenarios.iter().filter(|scenario| !scenario.is_precondition());
    // That a test passes takes no interval.
    let is_figure = |scenario: &&Scenario| !scenario.instrument.runs_tests();
    let few = measured().filter(is_figure).filter(|scenario| (scenario.repeats as usize) < least).count();
    // Of several sessions each is a number.
    if few > 0 && record.sessions.len() < 2 {
        notes.push(Note::FewRepeats { run: run(), scenarios: few, least });
    }
    // An instrument may well verify what the suite does not ask it to.
    let verified = |place: usize| {
        let of_it = record.repeats.iter().filter(|repeat| repeat.scenario == place);
        let checks: Vec<Check> = of_it.filter_map(|repeat| Some(repeat.report.as_ref()?.check)).collect();
        !checks.is_empty() && !checks.contains(&Check::None)
    };
    let unverified = suite.scenarios.iter().enumerate().filter(|(place, scenario)| {
        !scenario.is_precondition() && scenario.verification == Verification::None && !verified(*place)
    });
    let unverified = unverified.count();
    if unverified > 0 {
        notes.push(Note::Unverified { run: run(), scenarios: unverified });
    }
    let conditions = record.unfit_conditions();
    if !conditions.is_empty() {
        notes.push(Note::Unfit { run: run(), conditions });
    }
    notes.extend(lost(record, run()));
    let left_running = suite.scenarios.iter().enumerate().filter(|(place, _)| {
        let of_it = record.repeats.iter().filter(|repeat| repeat.scenario == *place);
        of_it.filter_map(|repeat| repeat.usage.as_ref()).any(|usage| usage.left_running)
    });
    let scenarios: Vec<_> = left_running.map(|(_, scenario)| scenario.name.clone()).collect();
    if !scenarios.is_empty() {
        notes.push(Note::LeftRunning { run: run(), scenarios });
    }
    let scenarios = unprepared(record);
    if !scenarios.is_empty() {
        notes.push(Note::Unprepared { run: run(), scenarios });
    }
    let scenarios: Vec<_> = never_steady(suite, &record.repeats).into_keys().map(str::to_owned).collect();
    if !scenarios.is_empty() {
        notes.push(Note::NotSteady { run: run(), scenarios });
    }
    let scenarios = loader_bound(record);
    if !scenarios.is_empty() {
        notes.push(Note::LoaderBound { run: run(), scenarios });
    }
    let several = builds_of(record).into_iter().filter(|(_, builds)| builds.len() > 1);
    let instruments: BTreeSet<_> = several.map(|((_, instrument), _)| instrument.to_owned()).collect();
    let instruments: Vec<_> = instruments.into_iter().collect();
    if !instruments.is_empty() {
        notes.push(Note::SeveralBuilds { run: run(), instruments });
    }
    if record.run.state == RunState::Open {
        notes.push(Note::Unfinished { run: run(), may_go_on: record.run.may_go_on() });
    }
    notes
}

/// What measured repeats were lost to, if any were.
fn lost(record: &Record, run: String) -> Option<Note> {
    let measured = record.repeats.iter().filter(|repeat| repeat.phase == Phase::Measured);
    let mut counts = BTreeMap::new();
    for loss in measured.clone().filter_map(|repeat| Loss::of(&repeat.outcome)) {
        *counts.entry(loss).or_insert(0) += 1;
    }
    let mut to: Vec<_> = counts.into_iter().collect();
    to.sort_by_key(|(_, count)| Reverse(*count));
    let repeats = to.iter().map(|(_, count)| count).sum();
    (repeats > 0).then(|| Note::Lost { run, repeats, of: measured.count(), to })
}

/// The scenarios that only prepare, and failed to in a session in which something was measured after them.
fn unprepared(record: &Record) -> Vec<String> {
    let fails = |place: usize| {
        let mut last = BTreeMap::new();
        let mut unprepared = false;
        for repeat in &record.repeats {
            if repeat.scenario == place {
                last.insert(repeat.session, matches!(repeat.outcome, Outcome::Failed(_)));
            }
            unprepared |= repeat.scenario > place && repeat.counts() && last.get(&repeat.session) == Some(&true);
        }
        unprepared
    };
    let scenarios = record.run.suite.scenarios.iter().enumerate();
    let prepares = scenarios.filter(|(_, scenario)| scenario.is_precondition());
    prepares.filter(|(place, _)| fails(*place)).map(|(_, scenario)| scenario.name.clone()).collect()
}

/// A loader that takes more of the machine's CPU time than this is what is measured, not what it loads.
pub const MOST_OF_LOADER: f64 = 0.7;

/// The scenarios whose load generator took too much of the CPU time, by the median of the repeats that count.
fn loader_bound(record: &Record) -> Vec<String> {
    let is_bound = |place: usize| {
        let of_it = record.repeats.iter().filter(|repeat| repeat.scenario == place && repeat.counts());
        let reports = of_it.filter_map(|repeat| repeat.report.as_ref());
        let shares: Vec<_> = reports.filter_map(|report| report.observed.get("loader_cpu_share").copied()).collect();
        stend_stats::median(&shares).is_some_and(|share| share > MOST_OF_LOADER)
    };
    let scenarios = record.run.suite.scenarios.iter().enumerate();
    scenarios.filter(|(place, _)| is_bound(*place)).map(|(_, scenario)| scenario.name.clone()).collect()
}

/// Scenarios of the same name that do other work, or the same work in another place, with another file or with a metric that is better
/// the other way round; those together that differ alike.
fn scenarios(base: &Record, record: &Record) -> Vec<Note> {
    let mut works = Alike::default();
    let mut places = Alike::default();
    let mut files = Alike::default();
    let mut directions = Alike::default();
    for one in &base.run.suite.scenarios {
        let Some(other) = scenario_of(record, &one.name) else { continue };
        let differences = differences_of_work(&one.work(), &other.work());
        if !differences.is_empty() {
            works.add(differences, &one.name);
            continue;
        }
        // A public run does not say where.
        if ![base, record].iter().any(|record| record.run.machine.public) {
            for difference in differing(&one.where_done(), &other.where_done()) {
                places.add(difference, &one.name);
            }
        }
        for (file, digest) in &one.files {
            if other.files.get(file).is_some_and(|other| other != digest) {
                files.add(file.clone(), &one.name);
            }
        }
        for metric in &one.metrics {
            if other.metric(&metric.name).is_some_and(|other| other.better != metric.better) {
                directions.add((metric.name.clone(), metric.better), &one.name);
            }
        }
    }
    let (run, base) = (record.run.id.clone(), base.run.id.clone());
    let works = works.0.into_iter().map(|(differences, scenarios)| Note::OtherWork {
        run: run.clone(),
        base: base.clone(),
        scenarios,
        differences,
    });
    let places = places.0.into_iter().map(|(difference, scenarios)| Note::OtherPlace {
        run: run.clone(),
        base: base.clone(),
        scenarios,
        difference,
    });
    let files = files.0.into_iter().map(|(file, scenarios)| Note::OtherFile {
        run: run.clone(),
        base: base.clone(),
        scenarios,
        file,
    });
    let directions = directions.0.into_iter().map(|((metric, better), scenarios)| Note::OtherDirection {
        run: run.clone(),
        base: base.clone(),
        metric,
        better,
        scenarios,
    });
    works.chain(places).chain(files).chain(directions).collect()
}

/// Names under what they have in common, both in the order in which they came.
struct Alike<T>(Vec<(T, Vec<String>)>);

impl<T> Default for Alike<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: PartialEq> Alike<T> {
    fn add(&mut self, common: T, name: &str) {
        match self.0.iter_mut().find(|(other, _)| *other == common) {
            Some((_, names)) if names.iter().any(|known| known == name) => (),
            Some((_, names)) => names.push(name.to_owned()),
            None => self.0.push((common, vec![name.to_owned()])),
        }
    }
}

fn differences_of_work(one: &Work, other: &Work) -> Vec<Difference> {
    let of = |what: &str, before: String, after: String| {
        (before != after).then(|| Difference { what: what.into(), before, after })
    };
    let metrics = |work: &Work| {
        let metric = |(name, (value, unit)): (_, &(_, _))| format!("name = {name}, value = {value}, unit = {unit}");
        work.metrics.iter().map(metric).collect::<Vec<_>>().join("; ")
    };
    let verification =
        |work: &Work| if work.verification == Verification::None { "none" } else { "required" }.to_owned();
    let steady = |work: &Work| {
        let of = |steady: &Steady| {
            let by = work.steady_by.unwrap_or_default();
            let Steady { rounds, most, range, slope, .. } = steady;
            format!("rounds = {rounds}, most = {most}, range = {range}, slope = {slope}, by = {by}")
        };
        work.steady.map(of).unwrap_or_default()
    };
    let rate =
        |work: &Work| work.rate.map(|rate| format!("share = {}, of = {}", rate.share, rate.of)).unwrap_or_default();
    let instrument = of("instrument", one.instrument.to_string(), other.instrument.to_string());
    let last = [
        of("metrics", metrics(one), metrics(other)),
        of("verification", verification(one), verification(other)),
        of("steady", steady(one), steady(other)),
        of("rate", rate(one), rate(other)),
    ];
    let parameters = differing(&one.parameters, &other.parameters);
    instrument.into_iter().chain(parameters).chain(last.into_iter().flatten()).collect()
}

fn differing(one: &BTreeMap<&str, &str>, other: &BTreeMap<&str, &str>) -> Vec<Difference> {
    let keys: BTreeSet<_> = one.keys().chain(other.keys()).collect();
    let text = |values: &BTreeMap<&str, &str>, key: &str| values.get(key).copied().unwrap_or_default().to_owned();
    let differing = keys.into_iter().filter(|key| one.get(*key) != other.get(*key));
    differing
        .map(|key| Difference { what: (*key).to_owned(), before: text(one, key), after: text(other, key) })
        .collect()
}

/// What was measured was built with, as far as the instrument says it.
pub(super) type Build<'a> = BTreeMap<&'a str, &'a str>;

/// In what two builds differ that both say. Sources are said since programs know them; what one of them does not know is no difference.
pub(super) fn differing_builds(one: &Build<'_>, other: &Build<'_>) -> Vec<Difference> {
    let mut differences = differing(one, other);
    differences
        .retain(|Difference { what, before, after }| what != "sources" || !before.is_empty() && !after.is_empty());
    differences
}

/// Instruments that were built otherwise; those together that differ alike. Runs that are not of one build each are not told apart.
fn builds(base: &Record, record: &Record) -> Vec<Note> {
    let of_base = builds_of(base);
    let mut alike = Alike::default();
    for (program, builds) in builds_of(record) {
        if let (Some([one]), [other]) = (of_base.get(&program).map(Vec::as_slice), builds.as_slice()) {
            let differences = differing_builds(one, other);
            if !differences.is_empty() {
                alike.add(differences, program.1);
            }
        }
    }
    let note = |(differences, instruments)| Note::OtherBuild {
        run: record.run.id.clone(),
        base: base.run.id.clone(),
        instruments,
        differences,
    };
    alike.0.into_iter().map(note).collect()
}

/// In what the builds differ that a scenario measured in two runs, and the files that its command names; empty of builds also where a
/// run is not of one.
pub fn differences_of_builds(before: &Record, after: &Record, scenario: &str) -> Vec<Difference> {
    let files = |record| scenario_of(record, scenario).map(|one| one.files.clone()).unwrap_or_default();
    let (files_before, files_after) = (files(before), files(after));
    let other = |(file, digest): (&String, &String)| {
        let now = files_after.get(file).filter(|now| *now != digest)?;
        Some(Difference { what: file.clone(), before: short(digest).into(), after: short(now).into() })
    };
    let files = files_before.iter().filter_map(other);
    let (before, after) = (builds_of(before), builds_of(after));
    let of_it = before.iter().filter(|((name, _), _)| *name == scenario);
    let differences = of_it.map(|(program, builds)| match (builds.as_slice(), after.get(program).map(Vec::as_slice)) {
        ([one], Some([other])) => differing_builds(one, other),
        _ => Vec::new(),
    });
    differences.flatten().chain(files).collect()
}

/// The builds of what measured each scenario of a run, by the scenario's name and the instrument's, each once: more than
/// one if it was built anew before the run was resumed. Scenarios may well have different builds of one instrument.
pub(super) fn builds_of(record: &Record) -> BTreeMap<(&str, &str), Vec<Build<'_>>> {
    let mut builds: BTreeMap<_, Vec<Build>> = BTreeMap::new();
    for repeat in &record.repeats {
        if let Some(begin) = &repeat.begin {
            let scenario = record.run.suite.scenarios[repeat.scenario].name.as_str();
            let known = builds.entry((scenario, begin.instrument.as_str())).or_default();
            let build = build_of(begin);
            if !known.contains(&build) {
                known.push(build);
            }
        }
    }
    builds
}

/// An adapter's build holds the tool's version already.
fn build_of(begin: &Begin) -> Build<'_> {
    let said = |version: &&str| begin.build.values().any(|value| value.contains(version));
    let version = begin.version.as_deref().filter(|version| !said(version)).map(|version| ("version", version));
    begin.build.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(version).collect()
}
