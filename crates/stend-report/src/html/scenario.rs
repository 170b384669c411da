//! A scenario looked into: its figures, repeats, commands, checks and sample series.

use std::collections::HashMap;
use std::num::NonZero;
use std::thread;

use anyhow::Result;
use stend_model::metric::{Better, Metric};
use stend_model::plan::Phase;
use stend_model::run::{Outcome, Repeat, Series};
use stend_model::suite::{Scenario, Suite};
use stend_model::wire::{Check, MarkKind};

use stend_compare::table::{AgainstBase, Cell, ColumnOrigin, Measured, Row, Table};

use super::gates::{GatesView, gates};
use super::latency::{NamedLatencies, RepeatsOfRun, latencies};
use super::overview::{VerdictView, advantage, verdict};
use super::profile::{self, ProfileView};
use super::samples::samples;
use super::{Input, RunData};
use crate::chart::{Axis, Charts, Detail, Moment, Purpose, Segment, charts, number_of_charts, observed};
use crate::dots::{Dots, PanelData, Repeated, dots};
use crate::faults as report_faults;
use crate::histogram::{Histogram, Values, histogram};
use crate::notes;
use crate::numbers::figure;
use crate::phrase::{Phrase, of_ceiling};
use crate::reason::{ReasonView, reasons};
use crate::statistics::{STATISTICS, StatisticView};
use crate::text::{self, percent, shell_words};
use crate::texts::{TEXTS, to_settle};
use crate::timeline::{self, Timeline, timeline};
use crate::words::{self, Given};

/// One scenario.
pub(super) struct ScenarioView {
    pub(super) anchor: usize,
    /// Whether it is open from the start.
    pub(super) open: bool,
    pub(super) name: String,
    /// The base's main figure, for the line that is always seen.
    pub(super) figure: String,
    pub(super) measures: String,
    pub(super) instrument: String,
    pub(super) parameters: String,
    pub(super) direction: Option<Phrase>,
    /// What is to be said of each other run, and why.
    pub(super) reasons: Vec<ReasonView>,
    pub(super) figures: Vec<FigureView>,
    pub(super) several_metrics: bool,
    /// The drawings of each metric that has values, the main one's first; of files the main one's alone.
    pub(super) metrics: Vec<MetricView>,
    pub(super) latencies: Vec<NamedLatencies>,
    /// The main metric's name.
    pub(super) metric: String,
    pub(super) runs: Vec<ScenarioRunView>,
}

/// The repeats' values of one metric, drawn.
pub(super) struct MetricView {
    pub(super) name: String,
    /// Whether it is the scenario's main one; the others are folded until somebody asks for one of their figures.
    pub(super) main: bool,
    pub(super) dots: Dots,
    pub(super) histogram: Option<Histogram>,
}

/// One figure of one machine.
pub(super) struct FigureView {
    pub(super) title: String,
    pub(super) metric: String,
    /// Whether a new metric begins with it.
    pub(super) first_of_metric: bool,
    pub(super) value: String,
    /// What a publication says instead of a value.
    pub(super) words: String,
    pub(super) statistics: Vec<StatisticView>,
    pub(super) verdict: Option<VerdictView>,
    pub(super) factor: String,
    pub(super) evidence: Option<Phrase>,
    pub(super) settle: Option<Phrase>,
    /// What a publication says of its figure.
    pub(super) note: String,
    /// The shares that are reached of its ceilings.
    pub(super) of_ceilings: Vec<Phrase>,
    /// Why there is no figure.
    pub(super) reason: Option<Phrase>,
    pub(super) published: bool,
}

