//! From runs and references to the table: matching, medians, intervals, verdicts; and a machine's history. Pure; nothing is read or
//! shown here.

pub mod conformance;
pub mod curves;
mod differing;
pub mod filter;
pub mod history;
pub mod notes;
pub mod pivot;
pub mod pool;
pub mod sides;
pub mod standing;
pub mod table;
pub mod weighing;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use stend_model::cause::Why;
use stend_model::metric::{Better, Metric};
use stend_model::plan::Phase;
use stend_model::reference::Reference;
use stend_model::run::{Outcome, Repeat, Run, Session};
use stend_model::suite::{Ceiling, Scenario};

pub use differing::differences;
use filter::Filter;
pub use notes::differences_of_builds;
use sides::Designed;
use stend_model::record::Record;
use stend_model::steady::never_steady;
use table::{AgainstBase, Cell, Column, ColumnOrigin, Grade, Lack, Measured, Note, OfCeiling, Published, Row, Table};

/// To advise more repeats, pairs or sessions than this would be no advice.
const MOST_ADVISED: usize = 1000;

/// The comparison of all figures.
pub fn compare(records: &[&Record], references: &[Reference]) -> Table {
    compare_what(records, references, &Filter::default())
}

/// Sets one run, or several, beside the published machines that have such figures. The first run is the base. Only the figures that the filter
/// takes are compared, and the correction for many comparisons is over these: over the main metrics of all scenarios, and over each other metric
/// by itself.
///
/// # Panics
/// If `records` is empty.
pub fn compare_what(records: &[&Record], references: &[Reference], filter: &Filter) -> Table {
    let base = records[0];
    let mut notes = notes::on_runs(records);
    if *filter != Filter::default() {
        notes.push(Note::Filtered { filter: filter.to_string() });
    }
    let designs: Vec<_> = records.iter().map(|record| Designed::of(base, record)).collect();
    let conformance = conformance::of(records, filter);
    let mut rows = Vec::new();
    let mut pending = Vec::new();
    let unsteady: Vec<_> = records.iter().map(|record| never_steady(&record.run.suite, &record.repeats)).collect();
    for scenario in base.run.suite.scenarios.iter().filter(|scenario| !scenario.is_precondition()) {
        for (place, metric) in scenario.metrics.iter().enumerate().filter(|(_, metric)| filter.takes(scenario, metric))
        {
            let mut cells: Vec<_> = records.iter().map(|record| own_cell(record, &scenario.name, metric)).collect();
            for (column, record) in records.iter().enumerate().skip(1) {
                let Some(other) = scenario_of(record, &scenario.name) else { continue };
                let steady =
                    [&unsteady[0], &unsteady[column]].iter().all(|of| !of.contains_key(scenario.name.as_str()));
                // With other outcomes the tests did other work.
                let other_tests = conformance.iter().any(|of| of.scenario == scenario.name && of.differs(column));
                let judged = steady
                    && !other_tests
                    && are_comparable(base, record)
                    && (other.work() == scenario.work() || sides::are_of_one_run(base, record))
                    && matches!((&cells[0], &cells[column]), (Cell::Measured(_), Cell::Measured(_)));
                if judged {
                    let cell = judgement_cell(&designs[column], base, record, &scenario.name, metric);
                    pending.push(Pending { row: rows.len(), column, cell });
                }
            }
            let beside = cells.first().filter(|_| base.emulator().is_none());
            cells.extend(published_cells(references, scenario, metric, beside));
            rows.push(Row {
                scenario: scenario.name.clone(),
                instrument: scenario.instrument.program(),
                family: scenario.family.clone(),
                share_of: scenario.rate.as_ref().map(|rate| rate.of.clone()),
                metric: metric.name.clone(),
                unit: metric.unit,
                better: metric.better,
                main: place == 0,
                cells,
            });
        }
    }
    judge(&mut rows, pending);
    notes.extend(note_on_ratios(&rows, records));
    let titles = Titling::of(records);
    let mut columns: Vec<_> =
        records.iter().zip(&designs).map(|(record, design)| own_column(base, record, design, titles)).collect();
    columns[0].grade = None;
    columns.extend(published_columns(references));
    drop_empty_columns(&mut columns, &mut rows, records.len());
    Table {
        columns,
        rows,
        layout: base.run.suite.table.clone(),
        left_out: notes::left_out(records, filter),
        notes,
        conformance,
        by_metric: filter.names_metrics(),
        ..Table::default()
    }
}

