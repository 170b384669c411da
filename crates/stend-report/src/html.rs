//! The report as one file of HTML that needs no network: style, script and drawings are inside it.
//!
//! It is made of views: plain values that say what stands where. The templates only lay them out and escape every text.

mod figures;
mod fold;
mod forest;
mod gates;
mod latency;
mod overview;
mod profile;
mod published;
mod questions;
pub mod sampled;
mod samples;
mod scenario;
mod session;
#[cfg(test)]
mod tests;
mod wide;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use anyhow::{Context, Result};
use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use jiff::Timestamp;
use serde_json::json;
use sha2::{Digest, Sha256};
use stend_model::run::{Repeat, Run, Series, Session};
use stend_model::suite::Scenario;

use crate::words::language::Language;
use crate::words::{self, Given};
use stend_compare::curves;
use stend_compare::table::{Cell, ColumnOrigin, Row, Table};
use stend_model::profile::Profile;
use stend_stats::LEAST_NUMBERS;

use super::answer::answer;
use super::chart::Purpose;
use super::conformance;
use super::curve::{CurvesView, curves_view};
use super::heat::{HeatMaps, heat_maps};
use super::notes;
use super::numbers::Writing;
use super::phrase::{Phrase, called};
use super::standing;
use super::text;
use super::texts::{Summary, TEXTS, Texts};
use super::weighing;
use super::wide::matrix_blocks;
pub use figures::{Figure, Kind, figures};
use fold::Folded;
use forest::ForestView;
use overview::{CardView, DiffersView, MachineView, MissingView, SourceView, TableView, WeighingView};
use published::PublishedView;
use questions::QuestionView;
use scenario::ScenarioView;
use session::SessionView;
use wide::WideView;

/// What a report is made from.
pub struct Input<'a> {
    /// The comparison that it shows.
    pub table: &'a Table,
    /// The runs whose repeats and samples can be looked into; a run of the table that is not among them has figures only.
    pub runs: &'a [RunData<'a>],
    /// The command that writes it.
    pub command: &'a str,
    /// When it is written.
    pub generated_at: Timestamp,
}

/// A run with all that was observed in it.
#[derive(Clone, Copy)]
pub struct RunData<'a> {
    /// What it is.
    pub run: &'a Run,
    /// Its sessions.
    pub sessions: &'a [Session],
    /// Its repeats, in the order in which they were made.
    pub repeats: &'a [Repeat],
    /// Its sample series, each with the `sequence` of its repeat.
    pub series: &'a [(u32, Series)],
    /// Where the time goes, for the scenarios that were profiled.
    pub profiles: &'a [Profile],
    /// The job that a tool was given for a repeat, as text, if it was.
    pub job: JobOf,
}

/// What a tool was told in a job file, for one repeat.
pub type JobOf = fn(&Run, &Scenario, &Repeat) -> Option<String>;

#[derive(Template)]
#[template(path = "report.html")]
struct Page {
    t: &'static Texts,
    title: Phrase,
    summary: Phrase,
    /// The base's title.
    base: String,
    answer: Vec<Phrase>,
    /// The same by instrument.
    parts: Vec<Phrase>,
    /// In what the other machines differ, in short.
    differs: Vec<DiffersView>,
    forests: Vec<ForestView>,
    published: Vec<PublishedView>,
    when: Vec<SessionView>,
    card: Option<CardView>,
    machines: Vec<MachineView>,
    /// How verdicts are reached.
    method: Vec<&'static Phrase>,
    missing: Vec<Phrase>,
    /// What virtual machines showed on their screens, as base64 of PNG.
    screens: Vec<(Phrase, String)>,
    clocks: Vec<Phrase>,
    wide: Vec<WideView>,
    table: TableView,
    /// The geometric mean of each other run's ratios.
    means: Vec<Phrase>,
    tests: Vec<conformance::Section>,
    test_heads: [Phrase; 6],
    weighings: Vec<WeighingView>,
    weighing_meaning: Phrase,
    heat: Vec<HeatMaps>,
    curves: Vec<CurvesView>,
    notes: Vec<Phrase>,
    left_out: Vec<Phrase>,
    not_measured: Vec<MissingView>,
    /// The markup of each.
    scenarios: Vec<String>,
    /// The texts of what is folded away in them, in each language but English.
    texts: Vec<(&'static str, String)>,
    sources: Vec<SourceView>,
    questions: Vec<QuestionView>,
    generated_at: String,
    command: String,
    version: &'static str,
    style: &'static str,
    script: &'static str,
    script_digest: String,
}

/// A scenario's part of the page.
#[derive(Template)]
#[template(path = "scenario.html")]
struct ScenarioPart<'a> {
    t: &'static Texts,
    s: &'a ScenarioView,
}

