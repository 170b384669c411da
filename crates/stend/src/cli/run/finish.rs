//! What is said and written of a run that is complete.

use stend_model::plan::Phase;
use stend_model::run::{Outcome, Run};

use super::Options;
use crate::catalogue;
use crate::cli::Global;
use crate::cli::failure::{Exit, Failure};
use crate::cli::output::{self, Shown};
use stend_compare::sides::views;
use stend_compare::table::Table;
use stend_lab::run::{Refusal, progress, refused_for_good, spent};
use stend_model::quantity::english_plural;
use stend_model::record::Record;
use stend_model::steady::never_steady;
use stend_report::text::percent;
use stend_report::words;
use stend_report::words::language::Language;
use stend_store::Store;

/// Prints the table of a complete run, and concludes it.
pub(in crate::cli) fn finish(
    global: &Global,
    store: &Store,
    id: &str,
    options: Options,
    shown: Shown,
) -> Result<Exit, Failure> {
    let record = store.load(id)?;
    let views = views(record.clone());
    let table = output::table_of(&views);
    print_concluded(global, &views, &table, shown, options.all_metrics)?;
    let exit = conclude(global, store, &record, &views, &table)?;
    if !global.quiet {
        let stend = output::program();
        let has_figures =
            record.repeats.iter().any(|repeat| repeat.phase == Phase::Measured && repeat.outcome == Outcome::Valid);
        let before = store.finished_before(id)?.map(|before| store.run(&before)).transpose()?;
        let is_comparable = |before: &Run| {
            let all = &before.suite.scenarios;
            record
                .run
                .suite
                .scenarios
                .iter()
                .any(|own| all.iter().any(|one| one.name == own.name && one.work() == own.work()))
        };
        match before.filter(is_comparable) {
            _ if !has_figures => {}
            _ if !record.run.sides.is_empty() => talk!("compare the two sides: {stend} compare {id}"),
            Some(before) => talk!("compare with the run before it: {stend} compare {} {id}", before.id),
            None => talk!("after another run: {stend} compare {id} last"),
        }
        talk!("show all of this one: {stend} show {id}");
    }
    Ok(exit)
}

/// Prints the table of a complete run.
pub(in crate::cli) fn print_concluded(
    global: &Global,
    views: &[Record],
    table: &Table,
    shown: Shown,
    all_metrics: bool,
) -> Result<(), Failure> {
    if shown.is_json() {
        output::print_json("table", table)
    } else {
        output::print_table(global, shown.format()?, &views[0], table, all_metrics)
    }
}

/// Writes the report of a complete run, says what it fell short of, and gives the exit status by it.
pub(super) fn conclude(
    global: &Global,
    store: &Store,
    record: &Record,
    views: &[Record],
    table: &Table,
) -> Result<Exit, Failure> {
    let path = output::report_path(&global.store_directory()?, &[record], "html")?;
    let mut table = table.clone();
    output::weigh_known(global, &mut table, &views.iter().collect::<Vec<_>>(), &catalogue::references())?;
    let path = output::write_report(store, views, &table, &path)?;
    let exit = fell_short(record, views);
    if !global.quiet {
        talk!("report: {}", path.display());
        if !record.profiles.is_empty() {
            talk!("where the time goes: {} profile {}", output::program(), record.run.id);
        }
    }
    Ok(exit)
}

/// Says what a complete run fell short of, and gives the exit status by it.
pub(in crate::cli) fn fell_short(record: &Record, views: &[Record]) -> Exit {
    let short = short_of_repeats(record);
    let unsteady: Vec<_> = views.iter().flat_map(|view| never_steady(&view.run.suite, &view.repeats)).collect();
    say_what_is_short(&short, record);
    for (scenario, state) in &unsteady {
        let how = state.map(|state| format!(": range {}, slope {}", percent(state.range), percent(state.drift)));
        talk!("{scenario} never reached a steady state, and was measured nevertheless{}", how.unwrap_or_default());
    }
    let misused =
        record.repeats.iter().any(|repeat| refused_for_good(&record.run.suite, repeat) == Some(Refusal::Misused));
    match (misused, short.is_empty() && unsteady.is_empty()) {
        (true, _) => Exit::Usage,
        (false, false) => Exit::Unsteady,
        (false, true) => Exit::Fine,
    }
}

/// Scenarios that have fewer valid repeats than they should, and why the last one failed.
fn short_of_repeats(record: &Record) -> Vec<String> {
    let suite = &record.run.suite;
    let session = record.sessions.last().map_or(0, |session| session.number);
    let progress = progress(&record.run, &record.repeats, session);
    let pairs = if record.run.sides.is_empty() { "" } else { " pairs" };
    let mut short = Vec::new();
    for (place, (scenario, made)) in suite.scenarios.iter().zip(&progress).enumerate() {
        let skipped = record.run.skipped.iter().any(|skipped| skipped.scenario == scenario.name);
        let unprepared = scenario.is_precondition() && made.failures_in_a_row > 0;
        if !skipped && (unprepared || !made.settled && made.valid < scenario.repeats) {
            let of_it = record.repeats.iter().rev().filter(|repeat| repeat.scenario == place);
            let last = of_it.map(|repeat| &repeat.outcome).find(|outcome| **outcome != Outcome::Valid);
            short.push(format!(
                "{}: {} of {}{pairs} ({})",
                scenario.name,
                made.valid,
                scenario.repeats,
                last.map(|outcome| words::outcome(outcome, Language::English)).unwrap_or_default()
            ));
        }
    }
    short
}

/// One line a scenario; the first ones tell enough where a whole suite fell short.
fn say_what_is_short(short: &[String], record: &Record) {
    const MOST_LINES: usize = 8;
    if short.is_empty() {
        return;
    }
    let many = english_plural(short.len(), "scenario has", "scenarios have");
    talk!("{many} fewer valid repeats than requested:");
    for line in short.iter().take(MOST_LINES) {
        talk!("  {line}");
    }
    if short.len() > MOST_LINES {
        let more = short.len() - MOST_LINES;
        talk!("  and {more} more; `{} show` lists every invalid repeat", output::program());
    }
    if let Some(budget) = record.run.suite.time_budget.filter(|_| record.run.suite.out_of_time(spent(&record.repeats)))
    {
        talk!("no repeat was replaced after {budget}, the run's time budget; `--time-budget` extends it");
    }
}