/// Whether the speeds of two runs can be compared: what an emulator did is no machine's speed.
pub fn are_comparable(one: &Record, other: &Record) -> bool {
    one.emulator().is_none() && other.emulator().is_none()
}

/// A cell that is to be judged.
struct Pending {
    row: usize,
    column: usize,
    cell: stend_stats::Cell,
}

/// Judges the main metrics of the table at once, because the correction for many comparisons needs them all, and each other metric by itself.
fn judge(rows: &mut [Row], pending: Vec<Pending>) {
    let mut families: BTreeMap<Option<String>, Vec<Pending>> = BTreeMap::new();
    for one in pending {
        let row = &rows[one.row];
        families.entry((!row.main).then(|| row.metric.clone())).or_default().push(one);
    }
    for family in families.into_values() {
        let cells: Vec<_> = family.iter().map(|pending| pending.cell.clone()).collect();
        for (Pending { row, column, cell }, result) in family.into_iter().zip(stend_stats::compare(&cells)) {
            if let Cell::Measured(measured) = &mut rows[row].cells[column] {
                measured.against_base = Some(AgainstBase::of(&cell, result));
            }
        }
    }
}

/// Figures without a ratio, a note for each run.
fn note_on_ratios(rows: &[Row], records: &[&Record]) -> Vec<Note> {
    let mut figures: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for row in rows {
        for (column, cell) in row.cells.iter().enumerate() {
            let Some(against) = cell.against_base() else { continue };
            if against.reason == stend_stats::Reason::NotPositive {
                let name = if row.main { row.scenario.clone() } else { format!("{} · {}", row.scenario, row.metric) };
                figures.entry(column).or_default().push(name);
            }
        }
    }
    let id = |column: usize| records[column].run.id.clone();
    figures.into_iter().map(|(column, figures)| Note::NoRatio { run: id(column), base: id(0), figures }).collect()
}

fn judgement_cell(
    designed: &Designed,
    base: &Record,
    other: &Record,
    scenario: &str,
    metric: &Metric,
) -> stend_stats::Cell {
    let [b_sessions, a_sessions] = designed.values(base, other, scenario, metric);
    stend_stats::Cell {
        a_sessions,
        b_sessions,
        design: designed.design(),
        direction: standing::direction(metric.better),
        delta: metric.floor.map_or(stend_stats::DEFAULT_FLOOR, |floor| floor.0),
    }
}

fn scenario_of<'a>(record: &'a Record, name: &str) -> Option<&'a Scenario> {
    record.run.suite.scenarios.iter().find(|scenario| scenario.name == name)
}

fn repeats_of<'a>(record: &'a Record, name: &str) -> impl Iterator<Item = &'a Repeat> {
    let place = record.run.suite.scenarios.iter().position(|scenario| scenario.name == name);
    record.repeats.iter().filter(move |repeat| Some(repeat.scenario) == place)
}

/// The values that count, session by session; sessions without any are left out.
pub fn values_by_session(record: &Record, scenario: &str, metric: &Metric) -> Vec<Vec<f64>> {
    values_of_sessions(record, scenario, metric).into_values().collect()
}

/// The values that count, by the session's number.
fn values_of_sessions(record: &Record, scenario: &str, metric: &Metric) -> BTreeMap<u32, Vec<f64>> {
    let mut sessions: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for repeat in repeats_of(record, scenario).filter(|repeat| repeat.counts()) {
        if let Some(value) = repeat.value(metric) {
            sessions.entry(repeat.session).or_default().push(value);
        }
    }
    sessions
}

/// What a repeat says of why it lacks something that a metric is computed from.
fn why_missing(repeat: &Repeat, value: &str) -> Option<Why> {
    let missing = &repeat.begin.as_ref()?.missing;
    let mut words = value.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    words.find_map(|word| missing.get(word).or_else(|| missing.get(&format!("{word}_ns"))).cloned())
}

