//! The first page: the machines, the table, what has no figure, and the sources.

use std::collections::{BTreeMap, BTreeSet};

use stend_model::machine::Difference;
use stend_model::picture::Picture;
use stend_model::run::{Run, Session};

use crate::words::{self, Given};
use stend_compare::table::{AgainstBase, Cell, Column, ColumnOrigin, Published, Row, Table, Verdict};
use stend_compare::weighing::{WeighedRow, Weighing};

use super::scenario::title;
use super::session::Strip;
use super::{Input, RunData};
use crate::clocks as report_clocks;
use crate::notes;
use crate::numbers::in_language;
use crate::phrase::{Phrase, called, of_ceiling};
use crate::statistics::{StatisticView, of_each};
use crate::text::{self, factor, interval, marked_change, word};
use crate::texts::TEXTS;
use crate::weighing;

/// In what another machine differs from the base.
pub(super) struct MachineView {
    pub(super) title: String,
    /// Whether it is the base's own, on the other side of an A/B run.
    pub(super) other_side: bool,
    /// Those that say most come first.
    pub(super) differences: Vec<DifferenceView>,
    /// The first differences in words.
    pub(super) in_short: Phrase,
}

/// In what one or several machines differ from the base, in short.
pub(super) struct DiffersView {
    pub(super) titles: Phrase,
    pub(super) words: Phrase,
    /// Whether there is more to read about it.
    pub(super) in_full: bool,
}

/// One of them: what it is, how it is with the base, and how with this machine.
pub(super) struct DifferenceView {
    pub(super) subject: Phrase,
    pub(super) values: [Phrase; 2],
}

/// The table.
pub(super) struct TableView {
    /// The base's title.
    pub(super) base: String,
    /// Heads of the columns after scenario, metric and the base's own: those of the other runs.
    pub(super) heads: Vec<HeadView>,
    pub(super) rows: Vec<RowView>,
    /// Whether some rows are not their scenario's main metric, and shown only if the reader asks.
    pub(super) has_minor: bool,
    /// Whether another run is judged here, so that rows can be chosen by verdict.
    pub(super) judged: bool,
}

impl TableView {
    /// What is to be said above it where no figure is better or worse than the base's: that all are the same only where all are.
    pub(super) fn without_difference(&self) -> Option<&'static Phrase> {
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        let verdicts: BTreeSet<_> =
            cells.filter_map(|cell| cell.verdict.as_ref()).map(|verdict| verdict.class).collect();
        let has = |verdict: Verdict| verdicts.contains(word(verdict));
        if verdicts.is_empty() || has(Verdict::Better) || has(Verdict::Worse) {
            return None;
        }
        Some(match (has(Verdict::Same), has(Verdict::Unresolved)) {
            (_, false) => &TEXTS.nothing_differs,
            (true, true) => &TEXTS.some_unresolved,
            (false, true) => &TEXTS.all_unresolved,
        })
    }
}

pub(super) struct HeadView {
    pub(super) title: String,
    pub(super) grade: Option<Phrase>,
    pub(super) hint: String,
}

pub(super) struct RowView {
    pub(super) anchor: usize,
    pub(super) scenario: String,
    pub(super) metric: String,
    /// Figures are sorted within their unit.
    pub(super) unit: &'static str,
    pub(super) main: bool,
    pub(super) base: CellView,
    pub(super) statistics: Vec<StatisticView>,
    pub(super) cells: Vec<CellView>,
}

/// A cell: a value, or words, or what became of it where there is neither.
#[derive(Default)]
pub(super) struct CellView {
    pub(super) value: String,
    pub(super) words: String,
    /// What became of it, where there is no value; why stands below the table.
    pub(super) lack: Option<Phrase>,
    /// How it stands to the base, by test.
    pub(super) verdict: Option<VerdictView>,
    /// How the base stands to it, without a test.
    pub(super) factor: String,
    /// The shares that are reached of its ceilings.
    pub(super) of_ceilings: Vec<Phrase>,
    /// What is shown when the pointer rests on it; all of it stands elsewhere on the page too.
    pub(super) hint: String,
    /// What the column is sorted by; empty sorts last. In the base's column it is the figure, in the others the factor
    /// between the machines, with the metric's direction in it: figures of different units have no order.
    pub(super) key: String,
    /// The repeats that count, drawn.
    pub(super) strip: String,
}

