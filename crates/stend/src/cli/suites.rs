//! `stend suites`: the suites, or the scenarios of one.

use std::fmt::Write as _;

use clap::Args;
use serde::Serialize;
use stend_model::suite::{Changes, Suite};

use super::failure::{Exit, Failure};
use super::output::{self, Json};
use crate::catalogue;
use stend_model::quantity::english_plural;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A suite's name, or the path of a TOML file
    suite: Option<String>,
    #[command(flatten)]
    json: Json,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    match &arguments.suite {
        Some(wanted) => one(&catalogue::suite(wanted, &Changes::default()).map_err(Failure::usage)?, arguments.json),
        None => all(arguments.json),
    }
}

fn all(json: Json) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Line {
        name: String,
        title: String,
        scenarios: usize,
    }
    let mut lines = Vec::new();
    for (name, _) in catalogue::SUITES {
        let suite = catalogue::suite(name, &Changes::default()).map_err(Failure::usage)?;
        lines.push(Line { name: suite.name, title: suite.title, scenarios: suite.scenarios.len() });
    }
    if json.json {
        output::print_json("suites", &lines)?;
        return Ok(Exit::Fine);
    }
    let mut text = String::new();
    let longest = lines.iter().map(|line| line.name.len()).max().unwrap_or(0);
    for line in &lines {
        let _ = writeln!(text, "{:<longest$} {:>3} scenarios  {}", line.name, line.scenarios, line.title);
    }
    output::print(&text)?;
    Ok(Exit::Fine)
}

fn one(suite: &Suite, json: Json) -> Result<Exit, Failure> {
    if json.json {
        output::print_json("suite", suite)?;
        return Ok(Exit::Fine);
    }
    let mut text = format!("{}: {}\n", suite.name, suite.title);
    if let Some(source) = &suite.source {
        let _ = writeln!(text, "after: {source}");
    }
    for scenario in &suite.scenarios {
        let metrics: Vec<_> =
            scenario.metrics.iter().map(|metric| format!("{} ({})", metric.name, metric.unit)).collect();
        let _ = writeln!(
            text,
            "\n{}\n    {} · {} · {}",
            scenario.name,
            scenario.instrument,
            english_plural(scenario.repeats as usize, "repeat", "repeats"),
            metrics.join(", ")
        );
        let parameters: Vec<_> = scenario.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !parameters.is_empty() {
            let _ = writeln!(text, "    {}", parameters.join(" "));
        }
    }
    output::print(&text)?;
    Ok(Exit::Fine)
}
