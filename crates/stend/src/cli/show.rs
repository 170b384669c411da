//! `stend show`: one run in full.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use stend_model::plan::Phase;
use stend_model::record::Record;
use stend_model::run::{Outcome, Repeat, Run, RunState, Session};

use super::Global;
use super::completions;
use super::failure::{Exit, Failure};
use super::output::{self, Format};
use super::run::{fell_short, print_concluded};
use stend_compare::sides::views;
use stend_compare::table;
use stend_model::quantity::english_plural;
use stend_report::doc::{self, Cell, Doc, Frame, Role, Row, Table, Value};
use stend_report::words;
use stend_report::words::language::Language;
use stend_report::{self, csv};
use stend_store::Store;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The run: its id or a prefix of it, its label, `last`, or `last~1` for the one before
    #[arg(default_value = "last", add = completions::runs())]
    run: String,
    /// List every repeat with its value; for an invalid one, the reason
    #[arg(long)]
    repeats: bool,
    /// Its table as `stend run` prints it at the end, with the exit status of that; for a run on a server
    #[arg(long, hide = true, conflicts_with = "repeats")]
    concluded: bool,
    #[command(flatten)]
    shown: output::Shown,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let store = Store::open_to_read(&global.store_to_read()?)?;
    let record = store.load(&store.resolve(&arguments.run)?)?;
    let samples = store.count_samples(&record.run.id)?;
    let views = views(record.clone());
    let table = output::table_of(&views);
    if arguments.concluded {
        print_concluded(global, &views, &table, arguments.shown, false)?;
        return Ok(fell_short(&record, &views));
    }
    match arguments.shown.format()? {
        Format::Json => output::print_json(
            "run",
            &InFull { run: &record.run, sessions: &record.sessions, repeats: &record.repeats, samples, table: &table },
        )?,
        Format::CSV => output::print_data(&csv::render(&table))?,
        format => {
            let mut doc = Doc::default();
            head(&mut doc, &record, samples);
            faults(&mut doc, &store, &record)?;
            doc.append(output::comparison_of(&views[0], &table, true));
            if arguments.repeats {
                repeats(&mut doc, &record);
            }
            output::print_document(global, format, &doc)?;
        }
    }
    Ok(Exit::Fine)
}

/// A run in full, for programs.
#[derive(Serialize, JsonSchema)]
pub(super) struct InFull<'a> {
    run: &'a Run,
    sessions: &'a [Session],
    repeats: &'a [Repeat],
    samples: i64,
    table: &'a table::Table,
}

