//! `stend show`: one run in full.

use std::fmt::Write as _;

use clap::Args;
use serde::Serialize;
use stend_model::plan::Phase;
use stend_model::run::{Outcome, Repeat, Run, RunState, Session};

use super::Global;
use super::failure::{Exit, Failure};
use super::output::{self, Json};
use stend_compare::sides::views;
use stend_model::quantity::english_plural;
use stend_model::record::Record;
use stend_report::words;
use stend_report::words::language::Language;
use stend_store::Store;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The run: its id, the beginning of it, `last`, or `last~1` for the one before
    #[arg(default_value = "last")]
    run: String,
    /// List every repeat with its value, and why it does not count if so
    #[arg(long)]
    repeats: bool,
    #[command(flatten)]
    json: Json,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let store = Store::open_to_read(&global.store_directory()?)?;
    let record = store.load(&store.resolve(&arguments.run)?)?;
    let samples = store.count_samples(&record.run.id)?;
    let views = views(record.clone());
    let table = output::table_of(&store, &views)?;
    if arguments.json.json {
        #[derive(Serialize)]
        struct Shown<'a> {
            run: &'a Run,
            sessions: &'a [Session],
            repeats: &'a [Repeat],
            samples: i64,
            table: &'a stend_compare::table::Table,
        }
        let shown =
            Shown { run: &record.run, sessions: &record.sessions, repeats: &record.repeats, samples, table: &table };
        output::print_json("run", &shown)?;
        return Ok(Exit::Fine);
    }
    let print = |text: &str| output::print(&stend_report::wrapped(text, output::width()));
    print(&head(&record, samples))?;
    print(&faults(&store, &record)?)?;
    output::print_for_people(global, &views[0], &table, true)?;
    if arguments.repeats {
        print(&repeats(&record))?;
    }
    Ok(Exit::Fine)
}

fn head(record: &Record, samples: i64) -> String {
    let run = &record.run;
    let mut text = String::new();
    let state = match (run.state, run.finished_at) {
        (RunState::Finished, Some(at)) => format!("finished {}", at.strftime("%F %T")),
        (RunState::Finished, None) => "finished".into(),
        (RunState::Open, _) if !run.may_go_on() => "interrupted".into(),
        (RunState::Open, _) => format!("not finished; go on with: {} resume {}", output::program(), run.id),
    };
    let _ = writeln!(
        text,
        "run {} · suite {} · began {} UTC · {state}",
        run.id,
        run.suite.name,
        run.started_at.strftime("%F %T")
    );
    let _ = writeln!(
        text,
        "{}, {}, {} · seed {} · stend {}",
        english_plural(record.sessions.len(), "session", "sessions"),
        english_plural(record.repeats.len(), "repeat", "repeats"),
        english_plural(samples as usize, "sample", "samples"),
        run.seed,
        run.stend_version
    );
    if run.carried {
        let _ = writeln!(
            text,
            "measured on {} without a link, and carried here; its moments are by its own clock",
            run.host
        );
    } else if run.imported == Some(true) {
        text.push_str("imported: what it says of its machine and its figures is what its author says\n");
    }
    if run.machine.public {
        text.push_str(
            "public: what may name its machine or its owner was left out, and is compared with no other run\n",
        );
    }
    if run.suite.scale < 1.0 {
        let _ = writeln!(text, "sizes and durations scaled by {}", run.suite.scale);
    }
    for side in &run.sides {
        let _ = writeln!(text, "side {}", side.in_full());
    }
    if let Some(target) = &run.target {
        let _ = writeln!(text, "target: {}", target.target);
    }
    for (name, why) in record.sessions.first().iter().flat_map(|session| &session.missing_sensors) {
        let _ = writeln!(text, "no sensor: {name}: {}", words::reason(why).en);
    }
    for session in &record.sessions {
        if let Some(clocks) = &session.clocks {
            let _ = writeln!(text, "{}", stend_report::how_clocks_stood(clocks).en);
        }
        let told = |condition| words::condition(condition, Language::English);
        for condition in &session.conditions {
            let _ = writeln!(text, "measured although unfit: {}", told(condition).with_advice());
        }
        for condition in &session.noted {
            let _ = writeln!(text, "noted: {}", told(condition).in_a_line());
        }
    }
    let excluded: Vec<_> = record.repeats.iter().filter(|repeat| repeat.outcome != Outcome::Valid).collect();
    if !excluded.is_empty() {
        let _ = writeln!(text, "repeats that do not count:");
    }
    for repeat in excluded {
        let scenario = &run.suite.scenarios[repeat.scenario].name;
        let _ = writeln!(
            text,
            "  {:>4} {scenario}{}{}: {}: {}",
            repeat.sequence,
            of_side(run, repeat),
            if repeat.phase == Phase::Warmup { " (warm-up)" } else { "" },
            repeat.outcome.word(),
            words::outcome(&repeat.outcome, Language::English)
        );
    }
    text.push('\n');
    text
}

/// The side of a repeat, behind the scenario's name.
fn of_side(run: &Run, repeat: &Repeat) -> String {
    repeat.side.map(|side| format!(" ({})", run.sides[side].label)).unwrap_or_default()
}

/// What faults did to each repeat; nothing of a run without faults.
fn faults(store: &Store, record: &Record) -> Result<String, Failure> {
    let suite = &record.run.suite;
    if suite.scenarios.iter().all(|scenario| scenario.faults.is_empty()) {
        return Ok(String::new());
    }
    let series = store.series(&record.run.id)?;
    let mut text = String::from("what faults did:\n");
    for repeat in &record.repeats {
        let of_it: Vec<_> = series.iter().filter(|(of, _)| *of == repeat.sequence).map(|(_, series)| series).collect();
        for words in stend_report::what_faults_did(repeat, &of_it) {
            let _ = writeln!(text, "  {:>4} {}: {}", repeat.sequence, suite.scenarios[repeat.scenario].name, words.en);
        }
    }
    text.push('\n');
    Ok(text)
}

fn repeats(record: &Record) -> String {
    let mut text = String::from("\nrepeats in the order in which they were made\n");
    for repeat in &record.repeats {
        let scenario = &record.run.suite.scenarios[repeat.scenario];
        let value =
            scenario.metrics.first().and_then(|metric| repeat.value(metric).map(|value| metric.unit.show(value)));
        let phase = if repeat.phase == Phase::Warmup { "warm-up" } else { repeat.outcome.word() };
        let _ = writeln!(
            text,
            "  {:>4} {phase:<8} {}{} #{}: {} {}",
            repeat.sequence,
            scenario.name,
            of_side(&record.run, repeat),
            repeat.number,
            value.unwrap_or_else(|| "no value".into()),
            words::outcome(&repeat.outcome, Language::English)
        );
    }
    text
}
