//! `stend compare`: runs with one another, or a run with published machines.

use clap::{Args, ValueEnum};
use stend_model::suite::{Key, Layout};

use super::Global;
use super::failure::{Exit, Failure};
use super::output::{self, Json};
use crate::compare::table::{Cell, Table, Verdict};
use crate::report::{csv, markdown};
use crate::store::{Record, Store};
use crate::{catalogue, machine};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Runs, the first of which is the base, and names of references; one run alone is set beside all references. A run of two sides has a column
    /// for each, of which RUN:SIDE is one
    #[arg(required = true)]
    what: Vec<String>,
    /// What there is a line for: scenario, metric, or an axis of a matrix [default: as the base's suite says, else scenario]
    #[arg(long, value_name = "KEY")]
    row: Option<Key>,
    /// What there is a column for: run, metric, scenario, or an axis of a matrix [default: as the base's suite says, else what goes with the row]
    #[arg(long, value_name = "KEY")]
    column: Option<Key>,
    /// Show all metrics, not only each scenario's main one; CSV and JSON always have all
    #[arg(long)]
    all_metrics: bool,
    /// End with status 1 if a verdict of this kind is in the table: of each scenario's main metric, of all metrics that its layout shows, or
    /// with --all-metrics of all. CSV and JSON are judged by the same metrics
    #[arg(long, value_name = "VERDICT")]
    fail_on: Option<FailOn>,
    /// How to print the table
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Something is worse than in the base
    Worse,
    /// Something is better or worse than in the base
    Different,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people at a terminal
    Table,
    /// For a page or a pull request
    Markdown,
    /// For a spreadsheet
    Csv,
    /// For programs
    Json,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let store = Store::open_to_read(&global.store_directory()?)?;
    let all_references = catalogue::references();
    let (mut records, mut references) = (Vec::<Record>::new(), Vec::new());
    for wanted in &arguments.what {
        match all_references.iter().find(|reference| reference.name == *wanted) {
            Some(reference) => references.push(reference.clone()),
            None => {
                let views = output::load(&store, wanted).map_err(|error| match error {
                    output::NotLoaded::Store(error) => no_such(error, &all_references),
                    output::NotLoaded::NoSuchSide(message) => Failure::usage(message),
                })?;
                records.extend(views);
            }
        }
    }
    if records.is_empty() {
        return Err(Failure::usage(
            "references cannot be compared with one another: they are single numbers without samples; name a run first",
        ));
    }
    if records.len() == 1 && references.is_empty() {
        references = all_references;
    }
    let mut table = output::beside_one_another(&store, &records, &references)?;
    if records.len() > 1 && !has_common_rows(&table, records.len()) {
        return Err(Failure::usage("these runs have no scenario in common; there is nothing to compare"));
    }
    let asked = arguments.row.is_some() || arguments.column.is_some();
    if asked {
        table.layout = Some(layout(arguments, &records[0])?);
    }
    let format = if arguments.json.json { Format::Json } else { arguments.format };
    match format {
        Format::Json => output::print_json("table", &table)?,
        Format::Markdown => {
            let fingerprint = machine::five_lines(&records[0].run.machine);
            output::print(&markdown::render(&table, &fingerprint, arguments.all_metrics))?;
        }
        // A program that reads CSV gets the same form of every suite.
        Format::Csv if asked && table.layout.as_ref().is_some_and(|layout| !layout.is_plain()) => {
            output::print(&csv::render_laid_out(&table))?;
        }
        Format::Csv => output::print(&csv::render(&table))?,
        Format::Table => {
            output::print(&output::differences(&table))?;
            output::print_table(global, &records[0], &table, arguments.all_metrics)?;
        }
    }
    let shown = table.shown(arguments.all_metrics);
    let verdicts = || shown.iter().flat_map(|row| &row.cells).filter_map(verdict);
    let crossed = match arguments.fail_on {
        None => false,
        Some(FailOn::Worse) => verdicts().any(|verdict| verdict == Verdict::Worse),
        Some(FailOn::Different) => verdicts().any(|verdict| matches!(verdict, Verdict::Worse | Verdict::Better)),
    };
    Ok(if crossed { Exit::Crossed } else { Exit::Fine })
}