/// What one run has of a scenario.
pub(super) struct ScenarioRunView {
    /// Its place among the runs, for its name on the page.
    pub(super) place: usize,
    pub(super) title: String,
    pub(super) repeats: Vec<RepeatView>,
    /// The metrics whose values the repeats have, in the order of these.
    pub(super) metrics: Vec<String>,
    pub(super) gates: GatesView,
    pub(super) commands: Vec<String>,
    /// The job files that these commands name, which are gone with their repeats.
    pub(super) jobs: Vec<String>,
    pub(super) evidence: Vec<Phrase>,
    /// What faults did to each repeat.
    pub(super) faults: Vec<Phrase>,
    pub(super) build: Vec<Phrase>,
    pub(super) profile: Option<ProfileView>,
    pub(super) timeline: Option<Timeline>,
    pub(super) charts: Charts,
    /// All points of all drawings, and what the script's drawings are.
    pub(super) samples: String,
    pub(super) has_series: bool,
    /// The length of the axis that all drawings of series share.
    pub(super) seconds: f64,
}

/// One repeat.
pub(super) struct RepeatView {
    pub(super) label: String,
    pub(super) session: u32,
    pub(super) started: String,
    /// Its value of each metric of its run; empty where it has none.
    pub(super) values: Vec<String>,
    pub(super) wall: String,
    pub(super) class: &'static str,
    pub(super) warmup: bool,
    pub(super) outcome: Phrase,
    pub(super) reason: Option<Phrase>,
    pub(super) check: Option<Phrase>,
    pub(super) error_output: String,
}

impl RepeatView {
    /// Whether something is to be said of what became of it; that stands in a row of its own below its figures.
    pub(super) fn has_reason(&self) -> bool {
        self.reason.is_some() || !self.error_output.is_empty()
    }
}