fn own_cell(record: &Record, scenario: &str, metric: &Metric) -> Cell {
    let Some(own) = scenario_of(record, scenario) else { return Cell::Absent };
    if let Some(skipped) = record.run.skipped.iter().find(|skipped| skipped.scenario == scenario) {
        let (reason, remedy) = (skipped.reason.clone(), skipped.remedy.clone());
        return Cell::Nothing { why: Lack::Skipped { reason, remedy } };
    }
    let sessions = values_by_session(record, scenario, metric);
    let values = sessions.concat();
    let measured = repeats_of(record, scenario).filter(|repeat| repeat.phase == Phase::Measured);
    let (valid, other): (Vec<_>, Vec<_>) = measured.partition(|repeat| repeat.counts());
    let Some(median) = stend_stats::median(&values) else {
        // A scenario that cannot be measured here was given up in its warm-up.
        let bad = repeats_of(record, scenario).filter(|repeat| repeat.outcome != Outcome::Valid).last();
        let why = match bad.map(|repeat| &repeat.outcome) {
            _ if !valid.is_empty() => {
                let value = metric.value.to_string();
                Lack::NotReported { reason: valid.last().and_then(|repeat| why_missing(repeat, &value)), value }
            }
            Some(Outcome::Invalid(causes)) => Lack::Invalid { causes: causes.clone() },
            Some(Outcome::Failed(cause)) => Lack::Failed { cause: cause.clone() },
            _ => Lack::NotYet,
        };
        return Cell::Nothing { why };
    };
    let outliers = stend_stats::tukey_marks(&values).iter().filter(|mark| **mark != stend_stats::Mark::None).count();
    Cell::Measured(Measured {
        median,
        interval: stend_stats::median_interval_of_sessions(&sessions),
        minimum: values.iter().copied().fold(f64::INFINITY, f64::min),
        maximum: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        spread: stend_stats::coefficient_of_variation(&values).filter(|_| values.len() > 1),
        // A repeat that counts may lack what an optional metric needs.
        valid: values.len() as u32,
        invalid: (valid.len() + other.len() - values.len()) as u32,
        outliers: outliers as u32,
        against_base: None,
        of_ceilings: if record.emulator().is_some() {
            Vec::new()
        } else {
            own.ceiling.iter().filter_map(|ceiling| of_ceiling(record, ceiling, metric, median)).collect()
        },
    })
}

/// What share a median reaches of the ceiling's, which has to have the same metric.
fn of_ceiling(record: &Record, ceiling: &Ceiling, metric: &Metric, median: f64) -> Option<OfCeiling> {
    let of = ceiling.of();
    let same = scenario_of(record, of)?.metric(&metric.name).filter(|other| other.unit == metric.unit)?;
    let top = stend_stats::median(&values_by_session(record, of, same).concat())?;
    let factor = match metric.better {
        Better::Higher => median / top,
        Better::Lower => top / median,
    };
    let times = if metric.value.is_of_wall_time() { ceiling.times() } else { 1 };
    let share = factor / f64::from(times);
    (share.is_finite() && share > 0.0).then(|| OfCeiling { scenario: of.into(), times, share })
}

fn published_cells(references: &[Reference], scenario: &Scenario, metric: &Metric, base: Option<&Cell>) -> Vec<Cell> {
    let machines =
        references.iter().flat_map(|reference| reference.machine.iter().map(move |machine| (reference, machine)));
    let cell = |(reference, machine): (&Reference, &stend_model::reference::PublishedMachine)| {
        let found =
            scenario.measures.as_deref().and_then(|measures| reference.figure(&machine.id, measures, &metric.name));
        let Some(figure) = found else { return Cell::Absent };
        // A figure in another unit is a mistake in the reference, which a test over all references finds.
        let value = figure.value.filter(|_| figure.unit == Some(metric.unit));
        let factor = match (base, value) {
            (Some(Cell::Measured(measured)), Some(value)) if value > 0.0 => {
                standing::turned(measured.median / value, standing::direction(metric.better))
            }
            _ => None,
        };
        Cell::Published(Published { value, words: figure.words.clone(), factor, note: figure.note.clone() })
    };
    machines.map(cell).collect()
}