/// The style sheet of every page.
pub(super) const STYLE: &str = include_str!("../templates/report.css");
/// The script of a report.
static SCRIPT: LazyLock<String> = LazyLock::new(|| {
    script(concat!(
        include_str!("../templates/page.js"),
        include_str!("../templates/table.js"),
        include_str!("../templates/drill.js"),
        include_str!("../templates/points.js"),
        include_str!("../templates/charts.js"),
        include_str!("../templates/axis.js"),
    ))
});

/// A page's script: its parts in one function, so that what one declares the next ones use, and the page has no global names. Before them
/// stands what they need of each language.
pub(super) fn script(parts: &str) -> String {
    let of_language = |language: &Language| {
        let writing = Writing::of(*language);
        let (second, number) = (writing.unit("s"), TEXTS.number.say(*language));
        json!({ "code": language.code(), "point": writing.point, "space": writing.space, "second": second, "number": number })
    };
    let languages: serde_json::Value = Language::ALL.iter().map(of_language).collect();
    format!("(function () {{\n\"use strict\";\nvar LANGUAGES = {languages};\n{parts}}})();\n")
}

/// Writes the report.
///
/// # Errors
/// Only if memory for the text runs out, or a profile that came from elsewhere is none.
pub fn render(input: &Input) -> Result<String> {
    let names = scenario_names(input);
    let titles = notes::ColumnTitles::of(&input.table.columns);
    let base = input.table.columns.first();
    let machines = overview::machines(input);
    let (heat, curves) = sweeps(input);
    let part =
        |view: ScenarioView| ScenarioPart { t: &TEXTS, s: &view }.render().context("a scenario could not be written");
    let parts = scenario::scenarios(input, &names, Purpose::Page, part)?;
    let mut folded = Folded::default();
    let page = Page {
        t: &TEXTS,
        title: title(input),
        summary: summary(input),
        base: base.map(|column| column.title.clone()).unwrap_or_default(),
        answer: conformance::headlines(input.table).iter().chain(&answer(input.table)).map(unbroken).collect(),
        parts: standing::parts(input.table).iter().map(unbroken).collect(),
        card: overview::card(input),
        forests: forest::views(input.table, &names),
        published: published::views(input.table, &names),
        when: session::views(input),
        method: method(&machines),
        differs: overview::differs(&machines),
        machines,
        missing: overview::missing_sensors(input),
        screens: overview::screens(input),
        clocks: overview::clocks(input),
        wide: wide::wide(input.table, &names),
        table: overview::table(input, &names),
        means: standing::means(input.table, true),
        tests: conformance::sections(input.table),
        test_heads: conformance::heads(),
        weighings: overview::weighings(input.table),
        weighing_meaning: weighing::meaning(),
        heat,
        curves,
        notes: notes::notes(&input.table.notes, &titles),
        left_out: input.table.left_out.iter().map(|one| notes::left_out(one, &titles)).collect(),
        not_measured: overview::not_measured(input),
        scenarios: parts.iter().map(|part| folded.fold(part)).collect(),
        texts: folded.texts(),
        sources: overview::sources(input.table),
        questions: questions::questions(input),
        generated_at: text::moment(input.generated_at),
        command: input.command.to_owned(),
        version: env!("CARGO_PKG_VERSION"),
        style: STYLE,
        script: &SCRIPT,
        script_digest: BASE64.encode(Sha256::digest(SCRIPT.as_bytes())),
    };
    page.render().context("the report could not be written")
}

/// Of what the page is: of an A/B run alone the machine and both sides, or else the base and what is held against it; and the suite.
fn title(input: &Input) -> Phrase {
    let of = of_what(input);
    let Some(suite) = input.runs.first().map(|data| &data.run.suite) else {
        return if of.english().is_empty() { "stend".into() } else { of };
    };
    let suite = Phrase::of(|language| suite.title_in(language.code()).to_owned());
    if of.english().is_empty() || suite.english().is_empty() {
        return if of.english().is_empty() { suite } else { of };
    }
    words::say("title-with-suite", &[("of", Given::Said(&of)), ("suite", Given::Said(&suite))])
}

fn of_what(input: &Input) -> Phrase {
    let others = text::other_runs(input.table);
    if let ([[base, other]], 1) = (&overview::other_sides(input)[..], others.len())
        && let ([a], [b]) = (&base.sides[..], &other.sides[..])
    {
        let (a, b) = (called(&a.label), called(&b.label));
        let machine = ("machine", Given::Text(&base.machine.name));
        return words::say("title-of-sides", &[machine, ("a", Given::Said(&a)), ("b", Given::Said(&b))]);
    }
    let base = called(input.table.columns.first().map_or("", |base| base.title.as_str()));
    let of_base = ("base", Given::Said(&base));
    match &others[..] {
        [] => base,
        [(_, other)] => words::say("title-of-two", &[of_base, ("other", Given::Said(&called(&other.title)))]),
        others => words::say("title-of-several", &[of_base, ("count", Given::Count(others.len()))]),
    }
}