/// What is made of each scenario, in their order.
pub(super) fn scenarios<T: Send>(
    input: &Input,
    names: &[&str],
    purpose: Purpose,
    make: impl Fn(ScenarioView) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let indexed: Vec<Indexed> = input.runs.iter().map(Indexed::new).collect();
    let samples = input.runs.iter().flat_map(|data| data.series).map(|(_, series)| series.values.len()).sum();
    let detail = Detail::of(purpose, indexed.iter().map(Indexed::charts).sum(), samples);
    // Most of a report's time goes into its scenarios and the drawings of their series, so they are made side by side.
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(names.len().max(1));
    let anchored: Vec<(usize, &str)> = names.iter().copied().enumerate().collect();
    let (indexed, anchored, make) = (&indexed, &anchored, &make);
    let of_worker = |worker: usize| -> Result<Vec<(usize, T)>> {
        let own = anchored.iter().skip(worker).step_by(workers);
        own.map(|(anchor, name)| Ok((*anchor, make(view(input, indexed, *anchor, name, detail)?)?))).collect()
    };
    let mut made = thread::scope(|scope| -> Result<Vec<(usize, T)>> {
        let threads: Vec<_> = (0..workers).map(|worker| scope.spawn(move || of_worker(worker))).collect();
        let mut made = Vec::new();
        for thread in threads {
            made.extend(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(made)
    })?;
    made.sort_by_key(|(anchor, _)| *anchor);
    Ok(made.into_iter().map(|(_, one)| one).collect())
}

/// A run's series by repeat, so that they are looked up and not searched for.
struct Indexed<'a> {
    data: RunData<'a>,
    series: HashMap<u32, Vec<&'a Series>>,
}

impl<'a> Indexed<'a> {
    fn new(data: &RunData<'a>) -> Self {
        let mut series: HashMap<u32, Vec<&Series>> = HashMap::new();
        for (sequence, one) in data.series {
            series.entry(*sequence).or_default().push(one);
        }
        Self { data: *data, series }
    }

    /// About how many charts there will be: as many as the repeat with the most series makes, for each scenario.
    fn charts(&self) -> usize {
        self.data.run.suite.scenarios.len()
            * self.series.values().map(|series| number_of_charts(series)).max().unwrap_or(0)
    }

    fn scenario(&self, name: &str) -> Option<(usize, &'a Scenario)> {
        self.data.run.suite.scenarios.iter().enumerate().find(|(_, scenario)| scenario.name == name)
    }
}

/// Whether nothing but storage is loaded: there the drawings are the result, as in the articles.
fn is_of_storage(suite: &Suite) -> bool {
    suite.scenarios.iter().all(stend_model::suite::Scenario::loads_luns)
}

fn view(input: &Input, indexed: &[Indexed], anchor: usize, name: &str, detail: Detail) -> Result<ScenarioView> {
    let rows: Vec<&Row> = input.table.rows.iter().filter(|row| row.scenario == name).collect();
    let main = rows.iter().find(|row| row.main);
    let scenario = indexed.iter().find_map(|run| run.scenario(name)).map(|(_, scenario)| scenario);
    let metric = scenario.and_then(|scenario| scenario.metrics.first());
    let mut runs = Vec::new();
    let mut all_repeats = Vec::new();
    for (place, run) in indexed.iter().enumerate() {
        let Some((index, scenario)) = run.scenario(name) else { continue };
        let repeats: Vec<&Repeat> = run.data.repeats.iter().filter(|repeat| repeat.scenario == index).collect();
        if repeats.is_empty() {
            continue;
        }
        let title = title(input.table, &run.data);
        let mut view = scenario_run(run, title.clone(), &repeats, scenario, detail, &format!("c{anchor}-{place}"));
        view.place = place;
        let profile = run.data.profiles.iter().find(|profile| profile.scenario == name);
        view.profile = profile.map(|profile| profile::view(profile, input)).transpose()?;
        runs.push(view);
        all_repeats.push(RepeatsOfRun { data: &run.data, scenario, title, repeats });
    }
    let mut drawn: Vec<&Metric> = Vec::new();
    for metric in all_repeats.iter().flat_map(|run| &run.scenario.metrics) {
        if !drawn.iter().any(|one| one.name == metric.name) {
            drawn.push(metric);
        }
    }
    if detail.purpose == Purpose::Files {
        drawn.truncate(1);
    }
    let parameters =
        scenario.iter().flat_map(|scenario| &scenario.parameters).map(|(name, value)| format!("{name} = {value}"));
    Ok(ScenarioView {
        anchor,
        open: input.runs.first().is_some_and(|base| is_of_storage(&base.run.suite)),
        name: name.into(),
        figure: match main.and_then(|row| row.cells.first().map(|cell| (row, cell))) {
            Some((row, Cell::Measured(value))) => match value.spread {
                Some(spread) => format!("{} ±{}", row.unit.show(value.median), percent(spread)),
                None => row.unit.show(value.median),
            },
            _ => "–".into(),
        },
        measures: scenario.and_then(|scenario| scenario.measures.clone()).unwrap_or_default(),
        instrument: scenario.map(|scenario| scenario.instrument.to_string()).unwrap_or_default(),
        parameters: parameters.collect::<Vec<_>>().join(", "),
        direction: main
            .map(|row| if row.better == Better::Higher { TEXTS.higher.clone() } else { TEXTS.lower.clone() }),
        reasons: main.map(|row| reasons(input.table, row)).unwrap_or_default(),
        figures: rows.iter().flat_map(|row| figures(input.table, row)).collect(),
        several_metrics: rows.len() > 1,
        metrics: drawn
            .into_iter()
            .enumerate()
            .filter_map(|(place, metric)| {
                let row = rows.iter().copied().find(|row| row.metric == metric.name);
                metric_view(input.table, &all_repeats, metric, row, [anchor, place])
            })
            .collect(),
        latencies: latencies(&all_repeats, scenario.map_or(&[][..], |scenario| &scenario.metrics), anchor)?,
        metric: metric.map(|metric| metric.name.clone()).unwrap_or_default(),
        runs,
    })
}

/// What a run is called over its column.
pub(super) fn title(table: &Table, data: &RunData) -> String {
    let of_run = |column: &&stend_compare::table::Column| matches!(&column.origin, ColumnOrigin::Run { id, .. } if *id == data.run.id);
    match table.columns.iter().find(of_run) {
        Some(column) => column.title.clone(),
        None => format!("{} {}", data.run.machine.name, data.run.id),
    }
}

/// The figure that the table gives for a run.
fn measured<'a>(table: &Table, row: &'a Row, data: &RunData) -> Option<&'a Measured> {
    let index = table
        .columns
        .iter()
        .position(|column| matches!(&column.origin, ColumnOrigin::Run { id, .. } if *id == data.run.id))?;
    row.measured(index)
}

