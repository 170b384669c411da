//! How a table of figures is laid out: what goes down, and what goes across.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scenario;

/// What goes down and what goes across.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// What there is a line for: `scenario` (the default), `metric`, or an axis of a matrix.
    #[serde(default = "scenario")]
    pub row: Key,
    /// What there is a column for: `run` (the default; only with `row = "scenario"`), `metric`, `scenario`, or an axis of a matrix.
    #[serde(default = "run")]
    pub column: Key,
    /// The metrics that are shown unless all are asked for, in this order. Default: all where `metric` goes down or across, else each
    /// scenario's main one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
}

fn scenario() -> Key {
    Key::Scenario
}

fn run() -> Key {
    Key::Run
}

/// What figures are told apart by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// The scenario.
    Scenario,
    /// The metric.
    Metric,
    /// The run, or the published machine.
    Run,
    /// The value on an axis of a matrix.
    Axis(String),
}

impl Layout {
    /// Whether it is the table with a line for each scenario and a column for each run.
    pub fn is_plain(&self) -> bool {
        self.column == Key::Run
    }

    /// Whether metrics have lines or columns of their own.
    pub fn spreads_metrics(&self) -> bool {
        self.row == Key::Metric || self.column == Key::Metric
    }

    /// Checks that the two go together, and that these scenarios have such axes and metrics.
    ///
    /// # Errors
    /// What is wrong, and what would be right.
    pub fn check(&self, scenarios: &[&Scenario]) -> Result<(), String> {
        if self.row == self.column {
            return Err(format!("both row and column are \"{}\"; they must differ", self.row));
        }
        if self.row == Key::Run || (self.column == Key::Run && self.row != Key::Scenario) {
            return Err(
                "runs can only be columns, of a table with row \"scenario\"; elsewhere each cell has all runs".into()
            );
        }
        let families = || scenarios.iter().filter_map(|scenario| scenario.family.as_ref());
        for key in [&self.row, &self.column] {
            let Key::Axis(axis) = key else { continue };
            if !families().any(|family| family.point.contains_key(axis)) {
                let known = distinct(families().flat_map(|family| family.point.keys()));
                return Err(format!("there is no axis \"{axis}\"; there are: scenario, metric, run{known}"));
            }
        }
        if let (Key::Axis(row), Key::Axis(column)) = (&self.row, &self.column)
            && !families().any(|family| family.point.contains_key(row) && family.point.contains_key(column))
        {
            return Err(format!("no matrix has both axes, \"{row}\" and \"{column}\""));
        }
        for metric in &self.metrics {
            if !scenarios.iter().any(|scenario| scenario.metric(metric).is_some()) {
                let metrics = scenarios.iter().flat_map(|scenario| scenario.metrics.iter().map(|metric| &metric.name));
                let known = distinct(metrics);
                return Err(format!(
                    "no scenario has a metric \"{metric}\"; there are: {}",
                    known.trim_start_matches(", ")
                ));
            }
        }
        Ok(())
    }
}

/// Each name once, in order, each behind a comma.
fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if !seen.contains(&name.as_str()) {
            seen.push(name);
        }
    }
    seen.iter().map(|name| format!(", {name}")).collect()
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scenario => "scenario",
            Self::Metric => "metric",
            Self::Run => "run",
            Self::Axis(name) => name,
        })
    }
}

impl FromStr for Key {
    type Err = std::convert::Infallible;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "scenario" => Self::Scenario,
            "metric" => Self::Metric,
            "run" => Self::Run,
            axis => Self::Axis(axis.into()),
        })
    }
}

impl Serialize for Key {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Key {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Key".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "description": "scenario, metric, run, or the name of an axis" })
    }
}