pub(super) struct VerdictView {
    /// `better`, `worse`, `same`, `unresolved`.
    pub(super) class: &'static str,
    /// The same in words, for who does not see the mark.
    pub(super) word: &'static Phrase,
    pub(super) text: String,
    /// The 95 % interval of the change, if there is one.
    pub(super) interval: String,
}

/// Scenarios without a figure, for one reason.
pub(super) struct MissingView {
    pub(super) scenarios: Vec<String>,
    pub(super) machine: String,
    pub(super) reason: Phrase,
    pub(super) remedy: String,
}

/// A publication.
pub(super) struct SourceView {
    pub(super) reference: String,
    pub(super) source: String,
    pub(super) machines: Vec<(String, String)>,
}

/// What the machines are: a line a part, a column a machine; one column where they are alike in all of it.
pub(super) struct CardView {
    /// Empty for one machine.
    pub(super) heads: Vec<String>,
    pub(super) lines: Vec<CardLine>,
}

pub(super) struct CardLine {
    pub(super) part: &'static Phrase,
    pub(super) machines: Vec<Phrase>,
    pub(super) differs: bool,
}

pub(super) fn card(input: &Input) -> Option<CardView> {
    let of_machine = |data: &RunData| -> [Phrase; 5] {
        std::array::from_fn(|place| {
            Phrase::of(|language| words::machine::five_lines_without_ids(&data.run.machine, language)[place].clone())
        })
    };
    let mut machines: Vec<(String, [Phrase; 5])> = Vec::new();
    for data in input.runs {
        let lines = of_machine(data);
        if machines.iter().all(|(_, other)| *other != lines) {
            machines.push((title(input.table, data), lines));
        }
    }
    let line = |(place, part): (usize, &'static Phrase)| {
        let machines: Vec<Phrase> = machines.iter().map(|(_, lines)| lines[place].clone()).collect();
        let differs = machines.iter().any(|other| *other != machines[0]);
        let is_known = machines.iter().any(|line| !line.english().is_empty());
        is_known.then_some(CardLine { part, machines, differs })
    };
    let parts = [&TEXTS.processor, &TEXTS.memory, &TEXTS.kernel, &TEXTS.compiler, &TEXTS.system_and_ids];
    let lines: Vec<_> = parts.into_iter().enumerate().filter_map(line).collect();
    let heads = if machines.len() > 1 { machines.iter().map(|(title, _)| title.clone()).collect() } else { Vec::new() };
    (!lines.is_empty()).then_some(CardView { heads, lines })
}

/// The base's run with each other run that is looked into too and is the other side of it.
pub(super) fn other_sides<'a>(input: &Input<'a>) -> Vec<[&'a Run; 2]> {
    let Some((base, others)) = input.runs.split_first() else { return Vec::new() };
    others.iter().filter(|other| other.run.is_other_side_of(base.run)).map(|other| [base.run, other.run]).collect()
}

pub(super) fn machines(input: &Input) -> Vec<MachineView> {
    let sides = other_sides(input);
    let view = |column: &stend_compare::table::Column| MachineView {
        title: column.title.clone(),
        other_side: sides.iter().any(|[_, other]| column.run_id() == Some(other.id.as_str())),
        in_short: in_short(&column.differences),
        differences: words::machine::most_telling_first(&column.differences).into_iter().map(difference).collect(),
    };
    text::other_runs(input.table).into_iter().map(|(_, column)| view(column)).collect()
}

/// The same of all machines in short; those of which the same is to be said stand together.
pub(super) fn differs(machines: &[MachineView]) -> Vec<DiffersView> {
    let mut alike: Vec<(Phrase, bool, Vec<Phrase>)> = Vec::new();
    for machine in machines {
        let in_full = !machine.differences.is_empty();
        let words = match (in_full, machine.other_side) {
            (true, _) => &machine.in_short,
            (false, true) => &TEXTS.same_machine_in_turns,
            (false, false) => &TEXTS.same_machine,
        };
        let title = called(&machine.title);
        match alike.iter_mut().find(|(other, ..)| other == words) {
            Some((.., titles)) => titles.push(title),
            None => alike.push((words.clone(), in_full, vec![title])),
        }
    }
    let view =
        |(words, in_full, titles): (_, _, Vec<Phrase>)| DiffersView { titles: notes::joined(&titles), words, in_full };
    alike.into_iter().map(view).collect()
}