fn figures(table: &Table, row: &Row) -> Vec<FigureView> {
    let one = |(column, cell): (&stend_compare::table::Column, &Cell)| {
        let mut view = FigureView {
            title: column.title.clone(),
            metric: row.metric.clone(),
            first_of_metric: false,
            value: "–".into(),
            words: String::new(),
            statistics: STATISTICS.iter().map(|one| StatisticView::of(one, cell.measured(), row.unit)).collect(),
            verdict: None,
            factor: String::new(),
            evidence: None,
            settle: None,
            note: String::new(),
            of_ceilings: Vec::new(),
            reason: None,
            published: column.reference().is_some(),
        };
        match cell {
            Cell::Measured(value) => {
                view.value = row.unit.show(value.median);
                view.of_ceilings = value.of_ceilings.iter().map(of_ceiling).collect();
                if let Some(against) = &value.against_base {
                    view.verdict = Some(verdict(against));
                    view.evidence = Some(evidence(against));
                    view.settle = to_settle(against);
                }
            }
            Cell::Published(published) => {
                view.value = published.value.map(|value| row.unit.show(value)).unwrap_or_default();
                if published.value.is_none() {
                    view.words = published.words.clone().unwrap_or_default();
                }
                view.factor = advantage(published);
                view.note = published.note.clone().unwrap_or_default();
            }
            Cell::Nothing { why } => view.reason = Some(notes::lack(why)),
            Cell::Absent => return None,
        }
        Some(view)
    };
    let mut figures: Vec<_> = table.columns.iter().zip(&row.cells).filter_map(one).collect();
    if let Some(first) = figures.first_mut() {
        first.first_of_metric = true;
    }
    figures
}

/// What a verdict rests on.
fn evidence(against: &AgainstBase) -> Phrase {
    let parts = [
        ("evidence-ratio", against.interval.map(text::ratio_interval)),
        ("evidence-q", against.q.map(text::probability)),
        ("evidence-floor", Some(percent(against.floor))),
    ];
    let said =
        parts.into_iter().filter_map(|(name, figure)| Some(words::say(name, &[("figure", Given::Figure(&figure?))])));
    Phrase::joined(&said.collect::<Vec<_>>(), ", ")
}

/// The drawings of one metric over all runs that have it; none where no repeat has a value.
fn metric_view(
    table: &Table,
    runs: &[RepeatsOfRun],
    metric: &Metric,
    row: Option<&Row>,
    [anchor, place]: [usize; 2],
) -> Option<MetricView> {
    let mut panels = Vec::new();
    let mut values = Vec::new();
    for RepeatsOfRun { data, scenario, title, repeats } in runs {
        let Some(metric) = scenario.metrics.iter().find(|one| one.name == metric.name) else { continue };
        let counted = repeats.iter().filter(|repeat| repeat.counts()).filter_map(|repeat| repeat.value(metric));
        values.push(Values { title: title.clone(), values: counted.collect() });
        panels.push(panel(title, repeats, metric, row.and_then(|row| measured(table, row, data))));
    }
    let id = format!("{anchor}-{place}");
    let scenario = &runs.first()?.scenario.name;
    let title = TEXTS.repeats.before(format_args!("{scenario}, {}", metric.name));
    Some(MetricView {
        name: metric.name.clone(),
        main: place == 0,
        dots: dots(panels, metric.unit, format!("d{id}"), title)?,
        histogram: histogram(values, metric.unit, &format!("h{id}")),
    })
}

fn panel(title: &str, repeats: &[&Repeat], metric: &Metric, measured: Option<&Measured>) -> PanelData {
    let repeated = |repeat: &&Repeat| {
        let value = repeat.value(metric);
        let shown = value.map(|value| text::precise(metric.unit, value)).unwrap_or_default();
        Repeated { value, class: class(repeat), title: tooltip(repeat, &shown) }
    };
    PanelData {
        title: title.into(),
        repeats: repeats.iter().map(repeated).collect(),
        median: measured.map(|value| value.median),
        interval: measured.and_then(|value| value.interval),
    }
}

