//! `stend compare`: runs with one another, or a run with published machines.

mod fail_on;
mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::Args;
use stend_model::metric::Better;
use stend_model::reference::Reference;
use stend_model::suite::{Key, Keys, Layout};

use super::Global;
use super::failure::{Exit, Failure};
use super::output::{self, Format, Json};
use super::shape::{FILTER_HELP, Shape, refused_as_emulated, refused_as_twice};
use crate::compare::pool::{Pool, pools};
use crate::compare::table::{AgainstBase, Column, ColumnOrigin, Note, Row, Table, Verdict};
use crate::compare::weighing::{facts, weigh};
use crate::hosts::Hosts;
use crate::report::{csv, markdown, why};
use crate::store::{Record, Store};
use crate::{catalogue, history, machine, nearest};
use fail_on::FailOn;
use names::{Named, Names};

#[derive(Debug, Args)]
#[command(after_help = format!("{FILTER_HELP}\n\n{RANGE_HELP}"))]
pub(super) struct Arguments {
    /// What is compared, the first run being the base: runs (an id or its beginning, last, last~1), machines (by name: the newest run),
    /// ranges of a machine's history (FROM..TO, where the ends are runs or days, or MACHINE:FROM..TO), and references. One run alone is set
    /// beside all references. A run of two sides has a column for each, of which RUN:SIDE is one
    #[arg(required = true)]
    what: Vec<String>,
    /// Of which suite the runs of machines and of ranges are, where machines have runs of several
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
    #[command(flatten)]
    shape: Shape,
    /// What there is a line for: scenario, metric, an axis of a matrix, or several of them, as in depth,jobs [default: as the base's suite says,
    /// else scenario]
    #[arg(long, value_name = "KEY[,KEY]")]
    row: Option<Keys>,
    /// What there is a column for: run, or as with --row [default: as the base's suite says, else what goes with the row]
    #[arg(long, value_name = "KEY[,KEY]")]
    column: Option<Keys>,
    /// Show all metrics, not only each scenario's main one; CSV and JSON always have all
    #[arg(long)]
    all_metrics: bool,
    /// Instead of the table, explain one figure: which conditions of a verdict hold, with test, interval, δ and where it comes from. Its main
    /// metric if none is named; a part of a scenario's name is enough if no other one has it. JSON and CSV have all of it for every figure
    #[arg(long, value_name = "SCENARIO[:METRIC]", conflicts_with_all = ["json", "format", "only", "row", "column"])]
    why: Option<String>,
    /// A TOML file that says what machines draw and cost, so that figures are shown per watt and per price too; files in stend/machines/ of
    /// the user's configuration are read without being named. `docs/method.md` has its form
    #[arg(long, value_name = "FILE")]
    machines: Vec<PathBuf>,
    /// End with status 1 if a verdict of this kind is in the table: worse, or different (better or worse); with :5% only if the whole interval
    /// of the ratio lies more than 5 % beyond the base. Looked at are each scenario's main metric, all metrics that its layout shows, those
    /// that a filter names, or with --all-metrics all; CSV and JSON are judged by the same metrics
    #[arg(long, value_name = "VERDICT[:SHARE]")]
    fail_on: Option<FailOn>,
    /// How to print the table
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    #[command(flatten)]
    json: Json,
}

