//! From runs and references to the table: matching, medians, intervals, verdicts. Pure; nothing is read or shown here.

pub(crate) mod table;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use stend_model::metric::{Better, Metric};
use stend_model::reference::{Grade, Reference};
use stend_model::run::{Repeat, Session};
use stend_model::suite::{Scenario, Verification};

use crate::store::Record;
use table::{AgainstBase, Cell, Column, ColumnOrigin, Measured, Published, Row, Table, Verdict};

/// To advise more repeats than this would be no advice.
const MOST_REPEATS_ADVISED: u32 = 1000;

/// Sets one run, or several, beside the published machines that have such figures. The first run is the base.
///
/// # Panics
/// If `records` is empty.
pub(crate) fn compare(records: &[&Record], references: &[Reference]) -> Table {
    let base = records[0];
    let mut notes = notes_on(records);
    let mut rows = Vec::new();
    let mut pending = Vec::new();
    for scenario in &base.run.suite.scenarios {
        for (place, metric) in scenario.metrics.iter().enumerate() {
            let mut cells: Vec<_> = records.iter().map(|record| own_cell(record, &scenario.name, metric)).collect();
            for (column, record) in records.iter().enumerate().skip(1) {
                let Some(other) = scenario_of(record, &scenario.name) else { continue };
                if place == 0 && other.identity() != scenario.identity() {
                    notes.push(format!(
                        "\"{}\" is not the same thing in {} and {}: {}; no verdict on it",
                        scenario.name,
                        base.run.id,
                        record.run.id,
                        difference_between(scenario, other)
                    ));
                }
                let judged = other.identity() == scenario.identity()
                    && matches!((&cells[0], &cells[column]), (Cell::Measured(_), Cell::Measured(_)));
                if judged {
                    pending.push((rows.len(), column, judgement_cell(base, record, scenario, metric)));
                }
            }
            cells.extend(published_cells(references, scenario, metric, cells.first()));
            rows.push(Row {
                scenario: scenario.name.clone(),
                metric: metric.name.clone(),
                unit: metric.unit,
                better: metric.better,
                main: place == 0,
                cells,
            });
        }
    }
    notes.extend(judge(&mut rows, pending));
    let mut columns: Vec<_> = records.iter().map(|record| own_column(base, record)).collect();
    columns.extend(published_columns(references));
    drop_empty_columns(&mut columns, &mut rows, records.len());
    Table { columns, rows, left_out: left_out(records), notes }
}

/// Judges all cells of the table at once, because the correction for many comparisons needs them all. Gives a note where the
/// machine's own drift decided.
fn judge(rows: &mut [Row], pending: Vec<(usize, usize, stend_stats::Cell)>) -> Option<String> {
    let cells: Vec<_> = pending.iter().map(|(_, _, cell)| cell.clone()).collect();
    let results = stend_stats::compare_runs(&cells);
    let note = note_on_drift(&results);
    for ((row, column, cell), result) in pending.into_iter().zip(results) {
        if let (Cell::Measured(measured), Some(ratio)) = (&mut rows[row].cells[column], result.ratio) {
            measured.against_base = Some(AgainstBase {
                ratio,
                interval: result.interval.map(|interval| (interval.low, interval.high)),
                q: result.q,
                floor: cell.delta,
                drift: result.drift,
                verdict: match result.verdict {
                    stend_stats::Verdict::Better => Verdict::Better,
                    stend_stats::Verdict::Worse => Verdict::Worse,
                    stend_stats::Verdict::Same => Verdict::Same,
                    stend_stats::Verdict::Unresolved => Verdict::Unresolved,
                },
                repeats_needed: result
                    .needed
                    .and_then(|needed| u32::try_from(needed).ok())
                    .filter(|needed| *needed <= MOST_REPEATS_ADVISED),
            });
        }
    }
    note
}

fn note_on_drift(results: &[stend_stats::CellResult]) -> Option<String> {
    let within: Vec<_> = results.iter().filter(|result| result.reason == stend_stats::Reason::WithinDrift).collect();
    let least = within.iter().filter_map(|result| result.drift).reduce(f64::min)?;
    Some(format!(
        "{} differences are significant and yet unresolved: within a run, the first half differs from the second by {:.1} % or more, so \
         two runs may differ as much for no reason; run both again at another time",
        within.len(),
        least * 100.0
    ))
}