fn difference(difference: &Difference) -> DifferenceView {
    // Of sizes in a list the model made the text.
    let sizes = matches!(difference.what.as_str(), "caches" | "disks");
    let value = |place: usize| {
        let raw = [&difference.before, &difference.after][place];
        // How the kernel mitigates is told in its own words.
        if difference.what.starts_with("mitigations.") && !raw.is_empty() {
            return raw.into();
        }
        Phrase::of(|language| {
            let value = words::machine::words_of(difference, language).values[place].replace('\n', "; ");
            if sizes { in_language(&value, language) } else { value }
        })
    };
    DifferenceView {
        subject: Phrase::of(|language| words::machine::words_of(difference, language).subject),
        values: [value(0), value(1)],
    }
}

/// The differences that say most about the machines, for who will not open the list.
fn in_short(differences: &[Difference]) -> Phrase {
    const SHOWN: usize = 4;
    let told = words::machine::most_telling_first(differences);
    Phrase::of(|language| {
        let short = |one: &&Difference| words::machine::words_of(one, language).shortened(language).sentence(language);
        let more = told.len().saturating_sub(SHOWN);
        let shown = told.iter().take(SHOWN).map(short);
        shown.chain((more > 0).then(|| format!("+{more}"))).collect::<Vec<_>>().join("; ")
    })
}

/// How the clocks of machines that are reached over a link stood beside the lab's, a line a session; and which machines no link reaches.
pub(super) fn clocks(input: &Input) -> Vec<Phrase> {
    let of_session = |data: &RunData, session: &Session| {
        let words = report_clocks::how_they_stood(session.clocks.as_ref()?);
        // Of a single one nothing need be said.
        let number = if data.sessions.len() > 1 { (session.number + 1).to_string() } else { String::new() };
        let of = [("machine", Given::Text(&data.run.machine.name)), ("session", Given::Text(&number))];
        Some(words::say("clocks-of-session", &[of[0], of[1], ("clocks", Given::Said(&words))]))
    };
    let of_run = |data: &RunData| -> Vec<Phrase> {
        if data.run.carried {
            return vec![words::say("clocks-carried", &[("machine", Given::Text(&data.run.machine.name))])];
        }
        data.sessions.iter().filter_map(|session| of_session(data, session)).collect()
    };
    input.runs.iter().flat_map(of_run).collect()
}

/// What the screens of virtual machines showed when the last session in each ended, or the last repeat that tells of them.
pub(super) fn screens(input: &Input) -> Vec<(Phrase, String)> {
    let said = |machine: &str, picture: &Picture| {
        (words::say("screen-of", &[("machine", Given::Text(machine))]), picture.in_base64())
    };
    let of_run = |data: &RunData| -> Vec<_> {
        let reports = data.repeats.iter().filter_map(|repeat| repeat.report.as_ref());
        let of_repeats: BTreeMap<_, _> = reports.flat_map(|report| &report.screens).collect();
        let of_session = data.sessions.iter().rev().find_map(|session| session.screen.as_ref());
        let own = of_session.map(|picture| said(&data.run.machine.name, picture));
        own.into_iter().chain(of_repeats.into_iter().map(|(of, picture)| said(of, picture))).collect()
    };
    input.runs.iter().flat_map(of_run).collect()
}

/// Sensors and facts that could not be read, once each.
pub(super) fn missing_sensors(input: &Input) -> Vec<Phrase> {
    let mut missing: Vec<Phrase> = Vec::new();
    for data in input.runs {
        let of_machine = data.run.machine.missing.iter();
        let of_machine = of_machine.map(|(name, why)| (name, words::causes(std::slice::from_ref(why))));
        let of_sessions = data.sessions.iter().flat_map(|session| &session.missing_sensors);
        let of_sessions = of_sessions.map(|(name, why)| (name, words::reason(why)));
        for (name, why) in of_machine.chain(of_sessions) {
            let name = words::missing_called(name);
            let mut phrase = Phrase::joined(&[name, why], ": ");
            if input.runs.len() > 1 {
                phrase = phrase.after(&data.run.machine.name);
            }
            if !missing.contains(&phrase) {
                missing.push(phrase);
            }
        }
    }
    missing
}

