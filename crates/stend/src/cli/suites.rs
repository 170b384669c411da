//! `stend suites`: the suites, or the scenarios of one.

use std::collections::BTreeMap;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use stend_model::server::plain_name;
use stend_model::suite::{Changes, Suite};

use super::Global;
use super::completions;
use super::failure::{Exit, Failure};
use super::output::Shown;
use crate::catalogue;
use stend_model::quantity::english_plural;
use stend_report::doc::{Doc, Fold, Frame, Role, Table, Value, figures, words};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A suite's name, or the path of a TOML file
    #[arg(add = completions::suites())]
    suite: Option<String>,
    #[command(flatten)]
    shown: Shown,
}

/// A suite of the catalogue.
#[derive(Serialize, JsonSchema)]
pub(super) struct Line {
    name: String,
    title: String,
    /// The title in other languages, by their codes.
    titles: BTreeMap<String, String>,
    /// Its variables with their values, which `--set` changes.
    variables: BTreeMap<String, String>,
    scenarios: usize,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let suite = |name: &str| catalogue::suite(name, &Changes::default()).map_err(Failure::usage);
    match &arguments.suite {
        Some(wanted) => {
            let suite = suite(wanted)?;
            arguments.shown.print(global, "suite", &suite, || one(&suite))?;
        }
        None => {
            let line = |suite: Suite, text: &str| {
                let (scenarios, variables) = (suite.scenarios.len(), variables(text));
                Line { name: suite.name, title: suite.title, titles: suite.titles, variables, scenarios }
            };
            let lines = catalogue::SUITES.iter().map(|(name, text)| suite(name).map(|suite| line(suite, text)));
            let lines = lines.collect::<Result<Vec<_>, _>>()?;
            arguments.shown.print(global, "suites", &lines, || all(&lines))?;
        }
    }
    Ok(Exit::Fine)
}

/// The variables that a suite's text has.
fn variables(text: &str) -> BTreeMap<String, String> {
    let read: Option<toml::Table> = text.parse().ok();
    let variables = read.and_then(|mut suite| suite.remove("variables")?.try_into::<toml::Table>().ok());
    let value = |value: toml::Value| match value {
        toml::Value::String(text) => text,
        other => other.to_string(),
    };
    variables.unwrap_or_default().into_iter().map(|(name, it)| (name, value(it))).collect()
}

fn all(lines: &[Line]) -> Doc {
    let mut table = Table::new(&["suite"], [figures("scenarios"), words("title")], Frame::Bare);
    for line in lines {
        let scenarios = Value::Number(line.scenarios as u64, "scenarios");
        table.row(line.name.as_str(), [scenarios, line.title.as_str().into()]);
    }
    Doc::of(table)
}

fn one(suite: &Suite) -> Doc {
    let mut doc = Doc::default();
    let source = suite.source.iter().map(|source| format!("after: {source}"));
    let servers = suite.servers.iter().map(|(name, server)| format!("server {}: {server}", plain_name(name)));
    let head = [format!("{}: {}", suite.name, suite.title)].into_iter().chain(source).chain(servers);
    let head = head.chain(suite.note.clone());
    doc.say(Role::Fact, head);
    let columns = [words("instrument"), words("repeats"), words("metrics"), words("parameters").folded(Fold::Lines)];
    let mut table = Table::new(&["scenario"], columns, Frame::Entries);
    for scenario in &suite.scenarios {
        let metrics = scenario.metrics.iter().map(|metric| format!("{} ({})", metric.name, metric.unit));
        let parameters = scenario.parameters.iter().map(|(name, value)| format!("{name}={value}"));
        let cells = [
            scenario.instrument.to_string(),
            english_plural(scenario.repeats as usize, "repeat", "repeats"),
            metrics.collect::<Vec<_>>().join(", "),
            parameters.collect::<Vec<_>>().join(" "),
        ];
        table.row(scenario.name.as_str(), cells.map(Value::from));
    }
    doc.table(table);
    doc
}