/// How verdicts are reached between the runs that are compared: of pairs otherwise than of runs of their own.
fn method(machines: &[MachineView]) -> Vec<&'static Phrase> {
    let in_pairs = machines.iter().any(|machine| machine.other_side);
    let apart = !in_pairs || machines.iter().any(|machine| !machine.other_side);
    [(apart, &TEXTS.method_verdict), (in_pairs, &TEXTS.method_pairs)]
        .into_iter()
        .filter_map(|(said, words)| said.then_some(words))
        .collect()
}

/// The same with factors that do not end a line behind their sign.
fn unbroken(phrase: &Phrase) -> Phrase {
    Phrase::of(|language| phrase.say(language).replace("× ", "×\u{a0}"))
}

/// What is drawn of families of scenarios: matrices, figures along an axis, and latency over throughput.
fn sweeps(input: &Input) -> (Vec<HeatMaps>, Vec<CurvesView>) {
    let blocks = matrix_blocks(input.table);
    let heat = blocks.iter().enumerate().filter_map(|(place, block)| heat_maps(block, place));
    let curves: Vec<_> = curves::sweeps(input.table).into_iter().chain(curves::curves(input.table)).collect();
    let curves = curves.iter().enumerate().filter_map(|(place, curves)| curves_view(input.table, curves, place));
    (heat.collect(), curves.collect())
}

/// All scenarios: those of the table in its order, then those that only the runs know. A scenario's place here is its name
/// on the page.
fn scenario_names<'a>(input: &Input<'a>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    let of_table = input.table.rows.iter().map(|row| row.scenario.as_str());
    let of_runs =
        input.runs.iter().flat_map(|data| data.run.suite.scenarios.iter().map(|scenario| scenario.name.as_str()));
    for name in of_table.chain(of_runs) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Why most of the base's figures are missing; figures within the reasons, such as shares, do not tell them apart.
fn commonest_lack(table: &Table) -> Option<Phrase> {
    let mut reasons: Vec<(String, Phrase, usize)> = Vec::new();
    for row in table.rows.iter().filter(|row| row.main) {
        let Some(Cell::Nothing { why }) = row.cells.first() else { continue };
        let reason = notes::lack(why);
        let words: String = reason.english().chars().filter(|c| !c.is_ascii_digit()).collect();
        match reasons.iter_mut().find(|(other, ..)| *other == words) {
            Some((.., count)) => *count += 1,
            None => reasons.push((words, reason, 1)),
        }
    }
    // Of equally common ones the first.
    reasons.into_iter().rev().max_by_key(|(.., count)| *count).map(|(_, reason, _)| reason)
}

fn summary(input: &Input) -> Phrase {
    let Some(base) = input.table.columns.first() else { return TEXTS.nothing.clone() };
    let scenarios_with = |is: fn(&Cell) -> bool| {
        let rows = input.table.rows.iter().filter(|row| row.cells.first().is_some_and(is));
        rows.map(|row| row.scenario.as_str()).collect::<BTreeSet<_>>()
    };
    let measured = scenarios_with(|cell| cell.measured().is_some());
    let without = scenarios_with(|cell| matches!(cell, Cell::Nothing { .. })).difference(&measured).count();
    // That a test passes takes one repeat.
    let is_figure = |row: &&Row| row.main && input.table.conformance.iter().all(|of| of.scenario != row.scenario);
    let counted = |row: &Row| row.measured(0).map(|value| value.valid as usize);
    let few =
        input.table.rows.iter().filter(is_figure).filter_map(counted).filter(|valid| *valid < LEAST_NUMBERS).count();
    let (sessions, boots) = match &base.origin {
        ColumnOrigin::Run { sessions, boots, .. } => (*sessions, *boots),
        ColumnOrigin::Published { .. } => (1, 1),
    };
    // Skipped scenarios may have no row of their own.
    let skipped = input.runs.first().map_or(0, |data| {
        let has_row = |name: &str| input.table.rows.iter().any(|row| row.scenario == name);
        data.run.skipped.iter().filter(|skipped| !has_row(&skipped.scenario)).count()
    });
    let why = measured.is_empty().then(|| commonest_lack(input.table)).flatten();
    Summary {
        why,
        measured: measured.len(),
        skipped: without + skipped,
        few,
        machine: input.runs.first().map_or(&base.title, |data| &data.run.machine.name),
        moment: input.runs.first().map(|data| text::moment(data.run.started_at)),
        sessions: text::sessions_of(sessions, boots),
    }
    .phrase()
}
