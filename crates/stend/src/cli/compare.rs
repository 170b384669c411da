//! `stend compare`: runs with one another, or a run with published machines.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};

use super::Global;
use super::failure::{Exit, Failure};
use super::output::{self, Json};
use crate::compare::compare;
use crate::compare::table::{Cell, Row, Table, Verdict};
use crate::report::{csv, markdown};
use crate::store::{Record, Store};
use crate::{catalogue, machine};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Runs, the first of which is the base, and names of references; one run alone is set beside all references
    #[arg(required = true)]
    what: Vec<String>,
    /// Show all metrics, not only each scenario's main one; CSV and JSON always have all
    #[arg(long)]
    all_metrics: bool,
    /// End with status 1 if a verdict of this kind is in the table
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
                let id = store.resolve(wanted).map_err(|error| no_such(error, &all_references))?;
                records.push(store.load(&id)?);
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
    let table = compare(&records.iter().collect::<Vec<_>>(), &references);
    if records.len() > 1 && !has_common_rows(&table, records.len()) {
        return Err(Failure::usage("these runs have no scenario in common; there is nothing to compare"));
    }
    let format = if arguments.json.json { Format::Json } else { arguments.format };
    match format {
        Format::Json => output::print_json("table", &table)?,
        Format::Markdown => {
            let fingerprint = machine::five_lines(&records[0].run.machine);
            output::print(&markdown::render(&table, &fingerprint, arguments.all_metrics))?;
        }
        Format::Csv => output::print(&csv::render(&table))?,
        Format::Table => {
            output::print(&differences(&table))?;
            output::print_table(global, &records[0], &table, arguments.all_metrics)?;
        }
    }
    let shown = |row: &&Row| row.main || arguments.all_metrics;
    let verdicts = || table.rows.iter().filter(shown).flat_map(|row| &row.cells).filter_map(verdict);
    let crossed = match arguments.fail_on {
        None => false,
        Some(FailOn::Worse) => verdicts().any(|verdict| verdict == Verdict::Worse),
        Some(FailOn::Different) => verdicts().any(|verdict| matches!(verdict, Verdict::Worse | Verdict::Better)),
    };
    Ok(if crossed { Exit::Crossed } else { Exit::Fine })
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

/// What differs between the machines stands above every comparison.
fn differences(table: &Table) -> String {
    let mut text = String::new();
    for column in table.columns.iter().skip(1).filter(|column| !column.differences.is_empty()) {
        let _ = writeln!(text, "{} differs from {}:", column.title, table.columns[0].title);
        for difference in &column.differences {
            let _ = writeln!(text, "  {}", machine::in_words(difference));
        }
        text.push('\n');
    }
    text
}