const RANGE_HELP: &str = "Runs of a range that differ in nothing that is known of them stand in one column, as sessions of one run; where machine, builds or \
work changed, the next column begins.";

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let filter = arguments.shape.filter()?;
    let store = Store::open_to_read(&global.store_directory()?)?;
    let (runs, references) = chosen(global, &store, arguments)?;
    let records: Vec<&Record> = runs.iter().map(|pool| &pool.record).collect();
    if let Some(refusal) = refused_as_twice(&records) {
        return Err(Failure::usage(refusal));
    }
    if arguments.fail_on.is_some() && records.len() < 2 {
        return Err(Failure::usage("--fail-on takes two runs or more: one alone has no verdicts"));
    }
    // One run alone stands beside publications, with which an emulator's cannot be compared either; of several, the shape asks.
    if records.len() == 1
        && let Some(refusal) = refused_as_emulated(&records)
    {
        return Err(Failure::usage(refusal));
    }
    let mut table = arguments.shape.table(&store, &records, &references, &filter)?;
    table.notes.splice(0..0, runs.iter().filter_map(Pool::note));
    let lacking = lacking(&table, &references, &arguments.what);
    if !lacking.is_empty() {
        // A run alone and nothing beside it is no comparison.
        if table.columns.len() == 1 {
            return Err(Failure::usage(format!(
                "{} has no figure that {} has here; there is nothing to compare",
                lacking.join(", "),
                records[0].run.id
            )));
        }
        table.notes.push(Note::NothingPublished { references: lacking });
    }
    if let Some(wanted) = &arguments.why
        && records.len() < 2
    {
        return Err(Failure::usage(format!("--why \"{wanted}\" takes two runs or more: one alone has no verdicts")));
    }
    let asked = arguments.row.is_some() || arguments.column.is_some();
    if asked {
        table.layout = Some(layout(arguments, records[0])?);
    }
    let files = catalogue::machines(&arguments.machines, &global.store_directory()?).map_err(Failure::usage)?;
    let weighings = weigh(&table, &facts(&table, &records, &references, &files));
    if let (Some(file), true) = (arguments.machines.first(), weighings.is_empty()) {
        let names: BTreeSet<&str> = records.iter().map(|record| record.run.machine.name.as_str()).collect();
        return Err(Failure::usage(format!(
            "{} knows none of the machines that are compared: {}",
            file.display(),
            Vec::from_iter(names).join(", ")
        )));
    }
    table.weighings = weighings;
    let judged = table.in_layout(arguments.all_metrics);
    let cells: Vec<_> =
        judged.iter().flat_map(|row| row.against_base().map(|against| (row.better, against.clone()))).collect();
    if let Some(only) = arguments.shape.only {
        let of = judged.len();
        table.only = Some(only);
        table.notes.push(Note::OnlyRows { only, shown: table.shown(arguments.all_metrics).len(), of });
    }
    if let Some(wanted) = &arguments.why {
        output::print(&why::render(&table, row_of(&table, wanted)?, output::width()))?;
        return exit(arguments, &cells);
    }
    let format = if arguments.json.json { Format::Json } else { arguments.format };
    match format {
        Format::Json => output::print_json("table", &table.for_programs())?,
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
            output::print_table(global, records[0], &table, arguments.all_metrics)?;
        }
    }
    exit(arguments, &cells)
}

/// Whether the threshold was crossed by one of these, if there is a threshold; what could not be judged by it is said.
fn exit(arguments: &Arguments, cells: &[(Better, AgainstBase)]) -> Result<Exit, Failure> {
    let Some(fail_on) = arguments.fail_on else { return Ok(Exit::Fine) };
    // What was refused for its values or their number went through no test.
    let is_judged = |against: &AgainstBase| against.verdict != Verdict::Unresolved || against.q.is_some();
    if !cells.iter().any(|(_, against)| is_judged(against)) {
        // A threshold that nothing can cross would let everything pass.
        return Err(Failure::usage("--fail-on: no figure of these runs can be judged; the notes on the table say why"));
    }
    let crossed = cells.iter().filter(|(better, against)| fail_on.crossed(against, *better)).count();
    let unresolved = cells.iter().filter(|(_, against)| against.verdict == Verdict::Unresolved).count();
    if crossed > 0 {
        eprintln!("--fail-on {fail_on}: crossed by {crossed} of {} figures", cells.len());
        return Ok(Exit::Crossed);
    }
    if unresolved > 0 {
        eprintln!(
            "--fail-on {fail_on}: nothing crossed it, but {unresolved} of {} {} unresolved and may be of any kind",
            cells.len(),
            if cells.len() == 1 { "figure is" } else { "figures are" }
        );
    }
    Ok(Exit::Fine)
}

/// The figure that a person means by a scenario's name, or a part of it, and perhaps a metric.
fn row_of<'t>(table: &'t Table, wanted: &str) -> Result<&'t Row, Failure> {
    let names: BTreeMap<&str, ()> = table.rows.iter().map(|row| (row.scenario.as_str(), ())).collect();
    let bad = |why: String| Failure::usage(format!("--why: {why}"));
    let (scenario, metric) = history::named(&names, wanted).map_err(bad)?.ok_or_else(|| {
        let names = || names.keys().copied();
        let hint = nearest::hint(wanted.split(':').next().unwrap_or_default(), names());
        bad(format!("there is no scenario \"{wanted}\" here{hint}; there are {}", history::listed(names())))
    })?;
    let rows = || table.rows.iter().filter(|row| row.scenario == scenario);
    let found = match metric {
        None => rows().find(|row| row.main).or_else(|| rows().next()),
        Some(metric) => rows().find(|row| row.metric == metric),
    };
    found.ok_or_else(|| {
        let metrics = || rows().map(|row| row.metric.as_str());
        let (wanted, listed) = (metric.unwrap_or_default(), history::listed(metrics()));
        bad(format!("\"{scenario}\" has no metric \"{wanted}\"{}; it has {listed}", nearest::hint(wanted, metrics())))
    })
}