fn judgement_cell(base: &Record, other: &Record, scenario: &Scenario, metric: &Metric) -> stend_stats::Cell {
    let own_floor = metric.floor.map(|floor| floor.0);
    stend_stats::Cell {
        a_sessions: values_by_session(other, &scenario.name, metric),
        b_sessions: values_by_session(base, &scenario.name, metric),
        direction: match metric.better {
            Better::Higher => stend_stats::Direction::HigherIsBetter,
            Better::Lower => stend_stats::Direction::LowerIsBetter,
        },
        delta: stend_stats::noise_floor(None, own_floor).unwrap_or(stend_stats::LEAST_FLOOR),
        paired: false,
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
pub(crate) fn values_by_session(record: &Record, scenario: &str, metric: &Metric) -> Vec<Vec<f64>> {
    let mut sessions: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for repeat in repeats_of(record, scenario).filter(|repeat| repeat.counts()) {
        if let Some(value) = repeat.value(metric) {
            sessions.entry(repeat.session).or_default().push(value);
        }
    }
    sessions.into_values().collect()
}

fn own_cell(record: &Record, scenario: &str, metric: &Metric) -> Cell {
    if scenario_of(record, scenario).is_none() {
        return Cell::Absent;
    }
    if let Some(skipped) = record.run.skipped.iter().find(|skipped| skipped.scenario == scenario) {
        let remedy = skipped.remedy.as_deref().map(|remedy| format!("; mend it with: {remedy}")).unwrap_or_default();
        return Cell::Nothing { reason: format!("skipped: {}{remedy}", skipped.reason) };
    }
    let values = values_by_session(record, scenario, metric).concat();
    let measured = repeats_of(record, scenario).filter(|repeat| repeat.phase == stend_model::plan::Phase::Measured);
    let (valid, other): (Vec<_>, Vec<_>) = measured.partition(|repeat| repeat.counts());
    let (Some(median), Some(spread)) =
        (stend_stats::median(&values), stend_stats::coefficient_of_variation(&values).or(Some(0.0)))
    else {
        // A scenario that cannot be measured here was given up in its warm-up.
        let bad =
            repeats_of(record, scenario).filter(|repeat| repeat.outcome != stend_model::run::Outcome::Valid).last();
        let last_reason = bad.map(|repeat| format!("{}: {}", repeat.outcome.word(), repeat.outcome.reason()));
        return Cell::Nothing { reason: last_reason.unwrap_or_else(|| "not measured yet".into()) };
    };
    let outliers = stend_stats::tukey_marks(&values).iter().filter(|mark| **mark != stend_stats::Mark::None).count();
    Cell::Measured(Measured {
        median,
        interval: stend_stats::median_interval(&values, 0.95).map(|interval| (interval.low, interval.high)),
        minimum: values.iter().copied().fold(f64::INFINITY, f64::min),
        maximum: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        spread,
        valid: valid.len() as u32,
        invalid: other.len() as u32,
        outliers: outliers as u32,
        against_base: None,
    })
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

fn own_column(base: &Record, record: &Record) -> Column {
    let sessions = independent_sessions(record).max(1);
    Column {
        title: if std::ptr::eq(base, record) {
            record.run.machine.name.clone()
        } else {
            format!("{} {}", record.run.machine.name, record.run.id)
        },
        origin: ColumnOrigin::Run { id: record.run.id.clone(), sessions },
        grade: if sessions >= 2 { Grade::A } else { Grade::B },
        differences: base.run.machine.differences(&record.run.machine),
    }
}

/// Sessions that may differ as a whole: those of different boots, among those that have repeats that count. Where a machine does not
/// say which boot it is, all count as one.
fn independent_sessions(record: &Record) -> u32 {
    let has_valid =
        |session: &Session| record.repeats.iter().any(|repeat| repeat.session == session.number && repeat.counts());
    let boots: std::collections::BTreeSet<_> =
        record.sessions.iter().filter(|session| has_valid(session)).map(|session| &session.boot_id).collect();
    boots.len() as u32
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

fn left_out(records: &[&Record]) -> Vec<String> {
    let mut left_out = Vec::new();
    for (place, record) in records.iter().enumerate() {
        for scenario in &record.run.suite.scenarios {
            let lacking: Vec<_> = records.iter().filter(|other| scenario_of(other, &scenario.name).is_none()).collect();
            let already = records[..place].iter().any(|earlier| scenario_of(earlier, &scenario.name).is_some());
            if !lacking.is_empty() && !already {
                let ids: Vec<_> = lacking.iter().map(|record| record.run.id.as_str()).collect();
                left_out.push(format!("{}: not in {}", scenario.name, ids.join(", ")));
            }
        }
    }
    left_out
}

fn notes_on(records: &[&Record]) -> Vec<String> {
    let mut notes = Vec::new();
    for record in records {
        let suite = &record.run.suite;
        if suite.scale < 1.0 {
            notes.push(format!(
                "{}: sizes and durations are scaled by {}; these are not the suite's own parameters",
                record.run.id, suite.scale
            ));
        }
        let few: Vec<_> =
            suite.scenarios.iter().filter(|scenario| (scenario.repeats as usize) < stend_stats::MIN_REPEATS).collect();
        if !few.is_empty() {
            notes.push(format!(
                "{}: {} scenarios ask for fewer than {} repeats, which gives no interval and no verdict",
                record.run.id,
                few.len(),
                stend_stats::MIN_REPEATS
            ));
        }
        let unverified = suite.scenarios.iter().filter(|scenario| scenario.verification == Verification::None).count();
        if unverified > 0 {
            notes.push(format!("{}: the work of {unverified} scenarios cannot be verified", record.run.id));
        }
        let mut conditions: Vec<_> = record.sessions.iter().flat_map(|session| &session.conditions).collect();
        conditions.dedup();
        if !conditions.is_empty() {
            let words: Vec<_> = conditions.into_iter().map(String::as_str).collect();
            notes.push(format!(
                "{}: when it began the machine was not fit to measure: {}",
                record.run.id,
                words.join("; ")
            ));
        }
        if record.run.state == stend_model::run::RunState::Open {
            notes.push(format!("{} is not finished; `stend resume {}` goes on with it", record.run.id, record.run.id));
        }
        if record.run.stend_version != records[0].run.stend_version {
            notes.push(format!(
                "{} was made by stend {}, {} by {}",
                record.run.id, record.run.stend_version, records[0].run.id, records[0].run.stend_version
            ));
        }
    }
    notes.extend(builds(records));
    notes
}

/// Instruments that were built differently in the runs compared.
fn builds(records: &[&Record]) -> Vec<String> {
    let builds_of = |record: &Record| {
        let mut builds: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for begin in record.repeats.iter().filter_map(|repeat| repeat.begin.as_ref()) {
            builds.entry(begin.instrument.clone()).or_insert_with(|| begin.build.clone());
        }
        builds
    };
    let base = builds_of(records[0]);
    let mut notes = Vec::new();
    for record in &records[1..] {
        for (instrument, build) in builds_of(record) {
            let Some(other) = base.get(&instrument).filter(|other| **other != build) else { continue };
            let keys: std::collections::BTreeSet<_> = build.keys().chain(other.keys()).collect();
            let differing = keys.into_iter().filter(|key| build.get(*key) != other.get(*key));
            let words: Vec<_> = differing
                .map(|key| {
                    format!(
                        "{key} {} → {}",
                        other.get(key).map_or("none", String::as_str),
                        build.get(key).map_or("none", String::as_str)
                    )
                })
                .collect();
            notes.push(format!("{instrument} is another build in {}: {}", record.run.id, words.join(", ")));
        }
    }
    notes
}

fn difference_between(one: &Scenario, other: &Scenario) -> String {
    let mut words = Vec::new();
    if one.instrument != other.instrument {
        words.push(format!("instrument {} → {}", one.instrument, other.instrument));
    }
    let keys: std::collections::BTreeSet<_> = one.parameters.keys().chain(other.parameters.keys()).collect();
    for key in keys {
        let (before, after) = (one.parameters.get(key), other.parameters.get(key));
        if before != after {
            let show = |value: Option<&String>| value.map_or("none".to_owned(), String::clone);
            words.push(format!("{key} {} → {}", show(before), show(after)));
        }
    }
    if words.is_empty() { "its metrics are computed differently".into() } else { words.join(", ") }
}
