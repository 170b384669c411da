//! From runs and references to the table: matching, medians, intervals, verdicts; a machine's noise and its history. Pure; nothing is read or
//! shown here.

pub mod curves;
mod differing;
pub mod evidence;
pub mod filter;
pub mod history;
pub mod noise;
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
use stend_model::reference::{Grade, Reference};
use stend_model::run::{Outcome, Repeat, Session};
use stend_model::suite::Scenario;

use crate::noise::{Floor, Floors};
pub use differing::differences;
use evidence::{Evidence, FloorSource};
use filter::Filter;
pub use notes::differences_of_builds;
use stend_model::record::Record;
use stend_model::steady::never_steady;
use table::{AgainstBase, Cell, Column, ColumnOrigin, Lack, Measured, Note, OfCeiling, Published, Row, Table};

/// To advise more repeats than this would be no advice.
const MOST_REPEATS_ADVISED: u32 = 1000;

/// The comparison of all figures, where no machine's noise is known.
pub fn compare(records: &[&Record], references: &[Reference]) -> Table {
    compare_what(records, references, &Floors::default(), &Filter::default())
}

/// Sets one run, or several, beside the published machines that have such figures. The first run is the base. δ is at least what the
/// machines are known to differ from themselves, and only the figures that the filter takes are compared: the correction for many comparisons is over these. How restless the machine was is told by all that was measured.
///
/// # Panics
/// If `records` is empty.
pub fn compare_what(records: &[&Record], references: &[Reference], floors: &Floors, filter: &Filter) -> Table {
    let base = records[0];
    let mut notes = notes::on_runs(records);
    if *filter != Filter::default() {
        notes.push(Note::Filtered { filter: filter.to_string() });
    }
    let mut rows = Vec::new();
    let mut taken = Vec::new();
    let mut pending = Vec::new();
    let mut noise = Vec::new();
    let mut assumed = notes::Assumed::default();
    let unsteady: Vec<_> = records.iter().map(|record| never_steady(&record.run.suite, &record.repeats)).collect();
    for scenario in base.run.suite.scenarios.iter().filter(|scenario| !scenario.is_precondition()) {
        for (place, metric) in scenario.metrics.iter().enumerate() {
            let mut cells: Vec<_> = records.iter().map(|record| own_cell(record, &scenario.name, metric)).collect();
            for (column, record) in records.iter().enumerate().skip(1) {
                let Some(other) = scenario_of(record, &scenario.name) else { continue };
                let steady =
                    [&unsteady[0], &unsteady[column]].iter().all(|of| !of.contains_key(scenario.name.as_str()));
                let judged = steady
                    && are_comparable(base, record)
                    && (other.work() == scenario.work() || sides::are_of_one_run(base, record))
                    && matches!((&cells[0], &cells[column]), (Cell::Measured(_), Cell::Measured(_)));
                if judged {
                    let floor = floors.get([&base.run.machine, &record.run.machine], scenario, metric);
                    if filter.takes(scenario, metric) {
                        let is_known =
                            |record: &Record| floors.of_machine(&record.run.machine, scenario, metric).is_some();
                        assumed.judged(0, is_known(base));
                        assumed.judged(column, is_known(record));
                    }
                    let cell = judgement_cell(base, record, scenario, metric, floor);
                    noise.extend(floor.filter(|floor| floor.share >= cell.delta && filter.takes(scenario, metric)));
                    let floor_source = FloorSource::of(cell.delta, metric.floor.map(|floor| floor.0), floor);
                    pending.push(Pending { row: rows.len(), column, cell, floor_source });
                }
            }
            let beside = cells.first().filter(|_| base.emulator().is_none());
            cells.extend(published_cells(references, scenario, metric, beside));
            taken.push(filter.takes(scenario, metric));
            rows.push(Row {
                scenario: scenario.name.clone(),
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
    let judged = pending.iter().filter(|pending| taken[pending.row]).count();
    notes.extend(judge(&mut rows, &taken, pending, records));
    notes.extend(notes::on_noise(noise, judged));
    notes.extend(assumed.note(records));
    let mut taken = taken.into_iter();
    rows.retain(|_| taken.next().unwrap_or(true));
    let titles = Titles::of(records);
    let mut columns: Vec<_> = records.iter().map(|record| own_column(base, record, titles)).collect();
    columns.extend(published_columns(references));
    drop_empty_columns(&mut columns, &mut rows, records.len());
    Table {
        columns,
        rows,
        layout: base.run.suite.table.clone(),
        left_out: notes::left_out(records, filter),
        notes,
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
    floor_source: FloorSource,
}

/// Judges all cells of the table at once, because the correction for many comparisons needs them all. Gives notes on what decided.
fn judge(rows: &mut [Row], taken: &[bool], pending: Vec<Pending>, records: &[&Record]) -> Vec<Note> {
    let results = results(taken, &pending);
    let mut notes = notes_on_drift(rows, &pending, &results);
    notes.extend(note_on_neighbours(&pending));
    notes.extend(note_on_ratios(rows, &pending, &results, records));
    for (Pending { row, column, cell, floor_source }, result) in pending.into_iter().zip(results) {
        let Some(result) = result else { continue };
        // Of such values the median may have a ratio, but not each of them.
        let not_positive = result.reason == stend_stats::Reason::NotPositive;
        let ratio = result.ratio.filter(|_| !not_positive);
        if let (Cell::Measured(measured), true) = (&mut rows[row].cells[column], ratio.is_some() || not_positive) {
            measured.against_base = Some(AgainstBase {
                ratio,
                interval: result.interval.map(|interval| (interval.low, interval.high)),
                q: result.q,
                floor: cell.delta,
                drift: result.drift,
                verdict: result.verdict,
                reason: result.reason,
                evidence: Box::new(Evidence::of(&cell, &result, floor_source)),
                repeats_needed: result
                    .needed
                    .and_then(|needed| u32::try_from(needed).ok())
                    .filter(|needed| *needed <= MOST_REPEATS_ADVISED),
            });
        }
    }
    notes
}

/// What is known of each cell that is taken: how restless the machine was, all of them tell.
fn results(taken: &[bool], pending: &[Pending]) -> Vec<Option<stend_stats::CellResult>> {
    let is_taken = |pending: &&Pending| taken[pending.row];
    let all: Vec<_> = pending.iter().map(|pending| pending.cell.clone()).collect();
    let cells: Vec<_> = pending.iter().filter(is_taken).map(|pending| pending.cell.clone()).collect();
    let mut judged = stend_stats::compare_runs_among(&cells, &all).into_iter();
    pending.iter().map(|pending| is_taken(&pending).then(|| judged.next()).flatten()).collect()
}

fn notes_on_drift(rows: &[Row], pending: &[Pending], results: &[Option<stend_stats::CellResult>]) -> Vec<Note> {
    let within: Vec<_> = pending
        .iter()
        .zip(results)
        .filter_map(|(pending, result)| Some((&rows[pending.row], (*result)?)))
        .filter(|(_, result)| result.reason == stend_stats::Reason::WithinDrift)
        .collect();
    let (resembling, drifting): (Vec<_>, Vec<_>) = within.into_iter().partition(|(_, result)| result.resembling);
    let main = |of: &[(&Row, stend_stats::CellResult)]| of.iter().filter(|(row, _)| row.main).count();
    let mut notes = Vec::new();
    if let Some(least) = drifting.iter().filter_map(|(_, result)| result.drift).reduce(f64::min) {
        notes.push(Note::WithinDrift { differences: drifting.len(), main: main(&drifting), least });
    }
    if !resembling.is_empty() {
        notes.push(Note::Resembling { differences: resembling.len(), main: main(&resembling) });
    }
    notes
}

/// Pairs are left out: what hits neighbours alike is in both halves of a pair.
fn note_on_neighbours(pending: &[Pending]) -> Option<Note> {
    // There ten repeats a side are worth some four, and an interval is twice as wide.
    const MUCH: f64 = 0.5;
    // In standard deviations above shuffled repeats: few repeats resemble each other by chance.
    const SURE: f64 = 3.0;
    let runs = pending.iter().filter(|pending| !pending.cell.paired);
    let sessions = runs.flat_map(|pending| pending.cell.a_sessions.iter().chain(&pending.cell.b_sessions));
    let found = stend_stats::serial_correlation(sessions.map(Vec::as_slice))?;
    (found.z > SURE && found.correlation >= MUCH).then_some(Note::HangTogether { correlation: found.correlation })
}

/// Figures without a ratio, a note for each run.
fn note_on_ratios(
    rows: &[Row],
    pending: &[Pending],
    results: &[Option<stend_stats::CellResult>],
    records: &[&Record],
) -> Vec<Note> {
    let mut figures: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (Pending { row, column, .. }, result) in pending.iter().zip(results) {
        if result.as_ref().is_some_and(|result| result.reason == stend_stats::Reason::NotPositive) {
            let row = &rows[*row];
            let name = if row.main { row.scenario.clone() } else { format!("{} · {}", row.scenario, row.metric) };
            figures.entry(*column).or_default().push(name);
        }
    }
    let id = |column: usize| records[column].run.id.clone();
    figures.into_iter().map(|(column, figures)| Note::NoRatio { run: id(column), base: id(0), figures }).collect()
}

fn judgement_cell(
    base: &Record,
    other: &Record,
    scenario: &Scenario,
    metric: &Metric,
    noise: Option<&Floor>,
) -> stend_stats::Cell {
    let own_floor = metric.floor.map(|floor| floor.0);
    let paired = sides::are_of_one_run(base, other);
    let [b_sessions, a_sessions] = if paired {
        sides::values_in_pairs(base, other, &scenario.name, metric)
    } else {
        [base, other].map(|record| values_by_session(record, &scenario.name, metric))
    };
    stend_stats::Cell {
        a_sessions,
        b_sessions,
        direction: match metric.better {
            Better::Higher => stend_stats::Direction::HigherIsBetter,
            Better::Lower => stend_stats::Direction::LowerIsBetter,
        },
        delta: stend_stats::noise_floor(noise.map(|floor| floor.share), own_floor).unwrap_or(stend_stats::LEAST_FLOOR),
        paired,
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
    let mut sessions: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for repeat in repeats_of(record, scenario).filter(|repeat| repeat.counts()) {
        if let Some(value) = repeat.value(metric) {
            sessions.entry(repeat.session).or_default().push(value);
        }
    }
    sessions.into_values().collect()
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
        interval: stend_stats::median_interval_of_sessions(&sessions, &stend_stats::RatioOptions::default()),
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
fn of_ceiling(record: &Record, ceiling: &str, metric: &Metric, median: f64) -> Option<OfCeiling> {
    let same = scenario_of(record, ceiling)?.metric(&metric.name).filter(|other| other.unit == metric.unit)?;
    let top = stend_stats::median(&values_by_session(record, ceiling, same).concat())?;
    let share = match metric.better {
        Better::Higher => median / top,
        Better::Lower => top / median,
    };
    (share.is_finite() && share > 0.0).then(|| OfCeiling { scenario: ceiling.into(), share })
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
        let ratio = match (base, value) {
            (Some(Cell::Measured(measured)), Some(value)) if value > 0.0 => Some(measured.median / value),
            _ => None,
        };
        Cell::Published(Published { value, words: figure.words.clone(), ratio, note: figure.note.clone() })
    };
    machines.map(cell).collect()
}

/// What tells columns apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Titles {
    /// The machine's name alone, of a single run.
    Machines,
    /// The machine's name and the run's id.
    Runs,
    /// The labels of the sides, where all columns are of one run.
    Labels,
}

impl Titles {
    fn of(records: &[&Record]) -> Self {
        let base = records[0];
        if records.iter().all(|record| record.run.sides.len() == 1 && record.run.stored_id() == base.run.stored_id()) {
            Self::Labels
        } else if records.len() > 1 {
            Self::Runs
        } else {
            Self::Machines
        }
    }
}

fn own_column(base: &Record, record: &Record, titles: Titles) -> Column {
    let (sessions, boots) = sessions_and_boots(record);
    Column {
        title: if let (Titles::Labels, [side]) = (titles, &record.run.sides[..]) {
            side.label.clone()
        } else if titles != Titles::Machines {
            format!("{} {}", record.run.machine.name, record.run.id)
        } else {
            record.run.machine.name.clone()
        },
        origin: ColumnOrigin::Run { id: record.run.id.clone(), sessions, boots },
        grade: if boots >= 2 { Grade::A } else { Grade::B },
        differences: differences(base, record),
        emulator: record.emulator().map(str::to_owned),
    }
}

/// How many sessions have repeats that count, and of how many boots they are: only with a boot in between do sessions differ as a whole.
/// Where a machine does not say which boot it is, all count as one. One of each where there is none.
fn sessions_and_boots(record: &Record) -> (u32, u32) {
    let with_valid: BTreeSet<u32> =
        record.repeats.iter().filter(|repeat| repeat.counts()).map(|repeat| repeat.session).collect();
    let sessions: Vec<&Session> =
        record.sessions.iter().filter(|session| with_valid.contains(&session.number)).collect();
    let boots: BTreeSet<_> = sessions.iter().map(|session| &session.boot_id).collect();
    ((sessions.len() as u32).max(1), (boots.len() as u32).max(1))
}

fn published_columns(references: &[Reference]) -> Vec<Column> {
    let column = |reference: &Reference, machine: &stend_model::reference::PublishedMachine| Column {
        title: machine.name.clone(),
        origin: ColumnOrigin::Published {
            reference: reference.name.clone(),
            machine: machine.id.clone(),
            description: machine.description.clone(),
            source: format!("{}, {}", reference.title, reference.source),
        },
        grade: reference.grade,
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
