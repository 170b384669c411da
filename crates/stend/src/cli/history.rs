//! `stend history`: one metric over all runs of a machine, and where it changed.

use std::path::{Path, PathBuf};

use clap::Args;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use stend_model::identity::short;
use stend_model::record::Summary;

use super::Global;
use super::completions;
use super::failure::{Exit, Failure};
use super::output::{self, Format, Json};
use stend_compare::history::{self, NotFound, Outline, Wanted};
use stend_report::doc::{self, Doc, Frame, Role, Row, Table, Value};
use stend_report::words::language::Language;
use stend_report::{history as render, shell_words};
use stend_stand::hosts::Hosts;
use stend_store::Store;
use stend_store::StoreError;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A scenario, for its main metric; SCENARIO:METRIC for another one; or a metric, to list the scenarios that have it. A unique part of a
    /// scenario's name is enough
    #[arg(value_name = "SCENARIO[:METRIC]")]
    what: String,
    /// Only runs of this machine, by any of its names, whatever its hardware; or a prefix of a hardware id, as `stend list` shows it [default: the
    /// hardware of the newest run]
    #[arg(long, value_name = "NAME", add = completions::machines())]
    machine: Option<String>,
    /// Output format; a drawing lists the changes below it, and a page adds a table of the runs [default: table]
    #[arg(short, long, value_name = "FORMAT", value_parser = Format::among(Format::of_histories()))]
    format: Option<Format>,
    /// The output file, `-` for standard output [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Language of a drawing; a page has all, and tables are in English
    #[arg(long, value_name = "LANGUAGE", default_value = "en")]
    language: Language,
    #[command(flatten)]
    json: Json,
}

/// A scenario that has the metric that was asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WithMetric<'a> {
    scenario: &'a str,
    runs: usize,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let store = Store::open_to_read(&global.store_to_read()?)?;
    let format = output::chosen_format(arguments.format, arguments.json)?.unwrap_or(Format::TABLE);
    let to_file = arguments.output.as_deref().filter(|path| *path != Path::new("-"));
    let runs = Outline::of_all(|each| store.each_run(each))?;
    let hosts = Hosts::read(&global.store_directory()?).map_err(Failure::usage)?;
    let is_named = |run: &Summary, name: &str| hosts.is_of((&run.machine, &run.host), name);
    let found = history::choose(&runs, &arguments.what, arguments.machine.as_deref(), &is_named);
    let none = |why| match why {
        NotFound::NoRuns => Failure::from(StoreError::Empty),
        why => Failure::usage(why),
    };
    let chosen = match found.map_err(none)? {
        Wanted::History(chosen) => chosen,
        Wanted::Metric { name, scenarios } => {
            let scenarios: Vec<_> =
                scenarios.into_iter().map(|(scenario, runs)| WithMetric { scenario, runs }).collect();
            if matches!(format, Format::Svg | Format::Html) {
                let named = history::listed(scenarios.iter().map(|one| one.scenario));
                return Err(Failure::usage(format!(
                    "a drawing is of one scenario, and \"{name}\" is a metric; give SCENARIO:{name}, with one of {named}"
                )));
            }
            if format == Format::Json {
                output::print_json("scenarios", &scenarios)?;
            } else {
                output::print_document(global, format, &with_metric(&name, &scenarios))?;
            }
            return Ok(Exit::Fine);
        }
    };
    let history = history::of(&chosen, |id, place| store.load_scenario(id, place))?;
    let text = match format {
        Format::Json => output::json("history", &history)?,
        Format::CSV => render::csv(&history),
        Format::Svg => render::svg(&history, arguments.language),
        Format::Html => render::page(&history, &command(&history, arguments.machine.as_deref()), Timestamp::now())?,
        format => format.of_document(&render::document(&history), global.colour() && to_file.is_none()),
    };
    match to_file {
        Some(path) => output::write(path, text.as_bytes())?,
        None if format == Format::TABLE => output::print_styled(&text)?,
        None => output::print_data(&text)?,
    }
    Ok(Exit::Fine)
}

/// What draws this history anew. Without a machine's name it is that of the hardware, whichever makes the newest run then.
fn command(history: &history::History, machine: Option<&str>) -> String {
    let machine = machine.unwrap_or_else(|| short(&history.hardware_id));
    let what = format!("{}:{}", history.scenario, history.metric);
    shell_words(&["stend", "history", &what, "--machine", machine, "--format", "html"].map(str::to_owned))
}

fn with_metric(name: &str, scenarios: &[WithMetric]) -> Doc {
    let rows = scenarios.iter().map(|with| {
        let runs = Value::Number(with.runs as u64, "");
        Row::new([with.scenario.to_owned()], [runs])
    });
    let mut doc = Doc::of(Table::of(&["scenario"], [doc::figures("runs")], Frame::Head, rows));
    if let [WithMetric { scenario, .. }, ..] = scenarios {
        let what = shell_words(&[format!("{scenario}:{name}")]);
        doc.say_last(Role::Fact, [format!("the history of the first: {} history {what}", output::program())]);
    }
    doc
}
