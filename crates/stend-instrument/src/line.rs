//! A line that the user wrote for a shell, with another one to be done before it, and the directory of both: what the instruments that run anything
//! have in common.

use serde_json::Value;
use stend_model::suite::Scenario;

use super::Finished;
use super::parameters::{ParameterError, Parameters};

/// The parameters that say it.
pub(super) const PARAMETERS: [&str; 3] = ["command", "prepare", "directory"];

pub(super) struct Line<'a> {
    pub(super) command: &'a str,
    /// Another one, to be done before each time.
    pub(super) prepare: Option<&'a str>,
    /// Where both are done; the repeat's own directory if nothing is said.
    pub(super) directory: Option<&'a str>,
}

impl<'a> Line<'a> {
    pub(super) fn of(parameters: &Parameters<'a>) -> Result<Self, ParameterError> {
        let command = parameters.written("command").ok_or(ParameterError::Missing { name: "command" })?;
        Ok(Self { command, prepare: parameters.written("prepare"), directory: parameters.written("directory") })
    }

    /// A script that starts one of the lines, which the shell gets as it was typed: `$1` is the directory, `$2` the line.
    pub(super) fn in_shell(&self, script: &str, line: &str) -> Vec<String> {
        ["sh", "-c", script, "stend", self.directory.unwrap_or("."), line].map(str::to_owned).into()
    }

    /// What of it was given.
    pub(super) fn in_force(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let values = [Some(self.command), self.prepare, self.directory].map(|text| text.map(Value::from));
        PARAMETERS.into_iter().zip(values).filter_map(|(name, value)| Some((name, value?)))
    }
}

/// What a scenario starts on the machine, as one line.
pub(super) fn starts(scenario: &Scenario) -> Vec<String> {
    let lines = ["prepare", "command"].iter().filter_map(|key| scenario.parameters.get(*key));
    vec![lines.map(String::as_str).collect::<Vec<_>>().join("; ")]
}

/// A command that is not there will not be there the next time, nor a directory.
pub(super) fn lasts(finished: &Finished) -> bool {
    matches!(finished.usage.exit, Some(126 | 127))
}