/// The layout that was asked for. What was not named is as in the base's suite, where that goes with it.
fn layout(arguments: &Arguments, base: &Record) -> Result<Layout, Failure> {
    let own = base.run.suite.table.clone();
    let metrics = own.as_ref().map(|layout| layout.metrics.clone()).unwrap_or_default();
    let (row, column) = keys(arguments.row.as_ref(), arguments.column.as_ref(), own.as_ref());
    // Of a matrix each figure would be a section of its own.
    let spreads_metrics = row == Key::Metric || column == Key::Metric;
    let layout = Layout { row, column, metrics: if spreads_metrics { metrics } else { Vec::new() } };
    layout.check(&base.run.suite.scenarios.iter().collect::<Vec<_>>()).map_err(Failure::usage)?;
    Ok(layout)
}

/// What goes down and across, if only one of the two was named: the suite's other one, or what goes with it.
fn keys(row: Option<&Key>, column: Option<&Key>, own: Option<&Layout>) -> (Key, Key) {
    let goes = |row: &Key, column: &Key| row != column && (*column != Key::Run || *row == Key::Scenario);
    let own_row = own.map_or(Key::Scenario, |own| own.row.clone());
    let row = match (row, column) {
        (Some(row), _) => row.clone(),
        (None, Some(column)) if goes(&own_row, column) => own_row,
        (None, Some(Key::Scenario)) => Key::Metric,
        (None, _) => Key::Scenario,
    };
    let own_column = own.map(|own| &own.column).filter(|column| goes(&row, column));
    let column = match (column.or(own_column), &row) {
        (Some(column), _) => column.clone(),
        (None, Key::Scenario) => Key::Run,
        (None, Key::Metric) => Key::Scenario,
        (None, _) => Key::Metric,
    };
    (row, column)
}

fn verdict(cell: &Cell) -> Option<Verdict> {
    match cell {
        Cell::Measured(measured) => measured.against_base.as_ref().map(|against| against.verdict),
        _ => None,
    }
}

fn has_common_rows(table: &Table, runs: usize) -> bool {
    table.rows.iter().any(|row| row.cells[1..runs].iter().any(|cell| *cell != Cell::Absent))
}

fn no_such(error: crate::store::StoreError, references: &[stend_model::reference::Reference]) -> Failure {
    match error {
        crate::store::StoreError::NoSuchRun(wanted) => {
            let names: Vec<_> = references.iter().map(|reference| reference.name.as_str()).collect();
            Failure::usage(format!(
                "\"{wanted}\" is neither a run (see `stend list`) nor a reference ({})",
                names.join(", ")
            ))
        }
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_named_is_as_the_suite_says_where_that_goes_with_it() {
        let key = |word: &str| word.parse::<Key>().expect("any word is a key");
        let of = |row: &str, column: &str, own: Option<&Layout>| {
            let (row, column) =
                (Some(key(row)).filter(|_| !row.is_empty()), Some(key(column)).filter(|_| !column.is_empty()));
            let (row, column) = keys(row.as_ref(), column.as_ref(), own);
            format!("{row} {column}")
        };
        let layout = |row: &str, column: &str| Layout { row: key(row), column: key(column), metrics: Vec::new() };
        for (row, column, plain, by_metric, matrix) in [
            ("scenario", "", "scenario run", "scenario metric", "scenario depth"),
            ("metric", "", "metric scenario", "metric scenario", "metric depth"),
            ("depth", "", "depth metric", "depth metric", "depth metric"),
            ("", "scenario", "metric scenario", "metric scenario", "jobs scenario"),
            ("", "metric", "scenario metric", "scenario metric", "jobs metric"),
            ("", "jobs", "scenario jobs", "scenario jobs", "scenario jobs"),
            ("", "run", "scenario run", "scenario run", "scenario run"),
        ] {
            assert_eq!(of(row, column, None), plain);
            assert_eq!(of(row, column, Some(&layout("scenario", "run"))), plain);
            assert_eq!(of(row, column, Some(&layout("scenario", "metric"))), by_metric);
            assert_eq!(of(row, column, Some(&layout("jobs", "depth"))), matrix);
        }
    }
}