/// What was named: the runs, the base first, and the references.
fn chosen(global: &Global, store: &Store, arguments: &Arguments) -> Result<(Vec<Pool>, Vec<Reference>), Failure> {
    let all_references = catalogue::references();
    let hosts = Hosts::read(&global.store_directory()?).map_err(Failure::usage)?;
    let names = Names::new(store, &all_references, hosts, arguments.suite.as_deref(), &arguments.what)?;
    let (mut runs, mut references) = (Vec::new(), Vec::new());
    for word in &arguments.what {
        match names.find(word)? {
            Named::Reference(reference) => references.push(reference),
            Named::Run(id) => runs.extend(output::load(store, &id)?.into_iter().map(Pool::from)),
            Named::Range(ids) => {
                let records: Result<Vec<Record>, _> = ids.iter().map(|id| store.load(id)).collect();
                // Sides are different things on purpose.
                let mut records = records?;
                records.retain(|record| record.run.sides.is_empty());
                runs.extend(pools(records));
            }
        }
    }
    if runs.is_empty() {
        return Err(Failure::usage(
            "references cannot be compared with one another: they are single numbers without samples; name a run first",
        ));
    }
    if let Some(baseline) = &arguments.shape.baseline {
        if all_references.iter().any(|reference| reference.name == *baseline) {
            return Err(Failure::usage(format!(
                "the reference \"{baseline}\" cannot be the base: it has no samples; name a run with --baseline"
            )));
        }
        let id = names.find_run(baseline)?;
        let Some(place) = runs.iter().position(|pool| pool.runs.contains(&id) || pool.record.run.stored_id() == id)
        else {
            let ids: Vec<_> = runs.iter().map(|pool| pool.record.run.id.as_str()).collect();
            return Err(Failure::usage(format!(
                "--baseline \"{baseline}\" is not among what is compared: {}",
                ids.join(", ")
            )));
        };
        runs[..=place].rotate_right(1);
    }
    if runs.len() == 1 && references.is_empty() {
        references = all_references;
    }
    Ok((runs, references))
}

/// References that were named and have no figure in the table.
fn lacking(table: &Table, references: &[Reference], words: &[String]) -> Vec<String> {
    let is_there = |name: &str| {
        let is_it =
            |column: &Column| matches!(&column.origin, ColumnOrigin::Published { reference, .. } if reference == name);
        table.columns.iter().any(is_it)
    };
    let names = references.iter().map(|reference| &reference.name);
    names.filter(|name| words.contains(name) && !is_there(name)).cloned().collect()
}

/// The layout that was asked for. What was not named is as in the base's suite, where that goes with it.
fn layout(arguments: &Arguments, base: &Record) -> Result<Layout, Failure> {
    let own = base.run.suite.table.clone();
    let metrics = own.as_ref().map(|layout| layout.metrics.clone()).unwrap_or_default();
    let (row, column) = keys(arguments.row.as_ref(), arguments.column.as_ref(), own.as_ref());
    // Of a matrix each figure would be a section of its own.
    let mut layout = Layout { row, column, metrics: Vec::new() };
    if layout.spreads_metrics() {
        layout.metrics = metrics;
    }
    layout.check(&base.run.suite.scenarios.iter().collect::<Vec<_>>()).map_err(Failure::usage)?;
    Ok(layout)
}

/// What goes down and across, if only one of the two was named: the suite's other one, or what goes with it.
fn keys(row: Option<&Keys>, column: Option<&Keys>, own: Option<&Layout>) -> (Keys, Keys) {
    let goes = |row: &Keys, column: &Keys| {
        !row.iter().any(|key| column.contains(key)) && (!column.contains(&Key::Run) || row.take_runs())
    };
    let own_row = own.map_or(Key::Scenario.into(), |own| own.row.clone());
    let row = match (row, column) {
        (Some(row), _) => row.clone(),
        (None, Some(column)) if goes(&own_row, column) => own_row,
        (None, Some(column)) if column.contains(&Key::Scenario) => Key::Metric.into(),
        (None, _) => Key::Scenario.into(),
    };
    let own_column = own.map(|own| &own.column).filter(|column| goes(&row, column));
    let column = match column.or(own_column) {
        Some(column) => column.clone(),
        None if row.take_runs() => Key::Run.into(),
        None if row.contains(&Key::Metric) => Key::Scenario.into(),
        None => Key::Metric.into(),
    };
    (row, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_named_is_as_the_suite_says_where_that_goes_with_it() {
        let key = |word: &str| word.parse::<Keys>().expect("any word is a key");
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
            ("scenario,metric", "", "scenario,metric run", "scenario,metric run", "scenario,metric depth"),
            ("jobs,depth", "", "jobs,depth metric", "jobs,depth metric", "jobs,depth metric"),
            ("", "jobs,metric", "scenario jobs,metric", "scenario jobs,metric", "scenario jobs,metric"),
        ] {
            assert_eq!(of(row, column, None), plain);
            assert_eq!(of(row, column, Some(&layout("scenario", "run"))), plain);
            assert_eq!(of(row, column, Some(&layout("scenario", "metric"))), by_metric);
            assert_eq!(of(row, column, Some(&layout("jobs", "depth"))), matrix);
        }
    }
}
