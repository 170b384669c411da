//! What a tool left after one repeat, and the events that it becomes.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use stend_model::wire::{Begin, Check, End, Event, Report, Usage, WIRE_VERSION};

use super::Files;

/// What a tool left after one repeat.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// What the command after it printed on its standard output.
    pub after: String,
    /// The results asked for that exist, by path.
    pub files: Files,
    /// What it used: wall time, CPU time, exit status.
    pub usage: Usage,
    /// The machine's `CLOCK_MONOTONIC` at its start, in nanoseconds.
    pub started_ns: i64,
    /// What the tool says of its version.
    pub version: String,
}

impl Finished {
    /// `begin` of an instrument, with these parameters in force: its version is the first number in the first line of what its tool says of it.
    pub(super) fn begin(
        &self,
        instrument: &str,
        tool: Option<&str>,
        parameters: impl IntoIterator<Item = (&'static str, Value)>,
    ) -> Begin {
        let line = self.version.lines().next().unwrap_or_default().trim();
        let words = line.split([' ', '/', ',']).map(|word| word.trim_start_matches('v'));
        let number =
            words.into_iter().find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'));
        Begin {
            wire: WIRE_VERSION,
            instrument: instrument.into(),
            version: tool.map(|_| number.unwrap_or(line).into()),
            t_ns: Some(self.started_ns),
            build: tool.map(|tool| (tool.to_owned(), line.to_owned())).into_iter().collect(),
            parameters: parameters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            missing: BTreeMap::new(),
            unknown: Map::new(),
        }
    }

    /// The report of so long a part of it, and of this work, of which nothing is verified.
    pub(super) fn report(&self, wall_ns: u64, work: impl IntoIterator<Item = (&'static str, f64)>) -> Report {
        Report {
            n: 0,
            t_ns: Some(self.started_ns),
            wall_ns,
            cpu_ns: Some(self.usage.cpu_ns()),
            work: named(work),
            observed: BTreeMap::new(),
            latencies: BTreeMap::new(),
            check: Check::None,
            evidence: None,
            screens: BTreeMap::new(),
            unknown: Map::new(),
        }
    }
}

/// Figures by their names.
pub(super) fn named(figures: impl IntoIterator<Item = (&'static str, f64)>) -> BTreeMap<String, f64> {
    figures.into_iter().map(|(name, figure)| (name.to_owned(), figure)).collect()
}

/// The events of a tool that makes one repeat.
pub(super) fn events(begin: Begin, report: Report) -> Vec<Event> {
    vec![Event::Begin(begin), Event::Repeat(report), Event::End(End { repeats: 1 })]
}