pub(super) fn table(input: &Input, names: &[&str]) -> TableView {
    let table = input.table;
    let rows: Vec<&Row> = table.rows.iter().filter(|row| table.is_asked_for(row)).collect();
    let runs = text::other_runs(table);
    let head = |(_, column): &(usize, &Column)| {
        let id = column.run_id().unwrap_or_default();
        let hint =
            if column.emulator.is_some() { format!("{id}: {}", text::grade(column).english()) } else { id.to_owned() };
        HeadView { title: column.title.clone(), grade: column.grade.map(text::grade_in_a_word), hint }
    };
    let heads = runs.iter().map(head).collect();
    let view = |row: &Row| {
        let measured = row.measured(0);
        // Rows that are shown only if the reader asks do without.
        let strip = row.main.then(|| Strip::of(input, row)).flatten();
        let strip = |index: usize| strip.as_ref().map(|strip| strip.drawn(&table.columns[index])).unwrap_or_default();
        let cells = runs.iter().map(|(index, column)| {
            let view = cell(row, row.cells.get(*index).unwrap_or(&Cell::Absent), &column.origin);
            CellView { strip: strip(*index), ..view }
        });
        RowView {
            anchor: names.iter().position(|name| *name == row.scenario).unwrap_or(0),
            scenario: row.scenario.clone(),
            metric: row.metric.clone(),
            unit: row.unit.symbol(),
            main: row.main,
            base: match (row.cells.first(), table.columns.first()) {
                (Some(base), Some(column)) => CellView { strip: strip(0), ..cell(row, base, &column.origin) },
                _ => CellView::default(),
            },
            statistics: of_each().map(|one| StatisticView::of(one, measured, row.unit)).collect(),
            cells: cells.collect(),
        }
    };
    // Where all that was asked for is other metrics, or these were asked for by name, there is nothing to hide them behind.
    let has_minor = !table.by_metric && rows.iter().any(|row| !row.main) && rows.iter().any(|row| row.main);
    let base = table.columns.first().map(|column| column.title.clone()).unwrap_or_default();
    let rows: Vec<RowView> = rows.into_iter().map(view).collect();
    let judged = rows.iter().flat_map(|row| &row.cells).any(|cell| cell.verdict.is_some());
    TableView { base, heads, rows, has_minor, judged }
}

pub(super) fn cell(row: &Row, cell: &Cell, origin: &ColumnOrigin) -> CellView {
    match cell {
        Cell::Measured(value) => CellView {
            value: row.unit.show(value.median),
            verdict: value.against_base.as_ref().map(verdict),
            of_ceilings: value.of_ceilings.iter().map(of_ceiling).collect(),
            hint: value
                .interval
                .map(|(low, high)| format!("95 %: {}", interval(row.unit, low, high)))
                .unwrap_or_default(),
            key: match &value.against_base {
                Some(against) => text::number_or_nothing(against.factor),
                None => value.median.to_string(),
            },
            ..CellView::default()
        },
        Cell::Published(published) => {
            let source = match origin {
                ColumnOrigin::Published { source, .. } => source.as_str(),
                ColumnOrigin::Run { .. } => "",
            };
            let hint: Vec<&str> =
                [source, published.note.as_deref().unwrap_or("")].into_iter().filter(|part| !part.is_empty()).collect();
            CellView {
                value: published.value.map(|value| row.unit.show(value)).unwrap_or_default(),
                words: if published.value.is_none() {
                    published.words.clone().unwrap_or_default()
                } else {
                    String::new()
                },
                factor: advantage(published),
                hint: hint.join(". "),
                key: text::number_or_nothing(published.factor),
                ..CellView::default()
            }
        }
        Cell::Nothing { why } => CellView { lack: Some(notes::lack_in_a_word(why)), ..CellView::default() },
        Cell::Absent => CellView::default(),
    }
}