fn head(doc: &mut Doc, record: &Record, samples: i64) {
    let run = &record.run;
    let mut said = Vec::new();
    let state = match (run.state, run.finished_at) {
        (RunState::Finished, Some(at)) => format!("finished {}", at.strftime("%F %T")),
        (RunState::Finished, None) => "finished".into(),
        (RunState::Open, _) if !run.may_go_on() => "interrupted".into(),
        (RunState::Open, _) => format!("not finished; go on with: {} resume {}", output::program(), run.id),
    };
    said.push(format!(
        "run {} · suite {} · began {} UTC · {state}",
        run.id,
        run.suite.name,
        run.started_at.strftime("%F %T")
    ));
    said.push(format!(
        "{}, {}, {} · seed {} · stend {}",
        english_plural(record.sessions.len(), "session", "sessions"),
        english_plural(record.repeats.len(), "repeat", "repeats"),
        english_plural(samples as usize, "sample", "samples"),
        run.seed,
        run.stend_version
    ));
    if run.carried {
        said.push(format!(
            "measured on {} without a link, and carried here; its moments are by its own clock",
            run.host
        ));
    } else if run.imported == Some(true) {
        said.push("imported: its data on the machine and its figures are those stated by its author".into());
    }
    if run.machine.public {
        said.push(
            "public: what may name its machine or its owner was left out, and is compared with no other run".into(),
        );
    }
    if run.suite.scale < 1.0 {
        said.push(format!("sizes and durations scaled by {}", run.suite.scale));
    }
    for side in &run.sides {
        said.push(format!("side {}", side.in_full()));
    }
    if let Some(target) = &run.target {
        said.push(format!("target: {}", target.target));
    }
    for (name, why) in record.sessions.first().iter().flat_map(|session| &session.missing_sensors) {
        said.push(format!("no sensor: {name}: {}", words::reason(why).english()));
    }
    for session in &record.sessions {
        if let Some(clocks) = &session.clocks {
            said.push(stend_report::how_clocks_stood(clocks).english().to_owned());
        }
        let told = |condition| words::condition(condition, Language::English);
        for condition in &session.conditions {
            said.push(format!("measured although unfit: {}", told(condition).with_advice()));
        }
        for condition in &session.noted {
            said.push(format!("noted: {}", told(condition).in_a_line()));
        }
    }
    doc.say(Role::Fact, said);
    let excluded = record.repeats.iter().filter(|repeat| repeat.outcome != Outcome::Valid).map(|repeat| {
        let warmup = if repeat.phase == Phase::Warmup { " (warm-up)" } else { "" };
        let cells = [
            format!("{}{warmup}", scenario_of(run, repeat)),
            repeat.outcome.word().into(),
            words::outcome(&repeat.outcome, Language::English),
        ];
        Row::new([repeat.sequence.to_string()], cells.map(Value::from))
    });
    let columns = ["scenario", "outcome", "why"].map(doc::words);
    doc.titled_table("repeats that do not count", Table::of(&["repeat"], columns, Frame::Inset, excluded));
}

/// The scenario of a repeat, and its side.
fn scenario_of(run: &Run, repeat: &Repeat) -> String {
    let side = repeat.side.map(|side| format!(" ({})", run.sides[side].label)).unwrap_or_default();
    format!("{}{side}", run.suite.scenarios[repeat.scenario].name)
}

/// What faults did to each repeat; nothing of a run without faults.
fn faults(doc: &mut Doc, store: &Store, record: &Record) -> Result<(), Failure> {
    let suite = &record.run.suite;
    if suite.scenarios.iter().all(|scenario| scenario.faults.is_empty()) {
        return Ok(());
    }
    let series = store.series(&record.run.id)?;
    let mut table = Table::new(&["repeat"], ["scenario", "what faults did"].map(doc::words), Frame::Inset);
    for repeat in &record.repeats {
        let of_it: Vec<_> = series.iter().filter(|(of, _)| *of == repeat.sequence).map(|(_, series)| series).collect();
        for did in stend_report::what_faults_did(repeat, &of_it) {
            let scenario = suite.scenarios[repeat.scenario].name.as_str();
            table.row(repeat.sequence.to_string(), [Value::from(scenario), did.into()]);
        }
    }
    doc.titled_table("what faults did", table);
    Ok(())
}

fn repeats(doc: &mut Doc, record: &Record) {
    let columns = [doc::words("outcome"), doc::figures("value"), doc::words("scenario").with_under("why")];
    let rows = record.repeats.iter().map(|repeat| {
        let metric = record.run.suite.scenarios[repeat.scenario].metrics.first();
        let value = metric.and_then(|metric| Some(Value::Quantity(metric.unit, repeat.value(metric)?)));
        let outcome = if repeat.phase == Phase::Warmup { "warm-up" } else { repeat.outcome.word() };
        let why = match words::outcome(&repeat.outcome, Language::English) {
            why if why.is_empty() => Value::Nothing,
            why => why.into(),
        };
        let cells = [
            Value::from(outcome).into(),
            value.unwrap_or_else(|| "no value".into()).into(),
            Cell::from(Value::from(format!("{} #{}", scenario_of(&record.run, repeat), repeat.number))).over(why),
        ];
        Row::new([repeat.sequence.to_string()], cells)
    });
    let table = Table::of(&["repeat"], columns, Frame::Inset, rows);
    doc.titled_table_last("repeats in the order in which they were made", table);
}