/// What was sampled of a repeat.
pub(super) fn segment<'a>(repeat: &Repeat, series: Vec<&'a Series>) -> Segment<'a> {
    let valid = class(repeat) == "valid" || class(repeat) == "warmup";
    let number = label(repeat);
    let label = if valid { number.clone() } else { format!("{number} ✕") };
    let measured = repeat
        .report
        .as_ref()
        .and_then(|report| report.t_ns.map(|began| (began, began.saturating_add_unsigned(report.wall_ns))));
    let span = observed(repeat, &series);
    let (class, title, moments) = (class(repeat), tooltip(repeat, ""), moments(repeat));
    Segment { repeat: number, label, class, title, series, span, measured, moments }
}

fn scenario_run(
    run: &Indexed,
    title: String,
    repeats: &[&Repeat],
    scenario: &Scenario,
    detail: Detail,
    prefix: &str,
) -> ScenarioRunView {
    let segment = |repeat: &&Repeat| Some(segment(repeat, run.series.get(&repeat.sequence)?.clone()));
    let mut segments: Vec<Segment> = repeats.iter().filter_map(segment).collect();
    let threads = run.data.run.machine.hardware.threads;
    let timeline = timeline(&segments, threads, detail, format!("{prefix}-t"));
    let has_series = !segments.is_empty();
    let seconds = Axis::new(&segments).seconds;
    if timeline.is_some() {
        segments.iter_mut().for_each(|segment| segment.series.retain(|series| !timeline::draws(series)));
    }
    let charts = charts(&segments, threads, detail, prefix);
    let evidence = |repeat: &&Repeat| repeat.report.as_ref().and_then(|report| report.evidence.clone());
    let build = |repeat: &&Repeat| {
        let begin = repeat.begin.as_ref()?;
        let said = |language| {
            let part =
                |(name, value): (&String, &String)| format!("{}: {value}", words::machine::part_called(name, language));
            let version = begin.version.iter().map(|version| format!("{} {version}", begin.instrument));
            version.chain(begin.build.iter().map(part)).collect::<Vec<_>>().join(" · ")
        };
        Some(Phrase::of(said)).filter(|said| !said.english().is_empty())
    };
    let has_values = |metric: &&Metric| repeats.iter().any(|repeat| repeat.value(metric).is_some());
    let metrics: Vec<&Metric> = scenario.metrics.iter().filter(has_values).collect();
    ScenarioRunView {
        place: 0,
        title,
        repeats: repeats.iter().map(|repeat| repeat_view(&run.data, repeat, &metrics)).collect(),
        metrics: metrics.iter().map(|metric| metric.name.clone()).collect(),
        gates: gates(&scenario.gates, repeats),
        commands: distinct(repeats.iter().map(|repeat| shell_words(&repeat.command))),
        jobs: distinct(repeats.iter().filter_map(|repeat| (run.data.job)(run.data.run, scenario, repeat))),
        evidence: distinct(repeats.iter().filter_map(evidence)).iter().map(words::checks).collect(),
        faults: repeats.iter().flat_map(|repeat| faults(repeat, run.series.get(&repeat.sequence))).collect(),
        build: distinct(repeats.iter().filter_map(build)),
        profile: None,
        has_series,
        seconds,
        samples: match detail.purpose {
            Purpose::Page if has_series => samples(timeline.as_ref(), &charts, detail),
            _ => String::new(),
        },
        timeline,
        charts,
    }
}

/// What happened while a repeat ran: what was marked, and at its end why it does not count.
fn moments(repeat: &Repeat) -> Vec<Moment> {
    let class = |kind: MarkKind| match kind {
        MarkKind::Phase => "phase",
        MarkKind::Operation => "operation",
        MarkKind::Fault => "fault",
        MarkKind::Recovery => "recovery",
    };
    let marks = repeat.marks.iter().map(|mark| Moment {
        t_ns: mark.t_ns,
        class: class(mark.kind),
        label: words::label(&mark.label),
    });
    let gates = reason(&repeat.outcome).map(|label| Moment { t_ns: i64::MAX, class: "gate", label });
    marks.chain(gates).collect()
}