/// By what factor the base is better than a published figure.
pub(super) fn advantage(published: &Published) -> String {
    published.factor.map(factor).unwrap_or_default()
}

pub(super) fn verdict(against: &AgainstBase) -> VerdictView {
    let in_words = match against.verdict {
        Verdict::Better => &TEXTS.only_better,
        Verdict::Worse => &TEXTS.only_worse,
        Verdict::Same => &TEXTS.only_same,
        Verdict::Unresolved => &TEXTS.only_unresolved,
    };
    VerdictView {
        class: word(against.verdict),
        word: in_words,
        text: marked_change(against),
        interval: against.interval.map(text::change_interval).unwrap_or_default(),
    }
}

pub(super) fn not_measured(input: &Input) -> Vec<MissingView> {
    let mut missing: Vec<MissingView> = Vec::new();
    let mut add = |scenario: &str, machine: &str, reason: Phrase, remedy: &str| {
        let alike = |view: &&mut MissingView| view.machine == machine && view.reason == reason && view.remedy == remedy;
        match missing.iter_mut().find(alike) {
            Some(view) => view.scenarios.push(scenario.into()),
            None => missing.push(MissingView {
                scenarios: vec![scenario.into()],
                machine: machine.into(),
                reason,
                remedy: remedy.into(),
            }),
        }
    };
    for data in input.runs {
        let run = title(input.table, data);
        for skipped in &data.run.skipped {
            let remedy = skipped.remedy.as_deref().unwrap_or_default();
            add(&skipped.scenario, &run, words::causes(std::slice::from_ref(&skipped.reason)), remedy);
        }
    }
    for row in input.table.rows.iter().filter(|row| row.main) {
        for (column, cell) in input.table.columns.iter().zip(&row.cells) {
            let skipped = |data: &super::RunData| {
                let same_run = matches!(&column.origin, ColumnOrigin::Run { id, .. } if *id == data.run.id);
                same_run && data.run.skipped.iter().any(|skipped| skipped.scenario == row.scenario)
            };
            if let Cell::Nothing { why } = cell
                && !input.runs.iter().any(skipped)
            {
                add(&row.scenario, &column.title, notes::lack(why), "");
            }
        }
    }
    missing
}

pub(super) fn sources(table: &Table) -> Vec<SourceView> {
    let rows: Vec<&Row> = table.rows.iter().collect();
    let view = |(reference, columns): (&str, text::Placed)| {
        let mut view = SourceView { reference: reference.into(), source: String::new(), machines: Vec::new() };
        for (_, column) in columns {
            if let ColumnOrigin::Published { description, source, .. } = &column.origin {
                view.source.clone_from(source);
                view.machines.push((column.title.clone(), description.clone()));
            }
        }
        view
    };
    text::references(table, &rows).into_iter().map(view).collect()
}

/// What each machine does for a watt, for its price, or for a kilogram.
pub(super) struct WeighingView {
    pub(super) title: Phrase,
    pub(super) columns: Vec<String>,
    /// A scenario, and what it comes to in each column.
    pub(super) rows: Vec<(String, Vec<String>)>,
    /// Who says what each machine draws or costs.
    pub(super) sources: Vec<Phrase>,
}

pub(super) fn weighings(table: &Table) -> Vec<WeighingView> {
    let view = |weighing: &Weighing| {
        let columns = weighing::columns(table, weighing);
        let row = |row: &WeighedRow| {
            let cell = |(place, _): &(usize, &str)| {
                let Some(cell) = &row.cells[*place] else { return String::new() };
                let (figure, standing) = (weighing::figure(weighing, row, cell), weighing::standing(cell));
                if standing.is_empty() { figure } else { format!("{figure}, {standing}") }
            };
            (row.scenario.clone(), columns.iter().map(cell).collect())
        };
        WeighingView {
            title: weighing::title(weighing),
            rows: weighing.rows.iter().map(row).collect(),
            sources: weighing::sources(table, weighing),
            columns: columns.iter().map(|(_, title)| (*title).to_owned()).collect(),
        }
    };
    table.weighings.iter().map(view).collect()
}
