//! `stend compare`: runs with one another, or a run with published machines.

mod fail_on;

use std::collections::BTreeMap;

use clap::Args;
use stend_model::nearest;
use stend_model::quantity::english_plural;

use super::Global;
use super::comparison::{FILTER_HELP, Options, RANGE_HELP, refused_as_emulated};
use super::completions;
use super::failure::{Exit, Failure};
use super::output::{self, Format, Shown};
use fail_on::FailOn;
use stend_compare::history;
use stend_compare::table::{AgainstBase, Row, Table, Verdict};
use stend_report::why;
use stend_store::Store;

#[derive(Debug, Args)]
#[command(after_help = format!("{FILTER_HELP}\n\n{RANGE_HELP}"))]
pub(super) struct Arguments {
    /// What to compare; the first run is the base. Runs (an id or a prefix of it, a label, last, last~1), machines (by name: the newest run), ranges of a
    /// machine's history (FROM..TO or MACHINE:FROM..TO; the ends are runs or days), and references. A single run is shown with all references. A run
    /// of two sides has a column for each; RUN:SIDE is one of them
    #[arg(required = true, add = completions::comparable())]
    what: Vec<String>,
    #[command(flatten)]
    options: Options,
    /// Explain one figure instead of printing the table: which conditions of a verdict hold, with test, interval and δ. The default
    /// metric is the main one; a unique part of a scenario's name is enough. JSON and CSV have all of this for every figure
    #[arg(long, value_name = "SCENARIO[:METRIC]", conflicts_with_all = ["only", "row", "column"])]
    why: Option<String>,
    /// Exit with status 1 if the table has such a verdict: worse, or different (better or worse); with :5% only if the whole interval of the ratio
    /// lies more than 5 % beyond the base. Only what was measured in turns counts; hollow-worse and hollow-different also count runs made one after
    /// the other. Checks each scenario's main metric, the metrics that the layout shows, and those that a filter names; with
    /// --all-metrics all. CSV and JSON are checked by the same metrics
    #[arg(long, value_name = "VERDICT[:SHARE]")]
    fail_on: Option<FailOn>,
    #[command(flatten)]
    shown: Shown,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let options = &arguments.options;
    let store = Store::open_to_read(&global.store_to_read()?)?;
    let chosen = options.choose(global, &store, &arguments.what)?;
    let records = chosen.records();
    if arguments.fail_on.is_some() && records.len() < 2 {
        return Err(Failure::usage("--fail-on takes two runs or more: one alone has no verdicts"));
    }
    // One run alone stands beside publications, with which an emulator's cannot be compared either; several are looked at together.
    if records.len() == 1
        && let Some(refusal) = refused_as_emulated(&records)
    {
        return Err(Failure::usage(refusal));
    }
    let table = options.table(global, &chosen, false)?;
    if let Some(wanted) = &arguments.why
        && records.len() < 2
    {
        return Err(Failure::usage(format!("--why \"{wanted}\" takes two runs or more: one alone has no verdicts")));
    }
    if table.columns.len() == 1 && !global.quiet {
        talk!(
            "no figure is published that this could be compared with; name a second run: {} compare OTHER {}",
            output::program(),
            records[0].run.id
        );
    }
    let judged = table.in_layout(options.all_metrics);
    if let Some(wanted) = &arguments.why {
        let row = row_of(&table, wanted)?;
        arguments.shown.print(global, "row", row, || why::document(&table, row))?;
        return exit(arguments, &judged, &table);
    }
    match arguments.shown.format()? {
        Format::Json => output::print_json("table", &table.for_programs())?,
        Format::CSV => output::print_data(&options.csv(&table))?,
        format => output::print_table(global, format, records[0], &table, options.all_metrics)?,
    }
    exit(arguments, &judged, &table)
}

/// Whether the threshold was crossed by one of these, if there is a threshold; what could not be judged by it is said.
fn exit(arguments: &Arguments, rows: &[&Row], table: &Table) -> Result<Exit, Failure> {
    let Some(fail_on) = arguments.fail_on else { return Ok(Exit::Fine) };
    let cells: Vec<_> = rows.iter().flat_map(|row| row.against_base()).collect();
    // That a test fails is a fact, whenever it ran.
    let compared: Vec<_> = table.conformance.iter().flat_map(|of| &of.against_base).collect();
    let tests = compared.iter().flat_map(|of| &of.changes).filter(|change| fail_on.crossed_by(change.kind)).count();
    if tests > 0 {
        talk!("--fail-on {fail_on}: crossed by {}", english_plural(tests, "test", "tests"));
        return Ok(Exit::Crossed);
    }
    let ran_tests = |row: &&Row| table.conformance.iter().any(|of| of.scenario == row.scenario);
    let are_figures = compared.is_empty() || !rows.iter().all(ran_tests);
    // What was refused for its values or their number went through no test.
    let is_judged = |against: &AgainstBase| against.verdict != Verdict::Unresolved || against.q.is_some();
    if are_figures && !cells.iter().any(|against| is_judged(against)) {
        // A threshold that nothing can cross would let everything pass.
        return Err(Failure::usage("--fail-on: no figure of these runs can be judged; the notes on the table say why"));
    }
    if are_figures && !cells.iter().any(|against| fail_on.counts(against)) {
        return Err(Failure::usage(format!(
            "--fail-on {fail_on}: it counts only what was measured in turns, and these runs were made one after the other; measure with --ab, \
             or write --fail-on hollow-{fail_on}"
        )));
    }
    let crossed = cells.iter().filter(|against| fail_on.crossed(against)).count();
    let unresolved = cells.iter().filter(|against| against.verdict == Verdict::Unresolved).count();
    if crossed > 0 {
        talk!("--fail-on {fail_on}: crossed by {crossed} of {} figures", cells.len());
        return Ok(Exit::Crossed);
    }
    if unresolved > 0 {
        talk!(
            "--fail-on {fail_on}: nothing crossed it, but {unresolved} of {} {} unresolved and may be of any kind",
            cells.len(),
            if unresolved == 1 { "figures is" } else { "figures are" }
        );
    }
    Ok(Exit::Fine)
}

/// The figure that a person means by a scenario's name, or a part of it, and perhaps a metric.
fn row_of<'t>(table: &'t Table, wanted: &str) -> Result<&'t Row, Failure> {
    let names: BTreeMap<&str, ()> = table.rows.iter().map(|row| (row.scenario.as_str(), ())).collect();
    let bad = |why: String| Failure::usage(format!("--why: {why}"));
    let named = history::named(&names, wanted).map_err(|why| bad(why.to_string()))?;
    let (scenario, metric) = named.ok_or_else(|| {
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