/// What the faults of a repeat did, with the repeat's number.
fn faults(repeat: &Repeat, series: Option<&Vec<&Series>>) -> Vec<Phrase> {
    let all = report_faults::what_they_did(repeat, series.map(Vec::as_slice).unwrap_or_default());
    all.into_iter().map(|words| words.after(label(repeat))).collect()
}

fn repeat_view(data: &RunData, repeat: &Repeat, metrics: &[&Metric]) -> RepeatView {
    const SHOWN: usize = 2000;
    let value = |metric: &&Metric| repeat.value(metric).map(|value| text::precise(metric.unit, value));
    let session = data.sessions.iter().find(|session| session.number == repeat.session);
    let began = session.map_or(repeat.started_at, |session| session.began(repeat));
    let output = &repeat.error_output;
    let start = output.char_indices().rev().nth(SHOWN).map_or(0, |(index, _)| index);
    RepeatView {
        label: label(repeat),
        session: repeat.session + 1,
        started: began.strftime("%m-%d %H:%M:%S").to_string(),
        values: metrics.iter().map(|metric| value(metric).unwrap_or_default()).collect(),
        wall: repeat.report.as_ref().map(|report| text::duration(report.wall_ns as f64)).unwrap_or_default(),
        class: class(repeat),
        warmup: repeat.phase == Phase::Warmup,
        outcome: outcome(&repeat.outcome),
        reason: reason(&repeat.outcome),
        check: repeat.report.as_ref().map(|report| match report.check {
            Check::Passed => TEXTS.check_passed.clone(),
            Check::Failed => TEXTS.check_failed.clone(),
            Check::None => TEXTS.check_none.clone(),
        }),
        error_output: if repeat.outcome == Outcome::Valid { String::new() } else { output[start..].to_owned() },
    }
}

fn outcome(outcome: &Outcome) -> Phrase {
    match outcome {
        Outcome::Valid => TEXTS.valid.clone(),
        Outcome::Invalid(_) => TEXTS.invalid.clone(),
        Outcome::Failed(_) => TEXTS.failed.clone(),
    }
}

/// Why a repeat does not count.
fn reason(outcome: &Outcome) -> Option<Phrase> {
    (*outcome != Outcome::Valid).then(|| words::causes(outcome.causes()))
}

/// A repeat in a drawing: its number and value, and what became of it unless it is valid.
pub(super) fn tooltip(repeat: &Repeat, value: &str) -> Phrase {
    let reason = reason(&repeat.outcome);
    let outcome = reason.as_ref().map(|_| outcome(&repeat.outcome));
    let parts = [Some(label(repeat).into()), Some(figure(value)), outcome, reason].into_iter().flatten();
    Phrase::joined(&parts.filter(|part| !part.english().is_empty()).collect::<Vec<_>>(), " · ")
}

/// A repeat's number from 1, as people count; `w` before it for a warm-up.
fn label(repeat: &Repeat) -> String {
    let mark = if repeat.phase == Phase::Warmup { "w" } else { "" };
    format!("{mark}{}", repeat.number + 1)
}

pub(super) fn class(repeat: &Repeat) -> &'static str {
    match (&repeat.outcome, repeat.phase) {
        (Outcome::Valid, Phase::Measured) => "valid",
        (Outcome::Valid, Phase::Warmup) => "warmup",
        (Outcome::Invalid(_), _) => "invalid",
        (Outcome::Failed(_), _) => "failed",
    }
}

/// Each text once, in the order in which they first appear.
fn distinct<T: PartialEq>(texts: impl Iterator<Item = T>) -> Vec<T> {
    let mut list = Vec::new();
    for text in texts {
        if !list.contains(&text) {
            list.push(text);
        }
    }
    list
}