/// What tells columns apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Titling {
    /// The machine's name alone, of a single run.
    Machines,
    /// The machine's name, and the run's label or id.
    Runs,
    /// The labels of runs that all have one, of one machine.
    RunsOfOne,
    /// The names of the sides, where all columns are of one run.
    Sides,
}

impl Titling {
    fn of(records: &[&Record]) -> Self {
        let base = records[0];
        if records.iter().all(|record| record.run.sides.len() == 1 && record.run.stored_id() == base.run.stored_id()) {
            Self::Sides
        } else if records.len() > 1 {
            let is_alike =
                |record: &&Record| record.run.label.is_some() && record.run.machine.name == base.run.machine.name;
            if records.iter().all(is_alike) { Self::RunsOfOne } else { Self::Runs }
        } else {
            Self::Machines
        }
    }
}

/// A run's label or id, with its side if it is one; an id has that already.
fn name_of(run: &Run) -> String {
    match (&run.label, &run.sides[..]) {
        (Some(label), [side]) => format!("{label}:{}", side.label),
        (Some(label), _) => label.clone(),
        (None, _) => run.id.clone(),
    }
}

fn own_column(base: &Record, record: &Record, designed: &Designed, titles: Titling) -> Column {
    let (sessions, boots) = sessions_and_boots(record);
    Column {
        title: match (titles, &record.run.sides[..]) {
            (Titling::Sides, [side]) => side.label.clone(),
            (Titling::Machines | Titling::Sides, _) => record.run.machine.name.clone(),
            (Titling::RunsOfOne, _) => name_of(&record.run),
            (Titling::Runs, _) => format!("{} {}", record.run.machine.name, name_of(&record.run)),
        },
        origin: ColumnOrigin::Run { id: record.run.id.clone(), sessions, boots },
        grade: Some(designed.design().into()),
        differences: differences(base, record),
        emulator: record.emulator().map(str::to_owned),
    }
}

/// The sessions with repeats that count.
fn sessions_that_count(record: &Record) -> Vec<&Session> {
    let with_valid: BTreeSet<u32> =
        record.repeats.iter().filter(|repeat| repeat.counts()).map(|repeat| repeat.session).collect();
    record.sessions.iter().filter(|session| with_valid.contains(&session.number)).collect()
}

/// How many sessions have repeats that count, and of how many boots they are: only with a boot in between do sessions differ as a whole.
/// Where a machine does not say which boot it is, all count as one. One of each where there is none.
fn sessions_and_boots(record: &Record) -> (u32, u32) {
    let sessions = sessions_that_count(record);
    let boots: BTreeSet<_> = sessions.iter().map(|session| &session.boot_id).collect();
    ((sessions.len() as u32).max(1), (boots.len() as u32).max(1))
}

fn published_columns(references: &[Reference]) -> Vec<Column> {
    let column = |reference: &Reference, machine: &stend_model::reference::PublishedMachine| Column {
        title: machine.name.clone(),
        origin: ColumnOrigin::Published {
            reference: reference.name.clone(),
            title: reference.title.clone(),
            machine: machine.id.clone(),
            description: machine.description.clone(),
            source: format!("{}, {}", reference.title, reference.source),
        },
        grade: Some(Grade::Published),
        differences: Vec::new(),
        emulator: None,
    };
    references
        .iter()
        .flat_map(|reference| reference.machine.iter().map(move |machine| column(reference, machine)))
        .collect()
}

/// Published machines without a figure for any row of this table take no column.
fn drop_empty_columns(columns: &mut Vec<Column>, rows: &mut [Row], runs: usize) {
    let keep: Vec<_> = (0..columns.len())
        .map(|column| column < runs || rows.iter().any(|row| row.cells[column] != Cell::Absent))
        .collect();
    let mut kept = keep.iter();
    columns.retain(|_| *kept.next().unwrap_or(&true));
    for row in rows {
        let mut kept = keep.iter();
        row.cells.retain(|_| *kept.next().unwrap_or(&true));
    }
}
